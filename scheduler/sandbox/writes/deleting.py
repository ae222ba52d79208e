"""Deletion: preconditions, grace, finalizers, and what the sandbox does in the place of kubelet and controllers.

    delete ──► nothing holds it ───────────────────────────────► removed
          └──► finalizers, or a bound pod with grace > 0
                    └──► deletionTimestamp set (MODIFIED) ──► last finalizer gone / kubelet's time over ──► removed

Pods without a node, pods that have ended, and grace 0 go at once; every pod's deletionTimestamp is seen (MODIFIED) before it is gone. For a
bound pod with grace > 0 a real cluster's kubelet stops the containers and then deletes with grace 0; here nobody runs containers, so the
sandbox finishes after `Cluster.termination_delay` seconds (0: in the same instant), never later than the grace period. A deleted namespace
takes its content with it, and what a removed workload owned goes too (background deletion) unless the client orphans it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from scheduler.sandbox import errors
from scheduler.sandbox.ages import stamp
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.resources import NAMESPACES, PODS, RESOURCES, Resource
from scheduler.sandbox.store import Entry

Object = dict[str, Any]
_KEPT_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_OWNERS = frozenset(
    {"ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController"}
)
_BY_KEY = {resource.key: resource for resource in reversed(RESOURCES)}


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The parts of `DeleteOptions` that matter here. `grace` None means the object's own default."""

    grace: int | None = None
    uid: str = ""
    version: str = ""
    orphan: bool = False
    dry_run: bool = False


def delete(cluster: Cluster, resource: Resource, entry: Entry, options: DeleteOptions) -> tuple[Entry, bool]:
    """Delete, or begin to. Returns the last state and whether the object is gone. Raises `StatusError` (403, 409)."""
    _check_preconditions(resource, entry, options)
    if resource.key == NAMESPACES.key:
        return _delete_namespace(cluster, entry, options)
    grace = _grace(resource, entry.obj, options)
    meta = entry.obj["metadata"]
    if options.dry_run:
        return entry, True
    if not meta.get("finalizers") and grace == 0:
        return _remove(cluster, resource, entry, orphan=options.orphan), True
    if not meta.get("deletionTimestamp") or grace < meta.get("deletionGracePeriodSeconds", 0):
        entry = _mark(cluster, resource, entry, grace)
    if grace and not meta.get("finalizers"):
        _play_kubelet(cluster, entry, grace)
    return entry, cluster.store.entry(resource.key, *entry.key) is None


def finish_if_free(cluster: Cluster, resource: Resource, entry: Entry) -> Entry:
    """After an update: remove an object that only waited for its finalizers."""
    meta = entry.obj["metadata"]
    if not meta.get("deletionTimestamp") or meta.get("finalizers") or resource.key == NAMESPACES.key:
        return entry
    grace = meta.get("deletionGracePeriodSeconds", 0)
    if grace:
        _play_kubelet(cluster, entry, grace)
        return entry
    return _remove(cluster, resource, entry)


def _check_preconditions(resource: Resource, entry: Entry, options: DeleteOptions) -> None:
    meta = entry.obj["metadata"]
    for label, wanted, found, since in (
        ("UID", options.uid, meta["uid"], "deleted and then recreated"),
        ("ResourceVersion", options.version, meta["resourceVersion"], "modified"),
    ):
        if wanted and wanted != found:
            detail = (
                f"the {label} in the precondition ({wanted}) does not match the {label} in record ({found})."
                f" The object might have been {since}"
            )
            raise errors.conflict(resource.kind, resource.group, meta["name"], detail)


def _grace(resource: Resource, obj: Object, options: DeleteOptions) -> int:
    if resource.key != PODS.key:
        return 0
    grace = options.grace
    if grace is None:
        grace = obj["spec"].get("terminationGracePeriodSeconds", 30)
    ended = (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return 0 if ended or not obj["spec"].get("nodeName") else max(grace, 0)


def _mark(cluster: Cluster, resource: Resource, entry: Entry, grace: int) -> Entry:
    meta = dict(entry.obj["metadata"])
    if "generation" in meta and "deletionTimestamp" not in meta:
        meta["generation"] += 1
    meta["deletionTimestamp"] = stamp(cluster.now() + timedelta(seconds=grace))
    meta["deletionGracePeriodSeconds"] = grace
    return cluster.store.put(resource.key, {**entry.obj, "metadata": meta})


def _play_kubelet(cluster: Cluster, entry: Entry, grace: int) -> None:
    uid = entry.obj["metadata"]["uid"]

    def finish() -> None:
        with cluster.store.lock:
            current = cluster.store.entry(PODS.key, *entry.key)
            if (
                current is not None
                and current.obj["metadata"]["uid"] == uid
                and not current.obj["metadata"].get("finalizers")
            ):
                _remove(cluster, PODS, current)

    delay = min(cluster.termination_delay, grace)
    if delay > 0:
        cluster.later(delay, finish)
    else:
        finish()


def _remove(cluster: Cluster, resource: Resource, entry: Entry, *, orphan: bool = False) -> Entry:
    if resource.key == PODS.key and entry.obj["metadata"].get("deletionGracePeriodSeconds") != 0:
        entry = _mark(cluster, resource, entry, 0)
    gone = cluster.store.remove(resource.key, *entry.key)
    meta = gone.obj["metadata"]
    if not orphan and (
        resource.kind in _OWNERS or (resource.key == PODS.key and gone.obj["spec"].get("resourceClaims"))
    ):
        _collect_garbage(cluster, meta["namespace"], meta["uid"])
    if resource.namespaced:
        _finish_namespace(cluster, meta["namespace"])
    return gone


def _collect_garbage(cluster: Cluster, namespace: str, owner_uid: str) -> None:
    for key in cluster.store.resources():
        for entry in cluster.store.entries(key, namespace):
            owners = entry.obj["metadata"].get("ownerReferences") or ()
            if [owner.get("uid") for owner in owners] == [owner_uid] and cluster.store.entry(
                key, *entry.key
            ) is entry:
                delete(cluster, _BY_KEY[key], entry, DeleteOptions())


def _delete_namespace(cluster: Cluster, entry: Entry, options: DeleteOptions) -> tuple[Entry, bool]:
    name = entry.obj["metadata"]["name"]
    if name in _KEPT_NAMESPACES:
        raise errors.forbidden("namespaces", "", name, "this namespace may not be deleted")
    if options.dry_run:
        return entry, True
    if not entry.obj["metadata"].get("deletionTimestamp"):
        obj = {
            **entry.obj,
            "metadata": {**entry.obj["metadata"], "deletionTimestamp": cluster.stamp()},
            "status": {"phase": "Terminating"},
        }
        entry = cluster.store.put(NAMESPACES.key, obj)
    for key in cluster.store.resources():
        for inside in list(cluster.store.entries(key, name)):
            if cluster.store.entry(key, *inside.key) is inside:
                delete(cluster, _BY_KEY[key], inside, DeleteOptions(grace=0))
    _finish_namespace(cluster, name)
    return entry, cluster.store.entry(NAMESPACES.key, "", name) is None


def _finish_namespace(cluster: Cluster, name: str) -> None:
    namespace = cluster.store.entry(NAMESPACES.key, "", name)
    if namespace is None or not namespace.obj["metadata"].get("deletionTimestamp"):
        return
    if namespace.obj["metadata"].get("finalizers"):
        return
    if not any(next(cluster.store.entries(key, name), None) for key in cluster.store.resources()):
        cluster.store.remove(NAMESPACES.key, "", name)
