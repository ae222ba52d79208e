"""One extender: its verbs as functions from a question to an answer. It keeps no state and knows no lock.

Everything that an extender can do wrong is an ``ExtenderError`` whose text ends up in the pod's condition, so the texts are upstream's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Final

from scheduler.apis.config.types import Extender
from scheduler.apis.duration import SECOND
from scheduler.apis.objects import Pod
from scheduler.framework.extenders import Victims
from scheduler.framework.interface import MAX_NODE_SCORE
from scheduler.framework.pods import PodInfo
from scheduler.framework.runner import quoted
from scheduler.metrics import Metrics
from scheduler.scheduling.extenders import wire
from scheduler.scheduling.extenders.tls import context_of
from scheduler.scheduling.extenders.transport import Transport, TransportError, shown
from scheduler.scheduling.extenders.wire import FilterResult, MetaVictims, WireError

logger = logging.getLogger(__name__)

DEFAULT_TIMEOUT: Final = 5 * SECOND
MAX_EXTENDER_PRIORITY: Final = 10
"""The highest score that an extender should give."""

Originals = Callable[[str], bytes]
"""The JSON of a node, by name."""


class ExtenderError(Exception):
    """The extender failed, or answered what it must not."""


class HTTPExtender:
    """An extender.

    Args:
        config: its entry in the configuration.
        user_agent: how we call ourselves.
        metrics: where its calls are counted.

    Raises:
        OSError: its TLS material cannot be used.
    """

    def __init__(self, config: Extender, user_agent: str, metrics: Metrics) -> None:
        self._config = config
        self._metrics = metrics
        self.name = shown(config.url_prefix)
        timeout = config.http_timeout or DEFAULT_TIMEOUT
        self._transport = Transport(
            context_of(config),
            seconds=timeout / SECOND if timeout > 0 else None,
            user_agent=user_agent,
            server_name=config.tls_config.server_name if config.tls_config else "",
        )
        self._managed = frozenset(resource.name for resource in config.managed_resources)
        self.ignorable = config.ignorable
        self.knows_nodes = config.node_cache_capable
        self.filters = bool(config.filter_verb)
        self.prioritizes = bool(config.prioritize_verb)
        self.preempts = bool(config.preempt_verb)
        self.binds = bool(config.bind_verb)

    def interested(self, pod: Pod) -> bool:
        """Whether a container or init container asks for a resource that the extender manages; without such resources, always."""
        if not self._managed:
            return True
        containers = (*pod.spec.containers, *pod.spec.init_containers)
        return any(
            not self._managed.isdisjoint(names)
            for one in containers
            for names in (one.resources.requests, one.resources.limits)
        )

    def filter(self, pod: bytes, names: Sequence[str], node: Originals) -> tuple[list[str], FilterResult]:
        """Which nodes are left, in its order and as often as it listed them; and its answer, for the reasons.

        A node that comes back in full without having been sent is left out: it would be judged, and perhaps taken, as it is made up.

        Raises:
            ExtenderError: it did not answer, said an error, or named a node that was not sent.
        """
        with self._measured("filter"):
            body = self._call(self._config.filter_verb, self._nodes_body(pod, names, node))
            result = wire.read_filter(body)
            if result.error:
                raise ExtenderError(result.error)
            return self._left(names, result), result

    def _left(self, names: Sequence[str], result: FilterResult) -> list[str]:
        sent = set(names)
        if self.knows_nodes and result.node_names is not None:
            for name in result.node_names:
                if name not in sent:
                    raise ExtenderError(
                        f"extender {quoted(self.name)} claims a filtered node {quoted(name)} "
                        "which is not found in the input node list"
                    )
            return list(result.node_names)
        left = [name for name in result.nodes or () if name in sent]
        if len(left) != len(result.nodes or ()):
            logger.warning("extender %s lists nodes that it was not sent; they are left out", self.name)
        return left

    def prioritize(self, pod: bytes, names: Sequence[str], node: Originals) -> dict[str, int]:
        """The scores by node, as they enter the total. Hosts that are named twice get the sum.

        Raises:
            ExtenderError: it did not answer.
        """
        with self._measured("prioritize"):
            body = self._call(self._config.prioritize_verb, self._nodes_body(pod, names, node))
            factor = self._config.weight * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
            scores: dict[str, int] = {}
            for host, score in wire.read_priorities(body):
                scores[host] = scores.get(host, 0) + score * factor
            return scores

    def preempt(
        self,
        pod: bytes,
        victims: Sequence[Victims],
        pods: Mapping[str, Sequence[PodInfo]],
        originals: Callable[[PodInfo], bytes],
    ) -> list[Victims]:
        """The nodes and victims that are left; a node may be left without victims.

        Args:
            pods: the pods of every node.
            originals: the JSON of a pod.

        Raises:
            ExtenderError: it did not answer, or named a node or pod that is not there.
        """
        with self._measured("preempt"):
            if self.knows_nodes:
                body = wire.meta_victims_args(pod, victims)
            else:
                full = {one.uid: originals(one) for each in victims for one in each.pods}
                body = wire.victims_args(pod, victims, full)
            answer = wire.read_preemption(self._call(self._config.preempt_verb, body))
            return [self._victims(node, meta, pods) for node, meta in answer.items()]

    def _victims(self, node: str, meta: MetaVictims, pods: Mapping[str, Sequence[PodInfo]]) -> Victims:
        if node not in pods:
            raise ExtenderError(f"nodeinfo not found for node name {quoted(node)}")
        by_uid = {pod.uid: pod for pod in pods[node]}
        for uid in meta.uids:
            if uid not in by_uid:
                raise ExtenderError(
                    f"extender: {self.name} claims to preempt pod (UID: &{{{uid}}}) on node: {node}, "
                    "but the pod is not found on that node"
                )
        return Victims(node, tuple(by_uid[uid] for uid in meta.uids), meta.violations)

    def bind(self, pod: Pod, node: str) -> None:
        """Have it bind the pod.

        Raises:
            ExtenderError: it did not, or nobody knows.
        """
        meta = pod.metadata
        with self._measured("bind"):
            body = wire.binding_args(meta.name, meta.namespace, meta.uid, node)
            error = wire.read_error(self._call(self._config.bind_verb, body))
            if error:
                raise ExtenderError(error)

    def close(self) -> None:
        """Drop the idle connections."""
        self._transport.close()

    def _nodes_body(self, pod: bytes, names: Sequence[str], node: Originals) -> bytes:
        if self.knows_nodes:
            return wire.node_names_args(pod, names)
        return wire.nodes_args(pod, map(node, names))

    def _call(self, verb: str, body: bytes) -> bytes:
        url = f"{self._config.url_prefix.rstrip('/')}/{verb}"
        status, answer = self._transport.post(url, body)
        if status != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {shown(url)}, code {status}")
        return answer

    @contextmanager
    def _measured(self, verb: str) -> Iterator[None]:
        start = perf_counter()
        result = "error"
        try:
            yield
            result = "success"
        except (TransportError, WireError) as error:
            raise ExtenderError(str(error)) from error
        finally:
            self._metrics.extender_called(self.name, verb, result, perf_counter() - start)
