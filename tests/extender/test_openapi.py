"""The document at /openapi.json, and requests made from it: whatever is sent, the answers are those that it announces."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.builders import make_pod
from tests.extender.builders import app, client, three_nodes, world

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
FUZZ = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
VERBS = ("filter", "prioritize", "preempt", "bind")

APP = app(world(*three_nodes()))
schema = schemathesis.openapi.from_wsgi("/openapi.json", APP).include(
    path=["/filter", "/preempt", "/bind", "/profiles/{profile}/bind"]
)


@schema.parametrize()
@settings(FUZZ, max_examples=3)  # a pod has hundreds of fields, and each example costs a quarter of a second
def test_answers_are_those_announced(case: Any) -> None:
    case.call_and_validate(checks=CHECKS)


def test_every_verb_is_told_of_once_by_path_and_once_by_profile() -> None:
    paths = json.loads(APP.test_client().get("/openapi.json").data)["paths"]
    assert list(paths) == [path for verb in VERBS for path in (f"/{verb}", f"/profiles/{{profile}}/{verb}")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
KEYS = (
    "Pod",
    "Nodes",
    "NodeNames",
    "NodeNameToVictims",
    "NodeNameToMetaVictims",
    "PodName",
    "PodUID",
    "Node",
)
envelopes = st.dictionaries(st.sampled_from(KEYS), json_values, max_size=len(KEYS))
POD = make_pod().req(cpu="1").doc()


def assert_answered(verb: str, body: bytes) -> None:
    answer = client(world(*three_nodes())).post(f"/{verb}", data=body, content_type="application/json")
    assert answer.status_code in (200, 400)
    assert answer.json is not None
    if verb == "filter":
        assert answer.status_code == 200
        assert list(answer.json) == [
            "Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error"
        ]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
@given(body=st.binary(max_size=64) | envelopes.map(lambda value: json.dumps(value).encode()))
@settings(FUZZ, max_examples=40)
def test_no_body_is_too_strange(verb: str, body: bytes) -> None:
    assert_answered(verb, body)


@pytest.mark.parametrize("verb", VERBS)
@given(envelope=envelopes, place=st.integers(0, 200), byte=st.integers(0, 255))
@settings(FUZZ, max_examples=40)
def test_no_damage_is_too_strange(verb: str, envelope: dict[str, Any], place: int, byte: int) -> None:
    body = bytearray(json.dumps({"Pod": POD, "NodeNames": ["node-a"]} | envelope).encode())
    body[place % len(body)] = byte
    assert_answered(verb, bytes(body))
