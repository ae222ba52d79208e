"""What ``/metrics`` of a running scheduler says, read by a parser, and what its flags change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import SchedulerProcess, eventually, eventually_bound, node, pod, scheduler

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "metrics" / "recorded_families.json").read_text()
)
ELSEWHERE = (
    "authentication_", "authorization_", "workqueue_", "rest_client_transport_", "rest_client_exec_plugin_",
    "scheduler_batch_", "scheduler_get_node_hint_", "scheduler_store_schedule_results_", "process_network_",
    "process_virtual_memory_max_bytes",
)  # fmt: skip
"""Of what a kube-scheduler does and this process does not: hints for batches of equal pods, exec plugins, Go's transport."""
_ATTEMPTS = 100
"""So many that plugins, which are timed in a tenth of the cycles, were timed in one."""
FLAGS = (
    "--disabled-metrics=scheduler_goroutines",
    "--allow-metric-labels=scheduler_schedule_attempts_total,result=error",
    "--show-hidden-metrics-for-version=1.35",
)


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchedulerProcess]:
    folder = tmp_path_factory.mktemp("metrics")
    with Sandbox() as sandbox, scheduler(folder, sandbox.url) as running:
        sandbox.load([node("n1"), pod("p1")])
        eventually_bound(sandbox, "p1")
        sandbox.load(pod(f"more-{number}") for number in range(_ATTEMPTS))
        yield running


def families(process: SchedulerProcess) -> dict[str, Metric]:
    status, text = process.get("/metrics")
    assert status == 200
    return {
        family.name
        + ("_total" if family.type == "counter" and f"{family.name}_total" in text else ""): family
        for family in text_string_to_metric_families(text)
    }


def test_what_a_kube_scheduler_was_seen_to_export_is_there(process: SchedulerProcess) -> None:
    expected = {name for name in RECORDED if not name.startswith(ELSEWHERE)}
    eventually(lambda: expected <= families(process).keys() or None, f"{expected - families(process).keys()}")
    for name in expected:
        family, recorded = families(process)[name], RECORDED[name]
        assert family.type == recorded["type"], name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        assert labels == set(recorded["labels"]), name


def test_flags_of_metrics_have_their_effect(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, "--leader-elect=false", *FLAGS) as process:
        sandbox.load([node("n1"), pod("p1")])
        eventually_bound(sandbox, "p1")
        attempts = eventually(
            lambda: families(process).get("scheduler_schedule_attempts_total"), "an attempt"
        )
        assert {sample.labels["result"] for sample in attempts.samples} == {"unexpected"}
        assert "scheduler_goroutines" not in families(process)
        assert families(process)["disabled_metrics_total"].samples[0].value == 1


def test_the_api_servers_answers_are_measured(process: SchedulerProcess) -> None:
    sizes = families(process)["rest_client_response_size_bytes"]
    counts = {
        sample.labels["verb"]: sample.value for sample in sizes.samples if sample.name.endswith("_count")
    }
    assert counts["POST"] > 0
