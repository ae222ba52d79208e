"""In-tree volumes on nodes whose CSI driver has taken over: where they can be reached from is said in the driver's words.

A volume of an in-tree plugin says ``topology.kubernetes.io/zone`` (or its beta name) in its affinity, or only in its labels. On a
node whose CSINode lists the plugin as migrated, the zone is looked for under the driver's own label instead, so that one
and the same volume can match one node and not another in the same zone.

Upstream: ``tryTranslatePVToCSI``, ``csi-translation-lib``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scheduler.apis.objects import (
    CSINode,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorTerm,
    PersistentVolume,
)
from scheduler.plugins.helper.csi_translation import (
    ALWAYS_MIGRATED,
    Untranslatable,
    in_tree_plugin,
    translated,
)
from scheduler.plugins.volume_binding.reach import required_of

MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation of a CSINode that lists the plugins which CSI drivers have taken over there."""

_ZONE: Final = "topology.kubernetes.io/zone"
_REGION: Final = "topology.kubernetes.io/region"
_BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
_BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
_ZONE_DELIMITER: Final = "__"
_ZONE_OF_DRIVER: Final = {
    "ebs.csi.aws.com": "topology.ebs.csi.aws.com/zone",
    "pd.csi.storage.gke.io": "topology.gke.io/zone",
    "cinder.csi.openstack.org": "topology.cinder.csi.openstack.org/zone",
}
"""The labels by which drivers say in which zone a node is; the other drivers' volumes keep the affinity that they have."""


def migrated_plugins(node: CSINode) -> Sequence[str]:
    """The plugins that are migrated on the node: the keys of an index."""
    listed = node.metadata.annotations.get(MIGRATED_PLUGINS)
    return listed.split(",") if listed else ()


def migratable_plugin(volume: PersistentVolume) -> str | None:
    """The name of the volume's in-tree plugin when it is one that nodes may have given up for a CSI driver."""
    if volume.spec.csi is not None:  # by far the most
        return None
    plugin = in_tree_plugin(volume.spec)
    return plugin if plugin in ALWAYS_MIGRATED else None


def required_when_migrated(volume: PersistentVolume) -> NodeSelector | Untranslatable | None:
    """The required affinity of the CSI volume that an in-tree volume becomes; None: it has none."""
    source = translated(volume)
    if isinstance(source, Untranslatable):
        return source
    zone = _ZONE_OF_DRIVER.get(source.driver) if source is not None else None
    return required_of(volume) if zone is None else _translated(volume, zone)


def _translated(volume: PersistentVolume, csi_zone: str) -> NodeSelector | None:
    """Rename zone and beta region, or add the zones of the volume's label (upstream: ``translateTopologyFromInTreeToCSI``)."""
    required = required_of(volume)
    terms = () if required is None else required.node_selector_terms
    labels = volume.metadata.labels
    zone, region = _labels_in_use(terms, labels)
    renamed = {}
    if _has_values(terms, zone):
        renamed[zone] = csi_zone
    elif zone in labels:
        terms = _with_zones(terms, csi_zone, labels[zone].split(_ZONE_DELIMITER))
    if region == _BETA_REGION and _has_values(terms, region):
        renamed[region] = _REGION
    if renamed:
        terms = tuple(_renamed(term, renamed) for term in terms)
    return NodeSelector(node_selector_terms=terms) if terms else required


def _labels_in_use(terms: Sequence[NodeSelectorTerm], labels: Iterable[str]) -> tuple[str, str]:
    """The names that zone and region go by in this volume: the affinity decides before the labels, new names before old."""
    for keys in ({expression.key for term in terms for expression in term.match_expressions}, labels):
        if _ZONE in keys:
            return _ZONE, _REGION
        if _BETA_ZONE in keys:
            return _BETA_ZONE, _BETA_REGION
    return _ZONE, _REGION


def _has_values(terms: Sequence[NodeSelectorTerm], key: str) -> bool:
    return any(
        expression.key == key and expression.values for term in terms for expression in term.match_expressions
    )


def _renamed(term: NodeSelectorTerm, names: dict[str, str]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=tuple(
            LabelSelectorRequirement(
                key=names.get(expression.key, expression.key),
                operator=expression.operator,
                values=expression.values,
            )
            for expression in term.match_expressions
        ),
        match_fields=term.match_fields,
    )


def _with_zones(
    terms: Sequence[NodeSelectorTerm], key: str, zones: Sequence[str]
) -> tuple[NodeSelectorTerm, ...]:
    """The terms, each of them narrowed to the zones; a label without a zone adds nothing."""
    values = tuple(sorted({zone.strip() for zone in zones} - {""}))
    if not values:
        return tuple(terms)
    topology = LabelSelectorRequirement(key=key, operator="In", values=values)
    return tuple(
        NodeSelectorTerm(
            match_expressions=(*term.match_expressions, topology), match_fields=term.match_fields
        )
        for term in terms or (NodeSelectorTerm(),)
    )
