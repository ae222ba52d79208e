"""Nothing is missed, whatever happens to the connection: a writer, a saboteur, and an informer that must end up equal."""

import random
import threading

import pytest

from scheduler.apis.objects.decode import decode
from scheduler.apis.objects.node import Node
from scheduler.client.backoff import Backoff
from scheduler.client.informers import Informer
from scheduler.client.resources import NODES
from scheduler.client.rest import Rest
from scheduler.client.wire import parse_page
from scheduler.sandbox import Sandbox
from tests.client.conftest import DEADLINE, Cluster, Journal, MakeInformer

NAMES = tuple(f"n{index}" for index in range(12))


class Mirror:
    """Rebuilds the cluster from what it is told, and notes every impossible step."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}
        self.impossible: list[str] = []
        self._changed = threading.Condition()

    def on_add(self, obj: Node, initial: bool) -> None:
        if obj.metadata.name in self.versions:
            self.impossible.append(f"added twice: {obj.metadata.name}")
        self._set(obj)

    def on_update(self, old: Node, new: Node) -> None:
        if self.versions.get(old.metadata.name) != old.metadata.resource_version:
            self.impossible.append(f"updated from a state never told: {old.metadata.name}")
        self._set(new)

    def on_delete(self, obj: Node) -> None:
        with self._changed:
            if self.versions.pop(obj.metadata.name, None) is None:
                self.impossible.append(f"deleted unknown: {obj.metadata.name}")
            self._changed.notify_all()

    def _set(self, obj: Node) -> None:
        with self._changed:
            self.versions[obj.metadata.name] = obj.metadata.resource_version
            self._changed.notify_all()

    def wait_until_equal(self, versions: dict[str, str]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.versions == versions, DEADLINE)
        assert self.versions == versions


def change_something(rng: random.Random, cluster: Cluster, alive: set[str]) -> None:
    name = rng.choice(NAMES)
    if name not in alive:
        cluster.add_node(name)
        alive.add(name)
    elif rng.random() < 0.3:
        cluster.delete_node(name)
        alive.discard(name)
    else:
        cluster.label_node(name, step=str(rng.random()))


def sabotage(rng: random.Random, sandbox: Sandbox) -> None:
    match rng.randrange(7):
        case 0:
            sandbox.faults.cut_watches("/nodes")
        case 1:
            sandbox.faults.cut_watches("/nodes", abort=False)
        case 2:
            sandbox.faults.expire_watches("/nodes")
        case 3:
            sandbox.compact()
            sandbox.faults.cut_watches("/nodes")
        case 4:
            sandbox.faults.add(method="GET", path="/nodes$", status=rng.choice([410, 429, 500]), times=2)
            sandbox.faults.cut_watches("/nodes")
        case 5:
            sandbox.faults.add(method="GET", path="/nodes$", drop="before", times=2)
            sandbox.faults.cut_watches("/nodes")
        case _:
            sandbox.faults.send_bookmarks("/nodes")


@pytest.mark.parametrize("seed", range(4))
def test_the_copy_converges_and_every_step_was_possible(sandbox: Sandbox, rest: Rest, seed: int) -> None:
    rng = random.Random(seed)
    cluster, mirror, alive = Cluster(rest), Mirror(), set[str]()
    informer = Informer(
        rest, NODES, lambda raw: decode(Node, raw), page_size=3, backoff=Backoff(0.001, 0.004)
    )
    informer.add_handler(mirror)
    informer.start()
    for _ in range(150):
        change_something(rng, cluster, alive)
        if rng.random() < 0.2:
            sabotage(rng, sandbox)
    sandbox.faults.clear()
    page = parse_page(rest.request("GET", NODES.collection()).body)
    nodes = [decode(Node, raw) for raw in page.items]
    mirror.wait_until_equal({node.metadata.name: node.metadata.resource_version for node in nodes})
    informer.stop()
    assert mirror.impossible == []
    assert {node.metadata.name: node.metadata.resource_version for node in informer.store} == mirror.versions


def test_compaction_between_pages(nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox) -> None:
    for name in NAMES:
        cluster.add_node(name)
    second_page = sandbox.faults.add(method="GET", path="/nodes$", watch=False, skip=1, times=1, delay=0.05)
    informer = nodes(page_size=4)
    informer.start()
    assert second_page.struck.wait(DEADLINE)
    cluster.delete_node("n0")
    sandbox.compact()
    assert informer.wait_for_sync(DEADLINE)
    sandbox.faults.cut_watches("/nodes")
    cluster.add_node("last")
    wait_for_names(informer, {*NAMES, "last"} - {"n0"})


def wait_for_names(informer: Informer[Node], names: set[str]) -> None:
    pause = threading.Event()
    for _ in range(int(DEADLINE / 0.01)):
        if {node.metadata.name for node in informer.store} == names:
            return
        pause.wait(0.01)
    assert {node.metadata.name for node in informer.store} == names


def test_stopping_while_a_page_is_slow(
    nodes: MakeInformer, cluster: Cluster, sandbox: Sandbox, journal: Journal
) -> None:
    cluster.add_node("a")
    slow = sandbox.faults.add(method="GET", path="/nodes$", delay=0.3)
    informer = nodes()
    informer.start()
    assert slow.struck.wait(DEADLINE)
    informer.stop(DEADLINE)
    assert informer.is_stopped
    assert journal.entries == []


def test_all_connections_drop_at_once(nodes: MakeInformer, sandbox: Sandbox, journal: Journal) -> None:
    informer = nodes()
    informer.start()
    assert informer.wait_for_sync(DEADLINE)
    for name in NAMES:
        sandbox.drop_connections()
        sandbox.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    journal.wait_for(*(f"add {name}" for name in NAMES))
    assert len(journal.entries) == len(NAMES)
