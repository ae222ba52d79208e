"""A bad request gets one line of JSON that names the place, and reaches nothing."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from tests.builders import make_node, make_pod
from tests.extender.builders import Binder, HandMadeWorld, ask, by_name, client, three_nodes, world

POD = make_pod().doc()
VALID = json.dumps(by_name(POD, "node-a")).encode()
UNREADABLE = make_pod().req(cpu="plenty").doc()
BOUND = {"PodName": "p", "PodNamespace": "ns", "PodUID": "u", "Node": "n"}
NAMELESS: list[Any] = [make_node("a").doc(), {"metadata": {}}]


@pytest.fixture
def made() -> HandMadeWorld:
    """Three nodes."""
    return world(*three_nodes())


def case(name: str, verb: str, body: Any, *told: str) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return pytest.param(verb, raw, told, id=name)


MALFORMED = [
    case("empty", "filter", b"", "the request body is empty"),
    case("blank", "filter", b" \n", "the request body is empty"),
    case(
        "no JSON", "filter", b"<html>", "the request body is not a JSON object: JSON is malformed", "byte 0"
    ),
    case("cut off", "filter", VALID[:-1], "the request body is not a JSON object"),
    case("two documents", "filter", VALID + VALID, "not a JSON object", "trailing"),
    case("a list", "filter", b"[]", "not a JSON object: Expected `object`, got `array`"),
    case("null", "filter", b"null", "not a JSON object: Expected `object`, got `null`"),
    case("bytes", "filter", b"\xff\xfe\x00", "the request body is not a JSON object"),
    case("very deep", "filter", b'{"Pod":' + b"[" * 100_000, "the request body is not a JSON object"),
    case("no pod", "filter", {"NodeNames": ["a"]}, "Pod: is missing"),
    case("null pod", "filter", {"Pod": None, "NodeNames": ["a"]}, "Pod: is missing"),
    case("nothing", "filter", {}, "Pod: is missing", "Nodes: neither Nodes nor NodeNames is given"),
    case("no nodes", "filter", {"Pod": POD}, "Nodes: neither Nodes nor NodeNames is given"),
    case(
        "null nodes",
        "prioritize",
        {"Pod": POD, "Nodes": None, "NodeNames": None},
        "Nodes: neither Nodes nor NodeNames is given",
    ),
    case("pod of a wrong type", "filter", {"Pod": "p", "NodeNames": []}, "Pod: Expected `object`, got `str`"),
    case(
        "pod with a wrong field",
        "filter",
        {"Pod": {"spec": {"nodeName": 7}}, "NodeNames": []},
        "Pod: Expected `str`, got `int` - at `$.spec.nodeName`",
    ),
    case(
        "pod with a bad quantity",
        "filter",
        {"Pod": UNREADABLE, "NodeNames": []},
        "Pod: spec.containers[0].resources.requests.cpu: 'plenty': quantities must match",
    ),
    case("names of a wrong type", "filter", {"Pod": POD, "NodeNames": "a"}, "NodeNames: Expected `array`"),
    case("a name of a wrong type", "filter", {"Pod": POD, "NodeNames": ["a", 1]}, "NodeNames: ", "$[1]"),
    case("nodes of a wrong type", "filter", {"Pod": POD, "Nodes": []}, "Nodes: Expected `object`"),
    case("items of a wrong type", "filter", {"Pod": POD, "Nodes": {"items": {}}}, "Nodes: Expected `array`"),
    case("an item of a wrong type", "filter", {"Pod": POD, "Nodes": {"items": [1]}}, "Nodes.items[0]: "),
    case(
        "a node without a name",
        "filter",
        {"Pod": POD, "Nodes": {"items": NAMELESS}},
        "Nodes.items[1].metadata.name: is missing",
    ),
    case(
        "a node with a wrong field",
        "filter",
        {"Pod": POD, "Nodes": {"items": [{"metadata": {"name": "a"}, "spec": {"taints": 1}}]}},
        "Nodes.items (node 'a'): Expected `array`, got `int` - at `$.spec.taints`",
    ),
    case("several faults", "prioritize", {"Pod": 1, "NodeNames": 2}, "Pod: ", "; NodeNames: "),
    case("nothing to preempt for", "preempt", {}, "Pod: is missing"),
    case(
        "candidates of a wrong type",
        "preempt",
        {"Pod": POD, "NodeNameToMetaVictims": []},
        "NodeNameToMetaVictims: Expected `object`, got `array`",
    ),
    case(
        "victims of a wrong type",
        "preempt",
        {"Pod": POD, "NodeNameToMetaVictims": {"a": {"Pods": {}}}},
        "NodeNameToMetaVictims.a: Expected `array`",
    ),
    case(
        "a victim without a uid",
        "preempt",
        {"Pod": POD, "NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "u"}, {}]}}},
        "NodeNameToMetaVictims.a.Pods: a victim has no uid",
    ),
    case(
        "a victim that is none",
        "preempt",
        {"Pod": POD, "NodeNameToVictims": {"a": {"Pods": [None]}}},
        "NodeNameToVictims.a.Pods: a victim has no uid",
    ),
    case(
        "violations of a wrong type",
        "preempt",
        {"Pod": POD, "NodeNameToMetaVictims": {"a": {"NumPDBViolations": "1"}}},
        "NodeNameToMetaVictims.a: Expected `int`",
    ),
    case("nothing to bind", "bind", {}, "PodName: is missing; PodNamespace: is missing; Node: is missing"),
    case("no node to bind to", "bind", BOUND | {"Node": None}, "Node: is missing"),
    case("an empty node to bind to", "bind", BOUND | {"Node": ""}, "Node: is empty"),
    case("a uid of a wrong type", "bind", BOUND | {"PodUID": 7}, "PodUID: Expected `str`, got `int`"),
]


def assert_refused(answer: Any, status: int, *told: str) -> None:
    assert answer.status_code == status
    assert answer.content_type == "application/json"
    message = answer.json["Error"]
    assert "\n" not in message
    for part in told:
        assert part in message


@pytest.mark.parametrize(("verb", "body", "told"), MALFORMED)
def test_malformed(made: HandMadeWorld, verb: str, body: bytes, told: tuple[str, ...]) -> None:
    binder = Binder()
    answer = client(made, binder).post(f"/{verb}", data=body, content_type="application/json")
    # The callers of filter read the reason with a status of 200 only; the others' answers have no place for it.
    assert_refused(answer, 200 if verb == "filter" else 400, *told)
    assert binder.bound == []


def test_a_malformed_filter_is_answered_in_the_shape_of_filter(made: HandMadeWorld) -> None:
    answer = ask(client(made), "/filter", b"{")
    assert answer.pop("Error").startswith("the request body is not a JSON object")
    assert answer == {"Nodes": None, "NodeNames": None, "FailedNodes": {}, "FailedAndUnresolvableNodes": {}}


def test_a_clients_words_stay_on_one_line_of_the_log(
    made: HandMadeWorld, caplog: pytest.LogCaptureFixture
) -> None:
    pod = make_pod().req({"a\nI1130 forged\x1b[2J" + "x" * 5000: "x", "cpu": "plenty"}).doc()
    with caplog.at_level(logging.INFO, "extender"):
        answer = client(made).post("/filter", json={"Pod": pod, "NodeNames": []})
    assert_refused(answer, 200, "requests.a I1130 forged [2Jxxx")
    assert all(message.isprintable() and len(message) < 3000 for message in caplog.messages)
    assert caplog.messages


def test_a_body_is_decoded_before_the_world_is_locked(made: HandMadeWorld) -> None:
    client(made).post("/filter", data=b"{", content_type="application/json")
    assert made.turns == 0


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param({"pod": POD, "nodenames": ["node-a"]}, ["node-a"], id="lower case"),
        pytest.param({"POD": POD, "NODENAMES": ["node-a"]}, ["node-a"], id="upper case"),
        pytest.param({"Pod": POD, "NodeNames": ["node-a"], "More": 1}, ["node-a"], id="unknown key"),
        pytest.param({"Pod": {}, "NodeNames": ["node-a"]}, ["node-a"], id="empty pod"),
        pytest.param({"Pod": POD, "NodeNames": []}, [], id="no names"),
        pytest.param({"NodeNames": ["node-b"], "nodeNames": ["node-a"], "Pod": POD}, ["node-a"], id="twice"),
        pytest.param(
            {"Pod": {"metadata": {"creationTimestamp": None}, "spec": None}, "NodeNames": ["node-a"]},
            ["node-a"],
            id="nulls in the pod",
        ),
        pytest.param(
            {"Pod": POD, "Nodes": {"items": []}, "NodeNames": ["node-a"]}, ["node-a"], id="both forms"
        ),
    ],
)
def test_what_go_would_read_is_read(made: HandMadeWorld, body: Any, names: list[str]) -> None:
    assert ask(client(made), "/filter", body)["NodeNames"] == names


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", None])
def test_content_types_that_are_read(made: HandMadeWorld, content_type: str | None) -> None:
    assert client(made).post("/filter", data=VALID, content_type=content_type).status_code == 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/x"])
def test_other_content_types_are_refused(made: HandMadeWorld, content_type: str) -> None:
    answer = client(made).post("/filter", data=VALID, content_type=content_type)
    assert_refused(answer, 415, repr(content_type), "send application/json")


def test_an_unknown_encoding_is_refused(made: HandMadeWorld) -> None:
    answer = client(made).post("/filter", json={}, headers={"Content-Encoding": "br"})
    assert_refused(answer, 415, "'br'", "send gzip")


def test_a_large_body_is_refused(made: HandMadeWorld) -> None:
    asking = client(made, max_body_bytes=len(VALID))
    assert asking.post("/filter", data=VALID, content_type="application/json").status_code == 200
    answer = asking.post("/filter", data=VALID + b" ", content_type="application/json")
    assert_refused(answer, 413, f"{len(VALID) + 1} bytes, at most {len(VALID)} are accepted")


@pytest.mark.parametrize("verb", ["filter", "prioritize", "preempt", "bind"])
def test_an_unknown_profile_is_named(made: HandMadeWorld, verb: str) -> None:
    body = BOUND if verb == "bind" else by_name(POD, "node-a")
    binder = Binder()
    answer = client(made, binder).post(f"/profiles/nobody/{verb}", json=body)
    assert_refused(answer, 404, "there is no profile 'nobody' here", "'default-scheduler'")
    assert binder.bound == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path", ["/filter", "/prioritize", "/preempt", "/bind", "/profiles/default-scheduler/filter"]
)
def test_only_post_is_taken(made: HandMadeWorld, method: str, path: str) -> None:
    answer = client(made).open(path, method=method)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_a_verb_that_does_not_exist(made: HandMadeWorld) -> None:
    assert client(made).post("/postpone", json={}).status_code == 404


def test_a_bug_is_one_line_to_the_caller_and_a_traceback_in_the_log(
    made: HandMadeWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*arguments: Any) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("extender.handlers.examine", broken)
    with caplog.at_level(logging.ERROR):
        answer = ask(client(made), "/filter", VALID)
    told, reference = answer["Error"].split(" (the log tells more: failure ")
    assert told == "internal error: division by zero"
    assert [record.exc_info is not None for record in caplog.records] == [True]
    assert reference.removesuffix(")") in caplog.messages[0]
