"""The table of in-tree plugins agrees with what configuration believes of them."""

from __future__ import annotations

import pytest

from scheduler.apis.config import args
from scheduler.apis.config.defaults import IMPLEMENTED, default_plugins
from scheduler.features import Features
from scheduler.framework.interface import POINTS
from scheduler.framework.profile import implements
from scheduler.plugins import IN_TREE
from tests.plugins.harness import make_plugin

ARGS = {
    "NodeAffinity": args.NodeAffinityArgs(),
    "NodeResourcesFit": args.NodeResourcesFitArgs(),
    "NodeResourcesBalancedAllocation": args.NodeResourcesBalancedAllocationArgs(),
    "PodTopologySpread": args.PodTopologySpreadArgs(),
    "VolumeBinding": args.VolumeBindingArgs(),
}


def test_plugins_stand_in_the_default_order() -> None:
    order = [name for name, _ in default_plugins(Features.default())]
    assert list(IN_TREE) == [name for name in order if name in IN_TREE]


@pytest.mark.parametrize("name", IN_TREE)
def test_a_plugin_has_its_name_and_its_points(name: str) -> None:
    plugin = make_plugin(name, ARGS.get(name))
    assert plugin.name == name
    assert {point for point in POINTS if implements(plugin, point)} == IMPLEMENTED[name] & POINTS.keys()
