"""``wharfinger simulate``, in this process: the real loop, until nothing moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from scheduler.app.main import main
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod

Run = Callable[..., Any]
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        },
    },
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Simulates these objects with these words; exit code, output, stderr, and the JSON if that is asked for."""

    def call(objects: list[Any], *words: object) -> Any:
        path = tmp_path / "cluster.yaml"
        documents = [each.doc() if isinstance(each, NodeBuilder | PodBuilder) else each for each in objects]
        path.write_text(yaml.safe_dump_all(documents))
        code = main(["simulate", *map(str, words), "-f", str(path)])
        said = capsys.readouterr()
        document = json.loads(said.out) if "json" in words else None
        return SimpleNamespace(code=code, out=said.out, err=said.err, json=document)

    return call


def nodes(*cpus: str) -> list[Any]:
    return [make_node(f"n{number}").capacity(cpu=cpu) for number, cpu in enumerate(cpus)]


def placed(found: Any) -> dict[str, str]:
    return {each["pod"].removeprefix("default/"): each["node"] for each in found.json["placed"]}


def test_pending_pods_are_placed_in_the_order_of_their_priority(run: Run) -> None:
    pods = [make_pod(f"p{priority}").req(cpu="1").priority(priority) for priority in (1, 3, 2)]
    found = run([*nodes("2"), *pods], "-o", "json")
    assert [each["pod"] for each in found.json["placed"]] == ["default/p3", "default/p2"]
    (left,) = found.json["pending"]
    assert left["pod"] == "default/p1"
    assert left["reason"].startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_utilisation_before_and_after(run: Run) -> None:
    runs = make_pod("runs").req(cpu="500m").node("n0")
    found = run([*nodes("4"), runs, make_pod("new").req(cpu="2")], "-o", "json")
    assert found.json["utilisation"]["n0"] == {
        "cpu": {"allocatable": 4000, "before": 500, "after": 2500},
        "pods": {"allocatable": 110, "before": 1, "after": 2},
    }


def test_preemption_makes_room_and_the_preemptor_moves_in(run: Run) -> None:
    low = make_pod("low").req(cpu="2").node("n0")
    high = make_pod("high").req(cpu="2").priority(10)
    found = run([*nodes("2"), low, high], "-o", "json")
    assert found.json["evicted"] == [{"pod": "default/low", "node": "n0"}]
    assert placed(found) == {"high": "n0"}
    assert found.json["pending"] == []


def test_a_pod_that_waits_for_another_is_placed_after_it(run: Run) -> None:
    """Hints bring it back when the other has its node."""
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    follower = make_pod("follower").req(cpu="1").priority(5).spec(affinity=near)
    leader = make_pod("leader").req(cpu="1").label("app", "db")
    there = [
        each.label("kubernetes.io/hostname", f"n{number}") for number, each in enumerate(nodes("4", "4"))
    ]
    found = placed(run([*there, follower, leader], "-o", "json"))
    assert found["follower"] == found["leader"]


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (make_pod("p").gates("a/b"), "SchedulingGates: waiting for scheduling gates: [a/b]"),
        (make_pod("p").spec(schedulerName="other"), "no profile has the schedulerName other"),
        (
            make_pod("p").metadata(deletionTimestamp="2026-01-01T00:00:00Z"),
            "skip schedule deleting pod: default/p",
        ),
    ],
    ids=["gated", "another scheduler's", "being deleted"],
)
def test_why_a_pod_stays(run: Run, pod: PodBuilder, reason: str) -> None:
    found = run([*nodes("4"), pod], "-o", "json")
    assert found.json["pending"] == [{"pod": "default/p", "reason": reason}]


def test_the_same_seed_gives_the_same_result(run: Run) -> None:
    objects = [*nodes("4", "4", "4"), *(make_pod(f"p{number}").req(cpu="1") for number in range(9))]
    first = run(objects, "-o", "json", "--seed", 7)
    assert run(objects, "-o", "json", "--seed", 7).json == first.json


@pytest.mark.parametrize(
    ("words", "count"),
    [(["deploy/web"], 3), (["deployment/web", "--replicas", "2"], 2), (["--replicas", "4"], 4), (["p"], 1)],
    ids=["as many as it wants", "as many as asked", "the only workload", "a pod"],
)
def test_copies(run: Run, words: list[str], count: int) -> None:
    found = run([*nodes("8"), DEPLOYMENT, make_pod("p").req(cpu="1")], *words, "-o", "json")
    assert len(found.json["placed"]) == count


