"""Requests, ports, taints, selectors and images."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import make_pod
from tests.conformance.surprises.world import Document, ask, node, pending, reason, running

TAINTED = "0/1 nodes are available: 1 node(s) had untolerated taint(s)"


def test_init_containers_count_after_they_have_ended() -> None:
    """124282: the pod holds what its init container asked for as long as it lives."""
    done = running("r", "n1", cpu="30m").init_req(cpu="3")
    found = ask(pending().req(cpu="30m").init_req(cpu="3"), node("n1", cpu="3500m"), done)
    assert reason(found) == "0/1 nodes are available: 1 Insufficient cpu"


@pytest.mark.parametrize(("cpu", "fits"), [("3500m", True), ("3400m", False)])
def test_sidecars_run_beside_what_starts_after_them(cpu: str, fits: bool) -> None:
    """127868: 1.5 of the sidecar with 2 of the init container that follows it, not the larger of both."""
    pod = pending().sidecar_req(cpu="1500m").init_req(cpu="2").req(cpu="1")
    assert ("feasible" in ask(pod, node("n1", cpu=cpu))) is fits


def test_a_pod_that_asks_for_nothing_goes_to_a_full_node() -> None:
    """17453"""
    assert ask(pending().req(cpu="0"), node("n1", cpu="1"), running("r", "n1", cpu="1"))["feasible"] == ["n1"]


def test_a_resize_that_is_put_off_holds_its_room() -> None:
    """135107: what is wanted counts, and what is held; an infeasible wish does not."""
    resources = {"name": "c0", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}
    for why, fits in (("Deferred", False), ("Infeasible", True)):
        condition = {"type": "PodResizePending", "status": "True", "reason": why}
        resized = running("r", "n1", cpu="3").status(containerStatuses=[resources], conditions=[condition])
        assert ("feasible" in ask(pending().req(cpu="1"), node("n1", cpu="3500m"), resized)) is fits


def test_a_node_that_reports_no_ephemeral_storage_has_none() -> None:
    """63190"""
    found = ask(pending().req({"ephemeral-storage": "2Mi"}), node("n1"))
    assert reason(found) == "0/1 nodes are available: 1 Insufficient ephemeral-storage"


def test_none_of_a_resource_that_no_node_has_is_no_problem() -> None:
    assert ask(pending().req({"example.com/foo": "0"}), node("n1"))["feasible"] == ["n1"]


PORTS: list[Any] = [
    pytest.param(("TCP", "10.1.1.1"), ("TCP", "10.1.1.2"), True, id="51950: other addresses"),
    pytest.param(("UDP", ""), ("TCP", ""), True, id="5874: other protocols"),
    pytest.param(("TCP", "127.0.0.1"), ("TCP", ""), False, id="all addresses are any of them"),
    pytest.param(("TCP", "::"), ("TCP", "0.0.0.0"), False, id="of IPv4 only"),  # noqa: S104
]


@pytest.mark.parametrize(("taken", "wanted", "fits"), PORTS)
def test_host_ports(taken: tuple[str, str], wanted: tuple[str, str], fits: bool) -> None:
    found = ask(
        pending().host_port(8080, *wanted), node("n1"), make_pod("r").host_port(8080, *taken).node("n1")
    )
    assert ("feasible" in found) is fits


TOLERATIONS: list[Any] = [
    pytest.param({"key": "other", "operator": "Exists"}, False, id="52400: another key"),
    pytest.param({"operator": "Exists"}, True, id="everything"),
    pytest.param({"operator": "Exists", "effect": "NoExecute"}, False, id="everything of another effect"),
    pytest.param({"key": "a", "operator": "Equal"}, False, id="equal to no value"),
    pytest.param({"key": "a", "operator": "Exists", "value": "x"}, True, id="whatever the value"),
    pytest.param({"key": "a", "value": "b"}, True, id="equal by default"),
    pytest.param(
        {"key": "a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 0}, False, id="effect"
    ),
]


@pytest.mark.parametrize(("toleration", "fits"), TOLERATIONS)
def test_tolerations(toleration: Document, fits: bool) -> None:
    found = ask(pending().spec(tolerations=[toleration]), node("n1").taint("a", "b"))
    assert fits == ("feasible" in found)
    assert fits or reason(found) == TAINTED


def test_a_cordoned_node_may_be_tolerated() -> None:
    toleration = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    assert ask(pending().spec(tolerations=[toleration]), node("n1").unschedulable())["feasible"] == ["n1"]


TERMS: list[Any] = [
    pytest.param([{}], [], id="an empty term: no node"),
    pytest.param(
        [{"matchExpressions": [{"key": "gpu", "operator": "NotIn", "values": ["a"]}]}], ["n2"], id="no label"
    ),
    pytest.param(
        [{"matchExpressions": [{"key": "gpu", "operator": "Gt", "values": ["1"]}]}], [], id="no number"
    ),
    pytest.param(
        [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
            for name in ("n1", "n2")
        ],
        ["n1", "n2"],
        id="either of two nodes",
    ),
]


@pytest.mark.parametrize(("terms", "feasible"), TERMS)
def test_node_affinity(terms: list[Document], feasible: list[str]) -> None:
    found = ask(pending().node_affinity(*terms), node("n1").label("gpu", "a"), node("n2"))
    assert found.get("feasible", []) == feasible


def test_a_daemon_pod_of_a_node_that_is_gone() -> None:
    """71466"""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}
    found = ask(pending().node_affinity(term), node("n1"))
    assert found["preFilter"]["nodeNames"] == ["gone"]
    assert reason(found) == "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]"


IMAGES: list[Any] = [
    pytest.param("nginx", "nginx:latest", 100, id="no tag is latest"),
    pytest.param("nginx:1", "docker.io/library/nginx:1", 0, id="112699: a short name is no long one"),
    pytest.param("app:1", "app:1", 18, id="on one of three nodes a third of its size"),
]


@pytest.mark.parametrize(("wanted", "there", "score"), IMAGES)
def test_images(wanted: str, there: str, score: int) -> None:
    """124392: small images count for nothing, and where few nodes have one, it counts for little."""
    size = 3 * 1024**3 if score == 100 else 600 * 1024**2
    found = ask(pending().image(wanted), node("n1").image(there, size=size), node("n2"), node("n3"))
    assert found["scores"]["n1"]["ImageLocality"] == score
