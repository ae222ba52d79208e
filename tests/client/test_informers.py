"""Informers against a real server over real sockets: complete, in order, and undisturbed by any disturbance."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from scheduler.apis.objects.decode import decode
from scheduler.apis.objects.node import Node
from scheduler.client.access import load_access
from scheduler.client.backoff import Backoff
from scheduler.client.informers import Informer, InformerSet
from scheduler.client.resources import NAMESPACES, NODES
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from tests.client.conftest import DEADLINE, Cluster, Journal, MakeInformer


def started(informer: Informer[Node]) -> Informer[Node]:
    informer.start()
    assert informer.wait_for_sync(DEADLINE)
    return informer


def names(informer: Informer[Node]) -> list[str]:
    return sorted(node.metadata.name for node in informer.store)


def test_what_is_there_is_told_initially_and_changes_after_that(
    nodes: MakeInformer, cluster: Cluster, journal: Journal
) -> None:
    cluster.add_node("a")
    informer = started(nodes())
    assert journal.entries == ["add a initially"]
    cluster.add_node("b")
    cluster.label_node("a", x="1")
    cluster.delete_node("b")
    journal.wait_for("delete b")
    assert journal.entries == ["add a initially", "add b", "update a", "delete b"]
    assert names(informer) == ["a"]


def test_handlers_get_old_and_new(nodes: MakeInformer, cluster: Cluster, journal: Journal) -> None:
    seen: list[tuple[dict[str, str], dict[str, str]]] = []

    class Labels(Journal):
        def on_update(self, old: Node, new: Node) -> None:
            seen.append((old.metadata.labels, new.metadata.labels))

    cluster.add_node("a", x="1")
    informer = nodes()
    informer.add_handler(Labels())
    started(informer)
    cluster.label_node("a", x="2")
    cluster.add_node("b")
    journal.wait_for("add b")
    assert seen == [({"x": "1"}, {"x": "2"})]


def test_has_synced_only_after_every_initial_object_was_told(nodes: MakeInformer, cluster: Cluster) -> None:
    told: list[bool] = []

    class Asks(Journal):
        def on_add(self, obj: Node, initial: bool) -> None:
            told.append(informer.has_synced)

    for name in "abc":
        cluster.add_node(name)
    informer = nodes()
    informer.add_handler(Asks())
    assert not informer.has_synced
    started(informer)
    assert told == [False, False, False]


def test_a_list_comes_in_pages(nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox) -> None:
    for index in range(7):
        cluster.add_node(f"n{index}")
    pages = sandbox.faults.add(method="GET", path="/nodes$", watch=False, delay=0.001)
    informer = started(nodes(page_size=3))
    assert names(informer) == [f"n{index}" for index in range(7)]
    assert pages.hits == 3


def test_a_selector_limits_what_is_copied(nodes: MakeInformer, cluster: Cluster, journal: Journal) -> None:
    cluster.add_node("a", zone="1")
    cluster.add_node("b", zone="2")
    informer = started(nodes(label_selector="zone=1"))
    assert names(informer) == ["a"]
    cluster.label_node("b", zone="1")
    cluster.label_node("a", zone="2")
    journal.wait_for("add b", "delete a")
    assert names(informer) == ["b"]


@pytest.mark.parametrize("abort", [True, False], ids=["dropped connection", "proper end"])
def test_a_cut_watch_resumes_where_it_stood(
    nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox, journal: Journal, abort: bool
) -> None:
    started(nodes())
    lists = sandbox.faults.add(method="GET", path="/nodes$", watch=False, delay=0.001)
    for name in "abcde":
        cluster.add_node(name)
        journal.wait_for(f"add {name}")
        sandbox.faults.cut_watches("/nodes", abort=abort)
    cluster.delete_node("a")
    journal.wait_for("delete a")
    assert journal.entries == ["add a", "add b", "add c", "add d", "add e", "delete a"]
    assert lists.hits == 0, "no event was missed, so nothing had to be listed again"


def test_changes_during_a_gap_are_told_after_it(
    nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox, journal: Journal
) -> None:
    for name in ("stays", "changes", "goes"):
        cluster.add_node(name)
    informer = started(nodes())
    outage = sandbox.faults.add(path="/nodes$", watch=True, status=503)
    sandbox.faults.cut_watches("/nodes")
    assert outage.struck.wait(DEADLINE)
    cluster.label_node("changes", x="1")
    cluster.delete_node("goes")
    cluster.add_node("comes")
    sandbox.compact()
    sandbox.faults.clear()
    journal.wait_for("update changes", "delete goes", "add comes")
    assert len(journal.entries) == 6, journal.entries
    assert names(informer) == ["changes", "comes", "stays"]


def test_gone_in_the_middle_of_a_watch_lists_again(
    nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox, journal: Journal
) -> None:
    started(nodes())
    cluster.add_node("a")
    journal.wait_for("add a")
    lists = sandbox.faults.add(method="GET", path="/nodes$", watch=False, delay=0.001)
    sandbox.faults.expire_watches("/nodes")
    assert lists.struck.wait(DEADLINE)
    cluster.add_node("b")
    journal.wait_for("add b")
    assert journal.entries == ["add a", "add b"]


def test_bookmarks_spare_a_list_after_compaction(
    nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox, journal: Journal
) -> None:
    informer = started(nodes())
    cluster.add_node("a")
    journal.wait_for("add a")
    cluster.create(NAMESPACES.collection(), {"metadata": {"name": "elsewhere"}})
    before = informer.resource_version
    sandbox.faults.send_bookmarks("/nodes")
    wait_until(lambda: informer.resource_version != before)
    lists = sandbox.faults.add(method="GET", path="/nodes$", watch=False, delay=0.001)
    sandbox.compact()
    sandbox.faults.cut_watches("/nodes")
    cluster.add_node("b")
    journal.wait_for("add b")
    assert lists.hits == 0


def wait_until(condition: Callable[[], bool]) -> None:
    """For what has no event to wait on."""
    deadline = time.monotonic() + DEADLINE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.005)


FAULTS: dict[str, dict[str, Any]] = {
    "500": {"status": 500},
    "429": {"status": 429},
    "403": {"status": 403},
    "410": {"status": 410},
    "dropped": {"drop": "before"},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("watch", [True, False], ids=["watch", "list"])
def test_failing_requests_are_tried_again(
    nodes: MakeInformer,
    cluster: Cluster,
    sandbox: Sandbox,
    journal: Journal,
    fault: dict[str, Any],
    watch: bool,
) -> None:
    cluster.add_node("a")
    trouble = sandbox.faults.add(method="GET", path="/nodes$", watch=watch, times=3, **fault)
    started(nodes())
    wait_until(lambda: trouble.hits == 3)
    cluster.add_node("b")
    journal.wait_for("add b")
    assert journal.entries == ["add a initially", "add b"]


def test_a_token_that_expires_between_pages(nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox) -> None:
    for index in range(5):
        cluster.add_node(f"n{index}")
    sandbox.faults.add(method="GET", path="/nodes$", watch=False, skip=1, times=1, status=410)
    informer = started(nodes(page_size=2))
    assert len(informer.store) == 5


def test_trouble_is_logged_when_it_starts_and_when_it_ends(
    nodes: MakeInformer, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox.faults.add(method="GET", path="/nodes$", watch=False, times=5, status=500)
    with caplog.at_level(logging.INFO, "scheduler.client.informers"):
        started(nodes())
    first, last = caplog.messages
    assert first == "nodes: cannot list: injected fault: 500 InternalError; trying again"
    assert last == f"nodes: in touch with {sandbox.url} again"


def test_an_undecodable_object_is_named_and_skipped(
    nodes: MakeInformer, cluster: Cluster, journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    def picky(raw: msgspec.Raw) -> Node:
        node = decode(Node, raw)
        if "bad" in node.metadata.labels:
            raise ValueError("a label is bad")
        return node

    cluster.add_node("good")
    cluster.add_node("rotten", bad="1")
    informer = started(nodes(decode=picky))
    assert names(informer) == ["good"]
    cluster.label_node("good", bad="1")
    journal.wait_for("delete good")
    cluster.delete_node("rotten")
    cluster.add_node("fresh")
    journal.wait_for("add fresh")
    assert journal.entries == ["add good initially", "delete good", "add fresh"]
    assert "nodes: rotten is skipped, it does not decode: a label is bad" in caplog.messages


def test_a_handlers_bug_does_not_stop_the_others(
    nodes: MakeInformer, cluster: Cluster, journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    class Buggy(Journal):
        def on_add(self, obj: Node, initial: bool) -> None:
            raise KeyError("oops")

    informer = nodes()
    informer.add_handler(Buggy())
    started(informer)
    for name in "ab":
        cluster.add_node(name)
    journal.wait_for("add a", "add b")
    assert "nodes: a bug in Buggy: KeyError: 'oops'" in caplog.messages


def test_stopping_ends_the_thread_while_the_watch_is_silent(
    nodes: MakeInformer, cluster: Cluster, journal: Journal
) -> None:
    informer = started(nodes())
    informer.stop(DEADLINE)
    assert informer.is_stopped
    cluster.add_node("late")
    assert journal.entries == []


def test_an_informer_starts_once_and_takes_no_handler_after_that(
    nodes: MakeInformer, journal: Journal
) -> None:
    informer = started(nodes())
    with pytest.raises(RuntimeError, match="was started before"):
        informer.start()
    with pytest.raises(RuntimeError, match="before the informer starts"):
        informer.add_handler(journal)


def test_ten_thousand_objects(nodes: MakeInformer, sandbox: Sandbox, journal: Journal) -> None:
    sandbox.load(
        [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i:05}"}} for i in range(10_000)]
    )
    informer = started(nodes())
    assert len(informer.store) == 10_000
    assert len(set(journal.entries)) == 10_000
    assert journal.entries[0] == "add n00000 initially"


def test_a_set_waits_for_all_and_names_the_missing(nodes: MakeInformer, sandbox: Sandbox) -> None:
    hold = sandbox.faults.add(path="/nodes$", status=503)
    informers = InformerSet([nodes()])
    informers.start()
    assert hold.struck.wait(DEADLINE)
    assert not informers.wait_for_sync(0.0)
    assert informers.unsynced() == ["nodes"]
    sandbox.faults.clear()
    assert informers.wait_for_sync(DEADLINE)
    assert informers.unsynced() == []
    informers.stop()


def test_a_server_that_is_down_at_start_and_restarts_while_running(journal: Journal) -> None:
    with Sandbox(port=0) as probe:
        url = probe.url
    port = urlsplit(url).port or 0
    client = Rest(load_access(master=url), user_agent="t", qps=-1)
    informer = Informer(client, NODES, lambda raw: decode(Node, raw), backoff=Backoff(0.01, 0.02))
    informer.add_handler(journal)
    informer.start()
    assert not informer.wait_for_sync(0.05)
    with Sandbox(port=port):
        cluster = Cluster(client)
        for name in ("a", "b", "c"):
            cluster.add_node(name)
        journal.wait_for_count(3)
    with Sandbox(port=port):
        cluster.add_node("b")
        journal.wait_for("delete a", "delete c", "update b")
    informer.stop()
    assert names(informer) == ["b"]


def test_newcomers_join_once_they_have_synced(nodes: MakeInformer, cluster: Cluster) -> None:
    cluster.add_node("a")
    first, second = nodes(), nodes()
    together = InformerSet([first])
    together.start()
    assert together.wait_for_sync(DEADLINE)
    assert together.join([second], give_up=lambda: False) == []
    assert names(second) == ["a"]
    together.stop()
    assert second.is_stopped


def test_newcomers_that_do_not_sync_are_not_taken(
    nodes: MakeInformer, sandbox: Sandbox, cluster: Cluster
) -> None:
    first, second = nodes(), nodes()
    together = InformerSet([first])
    together.start()
    assert together.wait_for_sync(DEADLINE)
    sandbox.faults.add(path=NODES.collection(), status=403)
    assert together.join([second], give_up=lambda: True) == ["nodes"]
    assert second.is_stopped
    assert together.unsynced() == []
    together.stop()


def test_newcomers_of_a_set_that_is_not_started_start_with_it(nodes: MakeInformer, cluster: Cluster) -> None:
    first, second = nodes(), nodes()
    together = InformerSet([first])
    assert together.join([second], give_up=lambda: True) == []
    assert not second.has_synced
    together.start()
    assert together.wait_for_sync(DEADLINE)
    together.stop()
