"""``--kubeconfig``: a live cluster, read once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.app.cli import live
from scheduler.app.main import main
from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        made.create(make_node("n1").capacity(cpu="4").doc())
        made.create(make_node("n2").capacity(cpu="1").doc())
        yield made


@pytest.fixture
def kubeconfig(sandbox: Sandbox, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    sandbox.write_kubeconfig(path)
    return path


def explain(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    assert main(["explain", *map(str, words), "-o", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def pod(name: str, cpu: str) -> dict[str, Any]:
    made = make_pod(name).container({"cpu": cpu}, image="i").doc()
    del made["metadata"]["uid"]
    return made


def test_a_pending_pod_of_a_live_cluster(
    sandbox: Sandbox, kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.create(pod("p", "2"))
    assert explain(capsys, "p", "--kubeconfig", kubeconfig)["feasible"] == ["n1"]


def test_a_pod_from_a_file_in_a_live_cluster(
    sandbox: Sandbox, kubeconfig: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 9,
    }
    sandbox.create(high)
    sandbox.create(pod("there", "1"))
    file = tmp_path / "new.yaml"
    file.write_text(
        yaml.safe_dump({**pod("new", "9"), "spec": {**pod("new", "9")["spec"], "priorityClassName": "high"}})
    )
    found = explain(capsys, "new", "--kubeconfig", kubeconfig, "-f", file)
    assert found["fitError"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert "PriorityClass" not in capsys.readouterr().err


def test_long_lists_come_in_pages(
    sandbox: Sandbox, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_PAGE", 2)
    for number in range(5):
        sandbox.create(pod(f"p{number}", "1"))
    with live.connected(str(kubeconfig)) as rest:
        snapshot = live.read(rest, [live.Pod, live.Node])
    assert [each.metadata.name for each in snapshot.objects] == ["p0", "p1", "p2", "p3", "p4", "n1", "n2"]


def test_a_server_that_is_away_is_one_line(
    sandbox: Sandbox, kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.stop()
    assert main(["explain", "p", "--kubeconfig", str(kubeconfig)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert len(said.splitlines()) == 1
