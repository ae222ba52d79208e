"""What values the arguments of the in-tree plugins may have; every fault with its path.

The rules are those of `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from scheduler.apis import duration
from scheduler.apis.config import args as a
from scheduler.apis.config.completion import binding_timeout_enabled
from scheduler.apis.fielderror import FieldError, duplicate, forbidden, invalid, not_supported, required
from scheduler.apis.names import label_key_faults
from scheduler.apis.node_selectors import compile_node_selector, compile_preferred_terms
from scheduler.features import Features

Faults = Iterator[FieldError]

_MAX_SCORE: Final = 10
_STRATEGIES: Final = (a.LEAST_ALLOCATED, a.MOST_ALLOCATED, a.REQUESTED_TO_CAPACITY_RATIO)
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_DEFAULTING: Final = ("System", "List")


def validate_args(path: str, args: Any, features: Features) -> Faults:
    """The faults of a plugin's arguments; none for arguments of out-of-tree plugins and for NodeResourcesFit.

    NodeResourcesFit's arguments are judged by `validate_fit`, only where the plugin is enabled, as upstream does.
    """
    check = _CHECKS.get(type(args))
    return iter(()) if check is None else check(path, args, features)


def validate_fit(path: str, args: a.NodeResourcesFitArgs) -> Faults:
    """The faults of NodeResourcesFit's arguments."""
    for i, name in enumerate(args.ignored_resources):
        yield from _label_key(f"{path}.ignoredResources[{i}]", name)
    for i, group in enumerate(args.ignored_resource_groups):
        place = f"{path}.ignoredResourceGroups[{i}]"
        if "/" in group:
            yield invalid(place, group, "resource group name can't contain '/'")
        yield from _label_key(place, group)
    yield from _strategy(f"{path}.scoringStrategy", args.scoring_strategy)


def _strategy(path: str, strategy: a.ScoringStrategy) -> Faults:
    if strategy.type not in _STRATEGIES:
        yield not_supported(f"{path}.type", strategy.type, _STRATEGIES)
    for i, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            yield invalid(f"{path}.resources[{i}].weight", resource.weight, detail)
    ratio = strategy.requested_to_capacity_ratio
    place = f"{path}.requestedToCapacityRatio"
    if strategy.type != a.REQUESTED_TO_CAPACITY_RATIO:
        if ratio is not None:
            yield forbidden(place, f"must be nil when type is not {a.REQUESTED_TO_CAPACITY_RATIO}")
    elif ratio is None:
        yield required(place, f"must be specified when type is {a.REQUESTED_TO_CAPACITY_RATIO}")
    else:
        yield from _shape(f"{place}.shape", ratio.shape)


