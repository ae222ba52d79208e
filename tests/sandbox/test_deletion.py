"""Deletion: grace, finalizers, preconditions, collections, namespaces, evictions."""

from __future__ import annotations

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Object, Rest, Watcher, deployment, labelled, node, pod

PDBS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def test_an_unbound_pod_goes_at_once(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    assert rest.delete(f"{PODS}/a").body["kind"] == "Pod"
    assert rest.get(f"{PODS}/a").status == 404


def test_every_pods_end_is_announced(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    with Watcher(sandbox.url, PODS) as watch:
        watch.take(1)
        rest.delete(f"{PODS}/a")
        events = watch.take(2)
    ends = [event["object"]["metadata"] for event in events]
    assert [event["type"] for event in events] == ["MODIFIED", "DELETED"]
    assert [(end["deletionGracePeriodSeconds"], end["generation"]) for end in ends] == [(0, 2), (0, 2)]


def test_a_bound_pod_is_seen_terminating(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod(nodeName="n1")])
    with Watcher(sandbox.url, PODS) as watch:
        watch.take(1)
        reply = rest.delete(f"{PODS}/a").body
        events = watch.take(3)
    assert reply["metadata"]["deletionGracePeriodSeconds"] == 30
    assert [event["type"] for event in events] == ["MODIFIED", "MODIFIED", "DELETED"]
    assert [event["object"]["metadata"]["deletionGracePeriodSeconds"] for event in events] == [30, 0, 0]
    assert [event["object"]["metadata"]["generation"] for event in events] == [2, 2, 2]


def test_the_kubelet_finishes_after_a_while() -> None:
    with Sandbox(termination_delay=0.1) as slow, Rest(slow.url) as rest, Watcher(slow.url, PODS) as watch:
        slow.load([pod(nodeName="n1")])
        rest.delete(f"{PODS}/a")
        assert [event["type"] for event in watch.take(4)] == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"]


def test_until_then_the_pod_is_terminating() -> None:
    with Sandbox(termination_delay=3600) as slow, Rest(slow.url) as rest:
        slow.load([pod(nodeName="n1")])
        rest.delete(f"{PODS}/a", {"gracePeriodSeconds": 600})
        meta = rest.get(f"{PODS}/a").body["metadata"]
        assert meta["deletionGracePeriodSeconds"] == 600
        rest.delete(f"{PODS}/a", {"gracePeriodSeconds": 60})
        assert rest.get(f"{PODS}/a").body["metadata"]["deletionGracePeriodSeconds"] == 60


@pytest.mark.parametrize("through", ["body", "query"])
def test_grace_zero_is_immediate(through: str) -> None:
    with Sandbox(termination_delay=60) as slow, Rest(slow.url) as rest:
        slow.load([pod(nodeName="n1")])
        if through == "body":
            rest.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
        else:
            rest.delete(f"{PODS}/a", gracePeriodSeconds=0)
        assert rest.get(f"{PODS}/a").status == 404


def test_finalizers_hold_an_object(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node("n1", finalizers=["example.org/hold"])])
    assert "deletionTimestamp" in rest.delete(f"{NODES}/n1").body["metadata"]
    assert rest.get(f"{NODES}/n1").status == 200
    rest.patch(f"{NODES}/n1", {"metadata": {"finalizers": None}}, "merge")
    assert rest.get(f"{NODES}/n1").status == 404


@pytest.mark.parametrize("precondition", [{"uid": "other"}, {"resourceVersion": "1"}], ids=str)
def test_preconditions(sandbox: Sandbox, rest: Rest, precondition: Object) -> None:
    sandbox.load([node()])
    reply = rest.delete(f"{NODES}/n1", {"preconditions": precondition})
    assert (reply.status, "in the precondition" in reply.body["message"]) == (409, True)
    assert rest.get(f"{NODES}/n1").status == 200


