"""What of a configuration cannot change while the process runs: connections, the election, and what is decided once at start."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

from scheduler.apis import config as configuration
from scheduler.apis.config import KubeSchedulerConfiguration

FIXED: Final = (
    "leader_election",
    "client_connection",
    "enable_profiling",
    "enable_contention_profiling",
    "delay_cache_until_active",
)
"""Profiles, extenders, back-offs and shares of nodes are all that is left."""


def keep_fixed(
    old: KubeSchedulerConfiguration, new: KubeSchedulerConfiguration
) -> tuple[KubeSchedulerConfiguration, tuple[str, ...]]:
    """The new configuration with the old one's fixed fields, and the paths of those that ``new`` would have otherwise."""
    kept = dataclasses.replace(new, **{name: getattr(old, name) for name in FIXED})
    return kept, tuple(_differences("", configuration.tree(new), configuration.tree(kept)))


def _differences(path: str, one: Any, other: Any) -> Iterator[str]:
    """The paths of the leaves in which two trees differ, as in ``leaderElection.leaseDuration``."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from _differences(f"{path}.{key}".lstrip("."), one.get(key), other.get(key))
    elif one != other:
        yield path
