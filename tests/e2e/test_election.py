"""Replicas as processes: a lost lease, a coordinated election, and other programs that hold the lease."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import (
    SchedulerProcess,
    eventually,
    eventually_bound,
    node,
    node_of,
    pod,
    scheduler,
    shell,
)

LEASE = ("leases.coordination.k8s.io", "kube-system", "kube-scheduler")
CANDIDATES = "leasecandidates.coordination.k8s.io"
SOON = (
    "--leader-elect-lease-duration=3s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=100ms",
)
COORDINATED = "--feature-gates=CoordinatedLeaderElection=true"


def spec_of_lease(sandbox: Sandbox) -> dict[str, Any]:
    found = sandbox.store.get(*LEASE)
    spec: dict[str, Any] = found["spec"] if found else {}
    return spec


def lease(holder: str, **spec: Any) -> dict[str, Any]:
    """The lease as another program holds it, renewed just now."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    times = {"acquireTime": now, "renewTime": now}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": LEASE[2], "namespace": LEASE[1]},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 60, **times, **spec},
    }


def kubectl(sandbox: Sandbox, tmp_path: Path, patch: str) -> None:
    """Change the lease as somebody else."""
    sandbox.write_kubeconfig(tmp_path / "kubeconfig")
    line = f"kubectl --kubeconfig kubeconfig -n {LEASE[1]} patch lease {LEASE[2]} --type=merge -p '{patch}'"
    shell(line, tmp_path)


def exit_code(process: SchedulerProcess) -> int:
    code = eventually(
        lambda: (process.process.poll(),) if process.process.poll() is not None else None, "an end"
    )
    return int(code[0])


@pytest.mark.parametrize(
    "how", [{"status": 500}, {"status": 403}, {"drop": "before"}], ids=["500", "403", "no answer"]
)
def test_a_lost_lease_ends_the_process_and_nothing_is_bound_afterwards(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, *SOON) as process:
        sandbox.load([node("n1"), pod("before")])
        eventually_bound(sandbox, "before")
        sandbox.faults.add(path="/leases", **how)
        assert exit_code(process) == 1
        sandbox.create(pod("after"))
        assert node_of(sandbox, "after") == ""
        log = process.log.read_text()
        assert "Failed to renew lease" in log
        assert "Leaderelection lost" in log
        assert "Traceback" not in log


def test_bindings_that_wait_for_the_rate_limit_when_the_lease_is_lost_are_never_sent(tmp_path: Path) -> None:
    """Forty pods at two bindings a second: most of them are still waiting when the lease is gone."""
    slow = ("--kube-api-qps=2", "--kube-api-burst=2")
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, *SOON, *slow) as process:
        names = [f"p{number}" for number in range(40)]
        sandbox.load([node("n1"), *map(pod, names)])
        eventually(lambda: any(node_of(sandbox, name) for name in names), "a first binding")
        kubectl(sandbox, tmp_path, '{"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 60}}')
        assert exit_code(process) == 1
        bound = [name for name in names if node_of(sandbox, name)]
        assert 0 < len(bound) < len(names)
        assert spec_of_lease(sandbox)["holderIdentity"] == "thief"


def test_a_coordinated_replica_stands_for_election_and_leads_for_a_term(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, COORDINATED, *SOON) as process:
        sandbox.load([node("n1"), pod("p1")])
        (candidate,) = eventually(lambda: sandbox.store.objects(CANDIDATES), "a candidate")
        identity = candidate["metadata"]["name"]
        assert candidate["spec"]["leaseName"] == "kube-scheduler"
        assert candidate["spec"]["emulationVersion"] == "1.36.0"
        process.wait_until_ready()
        assert node_of(sandbox, "p1") == ""
        sandbox.create(lease(identity, strategy="OldestEmulationVersion"))
        eventually_bound(sandbox, "p1")
        kubectl(sandbox, tmp_path, '{"spec": {"preferredHolder": "younger"}}')
        assert exit_code(process) == 1
        assert spec_of_lease(sandbox)["holderIdentity"] == ""


WAITS = "kube-system/kube-scheduler is held by kube-scheduler_1, which is not Wharfinger: nothing is scheduled here"
BOTH = (
    "kube-system/kube-scheduler is held by kube-scheduler_1, which is not Wharfinger: both place the pods of"
)
OWN_LEASE = "--leader-elect-resource-name=mine"


@pytest.mark.parametrize(
    ("flags", "warning"),
    [((), WAITS), ((OWN_LEASE,), BOTH), (("--leader-elect=false",), BOTH)],
    ids=["same lease", "own lease", "no election"],
)
def test_another_program_that_schedules_is_named(
    tmp_path: Path, flags: tuple[str, ...], warning: str
) -> None:
    with Sandbox() as sandbox:
        sandbox.create(lease("kube-scheduler_1"))
        with scheduler(tmp_path, sandbox.url, *flags) as process:
            eventually(lambda: warning in process.log.read_text(), "the warning")


def test_another_replica_is_no_stranger(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with Sandbox() as sandbox, scheduler(tmp_path / "one", sandbox.url) as first:
        first.wait_until_ready()
        eventually(lambda: spec_of_lease(sandbox).get("holderIdentity"), "a leader")
        with scheduler(tmp_path / "two", sandbox.url, "-v=4") as second:
            second.wait_until_ready()
            eventually(lambda: "Attempting to acquire" in second.log.read_text(), "a candidate")
            assert second.terminate() == 0
            assert "which is not Wharfinger" not in second.log.read_text()


def test_who_schedules_other_pods_is_no_concern_of_ours(tmp_path: Path) -> None:
    config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "leaderElection: {resourceName: mine}\nprofiles: [{schedulerName: mine}]\n"
    )
    (tmp_path / "config.yaml").write_text(config)
    with Sandbox() as sandbox:
        sandbox.create(lease("kube-scheduler_1"))
        with scheduler(tmp_path, sandbox.url, "--config=config.yaml") as process:
            process.wait_until_ready()
            sandbox.load([node("n1"), pod("p1", schedulerName="mine")])
            eventually_bound(sandbox, "p1")
            assert process.terminate() == 0
            assert "which is not Wharfinger" not in process.log.read_text()
