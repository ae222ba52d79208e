"""Extenders, as the algorithm sees them: other programs that judge, score and preempt beside the plugins.

They are asked by node name, after the plugins, and each answer is a fact about the pod and the names that were asked about: it stays true
while the cluster goes on changing. So whoever asks them may let the cluster change meanwhile, and says so with ``Overtaken``: the
decision is made again from the start, over what the cluster is then, and finds the answers that it has already got::

    decide ──filter(names)──> Extenders ──> (waits for other programs)
      │  <──────names left──────┘ nothing changed meanwhile: go on
      └──────────Overtaken────────┘ something did: decide again; the same question is answered from memory

``docs/design/extenders.md`` tells why. Upstream: ``fwk.Extender``, called in the scheduling cycle over a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple, Protocol

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.framework.integers import wrapped
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FilterOutcome, Scores
from scheduler.framework.pods import PodInfo
from scheduler.framework.status import Status

EXTENDER: Final = "Extender"
"""The name under which the refusals of all extenders are noted; a pod that it refused is tried again after any event."""


class Overtaken(Exception):  # noqa: N818  # it is no error
    """The cluster changed while extenders were asked; decide again."""


class Sifted(NamedTuple):
    """What filtering extenders made of a list of nodes.

    Attributes:
        names: those left, in the order and as often as the last extender listed them.
        refusals: by node name, why the others are not; a node may be left out without a word.
    """

    names: Sequence[str]
    refusals: Mapping[str, Status]


class Victims(NamedTuple):
    """The pods that have to leave a node, and how many of them violate a disruption budget."""

    node: str
    pods: tuple[PodInfo, ...]
    violations: int


Away = Callable[[], AbstractContextManager[None]]
"""Releases the lock of the cluster for a block; raises ``Overtaken`` at its end when the cluster was changed meanwhile."""


class ExtenderSet(Protocol):
    """All extenders of a configuration."""

    def consult(self, away: Away) -> Extenders:
        """Begin to ask about a pod, with the lock released while they think."""
        ...

    def bind(self, pod: Pod, node: str) -> Status | None:
        """Have one bind the pod; None: none of them does, it is left to the plugins. Blocks; for binding threads."""
        ...

    def close(self) -> None:
        """Drop the idle connections: others will be asked from now on. What is under way ends as it began."""
        ...


class Extenders(Protocol):
    """The extenders, asked about one pod. Each method may raise ``Overtaken``."""

    @property
    def filters(self) -> bool:
        """Whether any of them filters, be it this pod or not."""
        ...

    @property
    def scores(self) -> bool:
        """Whether any of them scores, be it this pod or not."""
        ...

    def filter(self, pod: PodInfo, nodes: Nodes, names: Sequence[str], *, nominated: bool) -> Sifted:
        """Ask one after the other which of the nodes, rows of ``nodes``, are left.

        Args:
            nominated: the one node is the pod's nomination, asked about before all others.

        Raises:
            scheduler.framework.runner.PluginError: one failed that cannot be ignored.
        """
        ...

    def prioritize(
        self, pod: PodInfo, nodes: Nodes, names: Sequence[str]
    ) -> Sequence[tuple[str, Mapping[str, int]]]:
        """Ask all of them at a time: each one's name with its scores by node name, as they enter the total."""
        ...

    def preempt(self, pod: PodInfo, nodes: Nodes, candidates: Sequence[Victims]) -> Sequence[Victims]:
        """Ask one after the other which nodes and which victims are left.

        Raises:
            scheduler.framework.runner.PluginError: one failed that cannot be ignored.
        """
        ...


def sift(extenders: Extenders, pod: PodInfo, outcome: FilterOutcome, *, nominated: bool = False) -> None:
    """Have the extenders filter the rows that are alive (upstream: ``findNodesThatPassExtenders``)."""
    names = outcome.names_alive()
    if not names:
        return
    sifted = extenders.filter(pod, outcome.nodes, names, nominated=nominated)
    outcome.alive[:] = False
    outcome.alive[outcome.nodes.rows_of(sifted.names)] = True
    outcome.listed = sifted.names
    outcome.overrule(sifted.refusals)
    if len(sifted.names) != len(names):
        outcome.unschedulable_plugins.add(EXTENDER)


def score(extenders: Extenders, pod: PodInfo, outcome: FilterOutcome, scores: Scores) -> None:
    """Add what each extender gives to the nodes that it names; what it says of others counts for nothing."""
    listed = outcome.names_alive() if outcome.listed is None else outcome.listed
    weighted = dict(scores.weighted)
    for extender, by_name in extenders.prioritize(pod, outcome.nodes, listed):
        given = [wrapped(by_name.get(name, 0)) for name in scores.nodes.names]
        column = np.array(given, np.int64)
        scores.total = scores.total + column
        weighted[extender] = weighted[extender] + column if extender in weighted else column
    scores.weighted = weighted
