"""What the webhook counts, by verb, profile and plugin."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from extender import WebhookMetrics
from scheduler.metrics import Policy
from tests.builders import make_node, make_pod
from tests.extender.builders import DEFAULT, ask, by_name, client, three_nodes, world

PREFIX = "wharfinger_extender_"
POD = make_pod().req(cpu="1").doc()


class Counted:
    """Three nodes, one of which is tainted, and a registry."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.registry = CollectorRegistry()
        self.metrics = WebhookMetrics(self.registry, policy or Policy())
        made = world(*three_nodes(), make_node("tainted").capacity(cpu="4").taint("gpu").obj())
        self.client = client(made, metrics=self.metrics)

    def value(self, name: str, verb: str, **labels: str) -> float:
        labels = {"verb": verb, "profile": DEFAULT} | labels
        return self.registry.get_sample_value(PREFIX + name, labels) or 0.0


def test_nodes_judged_and_rejected() -> None:
    made = Counted()
    ask(made.client, "/filter", by_name(POD, "node-a", "tainted", "unknown"))
    assert made.value("nodes_judged_total", "filter") == 3
    assert made.value("nodes_rejected_total", "filter", plugin="TaintToleration") == 1
    assert made.value("nodes_rejected_total", "filter", plugin="") == 1


def test_requests_durations_and_sizes() -> None:
    made = Counted()
    body = by_name(POD, "node-a")
    ask(made.client, "/prioritize", body)
    ask(made.client, f"/profiles/{DEFAULT}/prioritize", body)
    assert made.value("requests_total", "prioritize", code="200", result="ok") == 2
    assert made.value("request_duration_seconds_count", "prioritize") == 2
    assert made.value("response_size_bytes_sum", "prioritize") == 2 * len('[{"Host":"node-a","Score":7}]')
    assert made.value("request_size_bytes_count", "prioritize") == 2


def test_an_error_behind_a_200_is_an_error() -> None:
    made = Counted()
    ask(made.client, "/filter", b"{")
    assert made.value("requests_total", "filter", profile="", code="200", result="error") == 1


def test_what_a_client_makes_up_is_no_label() -> None:
    made = Counted()
    made.client.post("/profiles/made-up/filter", json=by_name(POD, "node-a"))
    assert made.value("requests_total", "filter", profile="", code="404", result="error") == 1
    labels = {
        label
        for metric in made.registry.collect()
        for each in metric.samples
        for label in each.labels.values()
    }
    assert "made-up" not in labels


def test_a_reset_starts_over() -> None:
    made = Counted()
    ask(made.client, "/filter", by_name(POD, "node-a"))
    made.metrics.reset()
    assert made.value("nodes_judged_total", "filter") == 0
    ask(made.client, "/filter", by_name(POD, "node-a"))
    assert made.value("nodes_judged_total", "filter") == 1


def test_the_operator_may_do_without_some_of_it() -> None:
    judged = PREFIX + "nodes_judged_total"
    rejected = PREFIX + "nodes_rejected_total"
    policy = Policy(frozenset({judged}), {rejected: {"plugin": frozenset({"NodeName"})}})
    made = Counted(policy)
    ask(made.client, "/filter", by_name(POD, "tainted"))
    made.metrics.reset()
    ask(made.client, "/filter", by_name(POD, "tainted"))
    assert made.value("nodes_rejected_total", "filter", plugin="unexpected") == 1
    assert made.value("nodes_judged_total", "filter") == 0
