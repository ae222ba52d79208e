"""The names that configuration defaults need: extension points, default plugins, and what each implements.

Names only, so that configuration does not import plugins. The order and the weights are kube-scheduler 1.36's
(`pkg/scheduler/apis/config/v1/default_plugins.go`); `IMPLEMENTED` says which extension points each in-tree plugin has, which
decides where `multiPoint` puts it. The tests of the plugins hold this table against the classes.
"""

from __future__ import annotations

from typing import Final

from scheduler.features import Features

MULTI_POINT: Final = "multiPoint"

EXTENSION_POINTS: Final = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "preEnqueue",
    "queueSort",
    "placementGenerate",
    "placementScore",
)
"""In the order in which upstream builds them, hence the order in which faults are found."""

SCORING_POINTS: Final = frozenset({"score", "placementScore"})

REMOVED_PLUGINS: Final = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""In-tree plugins of older versions: naming one is an error, not an out-of-tree plugin."""

_CORE: Final = (
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeUnschedulable", 0),
    ("NodeName", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
    ("NodeDeclaredFeatures", 0),
    ("GangScheduling", 0),
    ("TopologyPlacementGenerator", 0),
    ("PodGroupPodsCount", 1),
)

_GATES: Final = {
    "DynamicResources": "DynamicResourceAllocation",
    "NodeDeclaredFeatures": "NodeDeclaredFeatures",
    "GangScheduling": "GangScheduling",
    "TopologyPlacementGenerator": "TopologyAwareWorkloadScheduling",
    "PodGroupPodsCount": "TopologyAwareWorkloadScheduling",
}

IMPLEMENTED: Final[dict[str, frozenset[str]]] = {
    "SchedulingGates": frozenset({"preEnqueue"}),
    "PrioritySort": frozenset({"queueSort"}),
    "NodeUnschedulable": frozenset({"filter"}),
    "NodeName": frozenset({"filter"}),
    "TaintToleration": frozenset({"filter", "preScore", "score"}),
    "NodeAffinity": frozenset({"preFilter", "filter", "preScore", "score"}),
    "NodePorts": frozenset({"preFilter", "filter"}),
    "NodeResourcesFit": frozenset({"preFilter", "filter", "preScore", "score", "placementScore"}),
    "VolumeRestrictions": frozenset({"preFilter", "filter"}),
    "NodeVolumeLimits": frozenset({"preFilter", "filter"}),
    "VolumeBinding": frozenset({"preFilter", "filter", "preScore", "score", "reserve", "preBind"}),
    "VolumeZone": frozenset({"preFilter", "filter"}),
    "PodTopologySpread": frozenset({"preFilter", "filter", "preScore", "score"}),
    "InterPodAffinity": frozenset({"preFilter", "filter", "preScore", "score"}),
    "DynamicResources": frozenset(
        {"preEnqueue", "preFilter", "filter", "postFilter", "score", "reserve", "preBind"}
    ),
    "DefaultPreemption": frozenset({"postFilter", "preEnqueue"}),
    "NodeResourcesBalancedAllocation": frozenset({"preScore", "score"}),
    "ImageLocality": frozenset({"score"}),
    "DefaultBinder": frozenset({"bind"}),
    "NodeDeclaredFeatures": frozenset({"preFilter", "filter"}),
    "GangScheduling": frozenset({"preEnqueue", "permit"}),
    "TopologyPlacementGenerator": frozenset({"placementGenerate"}),
    "PodGroupPodsCount": frozenset({"placementScore"}),
}


def default_plugins(features: Features) -> tuple[tuple[str, int], ...]:
    """The plugins that are on by default, with the weights as written (0: none given), in order."""
    return tuple(
        (name, weight) for name, weight in _CORE if name not in _GATES or features.enabled(_GATES[name])
    )


def implements_in_tree(name: str, point: str) -> bool:
    """Whether the in-tree plugin has the extension point; False for names that are not in-tree."""
    return point in IMPLEMENTED.get(name, ())
