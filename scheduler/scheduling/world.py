"""World: the one cluster state, for whoever wants to decide over it: the loop, the webhook, explanations.

Everything happens under one lock, with the events that have arrived applied first, so that nobody sees a torn or stale state::

    with world.current() as state:
        outcome = judge(state.frameworks[name], Cycle(PodInfo(pod)), state.nodes, rows, state.nominated)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from scheduler.apis.objects import Pod
from scheduler.framework.filtering import Nominated
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.runtime import Framework


@dataclass(frozen=True, slots=True)
class State:
    """What one may read while the lock is held.

    Attributes:
        nodes: the table, every pod that is placed or assumed on it.
        nominated: the pods that were promised room.
        frameworks: the profiles by ``schedulerName``, in the order of the configuration.
        get_pod: (uid) -> the pod as it is placed or assumed, its ``spec.node_name`` set; None when it is on no node.
        assume: (pod, node) -> count a pod that is on no node as running there, until the watch confirms it; nothing in a world that
            stands still.
        forget: (uid) -> take an assumption back.
    """

    nodes: Nodes
    nominated: Nominated
    frameworks: Mapping[str, Framework]
    get_pod: Callable[[str], Pod | None]
    assume: Callable[[PodInfo, str], object] = lambda _pod, _node: None
    forget: Callable[[str], object] = lambda _uid: None


class World(Protocol):
    """Gives the state to one user at a time."""

    def current(self) -> AbstractContextManager[State]:
        """Take the lock, apply what has arrived, hand out the state until the block ends."""
        ...
