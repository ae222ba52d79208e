"""How the arguments of the in-tree plugins are written in a file: one schema per kind.

What a schema leaves at None is a default that depends on a feature gate; `completion` fills it in. A scoring strategy that is
given without a type stays without one, as upstream leaves it: validation then refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from marshmallow import ValidationError, fields

from scheduler.apis.config import args
from scheduler.apis.config.fields import (
    GoBool,
    GoDuration,
    GoField,
    GoInt,
    GoList,
    GoSchema,
    GoString,
    strings,
    structs,
)
from scheduler.apis.config.types import API_VERSION
from scheduler.apis.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)


class _RequirementSchema(GoSchema):
    target = LabelSelectorRequirement
    key = GoString()
    operator = GoString()
    values = strings()


class _TermSchema(GoSchema):
    target = NodeSelectorTerm
    match_expressions = structs(_RequirementSchema)
    match_fields = structs(_RequirementSchema)


class _NodeSelectorSchema(GoSchema):
    target = NodeSelector
    node_selector_terms = structs(_TermSchema)


class _PreferredTermSchema(GoSchema):
    target = PreferredSchedulingTerm
    weight = GoInt()
    preference = fields.Nested(_TermSchema)


class _NodeAffinitySchema(GoSchema):
    target = NodeAffinity
    required = fields.Nested(_NodeSelectorSchema, data_key="requiredDuringSchedulingIgnoredDuringExecution")
    preferred = structs(_PreferredTermSchema, data_key="preferredDuringSchedulingIgnoredDuringExecution")


class _StringMap(GoField[dict[str, str]]):
    def decode(self, value: Any) -> dict[str, str]:
        if not isinstance(value, Mapping) or not all(isinstance(item, str | None) for item in value.values()):
            raise ValidationError("must be a mapping of strings")
        return {key: item or "" for key, item in value.items()}


class _LabelSelectorSchema(GoSchema):
    target = LabelSelector
    match_labels = _StringMap()
    match_expressions = structs(_RequirementSchema)


class _SpreadConstraintSchema(GoSchema):
    target = args.TopologySpreadConstraint
    max_skew = GoInt()
    topology_key = GoString()
    when_unsatisfiable = GoString()
    label_selector = fields.Nested(_LabelSelectorSchema)
    min_domains = GoInt()
    node_affinity_policy = GoString()
    node_taints_policy = GoString()
    match_label_keys = strings()


class _ResourceSpecSchema(GoSchema):
    target = args.ResourceSpec
    name = GoString()
    weight = GoInt(64)


class _ShapePointSchema(GoSchema):
    target = args.UtilizationShapePoint
    utilization = GoInt()
    score = GoInt()


class _RatioSchema(GoSchema):
    target = args.RequestedToCapacityRatioParam
    shape = structs(_ShapePointSchema)


class _StrategySchema(GoSchema):
    target = args.ScoringStrategy
    type = GoString()
    resources = structs(_ResourceSpecSchema)
    requested_to_capacity_ratio = fields.Nested(_RatioSchema)

    def finish(self, data: dict[str, Any]) -> Any:
        return args.ScoringStrategy(**{**data, "resources": weighed(data["resources"])})


class ArgsSchema(GoSchema):
    """Common to all kinds: they may name their own kind and version, and nothing else."""

    kind_name: ClassVar[str] = ""
    api_version = GoString(load_default="")
    kind = GoString(load_default="")

    def finish(self, data: dict[str, Any]) -> Any:
        version, kind = data.pop("api_version"), data.pop("kind")
        wrong = {}
        if version not in ("", API_VERSION):
            wrong["apiVersion"] = [f'must be "{API_VERSION}"']
        if kind not in ("", self.kind_name):
            wrong["kind"] = [f'must be "{self.kind_name}"']
        if wrong:
            raise ValidationError(wrong)
        return self.target(**data)


class _DefaultPreemptionSchema(ArgsSchema):
    target = args.DefaultPreemptionArgs
    min_candidate_nodes_percentage = GoInt()
    min_candidate_nodes_absolute = GoInt()


class _DynamicResourcesSchema(ArgsSchema):
    target = args.DynamicResourcesArgs
    filter_timeout = GoDuration(optional=True)
    binding_timeout = GoDuration(optional=True)


class _InterPodAffinitySchema(ArgsSchema):
    target = args.InterPodAffinityArgs
    hard_pod_affinity_weight = GoInt()
    ignore_preferred_terms_of_existing_pods = GoBool()


class _NodeAffinityArgsSchema(ArgsSchema):
    target = args.NodeAffinityArgs
    added_affinity = fields.Nested(_NodeAffinitySchema)


class _BalancedAllocationSchema(ArgsSchema):
    target = args.NodeResourcesBalancedAllocationArgs
    resources = structs(_ResourceSpecSchema)

    def finish(self, data: dict[str, Any]) -> Any:
        return super().finish({**data, "resources": weighed(data["resources"])})


class _FitSchema(ArgsSchema):
    target = args.NodeResourcesFitArgs
    ignored_resources = strings()
    ignored_resource_groups = strings()
    scoring_strategy = fields.Nested(_StrategySchema)


class _SpreadSchema(ArgsSchema):
    target = args.PodTopologySpreadArgs
    default_constraints = structs(_SpreadConstraintSchema)
    defaulting_type = GoString()

    def finish(self, data: dict[str, Any]) -> Any:
        return super().finish({**data, "defaulting_type": data.get("defaulting_type") or "System"})


class _VolumeBindingSchema(ArgsSchema):
    target = args.VolumeBindingArgs
    bind_timeout_seconds = GoInt(64)
    shape = GoList(fields.Nested(_ShapePointSchema), {}, load_default=None)


def weighed(resources: tuple[args.ResourceSpec, ...]) -> tuple[args.ResourceSpec, ...]:
    """The resources with a weight of 1 where none is given; cpu and memory when there are none."""
    given = tuple(replace(resource, weight=resource.weight or 1) for resource in resources)
    return given or args.DEFAULT_RESOURCES


_SCHEMAS: Final[dict[str, type[ArgsSchema]]] = {
    "DefaultPreemption": _DefaultPreemptionSchema,
    "DynamicResources": _DynamicResourcesSchema,
    "InterPodAffinity": _InterPodAffinitySchema,
    "NodeAffinity": _NodeAffinityArgsSchema,
    "NodeResourcesBalancedAllocation": _BalancedAllocationSchema,
    "NodeResourcesFit": _FitSchema,
    "PodTopologySpread": _SpreadSchema,
    "VolumeBinding": _VolumeBindingSchema,
}
for _name, _schema in _SCHEMAS.items():
    _schema.kind_name = f"{_name}Args"

PLUGINS_WITH_ARGS: Final = tuple(_SCHEMAS)


def load_args(name: str, tree: Any) -> args.PluginArgs:
    """The arguments of an in-tree plugin. Raises marshmallow's `ValidationError` with every fault."""
    loaded: args.PluginArgs = _SCHEMAS[name]().load({} if tree is None else tree)
    return loaded
