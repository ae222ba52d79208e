"""Every recorded request to kube-scheduler's serving port that concerns what exists gets the recorded answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from scheduler.serving.app import create_app
from tests.serving.builders import DEFAULT_OPEN, parts

DATA = Path(__file__).parent / "data"
LATER = ("/flagz", "/statusz", "/debug", "/metrics/resources")
COMPARED_HEADERS = ("Cache-Control", "Content-Type", "X-Content-Type-Options", "Process-Start-Time-Unix")
RECORDED: list[dict[str, Any]] = [
    entry
    for entry in json.loads((DATA / "recorded.json").read_text())
    if "path" in entry and not entry["path"].startswith(LATER)
]


def client(entry: dict[str, Any]) -> FlaskClient:
    closed = entry["name"].startswith(("anon-", "token-"))
    return create_app(parts(DEFAULT_OPEN) if closed else parts()).test_client()


def ask(entry: dict[str, Any]) -> Any:
    return client(entry).open(
        entry["path"], method=entry["method"], headers=entry["headers"], data=entry["body_sent"]
    )


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: entry["name"])
def test_status_and_headers(entry: dict[str, Any]) -> None:
    answer = ask(entry)
    assert answer.status_code == entry["status"]
    recorded = entry["response_headers"]
    assert {name: answer.headers.get(name) for name in COMPARED_HEADERS} == {
        name: recorded.get(name) for name in COMPARED_HEADERS
    }


@pytest.mark.parametrize("entry", [e for e in RECORDED if e["body"] is not None], ids=lambda e: e["name"])
def test_body(entry: dict[str, Any]) -> None:
    assert ask(entry).text == entry["body"]


def test_slis_print_what_the_checks_answered() -> None:
    asked = create_app(parts()).test_client()
    for path, times in (("/healthz", 2), ("/livez", 3), ("/readyz", 4)):
        for _ in range(times):
            asked.get(path)
    recorded = (DATA / "metrics-slis.txt").read_text()
    printed = asked.get("/metrics/slis").text
    assert families(printed) == families(recorded)
    assert sorted(comments(printed)) == sorted(comments(recorded))


def families(text: str) -> dict[str, set[tuple[str, tuple[tuple[str, str], ...], float]]]:
    return {
        family.name: {
            (sample.name, tuple(sorted(sample.labels.items())), sample.value) for sample in family.samples
        }
        for family in text_string_to_metric_families(text)
    }


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]
