"""The families of metrics, as data.

Names, types, labels, buckets, stability and help texts are kube-scheduler 1.36's (``pkg/scheduler/metrics/metrics.go``, and component-base
and client-go for what every Kubernetes component exports): an operator's dashboards are written against them. Families of features
that Wharfinger does not have yet are absent rather than forever zero.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "gauge", "histogram"]
Stability = Literal["STABLE", "BETA", "ALPHA"]


@dataclass(frozen=True, slots=True)
class Family:
    """One family: ``buckets`` are upper bounds without ``+Inf``, empty unless it is a histogram."""

    name: str
    kind: Kind
    stability: Stability
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()

    @property
    def documentation(self) -> str:
        """The help text with the stability in front, as Kubernetes components print it."""
        return f"[{self.stability}] {self.help}"


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Bucket bounds by repeated multiplication: rounding errors included, so that they equal Go's to the last digit."""
    bounds = [start]
    while len(bounds) < count:
        bounds.append(bounds[-1] * factor)
    return tuple(bounds)


_ATTEMPT = exponential(0.001, 2, 15)
_POINT = exponential(0.0001, 2, 12)
_PLUGIN = exponential(0.00001, 1.5, 20)
_SLI = exponential(0.01, 2, 20)
_REST_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_REST_BYTES = (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)

SCHEDULING = (
    Family(
        "scheduler_schedule_attempts_total",
        "counter",
        "STABLE",
        ("result", "profile"),
        "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem.",
    ),
    Family(
        "scheduler_scheduling_attempt_duration_seconds",
        "histogram",
        "STABLE",
        ("result", "profile"),
        "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
        _ATTEMPT,
    ),
    Family(
        "scheduler_scheduling_algorithm_duration_seconds",
        "histogram",
        "ALPHA",
        (),
        "Scheduling algorithm latency in seconds",
        _ATTEMPT,
    ),
    Family(
        "scheduler_pod_scheduling_sli_duration_seconds",
        "histogram",
        "BETA",
        ("attempts",),
        "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.",
        _SLI,
    ),
    Family(
        "scheduler_pod_scheduling_attempts",
        "histogram",
        "STABLE",
        (),
        "Number of attempts to successfully schedule a pod.",
        exponential(1, 2, 5),
    ),
    Family(
        "scheduler_pod_scheduled_after_flush_total",
        "counter",
        "ALPHA",
        (),
        "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues.",
    ),
    Family(
        "scheduler_preemption_victims",
        "histogram",
        "STABLE",
        (),
        "Number of selected preemption victims",
        exponential(1, 2, 7),
    ),
    Family(
        "scheduler_preemption_attempts_total",
        "counter",
        "STABLE",
        (),
        "Total preemption attempts in the cluster till now",
    ),
    Family(
        "scheduler_preemption_goroutines_duration_seconds",
        "histogram",
        "ALPHA",
        ("result",),
        "Duration in seconds for running goroutines for the preemption.",
        _SLI,
    ),
    Family(
        "scheduler_preemption_goroutines_execution_total",
        "counter",
        "ALPHA",
        ("result",),
        "Number of preemption goroutines executed.",
    ),
)

PLUGINS = (
    Family(
        "scheduler_framework_extension_point_duration_seconds",
        "histogram",
        "STABLE",
        ("extension_point", "status", "profile"),
        "Latency for running all plugins of a specific extension point.",
        _POINT,
    ),
    Family(
        "scheduler_plugin_execution_duration_seconds",
        "histogram",
        "ALPHA",
        ("plugin", "extension_point", "status"),
        "Duration for running a plugin at a specific extension point.",
        _PLUGIN,
    ),
    Family(
        "scheduler_plugin_evaluation_total",
        "counter",
        "BETA",
        ("plugin", "extension_point", "profile"),
        "Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, Filter, PreScore, and Score).",
    ),
    Family(
        "scheduler_permit_wait_duration_seconds",
        "histogram",
        "BETA",
        ("result",),
        "Duration of waiting on permit.",
        _ATTEMPT,
    ),
    Family(
        "scheduler_unschedulable_pods",
        "gauge",
        "BETA",
        ("plugin", "profile"),
        "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.",
    ),
    Family(
        "scheduler_goroutines",
        "gauge",
        "BETA",
        ("operation",),
        "Number of running goroutines split by the work they do such as binding.",
    ),
)

