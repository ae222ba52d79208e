"""The families and their text are kube-scheduler's: compared with what a kube-scheduler was seen to export."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from scheduler.metrics import FAMILIES, Family, Metrics, exposition

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "recorded_families.json").read_text()
)
SEEN = [family for family in FAMILIES if family.name in RECORDED]
STABLE = {name for name, recorded in RECORDED.items() if recorded["stability"] == "STABLE"}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())


def text(metrics: Metrics) -> str:
    return exposition(metrics.registry, "")[0].decode()


def sample(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


@pytest.mark.parametrize("family", SEEN, ids=lambda family: family.name)
def test_family_is_what_kube_scheduler_exports(family: Family) -> None:
    recorded = RECORDED[family.name]
    assert family.kind == recorded["type"]
    assert family.stability == recorded["stability"]
    assert set(family.labels) == set(recorded["labels"])
    assert [*family.buckets] == [float(bound) for bound in recorded.get("buckets", [])[:-1]]


def test_every_stable_family_is_there() -> None:
    assert {family.name for family in FAMILIES} >= STABLE


def test_names_are_unique_and_histograms_alone_have_buckets() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    assert all(bool(family.buckets) == (family.kind == "histogram") for family in FAMILIES)


def test_an_attempt_counts_and_is_timed(metrics: Metrics) -> None:
    metrics.attempt("scheduled", "default-scheduler", 0.003)
    labels = {"result": "scheduled", "profile": "default-scheduler"}
    assert sample(metrics, "scheduler_schedule_attempts_total", **labels) == 1
    assert sample(metrics, "scheduler_scheduling_attempt_duration_seconds_sum", **labels) == 0.003
    assert sample(metrics, "scheduler_scheduling_attempt_duration_seconds_bucket", le="0.004", **labels) == 1
    assert sample(metrics, "scheduler_scheduling_attempt_duration_seconds_bucket", le="0.002", **labels) == 0


@pytest.mark.parametrize(("attempts", "label"), [(1, "1"), (14, "14"), (15, "15+"), (400, "15+")])
def test_attempts_label_is_bounded(metrics: Metrics, attempts: int, label: str) -> None:
    metrics.scheduled(attempts, 0.1)
    assert sample(metrics, "scheduler_pod_scheduling_sli_duration_seconds_count", attempts=label) == 1


def test_only_pods_scheduled_after_the_flush_are_counted_as_such(metrics: Metrics) -> None:
    metrics.scheduled(1, 0.1)
    metrics.scheduled(2, 0.1, after_flush=True)
    assert sample(metrics, "scheduler_pod_scheduled_after_flush_total") == 1


def test_gauges_are_read_when_scraped(metrics: Metrics) -> None:
    lengths = {"active": 3.0, "gated": 1.0}
    metrics.read_pending_pods(lambda: lengths)
    lengths["active"] = 7.0
    assert 'scheduler_pending_pods{queue="active"} 7\n' in text(metrics)
    assert 'scheduler_pending_pods{queue="gated"} 1\n' in text(metrics)


def test_running_counts_down_also_after_an_error(metrics: Metrics) -> None:
    def fail() -> None:
        with metrics.running("binding"):
            assert sample(metrics, "scheduler_goroutines", operation="binding") == 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert sample(metrics, "scheduler_goroutines", operation="binding") == 0


def test_text_has_stability_go_bounds_and_no_created_series(metrics: Metrics) -> None:
    metrics.scheduled(1, 0.1)
    printed = text(metrics)
    assert "# HELP scheduler_pod_scheduling_attempts [STABLE] Number of attempts to" in printed
    assert 'scheduler_pod_scheduling_attempts_bucket{le="1"} 1\n' in printed
    assert "_created" not in printed


def test_families_without_samples_are_not_announced(metrics: Metrics) -> None:
    assert "scheduler_schedule_attempts_total" not in text(metrics)
    metrics.attempt("error", "p", 0.1)
    assert "# TYPE scheduler_schedule_attempts_total counter\n" in text(metrics)


def test_text_can_be_parsed_back(metrics: Metrics) -> None:
    metrics.extension_point("Filter", "Success", "default-scheduler", 0.0001)
    parsed = {family.name: family for family in text_string_to_metric_families(text(metrics))}
    assert parsed["scheduler_framework_extension_point_duration_seconds"].type == "histogram"


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", r"text/plain; version=0\.0\.4; charset=utf-8; escaping=underscores"),
        ("text/html", r"text/plain; version=0\.0\.4; charset=utf-8; escaping=underscores"),
        ("application/openmetrics-text;version=1.0.0", r"application/openmetrics-text; version=1\.0\.0.*"),
    ],
)
def test_format_is_negotiated(metrics: Metrics, accept: str, content_type: str) -> None:
    assert re.fullmatch(content_type, exposition(metrics.registry, accept)[1])


def test_reset_forgets_counts_and_keeps_readers(metrics: Metrics) -> None:
    metrics.attempt("scheduled", "p", 0.1)
    metrics.preemption_attempted()
    metrics.read_cache_size(lambda: {"nodes": 2.0})
    metrics.reset()
    assert sample(metrics, "scheduler_schedule_attempts_total", result="scheduled", profile="p") is None
    assert sample(metrics, "scheduler_preemption_attempts_total") == 0
    assert sample(metrics, "scheduler_cache_size", type="nodes") == 2
    metrics.attempt("scheduled", "p", 0.1)
    assert sample(metrics, "scheduler_schedule_attempts_total", result="scheduled", profile="p") == 1


def test_feeding_every_method_leaves_no_family_unused(metrics: Metrics) -> None:
    feed_everything(metrics)
    printed = text(metrics)
    assert [
        family.name for family in FAMILIES if f"# TYPE {family.name} {family.kind}\n" not in printed
    ] == []


def feed_everything(metrics: Metrics) -> None:
    metrics.attempt("scheduled", "p", 0.1)
    metrics.algorithm(0.1)
    metrics.scheduled(1, 0.1)
    metrics.preempted(2)
    metrics.evicted("success", 0.1)
    metrics.extension_point("Filter", "Success", "p", 0.1)
    metrics.plugin_executed("NodeName", "Filter", "Success", 0.1)
    metrics.plugin_evaluated("NodeName", "Filter", "p", 12)
    metrics.permit_waited("Success", 0.1)
    metrics.unschedulable("NodeName", "p", 1)
    with metrics.running("binding"):
        metrics.queue_incoming("active", "PodAdd")
    metrics.queueing_hint("NodeName", "NodeAdd", "Queue", 0.1)
    metrics.event_handled("NodeAdd", 0.1)
    metrics.read_pending_pods(lambda: {"active": 1})
    metrics.read_inflight_events(lambda: {"PodPopped": 1})
    metrics.read_cache_size(lambda: {"nodes": 1})
    metrics.extender_called("https://extender", "filter", "success", 0.1)
    metrics.leading("kube-scheduler", is_leader=True)
    metrics.slow_renewal("kube-scheduler")
    metrics.request("200", "GET", "127.0.0.1:6443", 0.1)
    metrics.throttled("GET", "127.0.0.1:6443", 0.1)
    metrics.transferred("GET", "127.0.0.1:6443", 0, 2048)
    metrics.retried("429", "GET", "127.0.0.1:6443")
    metrics.version("1.36.2", "1.36", "1.35")
    metrics.built({"major": "1"})
    metrics.feature("SomeGate", "BETA", enabled=False)
    metrics.reloaded("success")
