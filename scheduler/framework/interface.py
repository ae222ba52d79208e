"""The extension points: one small Protocol each, whose docstring is its contract.

A plugin is a class with a ``name`` and the methods of the points that it implements; it inherits from nothing. Its factory,
usually the class itself, is called once per profile as ``factory(args, handle)``: the plugin's arguments from the
configuration, and what it may use of the scheduler.

An attempt runs through the points in this order::

    PreEnqueue -> QueueSort -> PreFilter -> Filter -> (PostFilter when nothing fits)
               -> PreScore -> Score -> Normalize -> Reserve -> Permit -> PreBind -> Bind -> PostBind
                                                      |
                                                      `- Unreserve, in reverse order, when anything after it fails

Everything up to Permit runs in the scheduling thread, under the lock of the cluster state: no IO, no waiting there. PreBind,
Bind and PostBind run in a binding thread and may take their time.

Wherever a method returns ``Status | None``, None is Success. An exception is a bug: it becomes an Error status of the pod.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, runtime_checkable

from scheduler.apis.objects import Pod
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ClusterEventWithHint
from scheduler.framework.evictions import Evictions
from scheduler.framework.extenders import Victims
from scheduler.framework.live import Live
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FilterOutcome
from scheduler.framework.pods import PodInfo
from scheduler.framework.port import Port
from scheduler.framework.rejections import Column, Rejections
from scheduler.framework.status import Status
from scheduler.framework.waiting import WaitingPods

MIN_NODE_SCORE = 0
MAX_NODE_SCORE = 100


class Handle(Protocol):
    """What a plugin may use of the scheduler that runs it."""

    @property
    def features(self) -> Features:
        """The feature gates."""
        ...

    @property
    def port(self) -> Port:
        """What may be done to the API server; each call blocks, so it is for binding threads only."""
        ...

    @property
    def waiting_pods(self) -> WaitingPods:
        """The pods that Permit holds."""
        ...

    @property
    def catalog(self) -> Catalog:
        """Claims, volumes, services and the other objects beside nodes and pods."""
        ...

    @property
    def live(self) -> Live:
        """Pods, nodes and time as they are now, for binding threads that wait for something."""
        ...

    @property
    def evictions(self) -> Evictions:
        """Where a plugin asks for pods to be evicted."""
        ...

    @property
    def rng(self) -> Random:
        """Where chance comes from; for the scheduling thread only."""
        ...


PluginFactory = Callable[[Any, Handle], Any]
"""(the plugin's arguments, the handle) -> the plugin"""


class Plugin(Protocol):
    """Every plugin has a name, unique in its profile; configuration and messages use it."""

    @property
    def name(self) -> str:
        """The name."""
        ...


@runtime_checkable
class EnqueueExtensions(Protocol):
    """Implemented by a plugin that refuses pods, to say which changes may alter its mind.

    A plugin without it is asked again after every event.
    """

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """The events, each with an optional hint. An empty sequence: no event helps."""
        ...


@runtime_checkable
class CatalogReader(Protocol):
    """Implemented by a plugin that reads ``Handle.catalog``, to say what: only such kinds are watched.

    The kinds of the events that a plugin registers are watched in any case.
    """

    @property
    def reads(self) -> Collection[type[Any]]:
        """The kinds, ``(PersistentVolume, StorageClass)`` say; an attribute of the class, or of the instance when its arguments decide."""
        ...


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    """Called before a pod enters the active queue; anything but Success keeps it out, without an attempt or an event."""

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Success, or why the pod has to stay out. Must be cheap: it runs with the queue locked."""
        ...


class QueuedPod(Protocol):
    """What a queue-sort plugin sees of a waiting pod."""

    @property
    def pod_info(self) -> PodInfo:
        """The pod."""
        ...

    @property
    def timestamp(self) -> float:
        """When it entered the queue, in seconds."""
        ...


@runtime_checkable
class QueueSortPlugin(Plugin, Protocol):
    """Orders the active queue. Exactly one is enabled, the same in every profile.

    Upstream compares two pods (``Less``); a key gives the same order and lets the heap compare without calling back.
    """

    def sort_key(self, queued: QueuedPod) -> Any:
        """A key with ``<``: the pod with the smallest is tried first."""
        ...


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """Only these nodes need to be looked at; None stands for all of them."""

    node_names: frozenset[str] | None = None


@runtime_checkable
class PreFilterPlugin(Plugin, Protocol):
    """Called once per attempt before the filters, over all nodes: compute here what depends on more than one row."""

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult | Status | None:
        """None: go on. Skip: this plugin's filter and pre-filter extensions are not called. A rejection ends the attempt.
        A PreFilterResult narrows the nodes to look at; several are intersected.
        """
        ...


@runtime_checkable
class PreFilterExtensions(Protocol):
    """Implemented by a plugin whose ``pre_filter`` counts pods, so that a what-if can add or remove one.

    A plugin that has an attribute ``rows_apart``, and it is True, promises that what it is told of one row changes its verdict on
    that row alone, however many rows the selection has: then many nodes are asked about at once, instead of one after the other
    (``plugins.helper.own_changes`` shows how).
    """

    def add_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status | None:
        """``pod`` was put on the row: bring the plugin's note in ``cycle`` up to date."""
        ...

    def remove_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status | None:
        """``pod`` was taken off the row."""
        ...


@runtime_checkable
class FilterPlugin(Plugin, Protocol):
    """Called once per attempt over the whole table, or any selection of its rows; rejects rows.

    Row law: ``filter(nodes.take(rows)) == filter(nodes)[rows]``.
    """

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rejected rows with their reasons; None when every row passes."""
        ...


@runtime_checkable
class NodeFilterPlugin(Plugin, Protocol):
    """A filter written for one node at a time; ``per_node`` makes a column of it. Slower, and ten lines."""

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        """Success, or why the pod cannot run there."""
        ...


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What was done to make room: the node to nominate (``""`` clears a nomination, None leaves it), and the status.

    A Success status says that the pod will fit there once the victims are gone; Unschedulable that nothing could be done.
    """

    status: Status
    nominated_node: str | None = None


@runtime_checkable
class PostFilterPlugin(Plugin, Protocol):
    """Called when no node passed, in order, until one answers Success or an error (preemption is one)."""

    def post_filter(
        self, cycle: Cycle, nodes: Nodes, outcome: FilterOutcome, what_if: WhatIf
    ) -> PostFilterResult:
        """Try to make room.

        Args:
            outcome: why each node was rejected.
            what_if: the same filters over nodes whose pods are not what they are.
        """
        ...


class WhatIf(Protocol):
    """The profile's filters, for a selection of nodes from which pods are taken or on which they are put.

    ``cycle`` is a clone of the attempt's, since plugins note in it what has changed::

        there, hypothesis = nodes.take(rows), cycle.clone()
        what_if.remove_pod(hypothesis, there, row, victim)
        fits = what_if.filter(hypothesis, there).alive
    """

    def counts_pods(self, cycle: Cycle) -> bool:
        """Whether a pod that comes to or goes from one row may change the verdict on another: then ask about one row at a time."""
        ...

    def add_pod(self, cycle: Cycle, nodes: Nodes, row: int, pod: PodInfo) -> None:
        """Put a pod on a row. Raises PluginError."""
        ...

    def remove_pod(self, cycle: Cycle, nodes: Nodes, row: int, pod: PodInfo) -> None:
        """Take a pod off a row. Raises PluginError."""
        ...

    def filter(self, cycle: Cycle, nodes: Nodes) -> FilterOutcome:
        """Filter the rows, with the pods that are nominated to them counted. Raises PluginError."""
        ...

    def ask_extenders(self, cycle: Cycle, nodes: Nodes, candidates: Sequence[Victims]) -> Sequence[Victims]:
        """What other extenders make of the candidates of a preemption. Raises PluginError."""
        ...


@runtime_checkable
class PreScorePlugin(Plugin, Protocol):
    """Called before the scores, over the nodes that passed the filters."""

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """None: go on. Skip: this plugin's score is not called and counts as zero. Anything else fails the attempt."""
        ...


@runtime_checkable
class ScorePlugin(Plugin, Protocol):
    """Called once per attempt over the nodes that passed the filters. The row law holds here too."""

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: the higher the better; 0 to 100 unless ``normalize`` brings it there."""
        ...


@runtime_checkable
class NodeScorePlugin(Plugin, Protocol):
    """A score written for one node at a time; ``per_node`` makes a column of it."""

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        """The node's score."""
        ...


@runtime_checkable
class NormalizePlugin(Plugin, Protocol):
    """Called after ``score`` with the scores of all rows, to bring them between 0 and 100 in integer arithmetic."""

    def normalize(self, cycle: Cycle, scores: Column) -> Column:
        """int64[rows]: the scores, each between 0 and 100."""
        ...


@runtime_checkable
class ReservePlugin(Plugin, Protocol):
    """Keeps book of resources that the scheduler does not count itself."""

    def reserve(self, cycle: Cycle, node: str) -> Status | None:
        """The pod is assumed to run on the node: take what it needs. A failure takes everything back."""
        ...

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Give back. Idempotent, and called also when ``reserve`` was not; it must not fail."""
        ...


@dataclass(frozen=True, slots=True)
class Wait:
    """Permit's third answer: hold the pod until it is allowed or rejected, at most ``timeout`` seconds."""

    timeout: float


@runtime_checkable
class PermitPlugin(Plugin, Protocol):
    """The last word before binding: allow, refuse, or let the pod wait."""

    def permit(self, cycle: Cycle, node: str) -> Status | Wait | None:
        """None allows, a rejection refuses, ``Wait`` holds the pod until every plugin that waits has allowed it."""
        ...


@runtime_checkable
class PreBindPlugin(Plugin, Protocol):
    """Prepares the node's side before the pod is bound (volumes, say)."""

    def pre_bind(self, cycle: Cycle, node: str) -> Status | None:
        """Do the work; may block on IO."""
        ...


@runtime_checkable
class PreBindPreFlight(Plugin, Protocol):
    """Says ahead whether ``pre_bind`` will have work, so that the nomination can be made known before a long wait."""

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status | None:
        """Success when ``pre_bind`` has work to do for this pod, Skip when not. Must be cheap."""
        ...


@runtime_checkable
class BindPlugin(Plugin, Protocol):
    """Binds the pod, or leaves it to the next."""

    def bind(self, cycle: Cycle, node: str) -> Status | None:
        """Success when bound; Skip: not mine, ask the next one."""
        ...


@runtime_checkable
class PostBindPlugin(Plugin, Protocol):
    """Hears of every bound pod."""

    def post_bind(self, cycle: Cycle, node: str) -> None:
        """The pod is bound to the node."""
        ...


POINTS: Mapping[str, tuple[type, ...]] = {
    "preEnqueue": (PreEnqueuePlugin,),
    "queueSort": (QueueSortPlugin,),
    "preFilter": (PreFilterPlugin,),
    "filter": (FilterPlugin, NodeFilterPlugin),
    "postFilter": (PostFilterPlugin,),
    "preScore": (PreScorePlugin,),
    "score": (ScorePlugin, NodeScorePlugin),
    "reserve": (ReservePlugin,),
    "permit": (PermitPlugin,),
    "preBind": (PreBindPlugin,),
    "bind": (BindPlugin,),
    "postBind": (PostBindPlugin,),
}
"""The extension points as configuration spells them, each with the protocols of which a plugin has to satisfy one."""
