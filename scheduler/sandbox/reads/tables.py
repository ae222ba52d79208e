"""The columns that kubectl prints, per resource (upstream: `pkg/printers/internalversion`).

A resource has a tuple of columns; a column is a name, a JSON type and a function of (object, now). Wide columns (`-o wide`) have priority 1.
Resources without an entry print NAME and AGE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scheduler.sandbox.ages import age
from scheduler.sandbox.paths import at
from scheduler.sandbox.reads import cells
from scheduler.sandbox.reads.pod_row import pod_ip, pod_readiness_gates, pod_ready, pod_restarts, pod_status
from scheduler.sandbox.resources import Resource

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `cell` computes its value; `wide` ones show only with `-o wide`."""

    name: str
    cell: Callable[[Object, datetime], Any]
    type: str = "string"
    wide: bool = False
    format: str = ""


def _at(path: str, missing: Any = "") -> Callable[[Object, datetime], Any]:
    steps = path.split(".")

    def cell(obj: Object, _now: datetime) -> Any:
        value = at(obj, steps)
        return missing if value is None or value == "" else value

    return cell


def _of(function: Callable[[Object], Any]) -> Callable[[Object, datetime], Any]:
    return lambda obj, _now: function(obj)


def _number(name: str, path: str) -> Column:
    return Column(name, _at(path, 0), "integer")


def _text(name: str, path: str, missing: str = "", *, wide: bool = False) -> Column:
    return Column(name, _at(path, missing), "string", wide)


def _computed(name: str, function: Callable[[Object], Any], *, wide: bool = False) -> Column:
    return Column(name, _of(function), "string", wide)


NAME = Column("Name", _at("metadata.name"), "string", format="name")
AGE = Column("Age", lambda obj, now: age(obj["metadata"].get("creationTimestamp"), now))
_CONTAINERS = (
    _computed("Containers", cells.container_names, wide=True),
    _computed("Images", cells.container_images, wide=True),
)
_WORKLOAD = (*_CONTAINERS, _computed("Selector", cells.selector, wide=True))
_REPLICAS = (
    _number("Desired", "spec.replicas"),
    _number("Current", "status.replicas"),
    _number("Ready", "status.readyReplicas"),
)

