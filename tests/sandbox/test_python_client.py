"""The official Python client against the sandbox, typed models included."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes
import kubernetes.watch
import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import Rest, deployment, node, pod

client: Any = kubernetes.client
config: Any = kubernetes.config
watch: Any = kubernetes.watch


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[Any]:
    """An ApiClient of the sandbox."""
    with config.new_client_from_config(str(kubeconfig)) as made:
        yield made


def test_pods_from_creation_to_binding(sandbox: Sandbox, api: Any) -> None:
    core = client.CoreV1Api(api)
    sandbox.load([node()])
    container = client.V1Container(name="main", image="app:1")
    body = client.V1Pod(
        metadata=client.V1ObjectMeta(generate_name="web-"), spec=client.V1PodSpec(containers=[container])
    )
    name = core.create_namespaced_pod("default", body).metadata.name
    target = client.V1ObjectReference(kind="Node", name="n1")
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name=name), target=target)
    core.create_namespaced_pod_binding(name, "default", binding, _preload_content=False).read()
    found = core.list_namespaced_pod("default", field_selector="spec.nodeName=n1").items
    assert [item.metadata.name for item in found] == [name]
    assert found[0].status.conditions[0].type == "PodScheduled"
    core.delete_namespaced_pod(name, "default", grace_period_seconds=0)
    with pytest.raises(client.ApiException) as caught:
        core.read_namespaced_pod(name, "default")
    assert caught.value.status == 404


def test_nodes_and_their_status(sandbox: Sandbox, api: Any) -> None:
    core = client.CoreV1Api(api)
    sandbox.load([node(f"n{number}") for number in range(3)])
    core.patch_node("n1", {"spec": {"unschedulable": True}})
    core.patch_node_status("n1", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    first = core.list_node(limit=2)
    rest_of_them = core.list_node(limit=2, _continue=first.metadata._continue)
    names = [item.metadata.name for item in first.items + rest_of_them.items]
    assert names == ["n0", "n1", "n2"]
    assert first.items[1].spec.unschedulable
    assert first.items[1].status.allocatable["cpu"] == "4"


def test_other_groups(sandbox: Sandbox, api: Any) -> None:
    sandbox.load([deployment()])
    apps = client.AppsV1Api(api)
    apps.patch_namespaced_deployment_scale("d", "default", {"spec": {"replicas": 5}})
    assert apps.read_namespaced_deployment("d", "default").spec.replicas == 5
    leases = client.CoordinationV1Api(api)
    lease = client.V1Lease(
        metadata=client.V1ObjectMeta(name="l"), spec=client.V1LeaseSpec(holder_identity="me")
    )
    leases.create_namespaced_lease("default", lease)
    assert leases.read_namespaced_lease("l", "default").spec.holder_identity == "me"
    classes = client.SchedulingV1Api(api).list_priority_class().items
    assert [item.metadata.name for item in classes] == ["system-cluster-critical", "system-node-critical"]
    assert client.VersionApi(api).get_code().minor == "36"


def test_watching(sandbox: Sandbox, rest: Rest, api: Any) -> None:
    core = client.CoreV1Api(api)
    version = core.list_namespaced_pod("default").metadata.resource_version
    writer = threading.Thread(target=lambda: sandbox.load([pod("a"), pod("b")]))
    writer.start()
    stream = watch.Watch().stream(
        core.list_namespaced_pod, "default", resource_version=version, timeout_seconds=30
    )
    seen = []
    for event in stream:
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 2:
            break
    stream.close()
    writer.join()
    assert seen == [("ADDED", "a"), ("ADDED", "b")]
