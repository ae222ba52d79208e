"""Cells of kubectl's tables that need more than reading a field; pods have their own module. All functions are pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from scheduler.sandbox.ages import age, parse, span

Object = dict[str, Any]
_ROLE_PREFIX = "node-role.kubernetes.io/"
_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def spec(obj: Object) -> Object:
    """The spec, {} when absent."""
    return obj.get("spec") or {}


def status(obj: Object) -> Object:
    """The status, {} when absent."""
    return obj.get("status") or {}


def pairs(labels: Mapping[str, str] | None) -> str:
    """`a=b,c=d`, or `<none>`."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or "<none>"


def _containers(obj: Object) -> list[Object]:
    holder = spec(obj).get("jobTemplate") or obj
    template = spec(holder).get("template") or {}
    return spec(template).get("containers") or []


def container_names(obj: Object) -> str:
    """Names of the template's containers."""
    return ",".join(container.get("name", "") for container in _containers(obj))


def container_images(obj: Object) -> str:
    """Images of the template's containers."""
    return ",".join(container.get("image", "") for container in _containers(obj))


def selector(obj: Object) -> str:
    """The workload's label selector as text."""
    found = spec(obj).get("selector") or {}
    if "matchLabels" not in found and "matchExpressions" not in found:
        return pairs(found)
    terms = [f"{key}={value}" for key, value in sorted((found.get("matchLabels") or {}).items())]
    for item in found.get("matchExpressions") or ():
        key, values = item["key"], ",".join(sorted(item.get("values") or ()))
        forms = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        terms.append(forms.get(item["operator"], key))
    return ",".join(terms) or "<none>"


def template_node_selector(obj: Object) -> str:
    """The node selector of a DaemonSet's pods."""
    return pairs(spec(spec(obj).get("template") or {}).get("nodeSelector"))


def ready_of_desired(obj: Object) -> str:
    """`2/3`."""
    return f"{status(obj).get('readyReplicas', 0)}/{spec(obj).get('replicas', 0)}"


def phase(obj: Object) -> str:
    """The phase, or Terminating."""
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else status(obj).get("phase", "")


def data_count(obj: Object) -> int:
    """How many keys a ConfigMap or Secret has."""
    return len(obj.get("data") or ()) + len(obj.get("binaryData") or ())


def endpoints(obj: Object) -> str:
    """Up to three addresses."""
    found = [
        f"{address['ip']}:{port['port']}"
        for subset in obj.get("subsets") or ()
        for port in subset.get("ports") or ()
        for address in subset.get("addresses") or ()
    ]
    more = f" + {len(found) - 3} more..." if len(found) > 3 else ""
    return ",".join(found[:3]) + more or "<none>"


def node_status(obj: Object) -> str:
    """`Ready`, `NotReady` or `Unknown`, and whether it is cordoned."""
    ready = next((c for c in status(obj).get("conditions") or () if c.get("type") == "Ready"), None)
    words = ["Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"]
    if spec(obj).get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def node_roles(obj: Object) -> str:
    """Roles from the node's labels."""
    roles = set()
    for key, value in (obj["metadata"].get("labels") or {}).items():
        if key.startswith(_ROLE_PREFIX):
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == "kubernetes.io/role":
            roles.add(value)
    return ",".join(sorted(role for role in roles if role)) or "<none>"


def node_address(kind: str) -> Callable[[Object], str]:
    """The first address of that type."""

    def cell(obj: Object) -> str:
        found = (a.get("address", "") for a in status(obj).get("addresses") or () if a.get("type") == kind)
        return next(found, "<none>")

    return cell


def node_kernel(obj: Object) -> str:
    """Kernel version with the architecture."""
    info = status(obj).get("nodeInfo") or {}
    architecture = info.get("architecture")
    return (info.get("kernelVersion") or "<unknown>") + (f" ({architecture})" if architecture else "")


def event_first_seen(obj: Object, now: datetime) -> str:
    """Age of the first occurrence."""
    return age(obj.get("firstTimestamp") or obj.get("eventTime"), now)


def event_last_seen(obj: Object, now: datetime) -> str:
    """Age of the last occurrence."""
    series = obj.get("series") or {}
    return age(
        series.get("lastObservedTime")
        or obj.get("lastTimestamp")
        or obj.get("firstTimestamp")
        or obj.get("eventTime"),
        now,
    )


