"""The scheduler as a process: signals, outages, plugins from outside."""

import re
from pathlib import Path

import pytest

from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import (
    PROJECT,
    decode,
    eventually,
    eventually_bound,
    free_port,
    node,
    node_of,
    pod,
    run,
    scheduler,
    shell,
)

LEASE = ("leases.coordination.k8s.io", "kube-system", "kube-scheduler")


def test_a_pod_made_with_kubectl_is_bound_and_explained(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, "--leader-elect=false"):
        sandbox.create(node("n1"))
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        kubectl = f"kubectl --kubeconfig {tmp_path / 'kubeconfig'}"
        shell(f"{kubectl} run small --image=busybox", tmp_path)
        assert eventually_bound(sandbox, "small") == "n1"
        large = '{"spec": {"containers": [{"name": "large", "image": "busybox", "resources": {"requests": {"cpu": "9"}}}]}}'
        shell(f"{kubectl} run large --image=busybox --overrides='{large}'", tmp_path)
        described = eventually(
            lambda: re.search("FailedScheduling.*", shell(f"{kubectl} describe pod large", tmp_path)),
            "the event",
        )
        assert "0/1 nodes are available: 1 Insufficient cpu." in described.group()


def test_sigterm_ends_it_cleanly_and_frees_the_lease(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url) as process:
        sandbox.load([node("n1"), pod("p1")])
        eventually_bound(sandbox, "p1")
        held = sandbox.store.get(*LEASE)
        assert held is not None
        assert held["spec"]["holderIdentity"]
        assert process.terminate() == 0
        freed = sandbox.store.get(*LEASE)
        assert freed is not None
        assert not freed["spec"]["holderIdentity"]
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        describe = "kubectl --kubeconfig kubeconfig -n kube-system describe lease kube-scheduler"
        told = re.findall(f"{held['spec']['holderIdentity']} (.*)", shell(describe, tmp_path))
        assert told[-2:] == ["became leader", "stopped leading"]
    assert "Traceback" not in process.log.read_text()


def test_without_an_api_server_it_is_alive_but_not_ready_and_recovers(tmp_path: Path) -> None:
    port = free_port()
    with scheduler(tmp_path, f"http://127.0.0.1:{port}", "--leader-elect=false") as process:
        eventually(lambda: process.get("/livez")[0] == 200, "alive")
        assert process.get("/readyz")[0] == 500
        with Sandbox(port=port) as sandbox:
            sandbox.load([node("n1"), pod("p1")])
            process.wait_until_ready()
            assert eventually_bound(sandbox, "p1") == "n1"
            assert process.terminate() == 0


def test_an_outage_loses_no_pod_and_binds_none_twice(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, "--leader-elect=false") as process:
        sandbox.load([node("n1"), pod("before")])
        eventually_bound(sandbox, "before")
        answered = sandbox.faults.add(method="POST", path="/binding$", drop="after", times=1)
        sandbox.create(pod("unanswered"))
        eventually(lambda: answered.hits, "a binding without an answer")
        away = sandbox.faults.add(drop="before")
        sandbox.drop_connections()
        eventually(lambda: away.hits, "a request during the outage")
        sandbox.create(pod("during"))
        sandbox.faults.remove(away)
        assert eventually_bound(sandbox, "during") == "n1"
        assert node_of(sandbox, "unanswered") == "n1"
        assert process.terminate() == 0
        log = process.log.read_text()
    assert "Traceback" not in log
    assert log.count('"Successfully bound pod to node" pod="default/during" node="n1"') == 1


CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
profiles:
  - schedulerName: default-scheduler
    plugins: {{multiPoint: {{enabled: [{{name: {name}, weight: 2}}]}}}}
"""


def documented_plugin(name: str) -> str:
    """The code block of docs/plugins.md that defines the class."""
    blocks = re.findall(r"```python\n(.*?)```", (PROJECT / "docs" / "plugins.md").read_text(), re.DOTALL)
    (found,) = [block for block in blocks if f"class {name}" in block]
    return str(found)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("QuietNodes", "1 node(s) wanted to be left alone", id="per node"),
        pytest.param("SpareCore", "1 node(s) had less than one core to spare", id="columnar"),
    ],
)
def test_the_documented_plugins_work_from_outside(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "outside.py").write_text(documented_plugin(name))
    (tmp_path / "config.yaml").write_text(CONFIGURATION.format(name=name))
    quiet = node("quiet")
    quiet["metadata"]["labels"] = {"example.org/quiet": "true"}
    quiet["status"]["allocatable"]["cpu"] = "900m"
    flags = ("--config=config.yaml", f"--plugin=outside:{name}")
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, *flags, PYTHONPATH=str(tmp_path)) as process:
        sandbox.load([quiet, pod("picky")])
        message = eventually(lambda: messages(process.get("/decisions")[1]).get("picky"), "a decision")
        assert message.startswith(f"0/1 nodes are available: {reason}. ")
        sandbox.create(node("loud"))
        assert eventually_bound(sandbox, "picky") == "loud"


def messages(answer: str) -> dict[str, str]:
    """The message of every pod in an answer of ``/decisions``."""
    return {each["name"]: each["message"] for each in decode(answer)["items"]} if answer else {}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        pytest.param(("--no-such-flag",), "unknown flag: --no-such-flag", id="unknown flag"),
        pytest.param(("surplus",), "surplus", id="positional argument"),
        pytest.param(("--kubeconfig=none",), "none", id="missing kubeconfig"),
        pytest.param(("--config=none.yaml",), "none.yaml", id="missing configuration"),
        pytest.param(("--plugin=nowhere:X", "--master=http://127.0.0.1:1"), "nowhere", id="missing plugin"),
    ],
)
def test_a_mistake_on_the_command_line_is_told_without_a_traceback(
    tmp_path: Path, words: tuple[str, ...], part: str
) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert part in done.stderr
    assert "Traceback" not in done.stderr
