"""What a plugin reads in the catalog it also says, since only that is watched."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler.apis import config
from scheduler.apis.config.args import PodTopologySpreadArgs
from scheduler.features import Features
from scheduler.framework.catalog import COLLECTIONS
from scheduler.plugins import IN_TREE
from scheduler.scheduling.catalog_events import kinds_awaited
from tests.plugins.harness import make_plugin

IN_TREE_PACKAGE = "scheduler.plugins"
KINDS = {attribute: kind for kind, attribute in COLLECTIONS.items()}
READING = re.compile(rf"\.({'|'.join(KINDS)})\b")
ARGUMENTS = config.default(Features.default()).profiles[0].plugin_config


def sources(factory: Any) -> Iterator[str]:
    """The texts of the plugin's module, or of all modules of its package."""
    file = Path(inspect.getfile(factory))
    alone = sys.modules[factory.__module__].__package__ == IN_TREE_PACKAGE
    for module in [file] if alone else sorted(file.parent.glob("*.py")):
        yield module.read_text()


@pytest.mark.parametrize("name", IN_TREE)
def test_what_is_read_is_watched(name: str) -> None:
    plugin = make_plugin(name, ARGUMENTS.get(name))
    events = plugin.events_to_register() if hasattr(plugin, "events_to_register") else ()
    watched = {*getattr(plugin, "reads", ()), *kinds_awaited(one.event for one in events)}
    read = {KINDS[attribute] for text in sources(IN_TREE[name]) for attribute in READING.findall(text)}
    assert read <= watched


@pytest.mark.parametrize(
    ("defaulting", "reads"),
    [("System", {"Service", "ReplicationController", "ReplicaSet", "StatefulSet"}), ("List", set())],
)
def test_owners_are_watched_only_for_default_constraints(defaulting: str, reads: set[str]) -> None:
    plugin = make_plugin("PodTopologySpread", PodTopologySpreadArgs(defaulting_type=defaulting))
    assert {kind.__name__ for kind in plugin.reads} == reads