def test_a_template_from_a_file_of_its_own(run: Run, tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    template.write_text(yaml.safe_dump(DEPLOYMENT))
    found = run(nodes("2"), "--template", template, "-o", "json")
    assert len(found.json["placed"]) == 2
    assert found.json["pending"][0]["pod"] == "default/web-2"


def test_until_full(run: Run) -> None:
    runs = make_pod("runs").req(cpu="1").node("n0")
    found = run([*nodes("4", "3"), runs, DEPLOYMENT], "--until-full", "-o", "json")
    assert found.json["untilFull"] == {
        "copies": 6,
        "limitedBy": "0/2 nodes are available: 2 Insufficient cpu.",
    }
    assert found.json["utilisation"]["n0"]["cpu"]["after"] == 4000


def test_until_full_evicts_nobody(run: Run) -> None:
    low = make_pod("low").req(cpu="2").priority(-10).node("n0")
    found = run(
        [*nodes("4"), low, make_pod("p").req(cpu="1").priority(100)], "p", "--until-full", "-o", "json"
    )
    assert (found.json["untilFull"]["copies"], found.json["evicted"]) == (2, [])


@pytest.mark.parametrize(("most", "copies"), [(0, 0), (2, 2)])
def test_until_full_ends_where_it_is_told_to(run: Run, most: int, copies: int) -> None:
    found = run([*nodes("4"), DEPLOYMENT], "--until-full", "--replicas", most, "-o", "json")
    assert found.json["untilFull"] == {"copies": copies, "limitedBy": ""}


def test_the_table(run: Run) -> None:
    found = run([*nodes("2", "2"), *(make_pod(f"p{number}").req(cpu="1") for number in range(5))])
    lines = found.out.splitlines()
    assert lines[0] == "4 pods placed, 1 pending"
    assert any("Insufficient cpu" in line for line in lines)
    assert "0% → 100% of 2" in found.out
    assert found.err == ""
    assert "\x1b" not in found.out


def test_the_exit_code_can_tell(run: Run) -> None:
    assert run([*nodes("2"), make_pod("p").req(cpu="9")]).code == 0
    assert run([*nodes("2"), make_pod("p").req(cpu="9")], "--exit-code").code == 3
    assert run([*nodes("2"), make_pod("p").req(cpu="1")], "--exit-code").code == 0


BAD: list[Any] = [
    pytest.param(
        [], ["nobody"], "error: there is no pod default/nobody; no pod is pending", id="no such pod"
    ),
    pytest.param([], ["--until-full"], "error: name the pod or workload", id="nothing to copy"),
    pytest.param([], ["ds/x"], "error: there is no daemonset default/x", id="no such workload"),
    pytest.param([], ["--template", "none"], "error: none: No such file", id="no template"),
    pytest.param(
        [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}}],
        ["deploy/x"],
        "error: Deployment default/x: it has no pod template",
        id="an empty workload",
    ),
]


@pytest.mark.parametrize(("objects", "words", "line"), BAD)
def test_bad_input_is_one_clear_line(run: Run, objects: list[Any], words: list[str], line: str) -> None:
    found = run([*nodes("1"), *objects], *words)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith(line)
    assert len(found.err.splitlines()) == 1


def test_a_cluster_without_nodes(run: Run) -> None:
    found = run([make_pod("p")], "-o", "json")
    assert found.json["pending"] == [{"pod": "default/p", "reason": "no nodes available to schedule pods"}]


def test_nothing_that_waits_is_told(run: Run) -> None:
    found = run([*nodes("2"), DEPLOYMENT])
    assert (
        "note: no pod of the input waits for a node; name a workload (KIND/NAME) to place its pods"
        in found.err
    )
    assert found.out.startswith("0 pods placed, 0 pending")


DAEMONS = {**DEPLOYMENT, "kind": "DaemonSet"}


def test_a_daemon_set_has_a_pod_on_each_node_that_is_for_it(run: Run) -> None:
    cluster = [*nodes("2", "0", "2"), make_node("other").capacity(cpu="2").taint("gpu"), DAEMONS]
    found = run(cluster, "ds/web", "-o", "json")
    assert placed(found) == {"web-0": "n0", "web-2": "n2"}
    (left,) = found.json["pending"]
    assert left["pod"] == "default/web-1"
    assert "1 Insufficient cpu" in left["reason"]
    assert run(cluster, "ds/web", "--until-full").out.startswith(
        "1 copy fits; the next one does not: 0/4 nodes"
    )
