"""Pods as controllers would make them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import Pod, Workload, convert
from scheduler.explain.completion import Completion
from scheduler.explain.objects import InputError
from scheduler.explain.workload_pods import Made, admitting_nodes, free_numbers, make_pod, on_node
from tests.builders import make_node
from tests.builders import make_pod as pod_builder

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


def workload(kind: str, template: Any, **spec: Any) -> Workload:
    document = {
        "kind": kind,
        "metadata": {"name": "w", "namespace": "ns"},
        "spec": {"template": template, **spec},
    }
    return convert(Workload, document)


def made(kind: str, number: int = 0, pod: Any = None, **spec: Any) -> Made:
    return make_pod(
        workload(kind, {"spec": pod or {"containers": [{"name": "c"}]}}, **spec), number, Completion(())
    )


def required(pod: Pod) -> Any:
    assert pod.spec.affinity is not None
    assert pod.spec.affinity.node_affinity is not None
    return pod.spec.affinity.node_affinity.required


def test_a_stateful_pod_has_its_claims() -> None:
    template = {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}
    pod = {
        "volumes": [
            {"name": "data", "emptyDir": {}},
            {"name": "own", "persistentVolumeClaim": {"claimName": "x"}},
        ]
    }
    found = made("StatefulSet", 3, pod, volumeClaimTemplates=[template])
    (claim,) = found.claims
    assert (claim.metadata.name, claim.metadata.namespace) == ("data-w-3", "ns")
    assert claim.spec.storage_class_name == "fast"
    sources = {one.name: one.persistent_volume_claim for one in found.pod.spec.volumes}
    assert {name: source and source.claim_name for name, source in sources.items()} == {
        "own": "x",
        "data": "data-w-3",
    }


def test_a_daemon_tolerates_the_conditions_of_nodes() -> None:
    keys = {one.key for one in made("DaemonSet").pod.spec.tolerations}
    assert UNSCHEDULABLE in keys
    assert "node.kubernetes.io/network-unavailable" not in keys
    of_the_host = made("DaemonSet", pod={"hostNetwork": True}).pod
    assert "node.kubernetes.io/network-unavailable" in {one.key for one in of_the_host.spec.tolerations}
    assert made("Deployment").pod.spec.tolerations == ()


NODES = [
    make_node("plain").obj(),
    make_node("ssd").label("disk", "ssd").obj(),
    make_node("cordoned").label("disk", "ssd").taint(UNSCHEDULABLE).obj(),
    make_node("special").label("disk", "ssd").taint("gpu").obj(),
    make_node("soft").label("disk", "ssd").taint("gpu", effect="PreferNoSchedule").obj(),
]
IN_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
            ]
        }
    }
}


@pytest.mark.parametrize(
    ("pod", "nodes"),
    [
        ({"containers": []}, ["plain", "ssd", "cordoned", "soft"]),
        ({"nodeSelector": {"disk": "ssd"}}, ["ssd", "cordoned", "soft"]),
        ({"affinity": IN_AFFINITY}, ["ssd", "cordoned", "soft"]),
        ({"tolerations": [{"operator": "Exists"}]}, ["plain", "ssd", "cordoned", "special", "soft"]),
    ],
    ids=["any", "selector", "affinity", "tolerations"],
)
def test_the_nodes_that_are_for_a_daemon(pod: Any, nodes: list[str]) -> None:
    assert admitting_nodes(made("DaemonSet", pod=pod).pod, NODES) == nodes


def test_a_daemon_is_bound_by_the_name_of_its_node_alone() -> None:
    (term,) = required(
        on_node(made("DaemonSet", pod={"affinity": IN_AFFINITY}).pod, "ssd")
    ).node_selector_terms
    assert term.match_expressions == ()
    assert [(one.key, one.values) for one in term.match_fields] == [("metadata.name", ("ssd",))]


def test_numbers_of_pods_that_are_there_are_passed_over() -> None:
    pods = [pod_builder(name, "ns").obj() for name in ("w-0", "w-2")]
    numbers = free_numbers(workload("StatefulSet", {}), pods)
    assert [next(numbers) for _ in range(3)] == [1, 3, 4]


def test_a_workload_without_a_template() -> None:
    with pytest.raises(InputError, match="DaemonSet ns/w: it has no pod template"):
        make_pod(workload("DaemonSet", None), 0, Completion(()))
