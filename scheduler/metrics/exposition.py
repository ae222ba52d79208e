"""A registry as kube-scheduler prints it.

``prometheus_client`` differs from Go's library in what a scrape can see: it adds ``_created`` series, it announces families that have no
samples, it writes whole numbers as ``1.0`` where Go writes ``1``, and it keeps series in the order of their birth. The view here mends that
for one registry; the library's own switches are global.
"""

import re
from collections.abc import Iterable

from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

_PLAIN_TEXT = "text/plain"
_WHOLE_NUMBER = re.compile(rb"^([^#\n].* -?\d+)\.0$", re.MULTILINE)
_OF_HISTOGRAM = {"_sum": 1, "_count": 2}


class _View(Collector):
    """The families of a registry by name, without the differences."""

    def __init__(self, registry: Collector) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        """Families with at least one sample, sorted."""
        for metric in sorted(self._registry.collect(), key=lambda family: family.name):
            samples = [_as_go(sample) for sample in metric.samples if not sample.name.endswith("_created")]
            samples.sort(key=_place)
            if samples:
                view = Metric(metric.name, metric.documentation, metric.type, metric.unit)
                view.samples = samples
                yield view


def exposition(registry: Collector, accept: str) -> tuple[bytes, str]:
    """The metrics and their content type, in the format that an ``Accept`` header asks for (plain text unless OpenMetrics is wanted)."""
    encode, content_type = choose_encoder(accept)
    if content_type.startswith(_PLAIN_TEXT) and "escaping=" not in content_type:
        content_type += "; escaping=underscores"
    body = encode(_View(registry))
    return (_WHOLE_NUMBER.sub(rb"\1", body) if content_type.startswith(_PLAIN_TEXT) else body), content_type


def _place(sample: Sample) -> tuple[list[tuple[str, str]], int]:
    """Series by their label values; of one histogram: buckets, sum, count."""
    labels = sorted(pair for pair in sample.labels.items() if pair[0] != "le")
    suffix = sample.name[sample.name.rfind("_") :]
    return labels, _OF_HISTOGRAM.get(suffix, 0) if "le" not in sample.labels else 0


def _as_go(sample: Sample) -> Sample:
    bound = sample.labels.get("le", "")
    if not bound.endswith(".0"):
        return sample
    return sample._replace(labels={**sample.labels, "le": bound.removesuffix(".0")})
