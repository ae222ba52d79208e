"""Status: what a plugin answers, and what the queue should do about it.

A status is a value, never an exception: rejection is an expected outcome. ``None`` stands for Success wherever a plugin
returns a status, as ``nil`` does upstream, so the simplest plugin says nothing when it has nothing against a node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum


class Code(IntEnum):
    """Outcome of an extension point (upstream: ``fwk.Code``; the numbers are upstream's too).

    ======================================  ==========================================================================
    SUCCESS                                 go on
    ERROR                                   a bug or IO: the pod backs off and tries again
    UNSCHEDULABLE                           the pod does not fit now; evicting other pods may help
    UNSCHEDULABLE_AND_UNRESOLVABLE          the pod does not fit, and no eviction would change that
    WAIT                                    Permit: the pod waits for approval
    SKIP                                    PreFilter/PreScore: do not call Filter/Score; Bind: not mine
    PENDING                                 the pod waits for something outside; it is retried when that happens
    ======================================  ==========================================================================
    """

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def label(self) -> str:
        """The name that metrics and recordings use, ``UnschedulableAndUnresolvable`` say."""
        return _LABELS[self]

    @property
    def rejects(self) -> bool:
        """Unschedulable, unresolvable or pending: a refusal, not a failure."""
        return self in _REJECTIONS


_LABELS = ("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending")
_REJECTIONS = frozenset((Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING))


@dataclass(frozen=True, slots=True)
class Status:
    """A code, the reasons in the plugin's order, and the plugin that answered.

    ``error`` carries the cause of an ``ERROR``, or the FitError of a rejection after the filters.
    """

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    error: Exception | None = None

    @classmethod
    def unschedulable(cls, *reasons: str) -> Status:
        """The pod does not fit; evictions may help."""
        return cls(Code.UNSCHEDULABLE, reasons)

    @classmethod
    def unresolvable(cls, *reasons: str) -> Status:
        """The pod does not fit, whatever is evicted."""
        return cls(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)

    @classmethod
    def skip(cls) -> Status:
        """Nothing to do for this pod here."""
        return SKIP

    @classmethod
    def failure(cls, error: Exception) -> Status:
        """A bug or IO error, as a value (upstream: ``fwk.AsStatus``)."""
        return cls(Code.ERROR, (str(error),), error=error)

    @property
    def ok(self) -> bool:
        """Success."""
        return self.code is Code.SUCCESS

    @property
    def rejected(self) -> bool:
        """Unschedulable, unresolvable or pending: the pod is refused, nothing is broken (upstream: ``IsRejected``)."""
        return self.code.rejects

    @property
    def message(self) -> str:
        """The reasons, joined as upstream joins them."""
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """The same status, owned by ``plugin`` unless it has an owner."""
        return self if self.plugin or self.code in (Code.SUCCESS, Code.SKIP) else replace(self, plugin=plugin)


SUCCESS = Status()
SKIP = Status(Code.SKIP)
