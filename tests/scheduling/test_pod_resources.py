"""What ``/metrics/resources`` says of pods."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from scheduler.metrics import exposition
from scheduler.scheduling.pod_resources import PodResources
from tests.builders import PodBuilder, make_pod

Values = dict[tuple[str, str], float]


def printed(*pods: PodBuilder) -> str:
    registry = CollectorRegistry()
    registry.register(PodResources(lambda: [pod.obj() for pod in pods]))
    return exposition(registry, "")[0].decode()


def values(family: str, *pods: PodBuilder) -> Values:
    return {
        (sample.labels["resource"], sample.labels["unit"]): sample.value
        for found in text_string_to_metric_families(printed(*pods))
        if found.name == f"kube_pod_resource_{family}"
        for sample in found.samples
    }


def limited(**amounts: Any) -> dict[str, Any]:
    return {"name": f"c{len(amounts)}", "resources": {"limits": amounts}}


def test_labels_tell_whose_resources_they_are() -> None:
    text = printed(make_pod("a", "shop").node("n1").priority(7).req(cpu="100m").spec(schedulerName="mine"))
    assert (
        'kube_pod_resource_request{namespace="shop",node="n1",pod="a",priority="7",resource="cpu",'
        'scheduler="mine",unit="cores"} 0.1\n'
    ) in text
    assert "# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on the cluster" in text


def test_a_pod_without_a_priority_has_an_empty_one() -> None:
    assert 'priority=""' in printed(make_pod().req(cpu="1"))


REQUESTS = [
    pytest.param(make_pod().req(cpu="1").req(cpu="250m"), {("cpu", "cores"): 1.25}, id="containers add up"),
    pytest.param(
        make_pod().req(cpu="1").init_req(cpu="3"), {("cpu", "cores"): 3}, id="the largest init container"
    ),
    pytest.param(
        make_pod().req(cpu="1").sidecar_req(cpu="1").init_req(cpu="3"),
        {("cpu", "cores"): 4},
        id="an init container beside a sidecar",
    ),
    pytest.param(
        make_pod().req(memory="1Gi").spec(overhead={"memory": "1Gi"}),
        {("memory", "bytes"): 2 << 30},
        id="overhead",
    ),
    pytest.param(
        make_pod().req(cpu="1").spec(resources={"requests": {"cpu": "5"}}),
        {("cpu", "cores"): 5},
        id="the pod as a whole",
    ),
    pytest.param(
        make_pod().req({"hugepages-2Mi": "4Mi", "example.com/gpu": "2", "ephemeral-storage": "1k"}),
        {
            ("hugepages-2Mi", "bytes"): 4 << 20,
            ("example.com/gpu", ""): 2,
            ("ephemeral-storage", "bytes"): 1000,
        },
        id="units",
    ),
    pytest.param(make_pod().req(cpu="0"), {}, id="nothing"),
    pytest.param(make_pod().req(cpu="1").node("n").status(phase="Failed"), {}, id="ended"),
]


@pytest.mark.parametrize(("pod", "expected"), REQUESTS)
def test_requests(pod: PodBuilder, expected: Values) -> None:
    assert values("request", pod) == expected


def test_limits_get_overhead_only_where_there_is_a_limit() -> None:
    pod = make_pod().spec(containers=[limited(cpu="2")], overhead={"cpu": "1", "memory": "1Gi"})
    assert values("limit", pod) == {("cpu", "cores"): 3}


def test_limits_of_the_pod_as_a_whole_come_first() -> None:
    pod = make_pod().spec(containers=[limited(cpu="2", memory="1")], resources={"limits": {"cpu": "9"}})
    assert values("limit", pod) == {("cpu", "cores"): 9, ("memory", "bytes"): 1}
