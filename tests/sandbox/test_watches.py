"""Watches: history, selectors, bookmarks, ends."""

from __future__ import annotations

import http.client

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Rest, Watcher, labelled, node, pod


def test_without_a_version_the_state_comes_first(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod("a"), pod("b")])
    with Watcher(sandbox.url, PODS) as watch:
        assert watch.summary(2) == [("ADDED", "a"), ("ADDED", "b")]
        rest.patch(f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}})
        rest.delete(f"{PODS}/b")
        assert watch.summary(3) == [("MODIFIED", "a"), ("MODIFIED", "b"), ("DELETED", "b")]


def test_from_a_version_history_is_replayed(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod("a")])
    version = rest.get(PODS).body["metadata"]["resourceVersion"]
    sandbox.load([node(), pod("b")])
    rest.delete(f"{PODS}/a")
    with Watcher(sandbox.url, PODS, resourceVersion=version) as watch:
        events = watch.take(3)
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
        ("ADDED", "b"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
    ]
    assert int(events[0]["object"]["metadata"]["resourceVersion"]) < int(
        events[1]["object"]["metadata"]["resourceVersion"]
    )


def test_objects_enter_and_leave_a_selection(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([labelled("a", app="web")])
    with Watcher(sandbox.url, PODS, labelSelector="app=db") as watch:
        rest.patch(f"{PODS}/a", {"metadata": {"labels": {"app": "db"}}})
        rest.patch(f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}})
        left = rest.patch(f"{PODS}/a", {"metadata": {"labels": {"app": "web"}}}).body
        events = watch.take(3)
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert events[2]["object"]["metadata"]["labels"]["app"] == "db"
    assert events[2]["object"]["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]


def test_field_selectors_see_a_binding(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod("a")])
    with Watcher(sandbox.url, PODS, fieldSelector="spec.nodeName=") as unassigned:
        assert unassigned.summary(1) == [("ADDED", "a")]
        rest.post(f"{PODS}/a/binding", {"target": {"name": "n1"}})
        assert unassigned.summary(1) == [("DELETED", "a")]


def test_a_single_object_and_another_namespace(sandbox: Sandbox, rest: Rest) -> None:
    with Watcher(sandbox.url, PODS, fieldSelector="metadata.name=b") as watch:
        sandbox.load(
            [pod("a"), {**pod("b"), "metadata": {"name": "b", "namespace": "kube-system"}}, pod("b")]
        )
        assert watch.take(1)[0]["object"]["metadata"]["namespace"] == "default"


def test_too_old_versions_are_gone(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod("a")])
    version = rest.get(PODS).body["metadata"]["resourceVersion"]
    sandbox.load([pod("b")])
    sandbox.compact()
    with Watcher(sandbox.url, PODS, resourceVersion=version) as watch:
        events = list(watch)
    assert [(event["type"], event["object"]["code"], event["object"]["reason"]) for event in events] == [
        ("ERROR", 410, "Expired")
    ]


def test_a_small_window_forgets(rest: Rest) -> None:
    with Sandbox(history=3) as small, Rest(small.url) as client:
        version = client.get(NODES).body["metadata"]["resourceVersion"]
        small.load([node(f"n{number}") for number in range(5)])
        with Watcher(small.url, NODES, resourceVersion=version) as watch:
            assert watch.take(1)[0]["object"]["code"] == 410


def test_the_future_cannot_be_watched(rest: Rest) -> None:
    assert rest.get(PODS, watch="true", resourceVersion="999999").status == 504


def test_timeout_ends_properly(sandbox: Sandbox) -> None:
    with Watcher(sandbox.url, PODS, timeoutSeconds=1) as watch:
        assert list(watch) == []


def test_bookmarks_only_for_those_who_allow_them(sandbox: Sandbox, rest: Rest) -> None:
    with (
        Watcher(sandbox.url, PODS, allowWatchBookmarks="true") as allowed,
        Watcher(sandbox.url, PODS) as plain,
    ):
        sandbox.load([node()])
        sandbox.faults.send_bookmarks()
        bookmark = allowed.take(1)[0]
        version = rest.get(PODS).body["metadata"]["resourceVersion"]
        assert (bookmark["type"], bookmark["object"]["metadata"]["resourceVersion"]) == ("BOOKMARK", version)
        sandbox.load([pod("a")])
        assert plain.summary(1) == [("ADDED", "a")]


def test_a_streamed_list_ends_with_its_mark(sandbox: Sandbox) -> None:
    sandbox.load([pod("a")])
    query = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    with Watcher(sandbox.url, PODS, **query) as watch:
        added, mark = watch.take(2)
    assert added["type"] == "ADDED"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_streamed_list_needs_its_match(rest: Rest) -> None:
    assert rest.get(PODS, watch="true", sendInitialEvents="true").status == 422


def test_watchers_of_tables_get_rows(sandbox: Sandbox) -> None:
    sandbox.load([pod("a")])
    with Watcher(sandbox.url, PODS, accept="application/json;as=Table;v=v1;g=meta.k8s.io") as watch:
        first = watch.take(1)[0]["object"]
        sandbox.load([pod("b")])
        second = watch.take(1)[0]["object"]
    assert (first["kind"], first["rows"][0]["cells"][0]) == ("Table", "a")
    assert (bool(first["columnDefinitions"]), second["columnDefinitions"]) == (True, None)


def test_many_watchers_see_the_same(sandbox: Sandbox) -> None:
    watchers = [Watcher(sandbox.url, PODS) for _ in range(20)]
    sandbox.load([pod(f"p{number}") for number in range(50)])
    expected = [("ADDED", f"p{number}") for number in range(50)]
    for watch in watchers:
        with watch:
            assert watch.summary(50) == expected


@pytest.mark.parametrize("abort", [True, False], ids=["dropped", "ended"])
def test_watches_can_be_cut(sandbox: Sandbox, abort: bool) -> None:
    with Watcher(sandbox.url, PODS) as pods, Watcher(sandbox.url, NODES) as nodes:
        sandbox.faults.cut_watches("/pods$", abort=abort)
        if abort:
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                pods.response.read()
        else:
            assert pods.response.read() == b""
        sandbox.load([node()])
        assert nodes.summary(1) == [("ADDED", "n1")]


def test_watches_can_expire(sandbox: Sandbox) -> None:
    with Watcher(sandbox.url, PODS) as watch:
        sandbox.faults.expire_watches()
        assert [event["object"]["code"] for event in watch] == [410]


def test_a_reader_that_falls_behind_is_dropped(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler.sandbox.wire.http.MAX_BACKLOG", 1 << 16)
    with Watcher(sandbox.url, PODS) as asleep:
        for number in range(150):
            big = pod(f"p{number}")
            big["metadata"]["annotations"] = {"filler": "x" * 200_000}
            sandbox.load([big])
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            asleep.response.read()


def test_stopping_ends_watches_and_may_be_repeated() -> None:
    sandbox = Sandbox().start()
    with Watcher(sandbox.url, PODS) as watch:
        sandbox.stop()
        sandbox.stop()
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            watch.response.read()
