"""What the distinct facts of nodes are: the dictionaries behind the columns of ids.

Shared by a table and everything taken from it. Sets that no node has any more are forgotten by ``NodeTable.compact``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scheduler.apis.objects import Taint
from scheduler.framework.interning import Interner
from scheduler.framework.pods import HostPort

Taints = tuple[Taint, ...]
ImageNames = frozenset[str]
PortSet = frozenset[HostPort]
DeclaredFeatures = tuple[str, ...]

ABSENT = 0
"""The id of a label value that a node does not have."""


class ImageState(NamedTuple):
    """An image in the cluster: its size in bytes, as the first node reported it, and the number of nodes that have it."""

    size: int
    nodes: int


@dataclass(slots=True)
class Facts:
    """Distinct taint sets, image sets, port sets, lists of features and label values; id 0 is the empty one (or the absent value)."""

    taint_sets: Interner[Taints] = field(default_factory=lambda: Interner(()))
    image_sets: Interner[ImageNames] = field(default_factory=lambda: Interner(frozenset()))
    port_sets: Interner[PortSet] = field(default_factory=lambda: Interner(frozenset()))
    features: Interner[DeclaredFeatures] = field(default_factory=lambda: Interner(()))
    labels: dict[str, Interner[str | None]] = field(default_factory=dict)
    images: dict[str, ImageState] = field(default_factory=dict)

    def copy(self) -> Facts:
        """For a table of its own: the numbers stay shared, since they only grow; what is counted or replaced is copied."""
        return replace(self, labels=dict(self.labels), images=dict(self.images))

    def label_values(self, key: str) -> Interner[str | None]:
        """The values that nodes have for a label; id 0 stands for its absence."""
        values = self.labels.get(key)
        if values is None:
            values = self.labels[key] = Interner(None)
        return values
