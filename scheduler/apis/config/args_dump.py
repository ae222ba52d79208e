"""The arguments of plugins as plain trees, the way their v1 types are encoded."""

from __future__ import annotations

from typing import Any

from scheduler.apis import duration
from scheduler.apis.config import args as a
from scheduler.apis.config.fields import camel
from scheduler.apis.config.types import API_VERSION
from scheduler.apis.objects import LabelSelectorRequirement, NodeAffinity, NodeSelectorTerm


def args_tree(args: Any) -> Any:
    """The tree of a plugin's arguments, with their kind; arguments of out-of-tree plugins are trees already."""
    if isinstance(args, a.PluginArgs):
        return {"apiVersion": API_VERSION, "kind": type(args).__name__, **_fields(args)}
    return args


def _fields(args: a.PluginArgs) -> dict[str, Any]:
    match args:
        case a.DefaultPreemptionArgs() | a.InterPodAffinityArgs():
            return {camel(name): getattr(args, name) for name in args.__slots__}
        case a.DynamicResourcesArgs():
            found: dict[str, Any] = {"filterTimeout": _duration(args.filter_timeout)}
            return found | _given({"bindingTimeout": _duration(args.binding_timeout)})
        case a.NodeAffinityArgs():
            return {} if args.added_affinity is None else {"addedAffinity": _affinity(args.added_affinity)}
        case a.NodeResourcesBalancedAllocationArgs():
            return _given({"resources": _resources(args.resources)})
        case a.NodeResourcesFitArgs():
            return _fit(args)
        case a.PodTopologySpreadArgs():
            constraints = [_constraint(constraint) for constraint in args.default_constraints]
            return _given({"defaultConstraints": constraints, "defaultingType": args.defaulting_type})
        case a.VolumeBindingArgs():
            return {"bindTimeoutSeconds": args.bind_timeout_seconds} | _given(
                {"shape": _shape(args.shape or ())}
            )


def _given(optional: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in optional.items() if value}


def _duration(nanoseconds: int | None) -> str | None:
    return None if nanoseconds is None else duration.format(nanoseconds)


def _fit(args: a.NodeResourcesFitArgs) -> dict[str, Any]:
    strategy = args.scoring_strategy
    found = _given({"type": strategy.type, "resources": _resources(strategy.resources)})
    if strategy.requested_to_capacity_ratio is not None:
        found["requestedToCapacityRatio"] = _given(
            {"shape": _shape(strategy.requested_to_capacity_ratio.shape)}
        )
    lists = {
        "ignoredResources": list(args.ignored_resources),
        "ignoredResourceGroups": list(args.ignored_resource_groups),
    }
    return {"scoringStrategy": found} | _given(lists)


def _resources(resources: tuple[a.ResourceSpec, ...]) -> list[dict[str, Any]]:
    return [{"name": resource.name} | _given({"weight": resource.weight}) for resource in resources]


def _shape(shape: tuple[a.UtilizationShapePoint, ...]) -> list[dict[str, Any]]:
    return [{"utilization": point.utilization, "score": point.score} for point in shape]


def _constraint(constraint: a.TopologySpreadConstraint) -> dict[str, Any]:
    found: dict[str, Any] = {
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": constraint.when_unsatisfiable,
    }
    pointers = {
        "minDomains": constraint.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy,
        "nodeTaintsPolicy": constraint.node_taints_policy,
    }
    found |= {key: value for key, value in pointers.items() if value is not None}
    return found | _given({"matchLabelKeys": list(constraint.match_label_keys)})


def _affinity(affinity: NodeAffinity) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if affinity.required is not None:
        terms = [_term(term) for term in affinity.required.node_selector_terms]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms or None}
    if affinity.preferred:
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": wanted.weight, "preference": _term(wanted.preference)} for wanted in affinity.preferred
        ]
    return found


def _term(term: NodeSelectorTerm) -> dict[str, Any]:
    return _given(
        {
            "matchExpressions": [_requirement(requirement) for requirement in term.match_expressions],
            "matchFields": [_requirement(requirement) for requirement in term.match_fields],
        }
    )


def _requirement(requirement: LabelSelectorRequirement) -> dict[str, Any]:
    found: dict[str, Any] = {"key": requirement.key, "operator": requirement.operator}
    return found | _given({"values": list(requirement.values)})
