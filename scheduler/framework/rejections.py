"""Reasons are data: which rows a filter rejects and why, as one column of bits.

``bits[row]`` has bit *i* set when ``reasons[i]`` rejects that row. Counting messages, explaining one node and answering a
webhook all read the same column; a string is built only when somebody reads it.

::

    rows     n0   n1   n2   n3
    bits      0    1    3    2        reasons[0] = Insufficient cpu      (Unschedulable)
                                      reasons[1] = Insufficient memory   (Unschedulable)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scheduler.framework.columns import Rows
from scheduler.framework.status import SUCCESS, Code, Status

BoolColumn = npt.NDArray[np.bool_]
Column = npt.NDArray[np.int64]
Bits = npt.NDArray[Any]
"""uint64[rows], or Python integers (``object[rows]``) where a filter has more than 64 reasons."""

MAX_REASONS = 64
"""How many reasons a uint64 has room for; a filter with more pays for wider bits."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason to reject a row, with the code that it carries."""

    message: str
    code: Code = Code.UNSCHEDULABLE


class Rejections:
    """The rows that one filter rejects.

    Args:
        bits: uint64[rows], object[rows] with more than 64 reasons; zero where the row passes.
        reasons: in the order in which a node's status lists them.

    Raises:
        ValueError: more than 64 reasons, and bits that have no room for them.
    """

    __slots__ = ("bits", "reasons")

    def __init__(self, bits: Bits, reasons: Sequence[Reason]) -> None:
        if len(reasons) > MAX_REASONS and bits.dtype != np.object_:
            raise ValueError(f"{len(reasons)} reasons do not fit into {bits.dtype} bits")
        self.bits = bits
        self.reasons = tuple(reasons)

    @classmethod
    def where(cls, rejected: BoolColumn, reason: Reason) -> Rejections | None:
        """Rejections for a single reason: bool[rows]; None when no row is rejected."""
        return cls(rejected.astype(np.uint64), (reason,)) if rejected.any() else None

    @classmethod
    def collect(cls, masks: Sequence[tuple[BoolColumn, Reason]]) -> Rejections | None:
        """Rejections out of one bool[rows] per reason; reasons that reject no row are left out."""
        hits = [(mask, reason) for mask, reason in masks if mask.any()]
        if not hits:
            return None
        narrow = len(hits) <= MAX_REASONS
        bits: Bits = np.zeros(len(hits[0][0]), np.uint64 if narrow else np.object_)
        for place, (mask, _) in enumerate(hits):
            bits[mask] |= np.uint64(1 << place) if narrow else 1 << place
        return cls(bits, [reason for _, reason in hits])

    @property
    def rejected(self) -> BoolColumn:
        """bool[rows]: the rows that any reason rejects."""
        rejected: BoolColumn = self.bits != 0
        return rejected

    def take(self, rows: Rows | BoolColumn) -> Rejections:
        """The same reasons for some of the rows."""
        return Rejections(self.bits[rows], self.reasons)

    def reasons_of(self, bits: int) -> list[Reason]:
        """The reasons that one row's bits stand for."""
        # Bit by bit of those set: a plugin may have a reason of its own for each node, of which a row has one.
        left = bits & ((1 << len(self.reasons)) - 1)
        found: list[Reason] = []
        while left:
            found.append(self.reasons[(left & -left).bit_length() - 1])
            left &= left - 1
        return found

    def status(self, row: int, plugin: str = "") -> Status:
        """The status of one row; unresolvable when any of its reasons is (upstream: ``fitsRequest``)."""
        reasons = self.reasons_of(int(self.bits[row]))
        if not reasons:
            return SUCCESS
        return Status(_code_of(reasons), tuple(reason.message for reason in reasons), plugin)

    def __eq__(self, other: object) -> bool:
        """Equal when every row has the same status, however the reasons are numbered."""
        if not isinstance(other, Rejections) or len(self.bits) != len(other.bits):
            return NotImplemented
        return all(self.status(row) == other.status(row) for row in range(len(self.bits)))

    __hash__: Any = None

    def __repr__(self) -> str:
        return f"Rejections(bits={self.bits.tolist()}, reasons={[reason.message for reason in self.reasons]})"


def _code_of(reasons: Sequence[Reason]) -> Code:
    codes = {reason.code for reason in reasons}
    for code in (Code.ERROR, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING):
        if code in codes:
            return code
    return Code.UNSCHEDULABLE