def event_count(obj: Object) -> int:
    """How often it occurred."""
    return int((obj.get("series") or {}).get("count") or obj.get("count") or 1)


def event_object(obj: Object) -> str:
    """`pod/a`."""
    about = obj.get("involvedObject") or {}
    kind = about.get("kind", "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def event_source(obj: Object) -> str:
    """Who reported it."""
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component


def access_modes(part: str) -> Callable[[Object], str]:
    """`RWO,ROX` from spec (volumes) or, once bound, status (claims)."""

    def cell(obj: Object) -> str:
        if part == "status" and not spec(obj).get("volumeName"):
            return ""
        modes = (obj.get(part) or {}).get("accessModes") or ()
        return ",".join(short for mode, short in _MODES.items() if mode in modes)

    return cell


def volume_claim(obj: Object) -> str:
    """The claim that a volume is bound to."""
    claim = spec(obj).get("claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def claim_capacity(obj: Object) -> str:
    """The capacity of a bound claim."""
    return (status(obj).get("capacity") or {}).get("storage", "0") if spec(obj).get("volumeName") else ""


def service_ports(obj: Object) -> str:
    """`80:30080/TCP`."""
    pieces = []
    for port in spec(obj).get("ports") or ():
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        pieces.append(f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}")
    return ",".join(pieces) or "<none>"


def service_external_ip(obj: Object) -> str:
    """External addresses by the service's type."""
    kind, external = spec(obj).get("type"), list(spec(obj).get("externalIPs") or ())
    if kind == "ExternalName":
        return str(spec(obj).get("externalName", ""))
    if kind == "LoadBalancer":
        ingress = (status(obj).get("loadBalancer") or {}).get("ingress") or ()
        external = [item.get("ip") or item.get("hostname", "") for item in ingress] + external
        return ",".join(external) or "<pending>"
    return ",".join(external) or "<none>"


def storage_class_name(obj: Object) -> str:
    """The name, marked when it is the default class."""
    annotations = obj["metadata"].get("annotations") or {}
    default = annotations.get("storageclass.kubernetes.io/is-default-class") == "true"
    return str(obj["metadata"]["name"]) + (" (default)" if default else "")


def token_requests(obj: Object) -> str:
    """Audiences of a CSI driver's tokens."""
    requests = spec(obj).get("tokenRequests")
    return "<unset>" if requests is None else ",".join(item.get("audience", "") for item in requests)


def resource_claim_state(obj: Object) -> str:
    """`pending`, `allocated`, `allocated,reserved`, or deleted with them."""
    deleted, found = bool(obj["metadata"].get("deletionTimestamp")), status(obj)
    states = ["deleted"] if deleted else []
    if found.get("allocation"):
        states += ["allocated"] + (["reserved"] if found.get("reservedFor") else [])
    elif not deleted:
        states.append("pending")
    return ",".join(states)


def quota(obj: Object, *, limits: bool) -> str:
    """Used of hard, for limits or for everything else."""
    hard, used = status(obj).get("hard") or {}, status(obj).get("used") or {}
    names = [name for name in sorted(hard) if name.startswith("limits.") is limits]
    return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)


def job_status(obj: Object) -> str:
    """The state of a job."""
    true = {c.get("type") for c in status(obj).get("conditions") or () if c.get("status") == "True"}
    if found := next((word for word in ("Complete", "Failed") if word in true), ""):
        return found
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return next(
        (word for word in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if word in true), "Running"
    )


def job_completions(obj: Object) -> str:
    """`1/3`."""
    succeeded, wanted = status(obj).get("succeeded", 0), spec(obj).get("completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallel = spec(obj).get("parallelism", 0)
    return f"{succeeded}/1 of {parallel}" if parallel > 1 else f"{succeeded}/1"


def job_duration(obj: Object, now: datetime) -> str:
    """How long a job runs or ran."""
    start, end = parse(status(obj).get("startTime")), parse(status(obj).get("completionTime"))
    return span(((end or now) - start).total_seconds()) if start else ""


def last_schedule(obj: Object, now: datetime) -> str:
    """When a cron job last ran."""
    found = status(obj).get("lastScheduleTime")
    return age(found, now) if found else "<none>"
