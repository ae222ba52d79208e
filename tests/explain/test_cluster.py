"""What is handed in: any mix of manifests and dumps, each fault named with its place, and what a server would fill in."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.manifests import ManifestError, read_bytes
from scheduler.apis.objects import Namespace, PersistentVolumeClaim, Pod, ReplicaSet, StorageClass
from scheduler.explain.cluster import Cluster, read_cluster
from scheduler.explain.objects import InputError
from scheduler.explain.workload_pods import make_pod

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: 2}}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
HIGH = (
    "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n"
    "preemptionPolicy: Never\n"
)
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}
"""


def cluster(*texts: str, namespace: str = "default") -> Cluster:
    return read_cluster(read_bytes("---\n".join(texts).encode(), "given.yaml"), namespace)


def only_pod(*texts: str) -> Pod:
    (pod,) = cluster(*texts).objects.pods
    return pod


def test_documents_lists_and_typed_lists_mix() -> None:
    listed = (
        '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}'
    )
    unnamed = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: c}}\n"
    found = cluster(NODE, listed + "\n", unnamed, POD)
    assert [pod.full_name for pod in found.objects.pods] == [
        "default/a",
        "default/b",
        "default/c",
        "default/p",
    ]
    assert [node.metadata.name for node in found.objects.nodes] == ["n1"]


BAD: list[Any] = [
    pytest.param(
        POD + "spec: {containers: [{name: c, resources: {limits: {vendor.io/nic: x}}}]}\n",
        "given.yaml: document 1 (line 1): spec.containers[0].resources.limits.vendor.io/nic: quantities must",
        id="a quantity of a resource with dots",
    ),
    pytest.param(
        POD + "spec: {priority: 2147483648}\n",
        "given.yaml: document 1 (line 1): spec.priority: Expected `int` <= 2147483647",
        id="more than Kubernetes can hold",
    ),
    pytest.param(
        POD.replace("{name: p}", "{name: p, labels: {app: web, version: 1.2}}"),
        "given.yaml: document 1 (line 1): metadata.labels[version]: Expected `str`, got `float`",
        id="a label that is a number",
    ),
    pytest.param(
        POD.replace("{name: p}", "{name: p, labels: {on: web}}"),
        "given.yaml: document 1 (line 1): metadata.labels: a key: Expected `str`, got `bool`",
        id="a label's key that is true",
    ),
    pytest.param(
        NODE + "---\n" + "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: 3}\n",
        "given.yaml: document 2 (line 6): spec.nodeName: Expected `str`, got `int`",
        id="a field of the wrong type",
    ),
    pytest.param(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{resources: {requests: {cpu: 1x}}}]}\n",
        "given.yaml: document 1 (line 1): spec.containers[0].resources.requests",
        id="a quantity",
    ),
    pytest.param(
        "apiVersion: v1\nkind: Node\n", "given.yaml: document 1 (line 1): metadata.name", id="no name"
    ),
    pytest.param(
        POD + "---\n" + POD,
        "given.yaml: document 2 (line 5): Pod default/p is given twice, first in given.yaml: document 1 (line 1)",
        id="twice",
    ),
    pytest.param("kind: Pod\n", "given.yaml: document 1 (line 1): apiVersion not set", id="no version"),
    pytest.param("a: b\na: c\n", 'given.yaml: line 2: key "a" already set in map', id="a key twice"),
    pytest.param("a: [\n", "given.yaml: line 2: ", id="no YAML"),
    pytest.param("- 1\n", "given.yaml: document 1 (line 1): expected an object", id="no object"),
]


@pytest.mark.parametrize(("text", "line"), BAD)
def test_a_fault_names_its_place(text: str, line: str) -> None:
    with pytest.raises((InputError, ManifestError)) as caught:
        cluster(text)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_a_kind_of_another_group_is_passed_over() -> None:
    found = cluster(
        "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: 3}\n"
    )
    assert not found.objects.others


