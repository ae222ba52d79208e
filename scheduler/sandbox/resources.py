"""Which resources the sandbox serves: one declarative table.

Everything else (routing, discovery, OpenAPI, storage) reads this table; a new kind is a new line, and its types' lines in `api_fields.json`.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")

# ServiceMonitor is no kind of Kubernetes: it is served as where Prometheus Operator is installed, so that manifests with one can be tried.
# Scope: `!` marks kinds that are only ever created and answered (reviews, bindings), `*` what `kubectl get all` shows.
_TABLE = """
# group/version           kind                      plural                     scope       short   subresources
v1                        Binding                   bindings                   namespace!  -       -
v1                        ConfigMap                 configmaps                 namespace   cm      -
v1                        Endpoints                 endpoints                  namespace   ep      -
v1                        Event                     events                     namespace   ev      -
v1                        LimitRange                limitranges                namespace   limits  -
v1                        Namespace                 namespaces                 cluster     ns      finalize,status
v1                        Node                      nodes                      cluster     no      status
v1                        PersistentVolumeClaim     persistentvolumeclaims     namespace   pvc     status
v1                        PersistentVolume          persistentvolumes          cluster     pv      status
v1                        Pod                       pods                       namespace*  po      binding,ephemeralcontainers,eviction,log,resize,status
v1                        PodTemplate               podtemplates               namespace   -       -
v1                        ReplicationController     replicationcontrollers     namespace*  rc      scale,status
v1                        ResourceQuota             resourcequotas             namespace   quota   status
v1                        Secret                    secrets                    namespace   -       -
v1                        ServiceAccount            serviceaccounts            namespace   sa      -
v1                        Service                   services                   namespace*  svc     status
apps/v1                   ControllerRevision        controllerrevisions        namespace   -       -
apps/v1                   DaemonSet                 daemonsets                 namespace*  ds      status
apps/v1                   Deployment                deployments                namespace*  deploy  scale,status
apps/v1                   ReplicaSet                replicasets                namespace*  rs      scale,status
apps/v1                   StatefulSet               statefulsets               namespace*  sts     scale,status
authentication.k8s.io/v1  SelfSubjectReview         selfsubjectreviews         cluster!    -       -
authentication.k8s.io/v1  TokenReview               tokenreviews               cluster!    -       -
authorization.k8s.io/v1   LocalSubjectAccessReview  localsubjectaccessreviews  namespace!  -       -
authorization.k8s.io/v1   SelfSubjectAccessReview   selfsubjectaccessreviews   cluster!    -       -
authorization.k8s.io/v1   SelfSubjectRulesReview    selfsubjectrulesreviews    cluster!    -       -
authorization.k8s.io/v1   SubjectAccessReview       subjectaccessreviews       cluster!    -       -
batch/v1                  CronJob                   cronjobs                   namespace*  cj      status
batch/v1                  Job                       jobs                       namespace*  -       status
coordination.k8s.io/v1    Lease                     leases                     namespace   -       -
coordination.k8s.io/v1beta1  LeaseCandidate         leasecandidates            namespace   -       -
events.k8s.io/v1          Event                     events                     namespace   ev      -
monitoring.coreos.com/v1  ServiceMonitor            servicemonitors            namespace   smon    -
node.k8s.io/v1            RuntimeClass              runtimeclasses             cluster     -       -
policy/v1                 PodDisruptionBudget       poddisruptionbudgets       namespace   pdb     status
rbac.authorization.k8s.io/v1  ClusterRole           clusterroles               cluster     -       -
rbac.authorization.k8s.io/v1  ClusterRoleBinding    clusterrolebindings        cluster     -       -
rbac.authorization.k8s.io/v1  Role                  roles                      namespace   -       -
rbac.authorization.k8s.io/v1  RoleBinding           rolebindings               namespace   -       -
resource.k8s.io/v1        DeviceClass               deviceclasses              cluster     -       -
resource.k8s.io/v1        ResourceClaim             resourceclaims             namespace   -       status
resource.k8s.io/v1        ResourceClaimTemplate     resourceclaimtemplates     namespace   -       -
resource.k8s.io/v1        ResourceSlice             resourceslices             cluster     -       -
scheduling.k8s.io/v1      PriorityClass             priorityclasses            cluster     pc      -
storage.k8s.io/v1         CSIDriver                 csidrivers                 cluster     -       -
storage.k8s.io/v1         CSINode                   csinodes                   cluster     -       -
storage.k8s.io/v1         CSIStorageCapacity        csistoragecapacities       namespace   -       -
storage.k8s.io/v1         StorageClass              storageclasses             cluster     sc      -
storage.k8s.io/v1         VolumeAttachment          volumeattachments          cluster     -       status
"""


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    short_names: tuple[str, ...]
    subresources: tuple[str, ...]
    categories: tuple[str, ...]
    verbs: tuple[str, ...]

    @property
    def api_version(self) -> str:
        """`v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def key(self) -> str:
        """Where the store keeps the objects: `pods`, `deployments.apps`; both kinds of events are one."""
        if not self.group or self.plural == "events":
            return self.plural
        return f"{self.plural}.{self.group}"

    @property
    def model(self) -> str:
        """The type's name in `schema`: `core.v1.Pod`, `resource.v1.ResourceClaim`."""
        return f"{self.group.partition('.')[0] or 'core'}.{self.version}.{self.kind}"

    @property
    def has_status(self) -> bool:
        """Whether status is written through an endpoint of its own."""
        return "status" in self.subresources


def _parse(line: str) -> Resource:
    group_version, kind, plural, scope, short, subresources = line.split()
    group, _, version = group_version.rpartition("/")
    return Resource(
        group,
        version,
        kind,
        plural,
        namespaced=scope.startswith("namespace"),
        short_names=_words(short),
        subresources=_words(subresources),
        categories=("all",) if "*" in scope else (),
        verbs=("create",) if "!" in scope else ALL_VERBS,
    )


def _words(cell: str) -> tuple[str, ...]:
    return () if cell == "-" else tuple(cell.split(","))


RESOURCES = tuple(_parse(line) for line in _TABLE.splitlines() if line and not line.startswith("#"))

BY_PATH: dict[tuple[str, str, str], Resource] = {(r.group, r.version, r.plural): r for r in RESOURCES}
BY_KIND: dict[tuple[str, str], Resource] = {(r.api_version, r.kind): r for r in RESOURCES}
GROUP_VERSIONS: tuple[tuple[str, str], ...] = tuple(dict.fromkeys((r.group, r.version) for r in RESOURCES))


def resources_of(group: str, version: str) -> list[Resource]:
    """The resources of one group and version, in the table's order."""
    return [resource for resource in RESOURCES if (resource.group, resource.version) == (group, version)]


PODS = BY_PATH["", "v1", "pods"]
NAMESPACES = BY_PATH["", "v1", "namespaces"]
_CORE_EVENTS = BY_PATH["", "v1", "events"]


def stored_as(resource: Resource) -> Resource:
    """The resource under whose form the objects are stored: events live once and are served twice."""
    return _CORE_EVENTS if resource.key == _CORE_EVENTS.key else resource


SUBRESOURCE_KINDS: dict[str, tuple[str, str, str]] = {
    "binding": ("", "v1", "Binding"),
    "eviction": ("policy", "v1", "Eviction"),
    "scale": ("autoscaling", "v1", "Scale"),
}
"""Subresources that speak another kind than their parent: (group, version, kind)."""
