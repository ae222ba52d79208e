"""Which resources the sandbox serves: one declarative table.

Everything else (routing, discovery, OpenAPI, storage) reads this table; a new kind is a new line. `model` names the type in the official
client's models, from which the field schema is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource. `storage` is the key in the store: two views of one thing (both kinds of events) share it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    model: str
    short_names: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    storage: str = ""
    verbs: tuple[str, ...] = field(default=ALL_VERBS)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def key(self) -> str:
        """Where the store keeps the objects: `pods`, `deployments.apps`."""
        return self.storage or (f"{self.plural}.{self.group}" if self.group else self.plural)

    @property
    def has_status(self) -> bool:
        return "status" in self.subresources


def _row(group_version: str, kind: str, plural: str, scope: str, model: str = "", **more: object) -> Resource:
    group, _, version = group_version.rpartition("/")
    words = {
        name: tuple(str(value).split()) if name != "storage" else str(value) for name, value in more.items()
    }
    version_word = version[0].upper() + version[1:]
    return Resource(group, version, kind, plural, scope == "ns", model or version_word + kind, **words)  # type: ignore[arg-type]


RESOURCES: tuple[Resource, ...] = (
    _row("v1", "Binding", "bindings", "ns", verbs="create"),
    _row("v1", "ConfigMap", "configmaps", "ns", short_names="cm"),
    _row("v1", "Endpoints", "endpoints", "ns", short_names="ep"),
    _row("v1", "Event", "events", "ns", "CoreV1Event", short_names="ev"),
    _row("v1", "LimitRange", "limitranges", "ns", short_names="limits"),
    _row("v1", "Namespace", "namespaces", "cluster", short_names="ns", subresources="finalize status"),
    _row("v1", "Node", "nodes", "cluster", short_names="no", subresources="status"),
    _row(
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        "ns",
        short_names="pvc",
        subresources="status",
    ),
    _row("v1", "PersistentVolume", "persistentvolumes", "cluster", short_names="pv", subresources="status"),
    _row(
        "v1",
        "Pod",
        "pods",
        "ns",
        short_names="po",
        categories="all",
        subresources="binding ephemeralcontainers eviction resize status",
    ),
    _row("v1", "PodTemplate", "podtemplates", "ns"),
    _row(
        "v1",
        "ReplicationController",
        "replicationcontrollers",
        "ns",
        short_names="rc",
        categories="all",
        subresources="scale status",
    ),
    _row("v1", "ResourceQuota", "resourcequotas", "ns", short_names="quota", subresources="status"),
    _row("v1", "Secret", "secrets", "ns"),
    _row("v1", "ServiceAccount", "serviceaccounts", "ns", short_names="sa"),
    _row("v1", "Service", "services", "ns", short_names="svc", categories="all", subresources="status"),
    _row("apps/v1", "ControllerRevision", "controllerrevisions", "ns"),
    _row(
        "apps/v1", "DaemonSet", "daemonsets", "ns", short_names="ds", categories="all", subresources="status"
    ),
    _row(
        "apps/v1",
        "Deployment",
        "deployments",
        "ns",
        short_names="deploy",
        categories="all",
        subresources="scale status",
    ),
    _row(
        "apps/v1",
        "ReplicaSet",
        "replicasets",
        "ns",
        short_names="rs",
        categories="all",
        subresources="scale status",
    ),
    _row(
        "apps/v1",
        "StatefulSet",
        "statefulsets",
        "ns",
        short_names="sts",
        categories="all",
        subresources="scale status",
    ),
    _row("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", "cluster", verbs="create"),
    _row("authentication.k8s.io/v1", "TokenReview", "tokenreviews", "cluster", verbs="create"),
    _row(
        "authorization.k8s.io/v1",
        "LocalSubjectAccessReview",
        "localsubjectaccessreviews",
        "ns",
        verbs="create",
    ),
    _row(
        "authorization.k8s.io/v1",
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        "cluster",
        verbs="create",
    ),
    _row(
        "authorization.k8s.io/v1",
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        "cluster",
        verbs="create",
    ),
    _row("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews", "cluster", verbs="create"),
    _row("batch/v1", "CronJob", "cronjobs", "ns", short_names="cj", categories="all", subresources="status"),
    _row("batch/v1", "Job", "jobs", "ns", categories="all", subresources="status"),
    _row("coordination.k8s.io/v1", "Lease", "leases", "ns"),
    _row("events.k8s.io/v1", "Event", "events", "ns", "EventsV1Event", short_names="ev", storage="events"),
    _row("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", "cluster"),
    _row(
        "policy/v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        "ns",
        short_names="pdb",
        subresources="status",
    ),
    _row("resource.k8s.io/v1", "DeviceClass", "deviceclasses", "cluster"),
    _row(
        "resource.k8s.io/v1",
        "ResourceClaim",
        "resourceclaims",
        "ns",
        "ResourceV1ResourceClaim",
        subresources="status",
    ),
    _row("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates", "ns"),
    _row("resource.k8s.io/v1", "ResourceSlice", "resourceslices", "cluster"),
    _row("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "cluster", short_names="pc"),
    _row("storage.k8s.io/v1", "CSIDriver", "csidrivers", "cluster"),
    _row("storage.k8s.io/v1", "CSINode", "csinodes", "cluster"),
    _row("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", "ns"),
    _row("storage.k8s.io/v1", "StorageClass", "storageclasses", "cluster", short_names="sc"),
    _row("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", "cluster", subresources="status"),
)

BY_PATH: dict[tuple[str, str, str], Resource] = {(r.group, r.version, r.plural): r for r in RESOURCES}
BY_KIND: dict[tuple[str, str], Resource] = {(r.api_version, r.kind): r for r in RESOURCES}
GROUP_VERSIONS: tuple[tuple[str, str], ...] = tuple(dict.fromkeys((r.group, r.version) for r in RESOURCES))

PODS = BY_PATH["", "v1", "pods"]
NAMESPACES = BY_PATH["", "v1", "namespaces"]
CORE_EVENTS = BY_PATH["", "v1", "events"]

SUBRESOURCE_KINDS: dict[str, tuple[str, str, str]] = {
    "binding": ("", "v1", "Binding"),
    "eviction": ("policy", "v1", "Eviction"),
    "scale": ("autoscaling", "v1", "Scale"),
}
"""Subresources that speak another kind than their parent: (group, version, kind)."""
