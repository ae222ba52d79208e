"""Create and update: one pipeline for HTTP, for `Sandbox.load` and for the sandbox's own objects.

    body ──► metadata ──► defaults ──► admission ──► validation ──► conflict checks ──► store

An update additionally keeps what the client may not change (uid, creation, the other half of spec and status), refuses a stale
resourceVersion, writes nothing when nothing changed, and finishes a deletion when the last finalizer goes.
"""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import invalid as invalid_field
from scheduler.sandbox import errors, kubelet
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.conditions import with_condition
from scheduler.sandbox.resources import BY_PATH, PODS, Resource, stored_as
from scheduler.sandbox.rules.admission import admit, admit_update
from scheduler.sandbox.rules.defaulting import apply_defaults
from scheduler.sandbox.rules.validation import (
    creation_errors,
    metadata_errors,
    validate,
    validate_update,
)
from scheduler.sandbox.store import Entry
from scheduler.sandbox.writes.deleting import finish_if_free

Object = dict[str, Any]

_COUNTS_GENERATIONS = frozenset(
    {"apps", "batch", "policy", "scheduling.k8s.io", "node.k8s.io", "resource.k8s.io"}
)
_NEEDS_VERSION = frozenset({"leases.coordination.k8s.io", "poddisruptionbudgets.policy"})
_META_ORDER = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
)
_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
_MAX_GENERATED = 58
_SERVICE_ACCOUNTS = BY_PATH["", "v1", "serviceaccounts"]
_METADATA_CHANGES = ("labels", "annotations", "finalizers", "ownerReferences", "managedFields")


def ordered(resource: Resource, obj: Object) -> Object:
    """The object with kind, apiVersion and metadata first: list items are cut from that form."""
    rest = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion", "metadata")}
    return {
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": obj.get("metadata") or {},
        **rest,
    }


def create(
    cluster: Cluster,
    resource: Resource,
    namespace: str,
    obj: Object,
    *,
    dry_run: bool = False,
    keep_status: bool = False,
) -> Entry:
    """Create an object, given in the stored form, of the resource that the client wrote to. Raises `StatusError` (403, 404, 409, 422).

    A client cannot give a status to what has a status endpoint (nodes excepted, as a kubelet registers with one); `keep_status` is for
    loading a cluster as it is.
    """
    kept = stored_as(resource)
    obj = ordered(kept, obj)
    obj["metadata"] = _new_metadata(cluster, resource, namespace, obj["metadata"])
    if resource.has_status and not keep_status and resource.key != "nodes":
        obj.pop("status", None)
    apply_defaults(resource, obj)
    admit(cluster, resource, obj)
    if resource.key == PODS.key:
        _tell_gated(cluster, obj)
    name = obj["metadata"].get("name", "")
    faults = validate(resource, obj) + creation_errors(resource, obj)
    if faults:
        raise errors.invalid(kept.kind, kept.group, name, faults)
    if cluster.store.entry(resource.key, obj["metadata"].get("namespace", ""), name) is not None:
        raise errors.already_exists(resource.plural, resource.group, name)
    if dry_run:
        return Entry.of(obj, cluster.store.version)
    entry = cluster.store.put(resource.key, obj)
    if resource.key == "namespaces":
        ensure_service_account(cluster, name)
    if resource.key == PODS.key:
        kubelet.start(cluster, entry)
    return entry


def _tell_gated(cluster: Cluster, pod: Object) -> None:
    """A pod that is born with gates says so at once (upstream: `applySchedulingGatedCondition`)."""
    conditions = pod["status"].get("conditions") or []
    if pod["spec"].get("schedulingGates") and all(c.get("type") != "PodScheduled" for c in conditions):
        pod["status"]["conditions"] = with_condition(conditions, dict(_GATED), cluster.stamp())


def ensure_service_account(cluster: Cluster, namespace: str) -> None:
    """Every namespace has the service account `default`."""
    if cluster.store.entry("serviceaccounts", namespace, "default") is None:
        create(cluster, _SERVICE_ACCOUNTS, namespace, {"metadata": {"name": "default"}})


def _new_metadata(cluster: Cluster, resource: Resource, namespace: str, given: Object) -> Object:
    meta = {key: value for key, value in given.items() if key not in ("selfLink", "managedFields")}
    if meta.get("resourceVersion"):
        raise errors.bad_request("resourceVersion should not be set on objects to be created")
    meta.pop("deletionTimestamp", None)
    meta.pop("deletionGracePeriodSeconds", None)
    if resource.namespaced:
        _check_namespace(meta, namespace)
        meta["namespace"] = namespace
    else:
        meta.pop("namespace", None)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = meta["generateName"][:_MAX_GENERATED] + cluster.suffix()
    meta["uid"] = cluster.uid()
    meta["creationTimestamp"] = cluster.stamp()
    meta.pop("generation", None)
    if _counts_generations(resource):
        meta["generation"] = 1
    first = {key: meta[key] for key in _META_ORDER if key in meta}
    return first | meta


