"""Metrics that operators disable, and label values that they limit."""

from prometheus_client import CollectorRegistry

from scheduler.metrics import HealthMetrics, Metrics, Policy, exposition

ATTEMPTS = "scheduler_schedule_attempts_total"
PENDING = "scheduler_pending_pods"
UNEXPECTED = "cardinality_enforcement_unexpected_categorizations_total"


def disabling(*names: str) -> Metrics:
    return Metrics(CollectorRegistry(), Policy(frozenset(names)))


def limiting(metric: str, label: str, *values: str) -> Metrics:
    return Metrics(CollectorRegistry(), Policy(allowed={metric: {label: frozenset(values)}}))


def printed(metrics: Metrics) -> str:
    return exposition(metrics.registry, "")[0].decode()


def test_a_disabled_metric_is_counted_by_nobody_and_not_printed() -> None:
    metrics = disabling(ATTEMPTS, PENDING, "scheduler_pod_scheduling_attempts")
    metrics.read_pending_pods(lambda: {"active": 1})
    metrics.attempt("scheduled", "p", 0.1)
    metrics.scheduled(1, 0.1)
    text = printed(metrics)
    assert ATTEMPTS not in text
    assert PENDING not in text
    assert "scheduler_pod_scheduling_attempts" not in text
    assert "scheduler_scheduling_attempt_duration_seconds_count" in text
    assert "\ndisabled_metrics_total 3\n" in text


def test_a_disabled_metric_stays_so_after_a_reset() -> None:
    metrics = disabling(ATTEMPTS)
    metrics.reset()
    metrics.attempt("scheduled", "p", 0.1)
    assert ATTEMPTS not in printed(metrics)


def test_health_can_be_disabled_too() -> None:
    health = HealthMetrics(
        CollectorRegistry(), started=0, policy=Policy(frozenset({"kubernetes_healthcheck"}))
    )
    health.observe("livez", "ping", True)
    text = exposition(health.registry, "")[0].decode()
    assert "kubernetes_healthcheck{" not in text
    assert "kubernetes_healthchecks_total{" in text


def test_values_that_are_not_on_the_list_share_a_series() -> None:
    metrics = limiting(ATTEMPTS, "profile", "default-scheduler")
    for profile in ("default-scheduler", "a", "b", "a"):
        metrics.attempt("scheduled", profile, 0.1)
    text = printed(metrics)
    assert f'{ATTEMPTS}{{profile="default-scheduler",result="scheduled"}} 1\n' in text
    assert f'{ATTEMPTS}{{profile="unexpected",result="scheduled"}} 3\n' in text
    assert 'scheduler_scheduling_attempt_duration_seconds_count{profile="a"' in text
    assert f"\n{UNEXPECTED} 3\n" in text


def test_gauges_that_share_a_series_are_added_up() -> None:
    metrics = limiting(PENDING, "queue", "active")
    metrics.read_pending_pods(lambda: {"active": 1, "gated": 2, "backoff": 3})
    text = printed(metrics)
    assert f'{PENDING}{{queue="active"}} 1\n' in text
    assert f'{PENDING}{{queue="unexpected"}} 5\n' in text


def test_metrics_are_counted_by_stability() -> None:
    before = registered(disabling())
    after = registered(disabling(ATTEMPTS))
    assert before["STABLE"] - after["STABLE"] == 1
    assert before["ALPHA"] == after["ALPHA"]


def registered(metrics: Metrics) -> dict[str, float]:
    levels = ("STABLE", "BETA", "ALPHA")
    read = metrics.registry.get_sample_value
    return {
        level: read("registered_metrics_total", {"stability_level": level, "deprecated_version": ""}) or 0
        for level in levels
    }
