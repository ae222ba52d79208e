"""Evictions: what preemption asks to be done, and whoever does it.

A plugin decides in the scheduling thread, under the lock; evicting takes requests to the API server. So the plugin leaves an
order here and asks later whether it is being carried out::

    DefaultPreemption ──begin(Preemption)──> Evictions ──> the evictor, when one is connected
                      <──is_running(uid)───

With nobody connected, in an explanation or a simulation, a decision stays a decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scheduler.apis.objects import Pod


@dataclass(frozen=True, slots=True)
class Preemption:
    """Room to be made.

    Attributes:
        preemptor: the pod that needs it.
        node: where.
        victims: the pods that have to go, the most important first.
        plugin: the plugin that decided.
    """

    preemptor: Pod
    node: str
    victims: tuple[Pod, ...]
    plugin: str


class Evictor(Protocol):
    """Evicts pods, in threads of its own."""

    def attempted(self) -> None:
        """Somebody looked for victims."""
        ...

    def begin(self, preemption: Preemption) -> None:
        """Have the victims evicted; returns at once. Called by the scheduling thread."""
        ...

    def is_running(self, uid: str) -> bool:
        """Whether evictions for the preemptor of that uid are still to be asked for. Cheap."""
        ...


class Evictions:
    """The way from plugins to the evictor."""

    def __init__(self) -> None:
        self._evictor: Evictor | None = None

    def connect(self, evictor: Evictor) -> None:
        """From now on this one carries out what is asked for."""
        self._evictor = evictor

    def attempted(self) -> None:
        """See ``Evictor``."""
        if self._evictor is not None:
            self._evictor.attempted()

    def begin(self, preemption: Preemption) -> None:
        """See ``Evictor``."""
        if self._evictor is not None:
            self._evictor.begin(preemption)

    def is_running(self, uid: str) -> bool:
        """See ``Evictor``."""
        return self._evictor is not None and self._evictor.is_running(uid)