def _check_namespace(meta: Object, namespace: str) -> None:
    if meta.get("namespace") not in (None, "", namespace):
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _counts_generations(resource: Resource) -> bool:
    return resource.group in _COUNTS_GENERATIONS or resource.key in ("pods", "replicationcontrollers")


def existing(cluster: Cluster, resource: Resource, namespace: str, name: str) -> Entry:
    """The current entry. Raises 404."""
    entry = cluster.store.entry(resource.key, namespace, name)
    if entry is None:
        raise errors.not_found(resource.plural, resource.group, name)
    return entry


def update(
    cluster: Cluster,
    resource: Resource,
    old: Entry,
    obj: Object,
    *,
    subresource: str = "",
    dry_run: bool = False,
) -> Entry:
    """Replace `old` by `obj` (stored form) as far as the endpoint allows. Raises `StatusError` (400, 409, 422)."""
    _check_identity(resource, old, obj.get("metadata") or {})
    kept = stored_as(resource)
    new = _merged(resource, old.obj, ordered(kept, obj), subresource)
    apply_defaults(resource, new)
    admit_update(resource, old.obj, new)
    checked = (
        metadata_errors(resource, new["metadata"]) if subresource == "status" else validate(resource, new)
    )
    faults = checked + validate_update(resource, old.obj, new, subresource)
    if faults:
        raise errors.invalid(kept.kind, kept.group, old.obj["metadata"]["name"], faults)
    _bump_generation(resource, old.obj, new)
    if new == old.obj or dry_run:
        return old if new == old.obj else Entry.of(new, old.version)
    entry = cluster.store.put(resource.key, new)
    return finish_if_free(cluster, resource, entry)


def _check_identity(resource: Resource, old: Entry, meta: Object) -> None:
    current = old.obj["metadata"]
    name = current["name"]
    if meta.get("name") not in (None, "", name):
        raise errors.bad_request(
            f"the name of the object ({meta['name']}) does not match the name on the URL ({name})"
        )
    if meta.get("namespace") not in (None, "", current.get("namespace")):
        raise errors.bad_request(
            f"the namespace of the object ({meta['namespace']}) does not match the namespace on the URL ({current.get('namespace', '')})"
        )
    if meta.get("uid") not in (None, "", current["uid"]):
        detail = (
            f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {current['uid']}"
        )
        raise errors.conflict(resource.plural, resource.group, name, detail)
    version = meta.get("resourceVersion") or ""
    if version and version != current["resourceVersion"]:
        raise errors.conflict(resource.plural, resource.group, name, errors.MODIFIED)
    if not version and resource.key in _NEEDS_VERSION:
        fault = invalid_field("metadata.resourceVersion", 0, "must be specified for an update")
        raise errors.invalid(resource.plural, resource.group, name, [fault])


def _merged(resource: Resource, old: Object, new: Object, subresource: str) -> Object:
    """What the endpoint lets through: the main one everything but status, a subresource only its part and loose metadata."""
    meta = {key: value for key, value in old["metadata"].items() if key not in _METADATA_CHANGES}
    meta |= {key: new["metadata"][key] for key in _METADATA_CHANGES if new["metadata"].get(key)}
    meta.pop("managedFields", None)
    if subresource == "status":
        merged = {**old, "metadata": meta}
        merged.pop("status", None)
        return merged | ({"status": new["status"]} if new.get("status") else {})
    if subresource:
        return {
            **old,
            "metadata": meta,
            "spec": subresource_spec(old.get("spec") or {}, new.get("spec") or {}, subresource),
        }
    merged = {**new, "metadata": meta}
    if resource.has_status:
        merged.pop("status", None)
        if "status" in old:
            merged["status"] = old["status"]
    return merged


def subresource_spec(old: Object, new: Object, subresource: str) -> Object:
    """The spec after a write to `resize`, `ephemeralcontainers` or `finalize`: only that part is taken from the client."""
    if subresource != "resize":
        part = {"ephemeralcontainers": "ephemeralContainers", "finalize": "finalizers"}[subresource]
        return {**old, part: new.get(part) or []}
    resized = dict(old)
    for part in ("containers", "initContainers"):
        wanted = {container.get("name"): container.get("resources") for container in new.get(part) or ()}
        if part in old:
            resized[part] = [
                {**c, "resources": wanted.get(c["name"]) or c.get("resources", {})} for c in old[part]
            ]
    return resized


def _bump_generation(resource: Resource, old: Object, new: Object) -> None:
    if _counts_generations(resource) and _without_status(old) != _without_status(new):
        generation = old["metadata"].get("generation", 1) + 1
        new["metadata"] = {**new["metadata"], "generation": generation}


def _without_status(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def set_node(cluster: Cluster, pod: Entry, spec: Object, status: Object, metadata: Object) -> Entry:
    """Write a pod that the server itself gave a node; nothing is defaulted or validated again, and it is no new generation."""
    return cluster.store.put(PODS.key, {**pod.obj, "metadata": metadata, "spec": spec, "status": status})
