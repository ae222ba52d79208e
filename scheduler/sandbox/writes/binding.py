"""`pods/binding`: the moment a scheduler's decision becomes true (upstream: `BindingREST` of `pkg/registry/core/pod/storage`).

Sets `spec.nodeName` and the condition PodScheduled=True, clears the nomination, copies labels and annotations of the Binding and the
node's zone and region, all or nothing.
A pod that has a node, is being deleted or has gates answers 409 with upstream's words.
"""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import not_supported, required
from scheduler.sandbox import errors, kubelet
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.conditions import with_condition
from scheduler.sandbox.resources import PODS
from scheduler.sandbox.rules.admission import topology_labels
from scheduler.sandbox.store import Entry
from scheduler.sandbox.writes.pipeline import existing, set_node

Object = dict[str, Any]


def bind(cluster: Cluster, namespace: str, name: str, binding: Object, *, dry_run: bool = False) -> None:
    """Assign the pod to the binding's target node. Raises `StatusError` (400, 404, 409, 422)."""
    meta, target = binding.get("metadata") or {}, binding.get("target") or {}
    if meta.get("name") not in (None, "", name):
        raise errors.bad_request("name in URL does not match name in Binding object")
    node = target.get("name")
    if target.get("kind") not in (None, "", "Node"):
        raise errors.invalid(
            "Binding", "", name, [not_supported("target.kind", target["kind"], ("Node", "<empty>"))]
        )
    if not node:
        raise errors.invalid("Binding", "", name, [required("target.name")])
    pod = existing(cluster, PODS, namespace, name)
    _check_preconditions(pod, meta)
    _check_bindable(pod.obj, name)
    if not dry_run:
        _assign(cluster, pod, node, meta)


def _check_preconditions(pod: Entry, meta: Object) -> None:
    found = pod.obj["metadata"]
    for label, field in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
        wanted = meta.get(field)
        if wanted and wanted != found[field]:
            detail = f"Precondition failed: {label} in precondition: {wanted}, {label} in object meta: {found[field]}"
            raise errors.conflict("pods", "", found["name"], detail)


def _check_bindable(pod: Object, name: str) -> None:
    detail = ""
    if pod["metadata"].get("deletionTimestamp"):
        detail = f"pod {name} is being deleted, cannot be assigned to a host"
    elif pod["spec"].get("nodeName"):
        detail = f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
    elif pod["spec"].get("schedulingGates"):
        detail = f"pod {name} has non-empty .spec.schedulingGates"
    if detail:
        raise errors.conflict("pods/binding", "", name, detail)


def _assign(cluster: Cluster, pod: Entry, node: str, meta: Object) -> None:
    metadata = dict(pod.obj["metadata"])
    given = {
        "labels": {**(meta.get("labels") or {}), **topology_labels(cluster, node)},
        "annotations": meta.get("annotations") or {},
    }
    for part, values in given.items():
        if values:
            metadata[part] = {**(metadata.get(part) or {}), **values}
    status = {
        key: value for key, value in (pod.obj.get("status") or {}).items() if key != "nominatedNodeName"
    }
    status["conditions"] = with_condition(
        status.get("conditions") or [], {"type": "PodScheduled", "status": "True"}, cluster.stamp()
    )
    bound = set_node(cluster, pod, {**pod.obj["spec"], "nodeName": node}, status, metadata)
    kubelet.start(cluster, bound)
