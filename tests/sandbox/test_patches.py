"""The four kinds of PATCH: JSON, merge, strategic merge, server-side apply."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from scheduler.sandbox.writes.patch import PatchError, json_patch, merge_patch
from scheduler.sandbox.writes.strategic import strategic_merge
from tests.sandbox.rest import NODES, PODS, Object, Rest, deployment, node, pod

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": 1}, {"a": None}, {}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}, {"a": {"c": 2, "d": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "text"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_merge_patch(target: Object, patch: Object, result: Object) -> None:
    assert merge_patch(target, patch) == result


JSON_PATCHES: list[tuple[str, Any, list[Object], Any]] = [
    ("add", {"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
    ("append", {"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
    ("insert", {"a": [1]}, [{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1]}),
    ("remove", {"a": [1, 2]}, [{"op": "remove", "path": "/a/0"}], {"a": [2]}),
    ("replace", {"a": [1, 2]}, [{"op": "replace", "path": "/a/1", "value": 3}], {"a": [1, 3]}),
    ("move", {"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
    ("copy", {"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
    ("test", {"a": 1}, [{"op": "test", "path": "/a", "value": 1}], {"a": 1}),
    (
        "escapes",
        {"a/b": 1, "c~d": 2},
        [{"op": "remove", "path": "/a~1b"}, {"op": "remove", "path": "/c~0d"}],
        {},
    ),
]


@pytest.mark.parametrize(
    ("target", "operations", "result"),
    [case[1:] for case in JSON_PATCHES],
    ids=[case[0] for case in JSON_PATCHES],
)
def test_json_patch(target: Any, operations: list[Object], result: Any) -> None:
    before = repr(target)
    assert json_patch(target, operations) == result
    assert repr(target) == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": 2},
        {"op": "remove", "path": "/b"},
        {"op": "replace", "path": "/b", "value": 1},
        {"op": "add", "path": "/l/5", "value": 1},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "/b"},
        {"op": "copy", "path": "/b"},
        {"op": "dance", "path": "/a"},
        {"path": 3},
        "text",
    ],
    ids=str,
)
def test_json_patches_that_do_not_apply(operation: Any) -> None:
    with pytest.raises(PatchError):
        json_patch({"a": 1, "l": []}, [operation])


SPEC = {
    "containers": [
        {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]},
        {"name": "b", "image": "1"},
    ]
}
STRATEGIC: list[tuple[str, Object, Object]] = [
    ("merge by name", {"containers": [{"name": "b", "image": "2"}]}, {**SPEC, "containers": [SPEC["containers"][0], {"name": "b", "image": "2"}]}),
    ("delete by name", {"containers": [{"name": "a", "$patch": "delete"}]}, {"containers": [SPEC["containers"][1]]}),
    ("replace the list", {"containers": [{"$patch": "replace"}, {"name": "c"}]}, {"containers": [{"name": "c"}]}),
    ("order", {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": []}, {"containers": SPEC["containers"][::-1]}),
    ("atomic list", {"tolerations": [{"key": "x"}]}, {**SPEC, "tolerations": [{"key": "x"}]}),
    ("replace the object", {"$patch": "replace", "nodeName": "n"}, {"nodeName": "n"}),
    ("null", {"containers": None}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("patch", "result"), [case[1:] for case in STRATEGIC], ids=[case[0] for case in STRATEGIC]
)
def test_strategic_merge(patch: Object, result: Object) -> None:
    assert strategic_merge(SPEC, patch, "core.v1.PodSpec") == result


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        pytest.param("i", "ab", "abi", id="new ones come first"),
        pytest.param("abi", "ic", "abic", id="behind the old one that the patch names before"),
        pytest.param("abic", "da", "dabic", id="in front of the old one that the patch names after"),
        pytest.param("abc", "ca", "bca", id="old ones in the patch's order"),
    ],
)
def test_merged_lists_have_the_servers_order(before: str, patch: str, after: str) -> None:
    def spec(names: str) -> Object:
        return {"containers": [{"name": name} for name in names]}

    assert strategic_merge(spec(before), spec(patch), "core.v1.PodSpec") == spec(after)


def test_a_name_may_be_anything_until_it_is_validated() -> None:
    patch = {"containers": [{"name": ["x"], "image": "i"}]}
    assert strategic_merge({"containers": [{"name": "a"}]}, patch, "core.v1.PodSpec") == {
        "containers": [{"name": ["x"], "image": "i"}, {"name": "a"}]
    }


def test_primitive_lists_merge_and_shrink() -> None:
    merged = strategic_merge({"finalizers": ["a"]}, {"finalizers": ["b"]}, "meta.v1.ObjectMeta")
    assert merged == {"finalizers": ["b", "a"]}
    shrunk = strategic_merge(merged, {"$deleteFromPrimitiveList/finalizers": ["a"]}, "meta.v1.ObjectMeta")
    assert shrunk == {"finalizers": ["b"]}


def test_retained_keys() -> None:
    old = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}
    patch = {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}
    assert strategic_merge(old, patch, "apps.v1.DeploymentSpec") == {"strategy": {"type": "Recreate"}}


def test_an_item_without_its_key_is_refused(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    reply = rest.patch(f"{PODS}/a", {"spec": {"containers": [{"image": "x"}]}})
    assert (reply.status, "does not contain declared merge key: name" in reply.body["message"]) == (400, True)


def test_conditions_merge_by_type(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node()])
    for kind in ("Ready", "DiskPressure", "Ready"):
        rest.patch(f"{NODES}/n1/status", {"status": {"conditions": [{"type": kind, "status": "True"}]}})
    conditions = rest.get(f"{NODES}/n1").body["status"]["conditions"]
    assert sorted(condition["type"] for condition in conditions) == ["DiskPressure", "Ready"]


def test_a_failed_json_patch_is_unprocessable(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    assert rest.patch(f"{PODS}/a", [{"op": "remove", "path": "/spec/none"}], "json").status == 422


def test_a_patch_may_demand_a_version(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node()])
    assert rest.patch(f"{NODES}/n1", {"metadata": {"resourceVersion": "1"}}, "merge").status == 409


@pytest.mark.parametrize(
    ("kind", "body"), [("merge", b"[]"), ("strategic", b"3"), ("json", b"{}"), ("merge", b"{")]
)
def test_patches_that_are_none(sandbox: Sandbox, rest: Rest, kind: str, body: bytes) -> None:
    sandbox.load([pod()])
    assert rest.send("PATCH", f"{PODS}/a", body, content=f"application/{_TYPES[kind]}+json").status in (
        400,
        422,
    )


_TYPES = {"merge": "merge-patch", "strategic": "strategic-merge-patch", "json": "json-patch"}


def test_unknown_patch_type(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    assert rest.send("PATCH", f"{PODS}/a", {}, content="application/json").status == 415


def test_apply_creates_then_merges_then_removes(rest: Rest) -> None:
    body = deployment(minReadySeconds=5)
    assert rest.patch(f"{DEPLOYMENTS}/d", body, "apply", fieldManager="m").status == 201
    rest.patch(
        f"{DEPLOYMENTS}/d", {"metadata": {"labels": {"mine": "yes"}}, "spec": {"replicas": 4}}, "merge"
    )
    del body["spec"]["minReadySeconds"]
    body["spec"]["template"]["spec"]["containers"] = [{"name": "second", "image": "s"}]
    spec = rest.patch(f"{DEPLOYMENTS}/d", body, "apply", fieldManager="m").body["spec"]
    assert "minReadySeconds" not in spec
    assert spec["replicas"] == 4
    assert [container["name"] for container in spec["template"]["spec"]["containers"]] == ["second"]
    assert rest.get(f"{DEPLOYMENTS}/d").body["metadata"]["labels"] == {"mine": "yes"}


def test_apply_needs_a_manager(rest: Rest) -> None:
    reply = rest.patch(f"{DEPLOYMENTS}/d", deployment(), "apply")
    assert (reply.status, reply.causes) == (422, ["fieldManager"])
