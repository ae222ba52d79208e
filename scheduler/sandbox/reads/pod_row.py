"""The cells of a pod's row, above all its STATUS word (upstream: `printPod`)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scheduler.sandbox.ages import age

Object = dict[str, Any]
_TERMINAL = ("Succeeded", "Failed")


def _status(pod: Object) -> Object:
    return pod.get("status") or {}


def _true(pod: Object, condition: str) -> bool:
    return any(
        c.get("type") == condition and c.get("status") == "True" for c in _status(pod).get("conditions") or ()
    )


def _sidecars(pod: Object) -> set[str]:
    return {c["name"] for c in pod["spec"].get("initContainers") or () if c.get("restartPolicy") == "Always"}


def pod_ready(pod: Object) -> str:
    """`1/2`: ready containers of all, restartable init containers included."""
    sidecars = _sidecars(pod)
    total = len(pod["spec"].get("containers") or ()) + len(sidecars)
    status = _status(pod)
    ready = sum(
        bool(c.get("ready"))
        for c in status.get("initContainerStatuses") or ()
        if c.get("name") in sidecars and c.get("started")
    )
    if not _init_reason(pod) or _true(pod, "Initialized"):
        ready += sum(
            bool(c.get("ready") and (c.get("state") or {}).get("running") is not None)
            for c in _containers(status)
        )
    return f"{ready}/{total}"


def pod_status(pod: Object) -> str:
    """The word under STATUS: `Pending`, `Running`, `SchedulingGated`, `Init:0/1`, `CrashLoopBackOff`, `Terminating`, ..."""
    status = _status(pod)
    phase = status.get("phase", "")
    reason = status.get("reason") or phase
    if any(
        c.get("type") == "PodScheduled" and c.get("reason") == "SchedulingGated"
        for c in status.get("conditions") or ()
    ):
        reason = "SchedulingGated"
    initial = _init_reason(pod)
    reason = initial or reason
    if not initial or _true(pod, "Initialized"):
        reason = _container_reason(pod, reason)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if phase not in _TERMINAL:
            return "Terminating"
    return str(reason)


def _containers(status: Object) -> list[Object]:
    return status.get("containerStatuses") or []


def _ended(state: Object, prefix: str = "") -> str:
    if state.get("reason"):
        return f"{prefix}{state['reason']}"
    if state.get("signal"):
        return f"{prefix}Signal:{state['signal']}"
    return f"{prefix}ExitCode:{state.get('exitCode', 0)}"


def _init_reason(pod: Object) -> str:
    sidecars = _sidecars(pod)
    for index, container in enumerate(_status(pod).get("initContainerStatuses") or ()):
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and ended.get("exitCode", 0) == 0:
            continue
        if container.get("name") in sidecars and container.get("started"):
            continue
        if ended is not None:
            return _ended(ended, "Init:")
        if waiting.get("reason") and waiting["reason"] != "PodInitializing":
            return f"Init:{waiting['reason']}"
        return f"Init:{index}/{len(pod['spec'].get('initContainers') or ())}"
    return ""


def _container_reason(pod: Object, reason: str) -> str:
    running, error = False, ""
    for container in reversed(_containers(_status(pod))):
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif ended is not None:
            reason = _ended(ended)
            error = reason if ended.get("exitCode") else error
        elif container.get("ready") and state.get("running") is not None:
            running = True
    if reason == "Completed":
        if running:
            return "Running" if _true(pod, "Ready") else "NotReady"
        return error or reason
    return reason


def pod_restarts(pod: Object, now: datetime) -> str:
    """`0`, or `3 (5m ago)`."""
    status, sidecars = _status(pod), _sidecars(pod)
    initial = status.get("initContainerStatuses") or []
    if _init_reason(pod) and not _true(pod, "Initialized"):
        counted = initial
    else:
        counted = [c for c in initial if c.get("name") in sidecars] + _containers(status)
    restarts = sum(c.get("restartCount", 0) for c in counted)
    ended = [((c.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or "" for c in counted]
    last = max(ended, default="")
    return f"{restarts} ({age(last, now)} ago)" if restarts and last else str(restarts)


def pod_ip(pod: Object) -> str:
    """The first address."""
    found = _status(pod).get("podIPs") or ()
    return found[0].get("ip") or "<none>" if found else "<none>"


def pod_readiness_gates(pod: Object) -> str:
    """`1/2` gates that are true."""
    gates = pod["spec"].get("readinessGates") or ()
    if not gates:
        return "<none>"
    return f"{sum(_true(pod, gate.get('conditionType', '')) for gate in gates)}/{len(gates)}"
