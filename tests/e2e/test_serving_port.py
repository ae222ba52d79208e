"""The serving port of a running scheduler, asked what a kube-scheduler was asked: the recorded answers come back."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import (
    SchedulerProcess,
    eventually,
    eventually_bound,
    node,
    pod,
    scheduler,
    trusting,
)

DATA = Path(__file__).parents[1] / "serving" / "data"
HEADERS = ("Cache-Control", "Content-Type", "X-Content-Type-Options", "Warning", "X-Go-Pprof")
RECORDED: list[dict[str, Any]] = [
    entry
    for entry in json.loads((DATA / "recorded.json").read_text())
    if "path" in entry and not entry["name"].startswith(("anon-", "token-"))
]
OWN_SETTINGS = {"bind-address", "secure-port", "master", "v", "config", "cert-dir", "tls-cert-file"} | {
    "tls-private-key-file",
    "authentication-skip-lookup",
}
"""Flags that differ between the recorded process and this one."""


@dataclass
class Answer:
    status: int
    headers: dict[str, str | None]
    text: str


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchedulerProcess]:
    with Sandbox() as sandbox, scheduler(tmp_path_factory.mktemp("port"), sandbox.url) as running:
        sandbox.load([node("n1"), pod("p1")])
        eventually_bound(sandbox, "p1")
        yield running


def ask(
    process: SchedulerProcess, path: str, method: str = "GET", body: Any = None, **headers: str
) -> Answer:
    connection = http.client.HTTPSConnection("127.0.0.1", process.port, timeout=20, context=trusting())
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        kept = {name: answer.headers.get(name) for name in HEADERS}
        return Answer(answer.status, kept, answer.read().decode())
    finally:
        connection.close()


def comparable(text: str) -> str:
    """Without times, versions of languages and paths; statusz' delimiters are drawn by lot in kube-scheduler."""
    text = re.sub(r"(?m)^(Started|Up|Go version|Paths):.*$", r"\1", text)
    text = re.sub(r"(?m)^(\w+ version): +", r"\1: ", text)
    return re.sub(r'"(startTime|goVersion)":"[^"]*"|"uptimeSeconds":\d+|"paths":\[[^]]*\]', "_", text)


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: entry["name"])
def test_recorded_requests_get_the_recorded_answers(process: SchedulerProcess, entry: dict[str, Any]) -> None:
    answer = ask(process, entry["path"], entry["method"], entry["body_sent"], **entry["headers"])
    assert answer.status == entry["status"]
    assert answer.headers == {name: entry["response_headers"].get(name) for name in HEADERS}
    if entry["body"]:
        assert comparable(answer.text) == comparable(entry["body"])


def test_configz_is_the_recorded_one_to_the_letter(process: SchedulerProcess) -> None:
    recorded = re.sub(r'"clientConnection":{[^}]*}', "", (DATA / "configz.txt").read_text())
    assert re.sub(r'"clientConnection":{[^}]*}', "", ask(process, "/configz").text) == recorded


def test_flagz_prints_the_recorded_flags(process: SchedulerProcess) -> None:
    recorded = (DATA / "flagz.txt").read_text().splitlines()
    printed = ask(process, "/flagz").text.splitlines()
    expected = {line for line in recorded if line.partition("=")[0] not in OWN_SETTINGS}
    assert expected - set(printed) == {"unsupported-kube-api-over-localhost=false"}
    assert printed[:3] == recorded[:3]
    names = [line.partition("=")[0] for line in printed[3:]]
    assert names == sorted(names)
    assert f"secure-port={process.port}" in printed


def test_flagz_in_json_has_the_same_flags(process: SchedulerProcess) -> None:
    accept = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz"
    flags = json.loads(ask(process, "/flagz", Accept=accept).text)["flags"]
    assert [f"{name}={value}" for name, value in flags.items()] == ask(process, "/flagz").text.splitlines()[
        3:
    ]


def test_the_leader_tells_what_pods_request(process: SchedulerProcess) -> None:
    families = {
        family.name: family.samples
        for family in text_string_to_metric_families(ask(process, "/metrics/resources").text)
    }
    (sample,) = families["kube_pod_resource_request"]
    assert sample.value == 0.1
    assert (sample.labels["pod"], sample.labels["node"], sample.labels["unit"]) == ("p1", "n1", "cores")


def test_a_profile_comes_from_the_running_process(process: SchedulerProcess) -> None:
    assert "Thread.run" in ask(process, "/debug/pprof/goroutine?debug=1").text
    assert (
        ask(process, "/debug/pprof/trace?seconds=0.1").headers["Content-Type"] == "application/octet-stream"
    )


def test_the_verbosity_changes_while_it_runs(process: SchedulerProcess) -> None:
    def logged(path: str) -> bool:
        ask(process, path)
        return f"GET {path} " in process.log.read_text()

    assert ask(process, "/debug/flags/v", "PUT", "4").status == 200
    eventually(lambda: logged("/livez/ping") or None, "requests are logged")
    assert ask(process, "/debug/flags/v", "PUT", "2").status == 200
    before = process.log.read_text().count("GET /readyz ")
    ask(process, "/readyz")
    ask(process, "/livez")
    assert process.log.read_text().count("GET /readyz ") == before


def test_without_profiling_and_its_gates_there_are_no_such_pages(tmp_path: Path) -> None:
    flags = ("--profiling=false", "--feature-gates=ComponentFlagz=false,ComponentStatusz=false")
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, "--leader-elect=false", *flags) as process:
        eventually(lambda: process.get("/livez")[0] == 200, "alive")
        for path in ("/debug/pprof/", "/debug/flags/v", "/flagz", "/statusz"):
            assert process.get(path)[0] == 404


def test_coordinated_election_waits_for_informers(tmp_path: Path) -> None:
    gate = "--feature-gates=CoordinatedLeaderElection=true"
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, gate) as process:
        process.wait_until_ready()
        listed = process.get("/readyz?verbose")[1].splitlines()
        assert listed[-3:] == ["[+]sched-handler-sync ok", "[+]informer-sync ok", "readyz check passed"]


def test_pages_are_for_those_who_may(tmp_path: Path) -> None:
    paths = (
        "/flagz",
        "/statusz",
        "/debug/pprof/",
        "/debug/pprof/profile",
        "/debug/flags/v",
        "/metrics/resources",
    )
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, open_paths="/livez") as process:
        eventually(lambda: process.get("/livez")[0] == 200, "alive")
        assert {path: process.get(path)[0] for path in paths} == dict.fromkeys(paths, 403)


def test_who_waits_for_the_lease_tells_nothing_of_pods(tmp_path: Path) -> None:
    other = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        "spec": {
            "holderIdentity": "other",
            "leaseDurationSeconds": 3600,
            "renewTime": "2100-01-01T00:00:00.000000Z",
        },
    }
    with Sandbox() as sandbox:
        sandbox.load([other, node("n1"), pod("p1", nodeName="n1")])
        with scheduler(tmp_path, sandbox.url) as process:
            process.wait_until_ready()
            answer = ask(process, "/metrics/resources")
            assert (answer.status, answer.text, answer.headers["Content-Type"]) == (200, "", None)
