"""Metrics beside the scheduler's own: health checks (``/metrics/slis``) and the process."""

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from scheduler.metrics import families
from scheduler.metrics.families import Children
from scheduler.metrics.policy import OPEN, Policy
from scheduler.metrics.table import HEALTH


class HealthMetrics:
    """How health checks turned out, over a registry of its own."""

    def __init__(self, registry: CollectorRegistry, *, started: float, policy: Policy = OPEN) -> None:
        """``started``: when the process started, in seconds since 1970."""
        latest, total, process_start = HEALTH
        self.registry = registry
        shown = {each.name: None if each.name in policy.disabled else registry for each in HEALTH}
        self._latest = Children(families.gauge(latest, shown[latest.name]))
        self._total = Children(families.counter(total, shown[total.name]))
        families.gauge(process_start, shown[process_start.name]).set(started)

    def observe(self, endpoint: str, check: str, passed: bool) -> None:
        """A check of ``healthz``, ``livez`` or ``readyz`` passed or failed."""
        self._latest[endpoint, check].set(int(passed))
        self._total[endpoint, check, "success" if passed else "error"].inc()


def add_process(registry: CollectorRegistry) -> None:
    """CPU, memory, file descriptors, interpreter and garbage collection of this process, read at scrape."""
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
