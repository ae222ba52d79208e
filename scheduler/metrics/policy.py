"""What operators say about metrics: which are not to be, and which values their labels may have.

An escape hatch for metrics that cost too much: a disabled one is neither registered nor printed; a value that is not on a label's list
counts as ``unexpected``, whatever it was, so that a label cannot grow without end (component-base's ``metrics/opts.go``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

UNEXPECTED = "unexpected"


@dataclass(frozen=True, slots=True)
class Policy:
    """``allowed``: by metric and label, the values that are kept; labels that are not named keep all."""

    disabled: frozenset[str] = frozenset()
    allowed: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)

    def constrained(
        self, metric: str, labels: Sequence[str], values: Sequence[str]
    ) -> tuple[tuple[str, ...], int]:
        """The label values to use, and how many of them were not expected."""
        lists = self.allowed.get(metric, {})
        kept = tuple(
            value if value in lists.get(label, (value,)) else UNEXPECTED
            for label, value in zip(labels, values, strict=True)
        )
        return kept, sum(new != old for new, old in zip(kept, values, strict=True))


OPEN = Policy()
"""Every metric, every value."""