def test_a_pod_by_hand_gets_what_a_server_would_fill_in() -> None:
    pod = only_pod(
        HIGH,
        POD.replace("}", ", labels: {a: b}}")
        + "spec:\n  priorityClassName: high\n  hostNetwork: true\n  containers:\n"
        + "  - {name: c, ports: [{containerPort: 80}], resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}}\n",
    )
    assert (pod.metadata.namespace, pod.metadata.uid) == ("default", "Pod/default/p")
    assert pod.spec.scheduler_name == "default-scheduler"
    assert (pod.spec.priority, pod.spec.preemption_policy) == (1000, "Never")
    assert pod.spec.containers[0].resources.requests == {"cpu": "500m", "memory": "1Gi"}
    assert pod.spec.containers[0].ports[0].host_port == 80


@pytest.mark.parametrize(
    ("name", "priority"),
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)],
)
def test_every_cluster_has_the_system_classes(name: str, priority: int) -> None:
    assert only_pod(POD + f"spec: {{priorityClassName: {name}}}\n").priority == priority


def test_the_default_class_is_for_pods_without_one() -> None:
    assert only_pod(HIGH + "globalDefault: true\n", POD).priority == 1000


def test_a_class_that_is_not_there_is_a_note() -> None:
    found = cluster(POD + "spec: {priorityClassName: gold}\n")
    assert found.objects.pods[0].priority == 0
    assert found.notes == ["pod default/p: PriorityClass gold is not in the input; its priority counts as 0"]


def test_pod_level_limits_are_requests_where_no_container_asks() -> None:
    pod = only_pod(
        POD + "spec:\n  resources: {limits: {cpu: 4, memory: 2Gi}}\n"
        "  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n"
    )
    assert pod.spec.resources is not None
    assert pod.spec.resources.requests == {"memory": "2Gi"}


def test_what_comes_from_a_server_stays_as_it_is() -> None:
    pod = only_pod(
        HIGH + "globalDefault: true\n",
        POD.replace("}", ", uid: u}") + "spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}\n",
    )
    assert pod.priority == 0
    assert pod.spec.containers[0].resources.requests == {}


def test_other_kinds_are_completed_too() -> None:
    found = cluster(
        NODE,
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\n"
        'metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}\n',
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\n",
    )
    others = {type(each): each for each in found.objects.others}
    assert found.objects.nodes[0].status.allocatable == {"cpu": 2}
    assert others[Namespace].metadata.labels == {"kubernetes.io/metadata.name": "shop"}
    assert others[StorageClass].volume_binding_mode == "Immediate"
    assert others[PersistentVolumeClaim].spec.storage_class_name == "fast"


def test_a_runtime_class_adds_overhead_and_place() -> None:
    pod = only_pod(
        "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: vm}\nhandler: vm\n"
        "overhead: {podFixed: {cpu: 250m}}\nscheduling: {nodeSelector: {vm: ok}, tolerations: [{key: vm}]}\n",
        POD + "spec: {runtimeClassName: vm, nodeSelector: {a: b}}\n",
    )
    assert pod.spec.overhead == {"cpu": "250m"}
    assert pod.spec.node_selector == {"a": "b", "vm": "ok"}
    assert [each.key for each in pod.spec.tolerations] == ["vm"]


def test_a_pod_of_a_deployment_belongs_to_a_replica_set() -> None:
    found = cluster(DEPLOYMENT)
    (workload,) = found.workloads
    pod = make_pod(workload, 7, found.completion).pod
    (owner,) = pod.metadata.owner_references
    assert pod.full_name == "shop/web-7"
    assert pod.spec.containers[0].resources.requests == {"cpu": 1}
    assert (owner.kind, owner.name, owner.controller) == ("ReplicaSet", "web", True)
    (replica_set,) = found.objects.others
    assert isinstance(replica_set, ReplicaSet)
    assert replica_set.spec.selector is not None
    assert replica_set.spec.selector.match_labels == {"app": "web"}
