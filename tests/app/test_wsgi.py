"""``gunicorn wsgi:app``: the same process, served by a real gunicorn."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from scheduler.client.access import load_access
from scheduler.client.resources import LEASES
from scheduler.client.rest import MERGE_PATCH, Rest
from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod
from tests.scheduling.harness import DEADLINE, Observer, objects

ROOT = Path(__file__).parents[2]
HASTY = "--leader-elect-lease-duration=2s --leader-elect-renew-deadline=1s --leader-elect-retry-period=200ms"
RETRIES = urllib3.Retry(total=60, backoff_factor=0.05, status_forcelist=[500], raise_on_status=False)


def gunicorn(port: int, flags: str) -> subprocess.Popen[str]:
    """One worker with threads, as the module's docstring tells users."""
    command = [sys.executable, "-m", "gunicorn", "-k", "gthread", "--threads", "4", "--no-control-socket"]
    command += ["-b", f"127.0.0.1:{port}", "wsgi:app"]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "WHARFINGER_FLAGS": flags},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as server:
        yield server


@pytest.fixture
def port() -> int:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return int(reserved.getsockname()[1])


def test_gunicorn_serves_and_the_worker_schedules(sandbox: Sandbox, port: int, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    sandbox.write_kubeconfig(kubeconfig)
    observer = Observer(sandbox, tmp_path)
    with gunicorn(port, f"--kubeconfig={kubeconfig}") as master:
        http = urllib3.PoolManager(retries=RETRIES)
        assert http.request("GET", f"http://127.0.0.1:{port}/readyz").data == b"ok"
        node = make_node("n").capacity(cpu="1")
        sandbox.load(objects(node, make_pod("p").container({"cpu": "1"}, name="c", image="pause")))
        observer.wait_bound("p")
        master.send_signal(signal.SIGTERM)
        _, errors = master.communicate(timeout=DEADLINE)
        assert master.returncode == 0, errors
    observer.wait(lambda: [one["spec"].get("holderIdentity", "") for one in observer.leases()] == [""])
    observer.close()


def test_who_may_ask_is_decided_as_ever_whatever_the_port(
    sandbox: Sandbox, port: int, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    sandbox.write_kubeconfig(kubeconfig)
    sandbox.access.know("t0ken", "jane")
    sandbox.access.grant("jane", "get", "/metrics")
    purposes = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
    flags = " ".join(f"--{purpose}={kubeconfig}" for purpose in purposes)
    with gunicorn(port, f"{flags} --secure-port=0") as master:
        http = urllib3.PoolManager(retries=RETRIES)
        asked = {
            "nobody": {},
            "a known token": {"Authorization": "Bearer t0ken"},
            "an unknown token": {"Authorization": "Bearer other"},
            "a header that anybody can send": {"X-Remote-User": "jane"},
        }
        url = f"http://127.0.0.1:{port}"
        assert http.request("GET", f"{url}/readyz").data == b"ok"
        answers = {
            who: http.request("GET", f"{url}/metrics", headers=shown).status for who, shown in asked.items()
        }
        master.send_signal(signal.SIGTERM)
        master.communicate(timeout=DEADLINE)
    assert answers == {
        "nobody": 403,
        "a known token": 200,
        "an unknown token": 401,
        "a header that anybody can send": 403,
    }


def test_a_worker_that_loses_the_lease_is_replaced_by_one_that_schedules(
    sandbox: Sandbox, port: int, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    sandbox.write_kubeconfig(kubeconfig)
    observer = Observer(sandbox, tmp_path)
    access = load_access(str(kubeconfig))
    with gunicorn(port, f"--kubeconfig={kubeconfig} {HASTY}") as master:
        observer.wait(observer.leases)
        first = observer.leases()[0]["spec"]["holderIdentity"]
        stolen = {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 1}}
        Rest(access, user_agent="thief").request(
            "PATCH", LEASES.object("kube-system", "kube-scheduler"), body=stolen, content_type=MERGE_PATCH
        )
        observer.wait(lambda: observer.leases()[0]["spec"]["holderIdentity"] not in (first, "thief", ""))
        node = make_node("n").capacity(cpu="1")
        sandbox.load(objects(node, make_pod("p").container({"cpu": "1"}, name="c", image="pause")))
        observer.wait_bound("p")
        master.send_signal(signal.SIGTERM)
        _, errors = master.communicate(timeout=DEADLINE)
        assert master.returncode == 0, errors
    observer.close()
    access.close()


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        pytest.param("--nope", "unknown flag: --nope", id="unknown flag"),
        pytest.param("--kubeconfig='x", "No closing quotation", id="open quotation"),
    ],
)
def test_wrong_flags_end_it_with_one_clear_line(port: int, flags: str, reason: str) -> None:
    with gunicorn(port, flags) as master:
        _, errors = master.communicate(timeout=DEADLINE)
    assert master.returncode != 0
    assert f"WHARFINGER_FLAGS: {reason}\n" in errors
    assert "Traceback" not in errors
