"""What-ifs: pods are put on one node or taken off it, and the counts follow without counting again."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from tests.builders import PodBuilder
from tests.plugins.harness import table
from tests.plugins.pod_topology_spread.world import (
    HOSTNAME,
    ZONE,
    cluster,
    hard,
    host,
    make_spread,
    put,
    spread,
    web,
)

ZONES = {"a1": "a", "a2": "a", "b1": "b"}


class Thought:
    """One node in a what-if."""

    def __init__(self, pod: PodBuilder, nodes: NodeTable, name: str) -> None:
        self.plugin = make_spread()
        self.nodes = nodes
        self.attempt = Cycle(pod.info())
        assert self.plugin.pre_filter(self.attempt, nodes) is None
        self.cycle = self.attempt.clone()
        self.there = nodes.take(nodes.rows_of([name]))

    def add(self, *pods: PodBuilder) -> Thought:
        for pod in pods:
            assert self.plugin.add_pod(self.cycle, pod.info(), self.there, 0) is None
        return self

    def remove(self, *pods: PodBuilder) -> Thought:
        for pod in pods:
            assert self.plugin.remove_pod(self.cycle, pod.info(), self.there, 0) is None
        return self

    @property
    def fits(self) -> bool:
        return self.plugin.filter(self.cycle, self.there) is None

    @property
    def rejected_in_the_attempt(self) -> list[str]:
        found = self.plugin.filter(self.attempt, self.nodes)
        return (
            []
            if found is None
            else [self.nodes.names[row] for row in np.flatnonzero(found.rejected).tolist()]
        )


def test_a_victim_makes_room() -> None:
    thought = Thought(spread(hard()), cluster(ZONES, {"a1": 1}), "a1")
    assert not thought.fits
    assert thought.remove(web()).fits
    assert not thought.add(web()).fits
    assert thought.rejected_in_the_attempt == ["a1", "a2"]


def test_a_pod_that_comes_to_the_emptiest_domain_raises_the_floor() -> None:
    thought = Thought(spread(hard(skew=2)), cluster(ZONES, {"a1": 1}), "b1")
    assert thought.add(web("x"), web("y")).fits
    assert not thought.add(web("z")).fits


def test_the_emptiest_domain_is_found_again_when_another_one_becomes_it() -> None:
    nodes = cluster({"a1": "a", "b1": "b", "c1": "c"}, {"a1": 3, "b1": 3, "c1": 3})
    thought = Thought(spread(hard()), nodes, "a1")
    assert thought.fits
    assert not thought.add(web("x")).fits
    assert thought.remove(web("x"), web("y"), web("z")).fits
    assert not thought.add(web("y"), web("z"), web("w")).fits


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(web("x", "elsewhere"), id="another namespace"),
        pytest.param(web("x").label("app", "db"), id="other labels"),
    ],
)
def test_pods_that_do_not_count_change_nothing(other: PodBuilder) -> None:
    assert Thought(spread(hard()), cluster(ZONES, {"b1": 1}), "a1").add(other, other).fits


def test_a_pod_on_a_node_that_does_not_count_changes_nothing() -> None:
    nodes = table(host("a1", "a"), host("t1", "t").taint("gpu"))
    for policy, fits in (("Honor", True), ("Ignore", False)):
        thought = Thought(spread(hard(HOSTNAME, nodeTaintsPolicy=policy)), nodes, "t1")
        assert thought.add(web("x"), web("y")).fits is fits


def test_each_constraint_counts_for_itself() -> None:
    other = {"matchLabels": {"app": "db"}}
    pod = spread(hard(selector=other), hard(HOSTNAME, selector=other), hard(ZONE, 2))
    thought = Thought(pod, cluster(ZONES, {"a1": 1}), "a2")
    assert thought.fits
    assert not thought.add(web("x"), web("y")).fits
    assert thought.remove(web("x"), web("y")).add(web("z").label("app", "db")).fits
    assert not thought.add(web("w").label("app", "db")).fits


def test_a_victim_that_is_being_deleted_is_taken_off_though_it_was_not_counted() -> None:
    nodes = cluster(ZONES, {"a1": 2, "b1": 1})
    dying = web("dying").metadata(deletionTimestamp="2026-01-01T00:00:00Z")
    put(nodes, "a1", dying)
    assert Thought(spread(hard()), nodes, "a1").remove(dying).fits