def _default_preemption(path: str, args: a.DefaultPreemptionArgs, _: Features) -> Faults:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    if not 0 <= percentage <= 100:
        yield invalid(f"{path}.minCandidateNodesPercentage", percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield invalid(f"{path}.minCandidateNodesAbsolute", absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        detail = "cannot be zero at the same time as"
        yield invalid(f"{path}.minCandidateNodesPercentage", 0, f"{detail} minCandidateNodesAbsolute")
        yield invalid(f"{path}.minCandidateNodesAbsolute", 0, f"{detail} minCandidateNodesPercentage")


def _inter_pod_affinity(path: str, args: a.InterPodAffinityArgs, _: Features) -> Faults:
    if not 0 <= args.hard_pod_affinity_weight <= 100:
        yield invalid(
            f"{path}.hardPodAffinityWeight", args.hard_pod_affinity_weight, "not in valid range [0, 100]"
        )


def _node_affinity(path: str, args: a.NodeAffinityArgs, _: Features) -> Faults:
    if args.added_affinity is None:
        return
    place = f"{path}.addedAffinity"
    if args.added_affinity.required is not None:
        selector = compile_node_selector(
            args.added_affinity.required, f"{place}.requiredDuringSchedulingIgnoredDuringExecution"
        )
        yield from selector.errors
    preferred = f"{place}.preferredDuringSchedulingIgnoredDuringExecution"
    yield from compile_preferred_terms(args.added_affinity.preferred, preferred)[1]


def _balanced_allocation(path: str, args: a.NodeResourcesBalancedAllocationArgs, _: Features) -> Faults:
    seen: set[str] = set()
    for i, resource in enumerate(args.resources):
        place = f"{path}.resources[{i}]"
        if resource.name in seen:
            yield duplicate(f"{place}.name", resource.name)
        seen.add(resource.name)
        if resource.weight != 1:
            yield invalid(f"{place}.weight", resource.weight, "must be 1")


def _pod_topology_spread(path: str, args: a.PodTopologySpreadArgs, _: Features) -> Faults:
    place = f"{path}.defaultingType"
    if args.defaulting_type not in _DEFAULTING:
        yield not_supported(place, args.defaulting_type, _DEFAULTING)
    elif args.defaulting_type == "System" and args.default_constraints:
        yield invalid(place, args.defaulting_type, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for i, constraint in enumerate(args.default_constraints):
        place = f"{path}.defaultConstraints[{i}]"
        yield from _constraint(place, constraint)
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if pair in seen:
            yield duplicate(place, f"{{{pair[0]}, {pair[1]}}}")
        seen.add(pair)


def _constraint(path: str, constraint: a.TopologySpreadConstraint) -> Faults:
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
    if constraint.topology_key:
        yield from _label_key(f"{path}.topologyKey", constraint.topology_key)
    else:
        yield required(f"{path}.topologyKey", "can not be empty")
    if not constraint.when_unsatisfiable:
        yield required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif constraint.when_unsatisfiable not in _ACTIONS:
        yield not_supported(f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable, _ACTIONS)
    if constraint.label_selector is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        yield forbidden(f"{path}.labelSelector", detail)


def _volume_binding(path: str, args: a.VolumeBindingArgs, features: Features) -> Faults:
    if args.bind_timeout_seconds < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{path}.bindTimeoutSeconds", args.bind_timeout_seconds, detail)
    if features.enabled("StorageCapacityScoring"):
        yield from _shape(f"{path}.shape", args.shape or ())
    elif args.shape is not None:
        points = [{"utilization": point.utilization, "score": point.score} for point in args.shape]
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        yield invalid(f"{path}.shape", points, detail)


def _dynamic_resources(path: str, args: a.DynamicResourcesArgs, features: Features) -> Faults:
    place, timeout = f"{path}.filterTimeout", args.filter_timeout
    if timeout is not None and not features.enabled("DRASchedulerFilterTimeout"):
        yield forbidden(place, "DRASchedulerFilterTimeout feature gate is disabled")
    elif timeout is not None and timeout < 0:
        yield invalid(place, duration.format(timeout), "must be zero or positive")
    place, timeout = f"{path}.bindingTimeout", args.binding_timeout
    if timeout is not None and not binding_timeout_enabled(features):
        yield forbidden(
            place, "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
        )
    elif timeout is not None and timeout < duration.SECOND:
        yield invalid(place, duration.format(timeout), "must be at least 1 second")


def _shape(path: str, shape: Sequence[a.UtilizationShapePoint]) -> Faults:
    if not shape:
        yield required(path, "at least one point must be specified")
    for i in range(1, len(shape)):
        if shape[i - 1].utilization >= shape[i].utilization:
            detail = "values must be sorted in increasing order"
            yield invalid(f"{path}[{i}].utilization", shape[i].utilization, detail)
            break
    for i, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            yield invalid(f"{path}[{i}].utilization", point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= _MAX_SCORE:
            yield invalid(f"{path}[{i}].score", point.score, f"not in valid range [0, {_MAX_SCORE}]")


def _label_key(path: str, key: str) -> Faults:
    for fault in label_key_faults(key):
        yield invalid(path, key, fault)


_CHECKS: Final[dict[type, Callable[[str, Any, Features], Faults]]] = {
    a.DefaultPreemptionArgs: _default_preemption,
    a.InterPodAffinityArgs: _inter_pod_affinity,
    a.NodeAffinityArgs: _node_affinity,
    a.NodeResourcesBalancedAllocationArgs: _balanced_allocation,
    a.PodTopologySpreadArgs: _pod_topology_spread,
    a.VolumeBindingArgs: _volume_binding,
    a.DynamicResourcesArgs: _dynamic_resources,
}
