"""``make run``'s program: the demo as a user sees it."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.e2e.processes import DEADLINE, curl, decode, environment, eventually, free_port, run, shell

REASONS = (
    "0/14 nodes are available: 14 node(s) didn't have free ports for the requested pod ports.",
    "0/14 nodes are available: 14 node(s) didn't match pod topology spread constraints.",
    "0/14 nodes are available: 14 node(s) didn't match pod affinity rules.",
    "0/14 nodes are available: 5 node(s) didn't match PersistentVolume's node affinity, 9 node(s)",
    '0/14 nodes are available: persistentvolumeclaim "postgres-0-copy" not found. not found',
)


def test_once_places_all_that_can_be_placed(tmp_path: Path) -> None:
    done = run("demo", "--once", f"--port={free_port()}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all that can be placed is placed" in done.stdout
    assert re.search(r"first pod bound after \d+\.\d s; 46 pods placed, \d+ pods/s", done.stdout)
    for reason in REASONS:
        assert reason in done.stdout
    assert re.search(r"ml/fraud-detection +│ gpu-c1", done.stdout)
    assert "ml/experiment-7" not in done.stdout
    assert {each.name for each in (tmp_path / ".run").glob("*.log")} == {"sandbox.log", "scheduler.log"}


class Serving:
    """A demo that keeps running; what it prints is collected by a thread."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scheduler", "demo", f"--port={free_port()}"], cwd=directory, env=environment(), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            self.lines.extend(line.rstrip("\n") for line in output)

    def end(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE)

    def close(self) -> None:
        """End it in any case."""
        self.process.kill()
        self._reader.join()
        self.process.wait()

    def wait_for(self, text: str) -> None:
        """Until a line with the text was printed."""
        eventually(lambda: any(text in line for line in self.lines), text)

    def pasted(self, part: str) -> str:
        """What the one printed command with this part prints when it is pasted."""
        (line,) = [each for each in self.lines if each.startswith(("curl", "kubectl")) and part in each]
        return curl(line, self.directory) if line.startswith("curl") else shell(line, self.directory)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    demo = Serving(tmp_path_factory.mktemp("demo"))
    try:
        demo.wait_for("Ctrl-C ends it")
        yield demo
        assert demo.end() == 0
    finally:
        demo.close()


def test_the_pasted_filter_line_answers(serving: Serving) -> None:
    answer = decode(serving.pasted("/filter"))
    assert "general-a1" in answer["NodeNames"]
    assert answer["FailedAndUnresolvableNodes"]["control-a1"] == "node(s) had untolerated taint(s)"
    assert answer["FailedAndUnresolvableNodes"]["general-c2"] == "node(s) were unschedulable"
    assert not answer["Error"]


def test_the_pasted_prioritize_line_answers(serving: Serving) -> None:
    scores = {each["Host"]: each["Score"] for each in decode(serving.pasted("/prioritize"))}
    assert len(scores) == 14
    assert set(scores.values()) <= set(range(11))


def test_the_other_pasted_lines_work(serving: Serving) -> None:
    assert "readyz check passed" in serving.pasted("/readyz")
    assert "scheduler_schedule_attempts_total" in serving.pasted("/metrics")
    assert "general-" in serving.pasted("get pods -A -o wide")


def test_a_pod_made_with_kubectl_gets_its_node_while_the_demo_runs(serving: Serving) -> None:
    kubectl = "kubectl --kubeconfig .run/kubeconfig"
    shell(f"{kubectl} run visitor --image=busybox", serving.directory)
    serving.wait_for("default/visitor -> ")
    assert "Successfully assigned default/visitor to" in eventually(
        lambda: shell(f"{kubectl} get events --field-selector reason=Scheduled", serving.directory),
        "the event",
    )


def test_uncordoning_a_node_places_the_pod_that_waited_for_it(serving: Serving) -> None:
    serving.pasted("uncordon general-c2")
    serving.wait_for("batch/disk-check -> general-c2")


UNPARSABLE = "kind: Pod\n  metadata: {"
UNKNOWN_FIELD = dedent("""
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profilez: []
""")


@pytest.mark.parametrize(
    ("words", "content", "part"),
    [
        pytest.param(("--load", "none.yaml"), "", "none.yaml: no such file", id="missing manifest"),
        pytest.param(("--load", "given.yaml"), UNPARSABLE, "given.yaml", id="manifest that does not parse"),
        pytest.param(
            ("--config", "given.yaml"), UNKNOWN_FIELD, "profilez", id="configuration with an unknown field"
        ),
    ],
)
def test_a_failure_is_one_line_and_exit_code_1(
    tmp_path: Path, words: tuple[str, ...], content: str, part: str
) -> None:
    (tmp_path / "given.yaml").write_text(content)
    done = run("demo", "--once", f"--port={free_port()}", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert part in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_pod_that_comes_out_otherwise_than_expected_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "given.yaml").write_text(
        dedent("""
            {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "1", memory: 1Gi, pods: "9"}}}
            ---
            apiVersion: v1
            kind: Pod
            metadata: {name: optimist, namespace: default, annotations: {wharfinger.dev/expect: pending}}
            spec: {containers: [{name: main, image: busybox}]}
        """)
    )
    done = run("demo", "--once", f"--port={free_port()}", "--load", "given.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "default/optimist was bound to n1, expected to stay pending" in done.stderr
