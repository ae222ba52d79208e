"""The nominator: one nomination per pod, and the right one."""

from __future__ import annotations

from scheduler.backend.nominator import Nominator
from scheduler.framework.pods import PodInfo
from tests.builders import make_pod


def names(nominator: Nominator, node: str) -> list[str]:
    return [info.pod.metadata.name for info in nominator.nominated_on(node)]


def pod(name: str = "p", nominated: str = "") -> PodInfo:
    return make_pod(name).nominated(nominated).info()


def test_pods_are_nominated_where_the_scheduler_says_or_their_status() -> None:
    nominator = Nominator()
    nominator.add(pod("p", nominated="b"), "a")
    nominator.add(pod("q", nominated="a"))
    nominator.add(pod("r"))
    assert names(nominator, "a") == ["p", "q"]
    assert set(nominator.nodes_with_nominations) == {"a"}
    assert len(nominator) == 2


def test_a_new_nomination_replaces_the_old_one() -> None:
    nominator = Nominator()
    nominator.add(pod(), "a")
    nominator.add(pod(), "b")
    assert (names(nominator, "a"), names(nominator, "b")) == ([], ["p"])
    nominator.add(pod(nominated="b"), "")
    assert len(nominator) == 0
    assert not nominator.nodes_with_nominations


def test_deleting_is_by_uid_and_idempotent() -> None:
    nominator = Nominator()
    nominator.add(pod(), "a")
    nominator.delete(pod().uid)
    nominator.delete(pod().uid)
    assert names(nominator, "a") == []
    assert nominator.node_of(pod().uid) == ""


def test_an_update_from_before_the_nomination_was_known_keeps_it() -> None:
    nominator = Nominator()
    nominator.add(pod(), "a")
    newer = pod()
    nominator.update(pod().pod, newer)
    assert nominator.nominated_on("a") == (newer,)


def test_otherwise_the_status_decides() -> None:
    nominator = Nominator()
    nominator.add(pod(), "a")
    nominator.update(pod().pod, pod(nominated="b"))
    assert nominator.node_of(pod().uid) == "b"
    nominator.update(pod(nominated="b").pod, pod(nominated="c"))
    assert nominator.node_of(pod().uid) == "c"
    nominator.update(pod(nominated="c").pod, pod())
    assert nominator.node_of(pod().uid) == ""
