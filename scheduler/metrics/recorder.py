"""`Metrics`: what the program calls while it works.

One method per thing that happens, so that callers know no metric names. An observation costs about a microsecond: a dictionary
lookup, then ``prometheus_client``'s lock and addition. Nothing is registered globally; the registry is passed in.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.registry import Collector

from scheduler.metrics import families
from scheduler.metrics.families import (
    Children,
    ConstrainedChildren,
    GaugeReader,
    GaugesAtScrape,
    LabelValues,
)
from scheduler.metrics.policy import OPEN, Policy
from scheduler.metrics.table import FAMILIES

_MAX_ATTEMPTS_LABEL = 15
_BY_NAME = {family.name: family for family in FAMILIES}


class Metrics:
    """The scheduler's metrics over an explicit registry. Every method may be called from any thread.

    Args:
        policy: which metrics are not to be, and which label values are kept.
    """

    def __init__(self, registry: CollectorRegistry, policy: Policy = OPEN) -> None:
        self.registry = registry
        self.policy = policy
        self._registered: list[Collector] = []
        self._at_scrape = GaugesAtScrape(policy)
        registry.register(self._at_scrape)
        self._build()

    def reset(self) -> None:
        """Start over with every counter, gauge and histogram at nothing, as ``DELETE /metrics`` does; readers of gauges stay."""
        for collector in self._registered:
            self.registry.unregister(collector)
        self._registered.clear()
        self._build()

    def _build(self) -> None:
        self._attempts = self._counters("scheduler_schedule_attempts_total")
        self._attempt_seconds = self._histograms("scheduler_scheduling_attempt_duration_seconds")
        self._algorithm_seconds = self._histogram("scheduler_scheduling_algorithm_duration_seconds")
        self._sli_seconds = self._histograms("scheduler_pod_scheduling_sli_duration_seconds")
        self._pod_attempts = self._histogram("scheduler_pod_scheduling_attempts")
        self._after_flush = self._counter("scheduler_pod_scheduled_after_flush_total")
        self._victims = self._histogram("scheduler_preemption_victims")
        self._preemptions = self._counter("scheduler_preemption_attempts_total")
        self._evictions = self._counters("scheduler_preemption_goroutines_execution_total")
        self._eviction_seconds = self._histograms("scheduler_preemption_goroutines_duration_seconds")
        self._points = self._histograms("scheduler_framework_extension_point_duration_seconds")
        self._plugins = self._histograms("scheduler_plugin_execution_duration_seconds")
        self._evaluations = self._counters("scheduler_plugin_evaluation_total")
        self._permit_waits = self._histograms("scheduler_permit_wait_duration_seconds")
        self._unschedulable = self._gauges("scheduler_unschedulable_pods")
        self._running = self._gauges("scheduler_goroutines")
        self._incoming = self._counters("scheduler_queue_incoming_pods_total")
        self._hints = self._histograms("scheduler_queueing_hint_execution_duration_seconds")
        self._events = self._histograms("scheduler_event_handling_duration_seconds")
        self._extender_calls = self._histograms("wharfinger_extender_call_duration_seconds")
        self._leading = self._gauges("leader_election_master_status")
        self._slow_renewals = self._counters("leader_election_slowpath_total")
        self._requests = self._counters("rest_client_requests_total")
        self._request_seconds = self._histograms("rest_client_request_duration_seconds")
        self._throttled = self._histograms("rest_client_rate_limiter_duration_seconds")
        self._request_sizes = self._histograms("rest_client_request_size_bytes")
        self._response_sizes = self._histograms("rest_client_response_size_bytes")
        self._retries = self._counters("rest_client_request_retries_total")
        self._build_info = self._gauges("kubernetes_build_info")
        self._features = self._gauges("kubernetes_feature_enabled")
        self._version_info = self._gauges("version_info")
        self._build_meta()
        self._reloads = self._counters("wharfinger_config_reloads_total")

    def _build_meta(self) -> None:
        """Metrics about metrics."""
        self._unexpected = self._counter("cardinality_enforcement_unexpected_categorizations_total")
        self._counter("disabled_metrics_total").inc(len(self.policy.disabled))
        self._counter("hidden_metrics_total")
        registered = self._counters("registered_metrics_total")
        for family in FAMILIES:
            if family.name not in self.policy.disabled:
                registered[family.stability, ""].inc()

    # -- scheduling ---------------------------------------------------------------------------------------------

    def attempt(self, result: str, profile: str, seconds: float) -> None:
        """A scheduling attempt ended: ``scheduled``, ``unschedulable`` or ``error``; its time counts from pop to the end of binding."""
        labels = (result, profile)
        self._attempts[labels].inc()
        self._attempt_seconds[labels].observe(seconds)

    def algorithm(self, seconds: float) -> None:
        """Filtering and scoring of one attempt took this long."""
        self._algorithm_seconds.observe(seconds)

    def scheduled(self, attempts: int, seconds: float, *, after_flush: bool = False) -> None:
        """A pod got its node after ``attempts`` tries, ``seconds`` after it first entered the queue.

        ``after_flush``: it had left the unschedulable pods only because its time there was over.
        """
        label = f"{_MAX_ATTEMPTS_LABEL}+" if attempts >= _MAX_ATTEMPTS_LABEL else str(attempts)
        self._sli_seconds[(label,)].observe(seconds)
        self._pod_attempts.observe(attempts)
        if after_flush:
            self._after_flush.inc()

    def preemption_attempted(self) -> None:
        """PostFilter looked for victims."""
        self._preemptions.inc()

    def preempted(self, victims: int) -> None:
        """A preemption chose this many victims."""
        self._victims.observe(victims)

    def evicted(self, result: str, seconds: float) -> None:
        """All evictions of one preemption were asked for, or given up: ``success`` or ``error``."""
        self._evictions[(result,)].inc()
        self._eviction_seconds[(result,)].observe(seconds)

    # -- framework ----------------------------------------------------------------------------------------------

    def extension_point(self, point: str, status: str, profile: str, seconds: float) -> None:
        """All plugins of one extension point ran for one pod."""
        self._points[point, status, profile].observe(seconds)

    def plugin_executed(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """One plugin ran; callers sample a tenth of the cycles, as kube-scheduler does."""
        self._plugins[plugin, point, status].observe(seconds)

    def plugin_evaluated(self, plugin: str, point: str, profile: str, times: int = 1) -> None:
        """A plugin judged ``times`` pods (PreFilter, PreScore) or nodes (Filter, Score)."""
        self._evaluations[plugin, point, profile].inc(times)

    def permit_waited(self, result: str, seconds: float) -> None:
        """A pod waited at Permit; ``result`` is the status code it left with."""
        self._permit_waits[(result,)].observe(seconds)

    def unschedulable(self, plugin: str, profile: str, change: int) -> None:
        """``change`` more (or fewer) pods are unschedulable because of ``plugin``."""
        self._unschedulable[plugin, profile].inc(change)

    def extender_called(self, extender: str, verb: str, result: str, seconds: float) -> None:
        """A call to another extender ended: ``success`` or ``error``."""
        self._extender_calls[extender, verb, result].observe(seconds)

    @contextmanager
    def running(self, operation: str) -> Iterator[None]:
        """Count one thread as busy with ``operation`` (``binding``) while the block runs."""
        child = self._running[(operation,)]
        child.inc()
        try:
            yield
        finally:
            child.dec()

    # -- queue and events ---------------------------------------------------------------------------------------

    def queue_incoming(self, queue: str, event: str) -> None:
        """A pod entered ``active``, ``backoff``, ``unschedulable`` or ``gated`` because of ``event``."""
        self._incoming[queue, event].inc()

    def queueing_hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """A plugin said ``Queue`` or ``QueueSkip`` (or failed: ``Error``) about an event."""
        self._hints[plugin, event, hint].observe(seconds)

    def event_handled(self, event: str, seconds: float) -> None:
        """A watched change was applied to cluster and queue."""
        self._events[(event,)].observe(seconds)

    def read_pending_pods(self, reader: GaugeReader) -> None:
        """``reader`` answers pods by queue, keys ``active`` and so on, whenever metrics are scraped."""
        self._at_scrape.read(_BY_NAME["scheduler_pending_pods"], reader)

    def read_inflight_events(self, reader: GaugeReader) -> None:
        """``reader`` answers tracked events by label, keys ``PodPopped`` and so on."""
        self._at_scrape.read(_BY_NAME["scheduler_inflight_events"], reader)

    def read_cache_size(self, reader: GaugeReader) -> None:
        """``reader`` answers the sizes ``nodes``, ``pods``, ``assumed_pods``."""
        self._at_scrape.read(_BY_NAME["scheduler_cache_size"], reader)

    # -- component ----------------------------------------------------------------------------------------------

    def leading(self, lease: str, *, is_leader: bool) -> None:
        """Whether this process holds the lease."""
        self._leading[(lease,)].set(int(is_leader))

    def slow_renewal(self, lease: str) -> None:
        """A renewal had to read the lease first."""
        self._slow_renewals[(lease,)].inc()

    def request(self, code: str, method: str, host: str, seconds: float) -> None:
        """A request to the API server ended with an HTTP status, or ``<error>`` when none came."""
        self._requests[code, method, host].inc()
        self._request_seconds[method, host].observe(seconds)

    def throttled(self, method: str, host: str, seconds: float) -> None:
        """A request waited for the client's own rate limit."""
        self._throttled[method, host].observe(seconds)

    def transferred(self, method: str, host: str, sent: int, received: int) -> None:
        """A request was answered: bytes of both bodies."""
        self._request_sizes[method, host].observe(sent)
        self._response_sizes[method, host].observe(received)

    def retried(self, code: str, method: str, host: str) -> None:
        """A request is sent again, because the server asked for patience with this HTTP status."""
        self._retries[code, method, host].inc()

    def version(self, binary: str, emulation: str, oldest: str) -> None:
        """Which version this is, which it behaves like, and the oldest one that it gets along with."""
        self._version_info["kube", binary, emulation, oldest].set(1)

    def built(self, info: Mapping[str, str]) -> None:
        """What was built: values of ``kubernetes_build_info``'s labels, missing ones empty."""
        labels = _BY_NAME["kubernetes_build_info"].labels
        self._build_info[tuple(info.get(label, "") for label in labels)].set(1)

    def feature(self, name: str, stage: str, *, enabled: bool) -> None:
        """Whether a feature gate is on; the stage is ``ALPHA``, ``BETA``, ``DEPRECATED`` or empty for GA."""
        self._features[name, stage].set(int(enabled))

    def reloaded(self, result: str) -> None:
        """The configuration was loaded again: ``success`` or ``error``."""
        self._reloads[(result,)].inc()

    # -- building -----------------------------------------------------------------------------------------------

    def _counter(self, name: str) -> Counter:
        return self._keep(name, families.counter(_BY_NAME[name], self._registry_of(name)))

    def _histogram(self, name: str) -> Histogram:
        return self._keep(name, families.histogram(_BY_NAME[name], self._registry_of(name)))

    def _counters(self, name: str) -> Children[Counter]:
        return self._children(name, self._counter(name))

    def _histograms(self, name: str) -> Children[Histogram]:
        return self._children(name, self._histogram(name))

    def _gauges(self, name: str) -> Children[Gauge]:
        gauge = self._keep(name, families.gauge(_BY_NAME[name], self._registry_of(name)))
        return self._children(name, gauge)

    def _children(self, name: str, family: families.M) -> Children[families.M]:
        labels = _BY_NAME[name].labels
        if name not in self.policy.allowed:
            return Children(family)

        def constrain(values: LabelValues) -> LabelValues:
            kept, unexpected = self.policy.constrained(name, labels, values)
            if unexpected:
                self._unexpected.inc(unexpected)
            return kept

        return ConstrainedChildren(family, constrain)

    def _registry_of(self, name: str) -> CollectorRegistry | None:
        return None if name in self.policy.disabled else self.registry

    def _keep(self, name: str, family: families.M) -> families.M:
        if name not in self.policy.disabled:
            self._registered.append(family)
        return family