_PODS = (
    NAME,
    _computed("Ready", pod_ready),
    _computed("Status", pod_status),
    Column("Restarts", pod_restarts),
    AGE,
    _computed("IP", pod_ip, wide=True),
    _text("Node", "spec.nodeName", "<none>", wide=True),
    _text("Nominated Node", "status.nominatedNodeName", "<none>", wide=True),
    _computed("Readiness Gates", pod_readiness_gates, wide=True),
)
_NODES = (
    NAME,
    _computed("Status", cells.node_status),
    _computed("Roles", cells.node_roles),
    AGE,
    _text("Version", "status.nodeInfo.kubeletVersion"),
    _computed("Internal-IP", cells.node_address("InternalIP"), wide=True),
    _computed("External-IP", cells.node_address("ExternalIP"), wide=True),
    _text("OS-Image", "status.nodeInfo.osImage", "<unknown>", wide=True),
    _computed("Kernel-Version", cells.node_kernel, wide=True),
    _text("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "<unknown>", wide=True),
)
_EVENTS = (
    Column("Last Seen", cells.event_last_seen),
    _text("Type", "type"),
    _text("Reason", "reason"),
    _computed("Object", cells.event_object),
    _text("Subobject", "involvedObject.fieldPath", wide=True),
    _computed("Source", cells.event_source, wide=True),
    _computed("Message", lambda obj: (obj.get("message") or "").strip()),
    Column("First Seen", cells.event_first_seen, wide=True),
    Column("Count", _of(cells.event_count), "integer", wide=True),
    Column("Name", _at("metadata.name"), wide=True, format="name"),
)
_VOLUMES = (
    NAME,
    _text("Capacity", "spec.capacity.storage", "0"),
    _computed("Access Modes", cells.access_modes("spec")),
    _text("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
    _computed("Status", cells.phase),
    _computed("Claim", cells.volume_claim),
    _text("StorageClass", "spec.storageClassName"),
    _text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    _text("Reason", "status.reason"),
    AGE,
    _text("VolumeMode", "spec.volumeMode", "<unset>", wide=True),
)
_CLAIMS = (
    NAME,
    _computed("Status", cells.phase),
    _text("Volume", "spec.volumeName"),
    _computed("Capacity", cells.claim_capacity),
    _computed("Access Modes", cells.access_modes("status")),
    _text("StorageClass", "spec.storageClassName"),
    _text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    AGE,
    _text("VolumeMode", "spec.volumeMode", "<unset>", wide=True),
)
_SERVICES = (
    NAME,
    _text("Type", "spec.type"),
    _text("Cluster-IP", "spec.clusterIP", "<none>"),
    _computed("External-IP", cells.service_external_ip),
    _computed("Port(s)", cells.service_ports),
    AGE,
    _computed("Selector", lambda obj: cells.pairs(obj.get("spec", {}).get("selector")), wide=True),
)
_DAEMON_SETS = (
    NAME,
    _number("Desired", "status.desiredNumberScheduled"),
    _number("Current", "status.currentNumberScheduled"),
    _number("Ready", "status.numberReady"),
    _number("Up-to-date", "status.updatedNumberScheduled"),
    _number("Available", "status.numberAvailable"),
    _computed("Node Selector", cells.template_node_selector),
    AGE,
    *_WORKLOAD,
)
_DEPLOYMENTS = (
    NAME,
    _computed("Ready", cells.ready_of_desired),
    _number("Up-to-date", "status.updatedReplicas"),
    _number("Available", "status.availableReplicas"),
    AGE,
    *_WORKLOAD,
)
_JOBS = (
    NAME,
    _computed("Status", cells.job_status),
    _computed("Completions", cells.job_completions),
    Column("Duration", cells.job_duration),
    AGE,
    *_WORKLOAD,
)
_CSI_DRIVERS = (
    NAME,
    Column("AttachRequired", _at("spec.attachRequired", True), "boolean"),
    Column("PodInfoOnMount", _at("spec.podInfoOnMount", False), "boolean"),
    Column("StorageCapacity", _at("spec.storageCapacity", False), "boolean"),
    _computed("TokenRequests", cells.token_requests),
    Column("RequiresRepublish", _at("spec.requiresRepublish", False), "boolean"),
    _computed(
        "Modes", lambda obj: ",".join(obj.get("spec", {}).get("volumeLifecycleModes") or ()) or "<none>"
    ),
    AGE,
)
_STORAGE_CLASSES = (
    Column("Name", _of(cells.storage_class_name), "string", format="name"),
    _text("Provisioner", "provisioner"),
    _text("ReclaimPolicy", "reclaimPolicy", "Delete"),
    _text("VolumeBindingMode", "volumeBindingMode", "Immediate"),
    Column("AllowVolumeExpansion", _at("allowVolumeExpansion", False), "boolean"),
    AGE,
)
_BUDGETS = (
    NAME,
    _text("Min Available", "spec.minAvailable", "N/A"),
    _text("Max Unavailable", "spec.maxUnavailable", "N/A"),
    _number("Allowed Disruptions", "status.disruptionsAllowed"),
    AGE,
)
_PRIORITY_CLASSES = (
    NAME,
    _number("Value", "value"),
    Column("Global-Default", _at("globalDefault", False), "boolean"),
    AGE,
    _text("PreemptionPolicy", "preemptionPolicy"),
)
_SLICES = (
    NAME,
    _text("Node", "spec.nodeName"),
    _text("Driver", "spec.driver"),
    _text("Pool", "spec.pool.name"),
    AGE,
)
_ATTACHMENTS = (
    NAME,
    _text("Attacher", "spec.attacher"),
    _text("PV", "spec.source.persistentVolumeName"),
    _text("Node", "spec.nodeName"),
    Column("Attached", _at("status.attached", False), "boolean"),
    AGE,
)
_CRON_JOBS = (
    NAME,
    _text("Schedule", "spec.schedule"),
    _text("Timezone", "spec.timeZone", "<none>"),
    Column("Suspend", _at("spec.suspend", False), "boolean"),
    Column("Active", _of(lambda obj: len((obj.get("status") or {}).get("active") or ())), "integer"),
    Column("Last Schedule", cells.last_schedule),
    AGE,
    *_CONTAINERS,
)

TABLES: dict[str, tuple[Column, ...]] = {
    "pods": _PODS,
    "nodes": _NODES,
    "events": _EVENTS,
    "namespaces": (NAME, _text("Status", "status.phase"), AGE),
    "configmaps": (NAME, Column("Data", _of(cells.data_count), "integer"), AGE),
    "secrets": (NAME, _text("Type", "type"), Column("Data", _of(cells.data_count), "integer"), AGE),
    "services": _SERVICES,
    "endpoints": (NAME, _computed("Endpoints", cells.endpoints), AGE),
    "persistentvolumes": _VOLUMES,
    "persistentvolumeclaims": _CLAIMS,
    "resourcequotas": (
        NAME,
        _computed("Request", lambda obj: cells.quota(obj, limits=False)),
        _computed("Limit", lambda obj: cells.quota(obj, limits=True)),
        AGE,
    ),
    "replicationcontrollers": (NAME, *_REPLICAS, AGE, *_WORKLOAD),
    "replicasets.apps": (NAME, *_REPLICAS, AGE, *_WORKLOAD),
    "deployments.apps": _DEPLOYMENTS,
    "statefulsets.apps": (NAME, _computed("Ready", cells.ready_of_desired), AGE, *_CONTAINERS),
    "daemonsets.apps": _DAEMON_SETS,
    "jobs.batch": _JOBS,
    "cronjobs.batch": _CRON_JOBS,
    "leases.coordination.k8s.io": (NAME, _text("Holder", "spec.holderIdentity"), AGE),
    "poddisruptionbudgets.policy": _BUDGETS,
    "priorityclasses.scheduling.k8s.io": _PRIORITY_CLASSES,
    "runtimeclasses.node.k8s.io": (NAME, _text("Handler", "handler"), AGE),
    "storageclasses.storage.k8s.io": _STORAGE_CLASSES,
    "volumeattachments.storage.k8s.io": _ATTACHMENTS,
    "csinodes.storage.k8s.io": (
        NAME,
        Column("Drivers", _of(lambda obj: len((obj.get("spec") or {}).get("drivers") or ())), "integer"),
        AGE,
    ),
    "csidrivers.storage.k8s.io": _CSI_DRIVERS,
    "csistoragecapacities.storage.k8s.io": (
        NAME,
        _text("StorageClassName", "storageClassName"),
        _text("Capacity", "capacity"),
    ),
    "resourceclaims.resource.k8s.io": (NAME, _computed("State", cells.resource_claim_state), AGE),
    "resourceslices.resource.k8s.io": _SLICES,
}
_PLAIN = (NAME, AGE)


def columns(resource: Resource) -> list[Object]:
    """The column definitions of a Table."""
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": "",
            "priority": int(column.wide),
        }
        for column in TABLES.get(resource.key, _PLAIN)
    ]


def row(resource: Resource, obj: Object, now: datetime) -> list[Any]:
    """The cells of one object, all columns."""
    return [column.cell(obj, now) for column in TABLES.get(resource.key, _PLAIN)]
