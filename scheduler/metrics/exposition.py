"""A registry as kube-scheduler prints it.

``prometheus_client`` differs from Go's library in three ways that a scrape can see: it adds ``_created`` series, it announces families
that have no samples, and it writes bucket bounds as ``1.0`` where Go writes ``1``. The view here mends them for one registry; the
library's own switches are global.
"""

from collections.abc import Iterable

from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

_PLAIN_TEXT = "text/plain"


class _View(Collector):
    """The families of a registry by name, without the differences."""

    def __init__(self, registry: Collector) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        """Families with at least one sample, sorted."""
        for metric in sorted(self._registry.collect(), key=lambda family: family.name):
            samples = [_as_go(sample) for sample in metric.samples if not sample.name.endswith("_created")]
            if samples:
                view = Metric(metric.name, metric.documentation, metric.type, metric.unit)
                view.samples = samples
                yield view


def exposition(registry: Collector, accept: str) -> tuple[bytes, str]:
    """The metrics and their content type, in the format that an ``Accept`` header asks for (plain text unless OpenMetrics is wanted)."""
    encode, content_type = choose_encoder(accept)
    if content_type.startswith(_PLAIN_TEXT) and "escaping=" not in content_type:
        content_type += "; escaping=underscores"
    return encode(_View(registry)), content_type


def _as_go(sample: Sample) -> Sample:
    bound = sample.labels.get("le", "")
    if not bound.endswith(".0"):
        return sample
    return sample._replace(labels={**sample.labels, "le": bound.removesuffix(".0")})
