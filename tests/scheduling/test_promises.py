"""Room that another scheduler promised counts for whoever judges on its behalf, and not in the loop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    made.put(make_node("n").capacity(cpu="4"))
    yield made
    made.close()


def foreign(name: str = "theirs") -> PodBuilder:
    return make_pod(name).req(cpu="4").priority(9).spec(schedulerName="another-scheduler")


def promised(desk: Desk) -> list[str]:
    with desk.scheduler.current() as state:
        nodes = list(state.nominated.nodes_with_nominations)
        return [pod.pod.metadata.name for node in nodes for pod in state.nominated.nominated_on(node)]


def test_a_promise_comes_with_the_pod_or_with_its_status(desk: Desk) -> None:
    desk.put(foreign("at-once").nominated("n"), foreign("later"))
    assert promised(desk) == ["at-once"]
    desk.put(foreign("later").nominated("n"))
    assert sorted(promised(desk)) == ["at-once", "later"]


def test_a_promise_ends_with_the_pod_its_nomination_or_its_arrival(desk: Desk) -> None:
    names = ("gone", "withdrawn", "arrived")
    desk.put(*(foreign(name).nominated("n") for name in names))
    assert sorted(promised(desk)) == sorted(names)
    desk.remove("gone")
    desk.put(foreign("withdrawn"), foreign("arrived").nominated("n").node("n"))
    assert promised(desk) == []


def test_the_loop_does_not_count_it(desk: Desk) -> None:
    desk.put(foreign().nominated("n"), make_pod("ours").req(cpu="4").spec(schedulerName="default-scheduler"))
    desk.run_until(lambda: desk.ledger.bound)
    assert desk.cluster.counts()["pods"] == 1
