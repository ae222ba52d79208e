"""A refused pod is tried again when what its plugins waited for happens, and not before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk

FEATURE = "RestartAllContainersOnContainerExits"


def node(name: str = "n1") -> NodeBuilder:
    return make_node(name).capacity(cpu="4")


def needy() -> PodBuilder:
    """A pod that needs a declared feature."""
    rule = {"action": "RestartAllContainers"}
    container = {"name": "c", "image": "app", "restartPolicyRules": [rule]}
    return make_pod("p").spec(schedulerName="default-scheduler", containers=[container])


@pytest.fixture
def refused(desk: Callable[..., Desk]) -> Desk:
    """A pod that no node suited was refused, and its back-off is over."""
    made = desk()
    made.put(node(), needy())
    made.step()
    made.time += 60
    assert made.queue.pending_counts()["unschedulable"] == 1
    return made


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(node().status(declaredFeatures=[FEATURE]), id="the node declares it"),
        pytest.param(node("n2").status(declaredFeatures=[FEATURE]), id="a node that has it comes"),
    ],
)
def test_a_pod_waits_for_a_feature(refused: Desk, happens: NodeBuilder) -> None:
    refused.put(happens)
    refused.run_until(lambda: refused.ledger.bound)
    assert refused.ledger.bound[0][0] == "p"


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(node().label("a", "b"), id="the node gets a label"),
        pytest.param(make_pod("other").node("n1").label("a", "b"), id="another pod runs"),
        pytest.param(needy().label("a", "b"), id="its own label, the same needs"),
    ],
)
def test_a_pod_does_not_wake_for_less(refused: Desk, happens: NodeBuilder | PodBuilder) -> None:
    refused.put(happens)
    refused.step()
    assert refused.queue.pending_counts()["unschedulable"] == 1
