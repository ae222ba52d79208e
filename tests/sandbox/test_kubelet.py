"""The pretended kubelet: bound pods are reported running, when that is asked for."""

from __future__ import annotations

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import PODS, Rest, Watcher, binding, node, pod


def test_a_bound_pod_runs() -> None:
    made = node()
    made["status"]["addresses"] = [{"type": "InternalIP", "address": "10.0.0.7"}]
    sidecar = {"name": "side", "image": "s", "restartPolicy": "Always"}
    with Sandbox(start_delay=0.01) as sandbox, Rest(sandbox.url) as rest, Watcher(sandbox.url, PODS) as watch:
        sandbox.load([made, pod(initContainers=[{"name": "i", "image": "i"}, sidecar])])
        rest.post(f"{PODS}/a/binding", binding("a", "n1"))
        status = watch.take(3)[2]["object"]["status"]
    assert (status["phase"], status["hostIP"]) == ("Running", "10.0.0.7")
    assert {c["type"] for c in status["conditions"]} >= {"PodScheduled", "Ready"}
    assert [c["started"] for c in status["initContainerStatuses"]] == [False, True]


def test_a_pod_created_on_a_node_runs() -> None:
    with Sandbox(start_delay=0.01) as sandbox, Watcher(sandbox.url, PODS) as watch:
        sandbox.load([pod(nodeName="n1", hostNetwork=True)])
        status = watch.take(2)[1]["object"]["status"]
    assert (status["phase"], status["podIP"]) == ("Running", status["hostIP"])


def test_a_pod_that_is_gone_does_not_run() -> None:
    with Sandbox(start_delay=0.05) as sandbox, Rest(sandbox.url) as rest, Watcher(sandbox.url, PODS) as watch:
        sandbox.load([pod("a", nodeName="n1")])
        rest.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
        sandbox.load([pod("b", nodeName="n1")])
        seen = watch.summary(5)
    assert seen[:3] == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    assert seen[3:] == [("ADDED", "b"), ("MODIFIED", "b")]


def test_otherwise_a_bound_pod_stays_as_the_scheduler_left_it(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod(nodeName="n1")])
    assert rest.get(f"{PODS}/a").body["status"]["phase"] == "Pending"
