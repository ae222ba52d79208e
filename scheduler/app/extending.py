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


def kept_objects(component: KubeSchedulerConfiguration, *, foresee: bool) -> frozenset[str]:
    """Of which objects informers keep every field for extenders: NODES, PODS that wait, PLACED_PODS.

    Args:
        foresee: extenders may be added while the process runs. Then waiting pods, which are few, are kept whole from the start on.
    """
    return whole_objects(component.extenders) | ({PODS} if foresee else frozenset())


def node_decoder(kept: frozenset[str]) -> Callable[[msgspec.Raw], Node]:
    """How to decode nodes, with all fields or with those that scheduling reads (see ``kept_objects``)."""
    return decode_original_node if NODES in kept else partial(decode, Node)


def pod_decoder(kept: frozenset[str]) -> Callable[[msgspec.Raw], Pod]:
    """How to decode pods: with all fields kept of those that an extender may get."""
    if PODS not in kept:
        return partial(decode, Pod)
    return partial(decode_original_pod, placed=PLACED_PODS in kept)


def check_objects(kept: frozenset[str], component: KubeSchedulerConfiguration) -> None:
    """Refuse extenders that need objects with fields which the informers have not kept.

    Raises:
        ProfileError: they do.
    """
    missing = whole_objects(component.extenders) - kept
    if missing:
        raise ProfileError(
            f"extenders: these need whole {', '.join(sorted(missing))}, which are kept only from a start on: restart"
        )
