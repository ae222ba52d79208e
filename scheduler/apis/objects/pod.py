"""Pod: what a scheduler reads of it, in the API's own structure (``pod.spec.containers[0].resources.requests``)."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import (
    Base,
    Condition,
    Int32,
    Int64,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    Timestamp,
)
from scheduler.apis.objects.resources import ResourceList, ResourceRequirements
from scheduler.apis.objects.volumes import Volume


class ContainerPort(Base, frozen=True):
    """A container's port; ``host_port`` 0 means that no port of the node is taken."""

    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")


class ContainerRestartRule(Base, frozen=True):
    """What happens when a container exits in some way, ``RestartAllContainers`` say."""

    action: str = ""


class Container(Base, frozen=True):
    """A container or init container; ``restart_policy`` ``Always`` makes an init container a sidecar."""

    name: str = ""
    image: str = ""
    restart_policy: str = ""
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = msgspec.field(default_factory=ResourceRequirements)


class PodSchedulingGate(Base, frozen=True):
    """A named reason to keep the pod out of the queue."""

    name: str = ""


class Toleration(Base, frozen=True):
    """Tolerates the taints it matches; an empty key with ``Exists`` tolerates every key, an empty effect every effect."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class PreferredSchedulingTerm(Base, frozen=True):
    """A node preference and its weight, 1 to 100."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Base, frozen=True):
    """Which nodes a pod needs, and which it would like."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class PodAffinityTerm(Base, frozen=True):
    """Pods that the selector matches, in the namespaces given, share a value of ``topology_key`` with the node."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Base, frozen=True):
    """A preferred term and its weight, 1 to 100."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = msgspec.field(default_factory=PodAffinityTerm)


class PodAffinity(Base, frozen=True):
    """Required and preferred terms; pod affinity and pod anti-affinity have the same shape."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(
        default=(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Base, frozen=True):
    """Node affinity, pod affinity and pod anti-affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Base, frozen=True):
    """How evenly the matching pods are spread over the values of ``topology_key``. Policies of None are ``Honor`` and ``Ignore``."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PodResourceClaim(Base, frozen=True):
    """A claim for devices: by its name, or by the template that it is made from."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(Base, frozen=True):
    """``spec``: what the pod asks for."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: ResourceList = {}
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    volumes: tuple[Volume, ...] = ()
    host_network: bool = False
    runtime_class_name: str = ""
    host_users: bool | None = None


class ContainerStatus(Base, frozen=True):
    """What the kubelet reports of a container: the resources it got and those it was allocated by an in-place resize."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = {}


class PodStatus(Base, frozen=True):
    """``status``: phase, nomination, conditions and the resources in force during an in-place resize."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: Timestamp = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = {}


class Pod(Base, frozen=True):
    """A pod. ``full_name`` is ``namespace/name``."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    @property
    def full_name(self) -> str:
        """``namespace/name``, as events and messages print it."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def priority(self) -> int:
        """The pod's priority, 0 when none is set (upstream: ``corev1helpers.PodPriority``)."""
        return self.spec.priority or 0

    @property
    def terminal(self) -> bool:
        """Succeeded or Failed: it holds no resources any more."""
        return self.status.phase in ("Succeeded", "Failed")
