"""ExtenderSet: all extenders of the configuration, in the order in which they are asked; whoever can be ignored comes last."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from scheduler.apis.config.types import Extender
from scheduler.apis.objects import Pod
from scheduler.framework.extenders import Away
from scheduler.framework.status import SUCCESS, Status
from scheduler.metrics import Metrics
from scheduler.scheduling.extenders.consultation import Consultation
from scheduler.scheduling.extenders.extender import ExtenderError, HTTPExtender

logger = logging.getLogger(__name__)


class ExtenderSet:
    """The extenders, at least one (see ``framework.extenders.ExtenderSet``)."""

    def __init__(self, extenders: Sequence[HTTPExtender], metrics: Metrics) -> None:
        self._extenders = sorted(extenders, key=lambda one: one.ignorable)
        self._deciding = [one for one in self._extenders if one.filters or one.prioritizes or one.preempts]
        self._metrics = metrics

    def consult(self, away: Away) -> Consultation:
        """Begin to ask about a pod."""
        return Consultation(self._deciding, away, self._metrics)

    def bind(self, pod: Pod, node: str) -> Status | None:
        """Have the first interested binder bind the pod; None: none of them takes it, the plugins have to (``extendersBinding``)."""
        for one in self._extenders:
            if not one.binds or not one.interested(pod):
                continue
            try:
                one.bind(pod, node)
            except ExtenderError as error:
                if not one.ignorable:
                    return Status.failure(error)
                logger.warning("extender %s failed to bind and is ignored: %s", one.name, error)
            else:
                return SUCCESS
        return None

    def close(self) -> None:
        """Drop the idle connections."""
        for one in self._extenders:
            one.close()


NODES: Final = "nodes"
PODS: Final = "pods"
PLACED_PODS: Final = "pods on nodes"


def whole_objects(configs: Sequence[Extender]) -> frozenset[str]:
    """Of which objects these extenders get every field: NODES, PODS that wait, PLACED_PODS; whoever watches these has to keep it."""
    needed = set()
    for one in configs:
        judges = bool(one.filter_verb or one.prioritize_verb)
        if judges or one.preempt_verb:
            needed.add(PODS)
        if judges and not one.node_cache_capable:
            needed.add(NODES)
        if one.preempt_verb and not one.node_cache_capable:
            needed.add(PLACED_PODS)
    return frozenset(needed)


def build_extenders(configs: Sequence[Extender], user_agent: str, metrics: Metrics) -> ExtenderSet | None:
    """The extenders of a configuration; None when it has none.

    Raises:
        OSError: TLS material cannot be used.
    """
    made = [HTTPExtender(config, user_agent, metrics) for config in configs]
    return ExtenderSet(made, metrics) if made else None
