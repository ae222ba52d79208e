"""Whatever a body holds, the server answers with a Status or an object: it never stumbles, and it goes on serving."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Object, Rest, binding, deployment, node, pod

FULL_POD = pod(
    tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": 3, "effect": "NoExecute"}],
    affinity={
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "preference": {"matchFields": []}}
            ],
        },
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
            ]
        },
    },
    topologySpreadConstraints=[
        {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}
    ],
    resources={"limits": {"cpu": "1"}},
    initContainers=[
        {"name": "i", "image": "i", "ports": [{"containerPort": 1}], "resources": {"requests": {"cpu": "1"}}}
    ],
    schedulingGates=[{"name": "g"}],
    volumes=[{"name": "v", "secret": {"secretName": "s"}}],
)
BUDGET = {
    "metadata": {"name": "b"},
    "spec": {"minAvailable": 1, "selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
}
CLAIM = {
    "metadata": {"name": "c"},
    "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d"}}]}},
}
TARGETS: dict[str, tuple[str, Object]] = {
    "pod": (PODS, FULL_POD),
    "node": (
        NODES,
        node("n", labels={"a": "b"}, ownerReferences=[{"uid": "x"}]) | {"spec": {"taints": [{"key": "k"}]}},
    ),
    "deployment": ("/apis/apps/v1/namespaces/default/deployments", deployment()),
    "budget": ("/apis/policy/v1/namespaces/default/poddisruptionbudgets", BUDGET),
    "claim": ("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", CLAIM),
    "binding": (f"{PODS}/fixed/binding", binding("fixed", "n1", labels={"a": "b"})),
    "eviction": (
        f"{PODS}/fixed/eviction",
        {"deleteOptions": {"gracePeriodSeconds": 3, "preconditions": {"uid": "x"}}},
    ),
}
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5),
    st.just([]), st.just({}), st.just([None]), st.just({"a": None}), st.just([[]]), st.just("1e99"), st.just({"": ""}),
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))] if path else [
        place for key, item in inner for place in _places(item, (key,))
    ]  # fmt: skip


def _changed(body: Object, path: tuple[Any, ...], value: Any) -> Object:
    result = copy.deepcopy(body)
    holder: Any = result
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return result


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_odd_value_anywhere(sandbox: Sandbox, rest: Rest, name: str, data: st.DataObject) -> None:
    path, body = TARGETS[name]
    if sandbox.store.get("pods", "default", "fixed") is None:
        sandbox.load([pod("fixed")])
    odd = _changed(body, data.draw(st.sampled_from(_places(body))), data.draw(VALUES))
    reply = rest.post(path, odd, dryRun="All")
    assert reply.status in (201, 400, 403, 404, 409, 422), reply.body
    assert rest.get("/readyz").raw == b"ok"


@pytest.mark.parametrize("kind", ["merge", "strategic", "apply"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_odd_patches(sandbox: Sandbox, rest: Rest, kind: str, data: st.DataObject) -> None:
    if sandbox.store.get("pods", "default", "a") is None:
        sandbox.load([FULL_POD])
    odd = _changed(FULL_POD, data.draw(st.sampled_from(_places(FULL_POD))), data.draw(VALUES))
    reply = rest.patch(f"{PODS}/a", odd, kind, dryRun="All", fieldManager="m")
    assert reply.status in (200, 201, 400, 403, 404, 409, 422), reply.body
