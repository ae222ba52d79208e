"""The application beyond what was recorded of kube-scheduler: request metrics, errors, what is asked anew."""

import logging

import pytest
from prometheus_client import CollectorRegistry

from scheduler.metrics import Metrics
from scheduler.serving.app import create_app
from tests.serving.builders import DEFAULT_OPEN, parts

COUNTED = "flask_http_request_duration_seconds_count"


def test_requests_are_counted_by_route_in_the_registry_that_is_printed() -> None:
    client = create_app(parts()).test_client()
    client.post("/echo", data=b"x")
    client.post("/echo", data=b"y")
    assert f'{COUNTED}{{method="POST",status="200",url_rule="/echo"}} 2\n' in client.get("/metrics").text


def test_unknown_paths_share_one_series() -> None:
    served = parts()
    client = create_app(served).test_client()
    for path in ("/a", "/b", "/c"):
        assert client.get(path).status_code == 404
    series = [
        sample
        for family in served.registry.collect()
        for sample in family.samples
        if sample.name == COUNTED and sample.labels["status"] == "404"
    ]
    assert [sample.value for sample in series] == [3.0]


def test_the_scheduler_metrics_are_printed_beside_them() -> None:
    metrics = Metrics(CollectorRegistry())
    metrics.attempt("scheduled", "default-scheduler", 0.01)
    printed = create_app(parts(registry=metrics.registry)).test_client().get("/metrics").text
    assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1' in printed


def test_deleting_metrics_resets_them() -> None:
    calls: list[str] = []
    client = create_app(parts(reset_metrics=lambda: calls.append("reset"))).test_client()
    client.get("/metrics")
    assert calls == []
    client.delete("/metrics")
    assert calls == ["reset"]


def test_openmetrics_is_served_on_request() -> None:
    client = create_app(parts()).test_client()
    answer = client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.content_type.startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_the_configuration_is_asked_for_anew() -> None:
    answers = iter([b'{"a":1}', b'{"a":2}'])
    client = create_app(parts(config=lambda: next(answers))).test_client()
    assert [client.get("/configz").json for _ in range(2)] == [{"a": 1}, {"a": 2}]


def test_a_wrong_method_is_405_and_names_the_right_ones() -> None:
    answer = create_app(parts()).test_client().get("/echo")
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]
    assert answer.headers["Cache-Control"] == "no-cache, private"


def test_an_error_in_a_route_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    answer = create_app(parts()).test_client().get("/boom")
    assert (answer.status_code, "division" in answer.text) == (500, False)
    assert "GET /boom failed" in caplog.text
    assert "division by zero" in caplog.text


@pytest.mark.parametrize("path", ["/echo", "/nope", "/metrics", "/healthz/ping", "/configz"])
def test_what_is_not_open_is_forbidden_whether_it_exists_or_not(path: str) -> None:
    answer = create_app(parts(DEFAULT_OPEN)).test_client().post(path, data=b"x")
    assert answer.status_code == 403
    assert answer.json is not None
    assert answer.json["message"] == f'forbidden: User "system:anonymous" cannot post path "{path}"'


def test_forbidden_requests_do_not_reach_the_route_but_are_counted() -> None:
    served = parts(DEFAULT_OPEN)
    client = create_app(served).test_client()
    client.get("/boom")
    labels = {"method": "GET", "status": "403", "url_rule": "/boom"}
    assert served.registry.get_sample_value(COUNTED, labels) == 1


def test_longer_prefixes_decide_about_body_limits() -> None:
    limits = {"/echo": 10, "/ec": 5}
    client = create_app(parts(body_limits=limits)).test_client()
    assert client.post("/echo", data=b"x" * 10).status_code == 200
    assert client.post("/echo", data=b"x" * 11).status_code == 413