QUEUE = (
    Family(
        "scheduler_queue_incoming_pods_total",
        "counter",
        "STABLE",
        ("queue", "event"),
        "Number of pods added to scheduling queues by event and queue type.",
    ),
    Family(
        "scheduler_queueing_hint_execution_duration_seconds",
        "histogram",
        "ALPHA",
        ("plugin", "event", "hint"),
        "Duration for running a queueing hint function of a plugin.",
        _PLUGIN,
    ),
    Family(
        "scheduler_event_handling_duration_seconds",
        "histogram",
        "ALPHA",
        ("event",),
        "Event handling latency in seconds.",
        _POINT,
    ),
    Family(
        "scheduler_pending_pods",
        "gauge",
        "STABLE",
        ("queue",),
        "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
    ),
    Family(
        "scheduler_inflight_events",
        "gauge",
        "ALPHA",
        ("event",),
        "Number of events currently tracked in the scheduling queue.",
    ),
    Family(
        "scheduler_cache_size",
        "gauge",
        "ALPHA",
        ("type",),
        "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
    ),
)

COMPONENT = (
    Family(
        "leader_election_master_status",
        "gauge",
        "ALPHA",
        ("name",),
        "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    ),
    Family(
        "leader_election_slowpath_total",
        "counter",
        "ALPHA",
        ("name",),
        "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
    ),
    Family(
        "rest_client_requests_total",
        "counter",
        "ALPHA",
        ("code", "method", "host"),
        "Number of HTTP requests, partitioned by status code, method, and host.",
    ),
    Family(
        "rest_client_request_duration_seconds",
        "histogram",
        "ALPHA",
        ("verb", "host"),
        "Request latency in seconds. Broken down by verb, and host.",
        _REST_SECONDS,
    ),
    Family(
        "rest_client_rate_limiter_duration_seconds",
        "histogram",
        "ALPHA",
        ("verb", "host"),
        "Client side rate limiter latency in seconds. Broken down by verb, and host.",
        _REST_SECONDS,
    ),
    Family(
        "rest_client_request_size_bytes",
        "histogram",
        "ALPHA",
        ("verb", "host"),
        "Request size in bytes. Broken down by verb and host.",
        _REST_BYTES,
    ),
    Family(
        "rest_client_response_size_bytes",
        "histogram",
        "ALPHA",
        ("verb", "host"),
        "Response size in bytes. Broken down by verb and host.",
        _REST_BYTES,
    ),
    Family(
        "rest_client_request_retries_total",
        "counter",
        "ALPHA",
        ("code", "verb", "host"),
        "Number of request retries, partitioned by status code, verb, and host.",
    ),
    Family(
        "version_info",
        "gauge",
        "ALPHA",
        ("component", "binary", "emulation", "min_compat"),
        "Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers.",
    ),
    Family(
        "kubernetes_build_info",
        "gauge",
        "BETA",
        (
            "major",
            "minor",
            "git_version",
            "git_commit",
            "git_tree_state",
            "build_date",
            "go_version",
            "compiler",
            "platform",
        ),
        "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    ),
    Family(
        "kubernetes_feature_enabled",
        "gauge",
        "BETA",
        ("name", "stage"),
        "This metric records the data about the stage and enablement of a k8s feature.",
    ),
)

OWN = (
    Family(
        "wharfinger_config_reloads_total",
        "counter",
        "ALPHA",
        ("result",),
        "Number of times that the configuration was loaded again while the program ran, by the result: 'success', or 'error' when it is at fault and the one before stays in force.",
    ),
    Family(
        "wharfinger_extender_call_duration_seconds",
        "histogram",
        "ALPHA",
        ("extender", "verb", "result"),
        "Duration of calls to other extenders, by the extender's URL, verb and result. 'error' means that there was no answer in time, or one that said an error or could not be used.",
        _ATTEMPT,
    ),
)
"""What kube-scheduler does not have."""

META = (
    Family(
        "registered_metrics_total",
        "counter",
        "BETA",
        ("stability_level", "deprecated_version"),
        "The count of registered metrics broken by stability level and deprecation version.",
    ),
    Family("disabled_metrics_total", "counter", "BETA", (), "The count of disabled metrics."),
    Family("hidden_metrics_total", "counter", "BETA", (), "The count of hidden metrics."),
    Family(
        "cardinality_enforcement_unexpected_categorizations_total",
        "counter",
        "ALPHA",
        (),
        "The count of unexpected categorizations during cardinality enforcement.",
    ),
)

FAMILIES: tuple[Family, ...] = (*SCHEDULING, *PLUGINS, *QUEUE, *COMPONENT, *OWN, *META)
"""Every family that `Metrics` registers."""

HEALTH = (
    Family(
        "kubernetes_healthcheck",
        "gauge",
        "STABLE",
        ("type", "name"),
        "This metric records the result of a single healthcheck.",
    ),
    Family(
        "kubernetes_healthchecks_total",
        "counter",
        "STABLE",
        ("type", "name", "status"),
        "This metric records the results of all healthcheck.",
    ),
    Family(
        "process_start_time_seconds",
        "gauge",
        "ALPHA",
        (),
        "Start time of the process since unix epoch in seconds.",
    ),
)
"""The families of ``/metrics/slis``, which has a registry of its own."""
