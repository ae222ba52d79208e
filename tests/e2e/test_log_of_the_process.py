"""What the running scheduler writes to its log."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import DEADLINE, environment, eventually, eventually_bound, node, pod, scheduler

FLAG = 'FLAG: --leader-elect="false"'
CONFIGURATION = '"Using component config" config=<'


def run_until_bound(sandbox: Sandbox, tmp_path: Path, *flags: str) -> str:
    """The log of a scheduler that places one pod and is told to end."""
    with scheduler(tmp_path, sandbox.url, "--leader-elect=false", *flags) as process:
        sandbox.load([node("n1"), pod("p1")])
        eventually_bound(sandbox, "p1")
        eventually(lambda: "p1" in process.log.read_text() or flags[-1] in ("-v=0", "-v=1"), "told")
        assert process.terminate() == 0
        return process.log.read_text()


@pytest.mark.parametrize(
    ("level", "flag", "configuration", "bound", "attempt"),
    [
        (0, False, False, False, False),
        (1, True, False, False, False),
        (2, True, True, True, False),
        (3, True, True, True, True),
    ],
)
def test_each_level_tells_more(
    tmp_path: Path, level: int, flag: bool, configuration: bool, bound: bool, attempt: bool
) -> None:
    with Sandbox() as sandbox:
        log = run_until_bound(sandbox, tmp_path, f"-v={level}")
    assert '"Starting Kubernetes Scheduler" version="v1.36.2"\n' in log
    assert (FLAG in log) is flag
    assert (CONFIGURATION in log) is configuration
    assert ('"Successfully bound pod to node" pod="default/p1" node="n1"' in log) is bound
    assert ('"Attempting to schedule pod" pod="default/p1"' in log) is attempt


def test_json_is_an_object_a_line(tmp_path: Path) -> None:
    with Sandbox() as sandbox:
        log = run_until_bound(sandbox, tmp_path, "--logging-format=json", "-v=2")
    entries: list[dict[str, Any]] = [json.loads(line) for line in log.splitlines()]
    assert all(entry.keys() >= {"ts", "caller", "msg"} for entry in entries)
    (bound,) = [entry for entry in entries if entry["msg"] == "Successfully bound pod to node"]
    assert (bound["pod"], bound["node"], bound["v"]) == ({"name": "p1", "namespace": "default"}, "n1", 2)


def test_a_module_can_tell_more_than_the_rest(tmp_path: Path) -> None:
    with Sandbox() as sandbox:
        log = run_until_bound(sandbox, tmp_path, "-v=2", "--vmodule=scheduler/backend/queue=4,scheduler=3")
    assert "to the active queue" in log
    assert '"Attempting to schedule pod" pod="default/p1"' in log
    assert "worker.py" not in log


def test_no_secret_is_written_however_much_is(tmp_path: Path) -> None:
    secret, password = "c2VjcmV0LXRva2Vu", "hunter2"
    with Sandbox() as sandbox:
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        kubeconfig = yaml.safe_load((tmp_path / "kubeconfig").read_text())
        kubeconfig["users"] = [{"name": "me", "user": {"token": secret}}]
        kubeconfig["contexts"][0]["context"]["user"] = "me"
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
        flags = ("--leader-elect=false", "--kubeconfig=kubeconfig", "-v=10")
        with scheduler(tmp_path, sandbox.url, *flags) as process:
            sandbox.load([node("n1"), pod("p1")])
            eventually_bound(sandbox, "p1")
            process.get("/metrics", Authorization=f"Bearer {password}")
            eventually(lambda: "GET /metrics" in process.log.read_text(), "the request is logged")
            assert process.terminate() == 0
            log = process.log.read_text()
    assert secret not in log
    assert password not in log


def test_credentials_in_an_address_are_not_shown(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scheduler", "--master=https://me:hunter2@127.0.0.1:1", "-v=1"]
    done = subprocess.run(
        [*command, "--write-config-to=out.yaml"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert 'FLAG: --master="https://REDACTED@127.0.0.1:1"' in done.stderr
    assert "hunter2" not in done.stderr


def test_streams_can_be_split(tmp_path: Path) -> None:
    flags = [
        "--feature-gates=LoggingAlphaOptions=true",
        "--log-text-split-stream",
        "--write-config-to=out.yaml",
    ]
    command = [sys.executable, "-m", "scheduler", "--master=http://127.0.0.1:1", *flags, "-v=1"]
    buffered = ["--log-text-info-buffer-size=1Mi", "--log-flush-frequency=1h"]
    for more in ([], buffered):
        done = subprocess.run(
            [*command, *more],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert '"Wrote configuration" file="out.yaml"' in done.stdout
