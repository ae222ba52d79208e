"""What every handler works on: the store, the clock, the dice, and a way to do something later."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from scheduler.sandbox.access import Access
from scheduler.sandbox.ages import stamp
from scheduler.sandbox.store import Store

Object = dict[str, Any]
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(slots=True)
class Cluster:
    """The state behind one server.

    `later(seconds, call)` runs a call in the server's thread after a while and returns a function that cancels it (that one for the server's
    thread only). `termination_delay` is how many seconds the sandbox, playing kubelet, takes to end a bound pod that was deleted with a grace
    period (never longer than that period); `start_delay` how many it takes to report a bound pod running, None for never. `applied` remembers
    what each field manager last applied to which object (uid, manager), for server-side apply. `access` answers reviews.
    """

    store: Store
    now: Callable[[], datetime]
    rng: random.Random
    later: Callable[[float, Callable[[], None]], Callable[[], None]]
    termination_delay: float = 0.0
    start_delay: float | None = None
    applied: dict[tuple[str, str], Object] = field(default_factory=dict)
    access: Access = field(default_factory=Access)

    def stamp(self) -> str:
        """Now, as a timestamp field."""
        return stamp(self.now())

    def uid(self) -> str:
        """A fresh uid."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def suffix(self) -> str:
        """The five letters behind a generateName."""
        return "".join(self.rng.choices(_SUFFIX_LETTERS, k=5))
