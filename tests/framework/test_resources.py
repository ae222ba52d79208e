"""What pods request: containers, init containers, sidecars, overhead, the pod as a whole, and resizes in place."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.quantity import QuantityError
from scheduler.framework.pods import PodInfo
from scheduler.framework.resource_names import is_counted, is_extended, is_scalar
from scheduler.framework.resources import nonzero_requests, pod_requests
from tests.builders import PodBuilder, make_pod

MB = 1024 * 1024


def _resized(reason: str = "", **status: Any) -> PodBuilder:
    """A pod that wants 2 cpus; its status as given, its resize pending for the reason given."""
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    return make_pod().req(cpu="2").status(conditions=conditions, **status)


def _container_status(name: str = "c0", requests: Any = None, allocated: Any = None) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests or {}}, "allocatedResources": allocated or {}}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(), {}, id="no containers"),
        pytest.param(
            make_pod().req(cpu="1", memory="1Gi"), {"cpu": 1000, "memory": 1 << 30}, id="one container"
        ),
        pytest.param(make_pod().req(cpu="1").req(cpu="250m"), {"cpu": 1250}, id="containers add up"),
        pytest.param(
            make_pod().req(cpu="100u").req(cpu="900u"), {"cpu": 1}, id="rounded up once, at the end"
        ),
        pytest.param(make_pod().req(memory="0.5").req(memory="0.5"), {"memory": 1}, id="half bytes add up"),
        pytest.param(
            make_pod().req(cpu="1").init_req(cpu="3").init_req(cpu="2"),
            {"cpu": 3000},
            id="the largest init container",
        ),
        pytest.param(
            make_pod().req(cpu="1", memory="2Gi").init_req(cpu="3", memory="1Gi"),
            {"cpu": 3000, "memory": 2 << 30},
            id="each resource by itself",
        ),
        pytest.param(
            make_pod().req(cpu="1").sidecar_req(cpu="500m"),
            {"cpu": 1500},
            id="a sidecar runs beside the containers",
        ),
        pytest.param(
            make_pod().req(cpu="1").sidecar_req(cpu="500m").init_req(cpu="2"),
            {"cpu": 2500},
            id="an init container after a sidecar runs beside it",
        ),
        pytest.param(
            make_pod().req(cpu="1").init_req(cpu="2").sidecar_req(cpu="500m"),
            {"cpu": 2000},
            id="an init container before a sidecar does not",
        ),
        pytest.param(
            make_pod().req(cpu="1").spec(overhead={"cpu": "250m", "memory": "1"}),
            {"cpu": 1250, "memory": 1},
            id="overhead comes on top",
        ),
        pytest.param(
            make_pod().req(
                {"example.com/gpu": 2, "hugepages-2Mi": "4Mi", "kubernetes.io/x": 1, "pods": 1, "plain": 3}
            ),
            {"example.com/gpu": 2, "hugepages-2Mi": 4 * MB, "kubernetes.io/x": 1},
            id="only resources that count",
        ),
    ],
)
def test_requests(pod: PodBuilder, expected: dict[str, int]) -> None:
    assert pod_requests(pod.obj(), use_status=False) == expected


@pytest.mark.parametrize(
    ("pod_level", "expected"),
    [
        pytest.param(
            {"requests": {"cpu": "4"}},
            {"cpu": 4250, "memory": 1 << 30},
            id="replaces what containers add up to",
        ),
        pytest.param({"requests": {"cpu": "1m"}}, {"cpu": 251, "memory": 1 << 30}, id="also when it is less"),
        pytest.param(
            {"requests": {"example.com/gpu": 1}},
            {"cpu": 2250, "memory": 1 << 30},
            id="not for other resources",
        ),
        pytest.param({"limits": {"cpu": "4"}}, {"cpu": 2250, "memory": 1 << 30}, id="limits are no requests"),
    ],
)
def test_requests_of_the_pod_as_a_whole(pod_level: dict[str, Any], expected: dict[str, int]) -> None:
    pod = make_pod().req(cpu="2", memory="1Gi").spec(resources=pod_level, overhead={"cpu": "250m"}).obj()
    assert pod_requests(pod, use_status=False) == expected
    assert pod_requests(pod, use_status=False, pod_level=False) == {"cpu": 2250, "memory": 1 << 30}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(_resized(), 2000, id="no status"),
        pytest.param(
            _resized(containerStatuses=[_container_status(requests={"cpu": "3"})]),
            3000,
            id="what it still has",
        ),
        pytest.param(
            _resized(containerStatuses=[_container_status(allocated={"cpu": "4"})]),
            4000,
            id="what it was allocated",
        ),
        pytest.param(
            _resized(containerStatuses=[_container_status(requests={"cpu": "1"})]),
            2000,
            id="what it asks for",
        ),
        pytest.param(
            _resized("Deferred", containerStatuses=[_container_status(requests={"cpu": "1"})]),
            2000,
            id="deferred: it will get it",
        ),
        pytest.param(
            _resized("Infeasible", containerStatuses=[_container_status(requests={"cpu": "1"})]),
            1000,
            id="infeasible: it will not",
        ),
        pytest.param(
            _resized("Infeasible", containerStatuses=[{"name": "c0", "allocatedResources": {"cpu": "9"}}]),
            2000,
            id="a status without resources says nothing",
        ),
        pytest.param(
            _resized(containerStatuses=[_container_status("other", requests={"cpu": "9"})]),
            2000,
            id="of another container",
        ),
    ],
)
def test_a_resize_in_place_counts_for_pods_on_nodes(pod: PodBuilder, expected: int) -> None:
    assert pod_requests(pod.obj(), use_status=True) == {"cpu": expected}
    assert pod_requests(pod.obj(), use_status=False) == {"cpu": 2000}


def test_a_resized_sidecar_counts_and_a_resized_init_container_does_not() -> None:
    statuses = [_container_status(name, requests={"cpu": "5"}) for name in ("i0", "i1")]
    pod = (
        make_pod().req(cpu="1").sidecar_req(cpu="1").init_req(cpu="1").status(initContainerStatuses=statuses)
    )
    assert pod_requests(pod.obj(), use_status=True) == {"cpu": 6000}


def test_a_resize_of_the_pod_as_a_whole() -> None:
    pod = make_pod().req(cpu="1").spec(resources={"requests": {"cpu": "2", "memory": "1Gi"}})
    pod.status(resources={"requests": {"cpu": "3"}}, allocatedResources={"cpu": "4"})
    assert pod_requests(pod.obj(), use_status=True) == {"cpu": 4000, "memory": 1 << 30}
    infeasible = pod.status(conditions=[{"type": "PodResizePending", "reason": "Infeasible"}]).obj()
    assert pod_requests(infeasible, use_status=True) == {"cpu": 4000, "memory": 0}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(), (0, 0), id="no containers"),
        pytest.param(make_pod().req(), (100, 200 * MB), id="nothing requested"),
        pytest.param(make_pod().req(cpu="0", memory="0"), (0, 0), id="zero is a request"),
        pytest.param(make_pod().req(cpu="1").req(memory="1"), (1100, 200 * MB + 1), id="by container"),
        pytest.param(
            make_pod().req(cpu="1", memory="1").init_req(), (1000, 200 * MB), id="init containers too"
        ),
        pytest.param(
            make_pod().req().spec(resources={"requests": {"cpu": "1"}}),
            (1000, 200 * MB),
            id="what the pod as a whole leaves open",
        ),
        pytest.param(
            make_pod().req(memory="5").req().spec(resources={"requests": {"cpu": "1"}}),
            (1000, 5),
            id="what some container names is not missing",
        ),
        pytest.param(
            make_pod().req().spec(resources={"requests": {"cpu": "1"}}, overhead={"memory": "7"}),
            (1000, 7),
            id="nor what the overhead names",
        ),
    ],
)
def test_nonzero_requests(pod: PodBuilder, expected: tuple[int, int]) -> None:
    assert nonzero_requests(pod.obj(), use_status=True) == expected


def test_an_unreadable_quantity_is_an_error() -> None:
    with pytest.raises(QuantityError):
        make_pod().req(cpu="1x").info()


@pytest.mark.parametrize(
    ("name", "counted", "scalar", "extended"),
    [
        ("cpu", True, False, False),
        ("pods", False, False, False),
        ("storage", False, False, False),
        ("example.com/gpu", True, True, True),
        ("hugepages-1Gi", True, True, False),
        ("attachable-volumes-csi", True, True, False),
        ("batt.kubernetes.io/x", True, True, False),
        ("requests.example.com/gpu", False, False, False),
        ("example.com/no spaces", False, False, False),
        ("a/b/c", False, False, False),
    ],
)
def test_which_names_count(name: str, counted: bool, scalar: bool, extended: bool) -> None:
    assert (is_counted(name), is_scalar(name), is_extended(name)) == (counted, scalar, extended)


def test_host_ports_are_those_of_containers_and_sidecars() -> None:
    pod = make_pod().host_port(80).host_port(0).host_port(53, "UDP", "127.0.0.1")
    pod.spec(
        initContainers=[
            {"name": "init", "ports": [{"hostPort": 1}]},
            {"name": "sidecar", "restartPolicy": "Always", "ports": [{"hostPort": 2}]},
        ]
    )
    ports = {(port.ip, port.protocol, port.port) for port in PodInfo(pod.obj()).host_ports}
    everywhere = "0.0.0.0"  # noqa: S104  # an address as the API writes it; nothing listens
    assert ports == {(everywhere, "TCP", 80), ("127.0.0.1", "UDP", 53), (everywhere, "TCP", 2)}
