"""A row of the table becomes a family of ``prometheus_client``, its children kept at hand.

``family.labels(...)`` validates and locks on every call, about 1 µs; a dictionary that fills itself costs a tenth of it, and the
scheduling cycle observes some twenty values per pod.
"""

from collections import Counter as Sums
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from scheduler.metrics.policy import OPEN, Policy
from scheduler.metrics.table import Family

M = TypeVar("M", bound=MetricWrapperBase)
LabelValues = tuple[str, ...]
GaugeReader = Callable[[], Mapping[str, float]]
"""Values by the value of the one label that such a gauge has."""


class Children(dict[LabelValues, M], Generic[M]):
    """The children of one labelled family by label values; an unknown combination is made at its first use."""

    def __init__(self, family: M) -> None:
        super().__init__()
        self._family = family

    def __missing__(self, labels: LabelValues) -> M:
        child = self[labels] = self._family.labels(*labels)
        return child


class ConstrainedChildren(Children[M]):
    """Children of a family whose label values are limited: looked at anew by every observation, since each one counts.

    Args:
        constrain: answers the label values to use.
    """

    def __init__(self, family: M, constrain: Callable[[LabelValues], LabelValues]) -> None:
        super().__init__(family)
        self._constrain = constrain

    def __getitem__(self, labels: LabelValues) -> M:
        return super().__getitem__(self._constrain(labels))


class GaugesAtScrape(Collector):
    """Gauges whose values live elsewhere (queue lengths, cache sizes): read when scraped, free until then."""

    def __init__(self, policy: Policy = OPEN) -> None:
        self._policy = policy
        self._readers: dict[str, tuple[Family, GaugeReader]] = {}

    def read(self, family: Family, reader: GaugeReader) -> None:
        """Let ``reader`` answer for ``family`` from now on, unless it is disabled."""
        if family.name not in self._policy.disabled:
            self._readers[family.name] = (family, reader)

    def collect(self) -> Iterable[Metric]:
        """One gauge family per reader."""
        for family, reader in list(self._readers.values()):
            gauge = GaugeMetricFamily(family.name, family.documentation, labels=family.labels)
            for labels, value in self._values(family, reader).items():
                gauge.add_metric(labels, value)
            yield gauge

    def _values(self, family: Family, reader: GaugeReader) -> Mapping[LabelValues, float]:
        """Values that share a series are added up."""
        found: Sums[LabelValues] = Sums()
        for label, value in reader().items():
            labels, _ = self._policy.constrained(family.name, family.labels, (label,))
            found[labels] += value  # type: ignore[assignment]  # counts may be of any kind of number
        return found

    def describe(self) -> Iterable[Metric]:
        """Nothing up front: registering must not call readers."""
        return ()


def counter(family: Family, registry: CollectorRegistry | None) -> Counter:
    """The family as a counter; its name keeps the ``_total`` that the table carries. Without a registry nobody sees it."""
    return Counter(family.name, family.documentation, family.labels, registry=registry)


def gauge(family: Family, registry: CollectorRegistry | None) -> Gauge:
    """The family as a gauge."""
    return Gauge(family.name, family.documentation, family.labels, registry=registry)


def histogram(family: Family, registry: CollectorRegistry | None) -> Histogram:
    """The family as a histogram with its own buckets."""
    return Histogram(
        family.name, family.documentation, family.labels, buckets=family.buckets, registry=registry
    )
