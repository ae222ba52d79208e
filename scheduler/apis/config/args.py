"""The arguments of the in-tree plugins, as a plugin's factory receives them: typed, immutable, defaults applied.

Durations are nanoseconds. `addedAffinity` arrives as the API objects that pods carry, so that the plugin compiles both
alike. The fields are those of `kubescheduler.config.k8s.io/v1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scheduler.apis.objects import LabelSelector, NodeAffinity

LEAST_ALLOCATED: Final = "LeastAllocated"
MOST_ALLOCATED: Final = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO: Final = "RequestedToCapacityRatio"


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A resource to score, and its share in the score."""

    name: str = ""
    weight: int = 0


@dataclass(frozen=True, slots=True)
class UtilizationShapePoint:
    """A point of a scoring function: at this utilization in percent, this score from 0 to 10."""

    utilization: int = 0
    score: int = 0


@dataclass(frozen=True, slots=True)
class RequestedToCapacityRatioParam:
    """The scoring function of the strategy of that name."""

    shape: tuple[UtilizationShapePoint, ...] = ()


DEFAULT_RESOURCES: Final = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))


@dataclass(frozen=True, slots=True)
class ScoringStrategy:
    """How NodeResourcesFit scores."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


@dataclass(frozen=True, slots=True)
class TopologySpreadConstraint:
    """A default spread constraint, with the fields of a pod's; the label selector must stay unset."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefaultPreemptionArgs:
    """How many candidate nodes preemption looks at."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


@dataclass(frozen=True, slots=True)
class DynamicResourcesArgs:
    """Time limits in nanoseconds; None where the gate is off."""

    filter_timeout: int | None = None
    binding_timeout: int | None = None


@dataclass(frozen=True, slots=True)
class InterPodAffinityArgs:
    """How required affinity of running pods counts in the score."""

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


@dataclass(frozen=True, slots=True)
class NodeAffinityArgs:
    """Affinity added to every pod of the profile."""

    added_affinity: NodeAffinity | None = None


@dataclass(frozen=True, slots=True)
class NodeResourcesBalancedAllocationArgs:
    """The resources to balance."""

    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


@dataclass(frozen=True, slots=True)
class NodeResourcesFitArgs:
    """Resources that the filter leaves aside, and how to score the rest."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(LEAST_ALLOCATED, DEFAULT_RESOURCES)


@dataclass(frozen=True, slots=True)
class PodTopologySpreadArgs:
    """Constraints for pods that have none: built-in (`System`) or these (`List`)."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"


@dataclass(frozen=True, slots=True)
class VolumeBindingArgs:
    """How long to wait for volumes, in seconds, and the capacity scoring function where its gate is on."""

    bind_timeout_seconds: int = 600
    shape: tuple[UtilizationShapePoint, ...] | None = None


PluginArgs = (
    DefaultPreemptionArgs
    | DynamicResourcesArgs
    | InterPodAffinityArgs
    | NodeAffinityArgs
    | NodeResourcesBalancedAllocationArgs
    | NodeResourcesFitArgs
    | PodTopologySpreadArgs
    | VolumeBindingArgs
)
