"""``wharfinger explain``, in this process: what is printed, and the exit codes."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from scheduler.app.main import main
from tests.builders import make_node, make_pod
from tests.conformance.harness import DATA, held_out, vectors

Run = Callable[..., Any]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; exit code, output and what was said on stderr."""

    def call(*words: object) -> Any:
        code = main(["explain", *map(str, words)])
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return call


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Three nodes, of which one is cordoned, a pod that fits, one that does not, one that runs."""
    objects = [
        make_node("big").capacity(cpu="8", memory="8Gi").doc(),
        make_node("small").capacity(cpu="1", memory="8Gi").doc(),
        make_node("cordoned").capacity(cpu="8", memory="8Gi").unschedulable().doc(),
        make_pod("fits").req(cpu="2").doc(),
        make_pod("huge").req(cpu="20").doc(),
        make_pod("runs").req(cpu="6").priority(-5).node("big").doc(),
        make_pod("urgent").req(cpu="7").priority(100).doc(),
        make_pod("gated").gates("example.org/wait").doc(),
    ]
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return path


def test_a_pod_that_fits(run: Run, cluster: Path) -> None:
    found = run("fits", "-f", cluster)
    assert (found.code, found.err) == (0, "")
    first = found.out.splitlines()[0]
    assert first == "default/fits fits on 1 node of 3; it would go to big"
    assert "Insufficient cpu" in found.out
    assert "NodeUnschedulable" in found.out
    assert "\x1b" not in found.out


def test_a_pod_that_fits_nowhere_and_what_preemption_would_do(run: Run, cluster: Path) -> None:
    found = run("urgent", "-f", cluster)
    assert found.out.startswith(
        "default/urgent fits on none of 3 nodes\nkube-scheduler would write: 0/3 nodes are"
    )
    assert "preemption: evict default/runs from big, then the pod is nominated there" in found.out
    assert found.code == 0


def test_a_gated_pod(run: Run, cluster: Path) -> None:
    lines = run("gated", "-f", cluster).out.splitlines()
    assert lines[0] == "default/gated is kept out of the queue by SchedulingGates"
    assert "example.org/wait" in lines[1]


def test_a_cluster_without_nodes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(yaml.safe_dump(make_pod("p").doc()))
    assert run("-f", path).out == "default/p gets no node\nerror: no nodes available to schedule pods\n"


def test_a_pod_that_is_being_deleted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(yaml.safe_dump(make_pod("p").metadata(deletionTimestamp="2026-01-01T00:00:00Z").doc()))
    lines = run("-f", path).out.splitlines()
    assert lines == [
        "default/p is being deleted: it is not scheduled",
        "event: skip schedule deleting pod: default/p",
    ]


def test_a_nominated_node_that_fits_is_the_only_one_considered(run: Run, cluster: Path) -> None:
    cluster.write_text(cluster.read_text() + "---\n" + yaml.safe_dump(make_pod("n").nominated("small").doc()))
    assert "nominated: its nominated node fits" in run("n", "-f", cluster).out


def test_the_exit_code_can_tell(run: Run, cluster: Path) -> None:
    assert run("huge", "-f", cluster).code == 0
    assert run("huge", "-f", cluster, "--exit-code").code == 3
    assert run("fits", "-f", cluster, "--exit-code").code == 0


def test_a_pod_that_runs_is_judged_as_if_it_did_not(run: Run, cluster: Path) -> None:
    found = run("runs", "-f", cluster)
    assert (
        "note: pod default/runs is on node big: it is judged as if it did not run yet, for that node"
        in found.err
    )
    assert "fits on 1 node of 3" in found.out
    assert json.loads(run("runs", "-f", cluster, "--anywhere", "-o", "json").out)["feasible"] == ["big"]


def test_nodes_are_limited(run: Run, cluster: Path) -> None:
    assert "and 2 more" in run("huge", "-f", cluster, "--nodes", 1).out


def test_json_and_yaml_have_the_fields_of_the_recordings(run: Run, cluster: Path) -> None:
    as_json = json.loads(run("urgent", "-f", cluster, "-o", "json").out)
    assert yaml.safe_load(run("urgent", "-f", cluster, "-o", "yaml").out) == as_json
    assert set(as_json) == {
        "name",
        "preFilter",
        "filter",
        "pluginFilter",
        "fitError",
        "unschedulablePlugins",
        "preemption",
    }


def test_the_name_may_come_last(run: Run, cluster: Path, tmp_path: Path) -> None:
    assert run("-f", cluster, "fits").out == run("fits", "-f", cluster).out


@pytest.mark.parametrize("name", ["fits", "pod/fits", "pods/fits", "po/fits", "default/fits"])
def test_a_pod_may_be_named_as_kubectl_or_as_we_print_it(run: Run, cluster: Path, name: str) -> None:
    assert run(name, "-f", cluster).out.startswith("default/fits fits on 1 node of 3")


@pytest.mark.parametrize("name", ["", "deploy/web", "deployment.apps/web", "Deployments/web"])
def test_a_workload_may_be_named_and_is_meant_when_it_is_all_there_is(
    run: Run, tmp_path: Path, name: str
) -> None:
    template = {"spec": {"containers": [{"name": "c"}]}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": template},
    }
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all([make_node("n").doc(), workload]))
    assert run(*filter(None, [name]), "-f", path).out.startswith("default/web-0 fits on 1 node of 1")
    assert "no pod is pending; a workload can be named: deployment/web -n default" in run("x", "-f", path).err


def test_a_daemon_set_is_judged_on_every_node(run: Run, tmp_path: Path) -> None:
    template = {"spec": {"containers": [{"name": "c"}]}}
    daemons = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "ds"},
        "spec": {"template": template},
    }
    path = tmp_path / "cluster.yaml"
    path.write_text(
        yaml.safe_dump_all([make_node("n1").doc(), make_node("n2").unschedulable().doc(), daemons])
    )
    found = run("ds/ds", "-f", path)
    assert found.out.startswith("default/ds-0 fits on 2 nodes of 2")
    assert found.err.startswith("note: a DaemonSet has a pod for each node")


def test_what_the_output_cannot_show_is_replaced(cluster: Path, tmp_path: Path) -> None:
    """``PYTHONIOENCODING=ascii``, a console of another code page."""
    from scheduler.app.cli import outputs

    with (tmp_path / "out").open("w+", encoding="ascii") as out, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        outputs.prepare()
        outputs.write({"share": "0% \N{RIGHTWARDS ARROW} 50%"}, "json")
        out.seek(0)
        assert json.load(out) == {"share": "0% ? 50%"}


def test_standard_input(run: Run, cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(cluster.read_bytes()))
    expected = run("fits", "-f", cluster).out
    monkeypatch.setattr("sys.stdin", stdin)
    assert run("fits", "-f", "-").out == expected


BAD: list[Any] = [
    pytest.param(["p"], "error: there is no cluster: give -f FILE or --kubeconfig FILE", id="nothing"),
    pytest.param(
        ["nobody", "-f", "FILE"], "error: there is no pod default/nobody; pending: default/fits", id="pod"
    ),
    pytest.param(["fits", "-n", "x", "-f", "FILE"], "error: there is no pod x/fits", id="namespace"),
    pytest.param(["deploy/web", "-f", "FILE"], "error: there is no deployment default/web", id="workload"),
    pytest.param(["-f", "FILE"], "error: name the pod: pending: default/fits, default/huge", id="which"),
    pytest.param(["fits", "-f", "none.yaml"], "error: none.yaml: No such file or directory", id="file"),
    pytest.param(
        ["-f", "FILE", "pods.yaml"], "error: pods.yaml: No such file or directory", id="a file, no name"
    ),
    pytest.param(
        ["x/fits", "-f", "FILE"], "error: there is no pod x/fits; pending: default/fits", id="namespace/name"
    ),
    pytest.param(["svc/fits", "-f", "FILE"], "error: there is no pod svc/fits", id="a kind without pods"),
    pytest.param(["fits", "-f", "FILE", "FILE"], "given twice", id="twice"),
    pytest.param(
        ["fits", "-f", "FILE", "--config", "none"], "error: --config: none: No such file", id="config"
    ),
    pytest.param(["fits", "-f", "FILE", "--config", "FILE"], "FILE", id="a config that is none"),
    pytest.param(
        ["fits", "-f", "FILE", "--feature-gates", "A"], "error: --feature-gates: missing bool", id="gates"
    ),
    pytest.param(
        ["fits", "-f", "FILE", "--plugin", "x"], "error: 'x' is not of the form module:Class", id="plugin"
    ),
    pytest.param(["--scenarios", "none.jsonl"], "error: none.jsonl: No such file", id="scenarios"),
    pytest.param(["p", "--kubeconfig", "none"], "error: kubeconfig none: ", id="kubeconfig"),
]


@pytest.mark.parametrize(("words", "line"), BAD)
def test_bad_input_is_one_clear_line(run: Run, cluster: Path, words: list[str], line: str) -> None:
    found = run(*(str(cluster) if word == "FILE" else word for word in words))
    assert found.code == 1
    assert found.out == ""
    assert line.replace("FILE", str(cluster)) in found.err or line in found.err
    assert "Traceback" not in found.err
    assert found.err.startswith("error: ")


@pytest.mark.parametrize("words", [["--nodes", "x"], ["--scenarios", "a", "-f", "b"], ["-o", "xml"]])
def test_wrong_usage(run: Run, words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*words)
    assert caught.value.code == 2


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_scenarios_are_answered_line_by_line(run: Run, tmp_path: Path, packed: bool) -> None:
    recorded = [each for each in list(vectors(DATA / "mixed.jsonl.gz"))[:8] if not held_out(each)]
    lines = [json.dumps(recorded[0]["scenario"]), "", "{", *map(json.dumps, recorded[1:])]
    text = "\n".join(lines).encode()
    path = tmp_path / "scenarios"
    path.write_bytes(gzip.compress(text) if packed else text)
    found = run("--scenarios", path)
    answers = [json.loads(line) for line in found.out.splitlines()]
    assert found.code == 0
    assert answers[1]["error"].startswith(f"{path}:3: not JSON")
    assert [answers[0], *answers[2:]] == [each["expected"] for each in recorded]
