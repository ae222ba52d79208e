"""The webhook without a cluster: an application over frameworks, nodes and pods that somebody hands in.

For tests, of plugins as of whatever talks to an extender, in any language, and for ``wharfinger serve``::

    app = create_app(framework, nodes=[node], pods=[pod])
    app.test_client().post("/filter", json={"Pod": pod, "NodeNames": ["node-a"]})

The world stands still until it is exchanged for another; nothing can be bound in it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import msgspec
from flask import Flask

from extender import quantities
from extender.app import Settings, create_blueprint
from extender.metrics import WebhookMetrics
from scheduler.apis.objects import DecodeError, Node, Pod, convert, verify
from scheduler.apis.quantity import QuantityError
from scheduler.backend.cluster import ClusterState
from scheduler.backend.nominator import Nominator
from scheduler.framework.pods import PodInfo
from scheduler.framework.port import Binder
from scheduler.framework.runtime import Framework
from scheduler.scheduling.world import State

T = TypeVar("T", Node, Pod)

NodeLike = Node | Mapping[str, Any]
"""A node, or the document of one."""
PodLike = Pod | Mapping[str, Any]
"""A pod, or the document of one."""


class GivenError(ValueError):
    """A node or pod that was given cannot be used; the text is one line that names it."""


class NoCluster:
    """A binder where there is nothing to bind in."""

    def bind(self, namespace: str, name: str, uid: str, node: str) -> NoReturn:  # noqa: ARG002  # a Binder
        """Say so."""
        raise RuntimeError(
            "there is no cluster behind this webhook, only the nodes and pods that it was given"
        )


class GivenWorld:
    """A world of given nodes and pods.

    Pods with ``spec.nodeName`` are on that node, unless they have ended; those with ``status.nominatedNodeName`` were promised
    room there; the others are known, and count for nothing.

    Args:
        frameworks: the profiles, the first of which judges by default; at least one.

    Raises:
        GivenError: a document is no node, or no pod, or an amount in it cannot be read.
    """

    def __init__(
        self, frameworks: Iterable[Framework], nodes: Iterable[NodeLike], pods: Iterable[PodLike] = ()
    ) -> None:
        self._lock = threading.Lock()
        self._cluster = ClusterState()
        self._nominator = Nominator()
        self._pods: dict[tuple[str, str], Pod] = {}
        self._frameworks = {each.profile_name: each for each in frameworks}
        for node in nodes:
            self._add(self._cluster.add_node, _typed(Node, node))
        for each in pods:
            self._add(self._add_pod, _typed(Pod, each))

    @contextmanager
    def current(self) -> Iterator[State]:
        """The state (see ``scheduling.world.World``)."""
        with self._lock:
            cluster = self._cluster
            yield State(
                cluster.nodes,
                self._nominator,
                self._frameworks,
                cluster.get_pod,
                cluster.assume_pod,
                cluster.forget_pod,
            )

    def pod(self, namespace: str, name: str) -> Pod | None:
        """The pod as it was given."""
        return self._pods.get((namespace, name))

    def exchange(self, other: GivenWorld) -> None:
        """Be that world from now on; requests under way end in the one that they began in. Nobody else may use ``other`` any more."""
        with self._lock:
            self._cluster, self._nominator = other._cluster, other._nominator
            self._pods, self._frameworks = other._pods, other._frameworks

    def _add(self, add: Callable[[T], None], obj: T) -> None:
        try:
            add(obj)
        except QuantityError as error:
            name = repr(obj.metadata.name)
            raise GivenError(f"{type(obj).__name__} {name}: {quantities.unreadable(obj) or error}") from error

    def _add_pod(self, pod: Pod) -> None:
        meta = pod.metadata
        if not meta.uid:
            pod = msgspec.structs.replace(
                pod, metadata=msgspec.structs.replace(meta, uid=f"{meta.namespace}/{meta.name}")
            )
        self._pods[meta.namespace, meta.name] = pod
        if pod.spec.node_name:
            self._cluster.add_pod(pod)
        elif pod.status.nominated_node_name:
            self._nominator.add(PodInfo(pod))


def create_app(
    framework: Framework | Iterable[Framework],
    nodes: Iterable[NodeLike] = (),
    pods: Iterable[PodLike] = (),
    *,
    binder: Binder | None = None,
    settings: Settings | None = None,
    metrics: WebhookMetrics | None = None,
) -> Flask:
    """A Flask application that serves the verbs over these nodes and pods, and nothing else.

    Args:
        framework: the profile, or several.
        binder: binds pods; without one, ``/bind`` answers why it cannot.

    Raises:
        GivenError: a document is no node, or no pod, or an amount in it cannot be read.
    """
    world = GivenWorld([framework] if isinstance(framework, Framework) else framework, nodes, pods)
    settings = replace(settings or Settings(), find_pod=world.pod)
    app = Flask("extender", static_folder=None)
    app.register_blueprint(create_blueprint(world, binder or NoCluster(), settings, metrics))
    return app


def _typed(kind: type[T], given: T | Mapping[str, Any]) -> T:
    if isinstance(given, kind):
        return given
    try:
        obj: T = convert(kind, given)
        verify(obj)
    except DecodeError as error:
        raise GivenError(f"{kind.__name__} {_name(given)}: {error}") from error
    return obj


def _name(given: object) -> str:
    """What a document calls itself."""
    metadata = given.get("metadata") if isinstance(given, Mapping) else None
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return repr(name) if name else "without a name"
