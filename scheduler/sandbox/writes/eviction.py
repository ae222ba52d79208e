"""`pods/eviction`: deletion that asks the disruption budgets first (upstream: `EvictionREST`).

A budget's `status.disruptionsAllowed` decides and is counted down. The disruption controller that keeps that status does not exist here:
whoever loads a budget gives its status, or writes it through `/status`. A budget whose status was never observed answers 429, as upstream.
"""

from __future__ import annotations

from typing import Any

from scheduler.sandbox import errors
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.conditions import with_condition
from scheduler.sandbox.resources import BY_PATH, PODS
from scheduler.sandbox.rules.selector_validation import selector_matches
from scheduler.sandbox.store import Entry
from scheduler.sandbox.writes.deleting import DeleteOptions, delete
from scheduler.sandbox.writes.pipeline import existing

Object = dict[str, Any]
_BUDGETS = BY_PATH["policy", "v1", "poddisruptionbudgets"]
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_UNBUDGETED = ("Succeeded", "Failed", "Pending")


def evict(cluster: Cluster, namespace: str, name: str, options: DeleteOptions) -> None:
    """Delete the pod if its budget allows. Raises `StatusError` (404, 409, 429, 500)."""
    pod = existing(cluster, PODS, namespace, name)
    phase = (pod.obj.get("status") or {}).get("phase")
    if phase not in _UNBUDGETED and not pod.obj["metadata"].get("deletionTimestamp"):
        budgets = _budgets_of(cluster, pod.obj)
        if len(budgets) > 1:
            message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            raise errors.StatusError(500, "InternalError", message)
        if budgets:
            _spend(cluster, budgets[0], pod.obj, dry_run=options.dry_run)
    if not options.dry_run:
        pod = _mark_disrupted(cluster, pod)
    delete(cluster, PODS, pod, DeleteOptions(options.grace, options.uid, "", dry_run=options.dry_run))


def _budgets_of(cluster: Cluster, pod: Object) -> list[Entry]:
    labels = pod["metadata"].get("labels") or {}
    return [
        entry
        for entry in cluster.store.entries(_BUDGETS.key, pod["metadata"]["namespace"])
        if "selector" in (entry.obj.get("spec") or {})
        and selector_matches(entry.obj["spec"]["selector"], labels)
    ]


def _spend(cluster: Cluster, budget: Entry, pod: Object, *, dry_run: bool) -> None:
    meta, status = budget.obj["metadata"], budget.obj.get("status") or {}
    if status.get("observedGeneration", 0) < meta.get("generation", 1):
        text = f"The disruption budget {meta['name']} is still being processed by the server."
        raise errors.too_many_requests(
            _REFUSED, [{"reason": "DisruptionBudget", "message": text}], retry_after=10
        )
    allowed = status.get("disruptionsAllowed", 0)
    if allowed <= 0:
        healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
        text = (
            f"The disruption budget {meta['name']} needs {desired} healthy pods and has {healthy} currently"
        )
        raise errors.too_many_requests(_REFUSED, [{"reason": "DisruptionBudget", "message": text}])
    if not dry_run:
        disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: cluster.stamp()}
        changed = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
        cluster.store.put(_BUDGETS.key, {**budget.obj, "status": changed})


def _mark_disrupted(cluster: Cluster, pod: Entry) -> Entry:
    status = pod.obj.get("status") or {}
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    conditions = with_condition(status.get("conditions") or [], condition, cluster.stamp())
    return cluster.store.put(PODS.key, {**pod.obj, "status": {**status, "conditions": conditions}})
