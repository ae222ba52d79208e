"""Pods and their claims, against a server: what comes later brings pods back, and a chosen volume is bound before the pod is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from scheduler.sandbox import Sandbox
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.harness import DEADLINE, Object, Observer, Running, objects

Start = Callable[..., Running]
BOUND = "pv.kubernetes.io/bind-completed"
BY_US = "pv.kubernetes.io/bound-by-controller"
CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims/data"
VOLUME = "/api/v1/persistentvolumes/disk"


def consumer() -> PodBuilder:
    """A pod with the claim ``data``."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    return make_pod("p").container({"cpu": "1"}, name="c", image="pause").spec(volumes=[volume])


def nodes() -> list[Object]:
    """``far`` in one zone, ``near`` in the other."""
    zones = {"far": "a", "near": "b"}
    return objects(*(make_node(name).capacity(cpu="4").label("zone", zone) for name, zone in zones.items()))


def storage_class() -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def volume(**spec: Any) -> Object:
    """``disk``, which is reached from ``near`` only."""
    zone = {"key": "zone", "operator": "In", "values": ["b"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    common = {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk"},
        "spec": {**common, "local": {"path": "/mnt"}, "nodeAffinity": affinity, **spec},
    }


def claim(**spec: Any) -> Object:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "annotations": {BOUND: "yes"} if spec else {}},
        "spec": {**wanted, "storageClassName": "local", **spec},
    }


def wait_for_choice(sandbox: Sandbox) -> None:
    """Wait until the scheduler has written into the volume whose claim it is for."""
    chosen = threading.Event()

    def look(_: object = None) -> None:
        if claim_of(sandbox) == "data":
            chosen.set()

    unsubscribe = sandbox.store.subscribe("persistentvolumes", look)
    look()
    assert chosen.wait(DEADLINE)
    unsubscribe()


def claim_of(sandbox: Sandbox) -> str:
    found = sandbox.store.get("persistentvolumes", "", "disk") or {"spec": {}}
    return str(found["spec"].get("claimRef", {}).get("name", ""))


def test_a_claim_that_is_made_later_brings_its_pod_back(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    used_by = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "data"}
    sandbox.load([*nodes(), storage_class(), volume(claimRef=used_by), *objects(consumer())])
    scheduler()
    assert 'persistentvolumeclaim "data" not found' in observer.wait_refused("p")
    sandbox.load([claim(volumeName="disk")])
    observer.wait_bound("p")
    assert observer.node_of("p") == "near"


def test_a_volume_that_is_made_later_brings_the_pod_back(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load([*nodes(), storage_class(), claim(), *objects(consumer())])
    scheduler()
    assert "didn't find available persistent volumes to bind" in observer.wait_refused("p")
    sandbox.load([volume()])
    wait_for_choice(sandbox)
    assert observer.bindings == []


def test_a_pod_is_bound_when_its_volume_is(
    sandbox: Sandbox, observer: Observer, scheduler: Start, api: Callable[..., None]
) -> None:
    sandbox.load([*nodes(), storage_class(), volume(), claim(), *objects(consumer())])
    scheduler()
    wait_for_choice(sandbox)
    assert observer.bindings == []
    api("PATCH", f"{VOLUME}/status", {"status": {"phase": "Bound"}})
    api(
        "PATCH",
        CLAIM,
        {"metadata": {"annotations": {BOUND: "yes", BY_US: "yes"}}, "spec": {"volumeName": "disk"}},
    )
    observer.wait_bound("p")
    assert observer.node_of("p") == "near"
