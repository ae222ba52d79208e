"""What a process needs to call other extenders: the extenders themselves, and objects with every field, as these get them.

Without extenders nothing of this is there: informers decode as always.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import metadata

import msgspec

from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.apis.objects import Node, Pod, decode, decode_original_node, decode_original_pod
from scheduler.client.access import user_agent
from scheduler.framework.extenders import ExtenderSet
from scheduler.framework.profile import ProfileError
from scheduler.metrics import Metrics
from scheduler.scheduling.extenders import NODES, PLACED_PODS, PODS, build_extenders, whole_objects


def make_extenders(component: KubeSchedulerConfiguration, metrics: Metrics) -> ExtenderSet | None:
    """The extenders of the configuration; None when it has none.

    Raises:
        ProfileError: the TLS material of one cannot be used.
    """
    agent = user_agent(metadata.version("wharfinger"), "extender-client")
    try:
        return build_extenders(component.extenders, agent, metrics)
    except OSError as error:
        raise ProfileError(f"extenders: TLS material cannot be used: {error}") from error


def node_decoder(component: KubeSchedulerConfiguration) -> Callable[[msgspec.Raw], Node]:
    """How to decode nodes: with all fields kept when an extender gets nodes in full."""
    return decode_original_node if NODES in whole_objects(component.extenders) else partial(decode, Node)


def pod_decoder(component: KubeSchedulerConfiguration) -> Callable[[msgspec.Raw], Pod]:
    """How to decode pods: with all fields kept of those that an extender may get."""
    needed = whole_objects(component.extenders)
    if PODS not in needed:
        return partial(decode, Pod)
    return partial(decode_original_pod, placed=PLACED_PODS in needed)


def check_objects(old: KubeSchedulerConfiguration, new: KubeSchedulerConfiguration) -> None:
    """Refuse extenders that need objects with fields which the informers, made for ``old``, have not kept.

    Raises:
        ProfileError: they do.
    """
    missing = whole_objects(new.extenders) - whole_objects(old.extenders)
    if missing:
        raise ProfileError(
            f"extenders: these need whole {', '.join(sorted(missing))}, which are kept only from a start on: restart"
        )