def test_a_collection_by_selector(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([labelled("a", app="web"), labelled("b", app="db"), labelled("c", app="web")])
    assert rest.delete(PODS, labelSelector="app=web").names == ["a", "c"]
    assert rest.get(PODS).names == ["b"]


def test_a_namespace_takes_its_content_along(sandbox: Sandbox, rest: Rest) -> None:
    rest.post("/api/v1/namespaces", {"metadata": {"name": "team"}})
    assert rest.get("/api/v1/namespaces/team/serviceaccounts").names == ["default"]
    rest.post("/api/v1/namespaces/team/pods", pod())
    rest.delete("/api/v1/namespaces/team")
    assert rest.get("/api/v1/namespaces/team").status == 404
    assert rest.get("/api/v1/namespaces/team/pods").names == []


def test_a_held_object_holds_its_namespace(rest: Rest) -> None:
    rest.post("/api/v1/namespaces", {"metadata": {"name": "team"}})
    held = pod()
    held["metadata"]["finalizers"] = ["example.org/hold"]
    rest.post("/api/v1/namespaces/team/pods", held)
    rest.delete("/api/v1/namespaces/team")
    assert rest.get("/api/v1/namespaces/team").body["status"]["phase"] == "Terminating"
    assert rest.post("/api/v1/namespaces/team/pods", pod("b")).status == 403
    rest.patch("/api/v1/namespaces/team/pods/a", {"metadata": {"finalizers": None}}, "merge")
    assert rest.get("/api/v1/namespaces/team").status == 404


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_system_namespaces_stay(rest: Rest, name: str) -> None:
    assert rest.delete(f"/api/v1/namespaces/{name}").status == 403


@pytest.mark.parametrize(("policy", "left"), [("Background", []), ("Orphan", ["a"])])
def test_what_a_workload_owned_goes_with_it(rest: Rest, policy: str, left: list[str]) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    uid = rest.post(path, deployment()).body["metadata"]["uid"]
    owned = pod()
    owned["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": uid}
    ]
    rest.post(PODS, owned)
    rest.delete(f"{path}/d", {"propagationPolicy": policy})
    assert rest.get(PODS).names == left


def _running(rest: Rest, name: str, **labels: str) -> None:
    rest.post(PODS, labelled(name, **labels))
    rest.post(f"{PODS}/{name}/binding", {"target": {"name": "n1"}})
    rest.patch(f"{PODS}/{name}/status", {"status": {"phase": "Running"}})


def _budget(rest: Rest, allowed: int) -> None:
    rest.post(
        PDBS,
        {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}},
    )
    rest.patch(f"{PDBS}/b/status", {"status": {"disruptionsAllowed": allowed, "observedGeneration": 1}})


def test_eviction_spends_the_budget(rest: Rest) -> None:
    for name in ("a", "b"):
        _running(rest, name, app="web")
    _budget(rest, 1)
    assert rest.post(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}).status == 201
    refused = rest.post(f"{PODS}/b/eviction", {"metadata": {"name": "b"}})
    assert (refused.status, refused.body["reason"]) == (429, "TooManyRequests")
    assert refused.body["details"]["causes"][0]["reason"] == "DisruptionBudget"
    assert rest.get(PODS).names == ["b"]


def test_eviction_marks_the_pod_as_disrupted(sandbox: Sandbox, rest: Rest) -> None:
    _running(rest, "a", app="web")
    version = rest.get(PODS).body["metadata"]["resourceVersion"]
    rest.post(f"{PODS}/a/eviction", {"metadata": {"name": "a"}})
    with Watcher(sandbox.url, PODS, resourceVersion=version) as watch:
        conditions = watch.take(1)[0]["object"]["status"]["conditions"]
    assert ("DisruptionTarget", "EvictionByEvictionAPI") in [(c["type"], c.get("reason")) for c in conditions]


def test_pending_pods_need_no_budget(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([labelled("a", app="web")])
    _budget(rest, 0)
    assert rest.post(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}).status == 201


def test_an_unobserved_budget_asks_to_retry(rest: Rest) -> None:
    _running(rest, "a", app="web")
    rest.post(PDBS, {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}})
    reply = rest.post(f"{PODS}/a/eviction", {"metadata": {"name": "a"}})
    assert (reply.status, reply.headers["Retry-After"]) == (429, "10")
