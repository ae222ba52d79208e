"""Protobuf bodies, as typed Go clients send them. The bytes are put together here by the wire format's rules."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from scheduler.sandbox.wire.protobuf import MEDIA_TYPE, ProtobufError, decode
from tests.sandbox.rest import PODS, Rest, pod


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def message(*fields: tuple[int, Any]) -> bytes:
    """Fields by number; numbers become varints, text and bytes become length-delimited."""
    data = b""
    for number, value in fields:
        if isinstance(value, int):
            data += _varint(number << 3) + _varint(value)
        else:
            raw = value.encode() if isinstance(value, str) else value
            data += _varint(number << 3 | 2) + _varint(len(raw)) + raw
    return data


def envelope(version: str, kind: str, raw: bytes) -> bytes:
    """The object in Kubernetes' envelope."""
    return b"k8s\x00" + message((1, message((1, version), (2, kind))), (2, raw), (3, ""), (4, ""))


META = message((1, "a"), (2, ""), (3, "default"), (8, b""), (11, message((1, "app"), (2, "web"))))
LIMITS = message((1, message((1, "cpu"), (2, message((1, "500m"))))))
PORT = message((1, ""), (2, 8080), (3, 80), (4, "TCP"))
CONTAINER = message((1, "main"), (2, "app:1"), (6, PORT), (8, LIMITS), (16, 0))
VOLUME = message((1, "data"), (2, message((2, b""))))
TOLERATION = message((1, "k"), (2, "Exists"), (5, 30))
SPEC = message((1, VOLUME), (2, CONTAINER), (4, 0), (11, 0), (22, TOLERATION), (25, -5))


def test_a_pod_decodes_like_its_json() -> None:
    assert decode(envelope("v1", "Pod", message((1, META), (2, SPEC), (3, b"")))) == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a", "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "volumes": [{"name": "data", "emptyDir": {}}],
            "containers": [
                {
                    "name": "main",
                    "image": "app:1",
                    "ports": [{"hostPort": 8080, "containerPort": 80, "protocol": "TCP"}],
                    "resources": {"limits": {"cpu": "500m"}},
                }
            ],
            "terminationGracePeriodSeconds": 0,
            "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 30}],
            "priority": -5,
        },
    }


def test_times_percentages_and_bytes() -> None:
    budget = message((1, META), (2, message((1, message((1, 1), (2, 0), (3, "50%"))))))
    assert decode(envelope("policy/v1", "PodDisruptionBudget", budget))["spec"] == {"minAvailable": "50%"}
    lease = message((2, message((1, "me"), (2, 15), (4, message((1, 1767225600), (2, 5000))))))
    assert decode(envelope("coordination.k8s.io/v1", "Lease", lease))["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "renewTime": "2026-01-01T00:00:00.000005Z",
    }
    secret = message((2, message((1, "key"), (2, b"\x00\xff"))))
    assert decode(envelope("v1", "Secret", secret))["data"] == {"key": "AP8="}


def test_lists_of_text_inside_maps() -> None:
    extra = message((1, "scopes"), (2, message((1, "a"), (1, "b"))))
    review = message((2, message((3, "me"), (4, "group"), (5, extra))))
    decoded = decode(envelope("authorization.k8s.io/v1", "SubjectAccessReview", review))
    assert decoded["spec"] == {"user": "me", "groups": ["group"], "extra": {"scopes": ["a", "b"]}}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"k8s\x00",
        b"k8s\x00\xff\xff\xff",
        envelope("v1", "Nothing", b""),
        envelope("v1", "Pod", b"\x0a\x7f"),
        envelope("v1", "Pod", message((1, 3))),
        envelope("v1", "Pod", message((1, message((1, b"\xff\xfe"))))),
        envelope("v1", "Pod", b"\x80" * 20),
    ],
)
def test_damaged_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(ProtobufError):
        decode(body)


def test_over_http(sandbox: Sandbox, rest: Rest) -> None:
    body = envelope("v1", "Pod", message((1, META), (2, message((2, CONTAINER)))))
    assert rest.send("POST", PODS, body, content=MEDIA_TYPE).status == 201
    target = message((1, "Node"), (3, "n1"))
    binding = envelope("v1", "Binding", message((1, message((1, "a"))), (2, target)))
    assert rest.send("POST", f"{PODS}/a/binding", binding, content=MEDIA_TYPE).status == 201
    assert rest.get(f"{PODS}/a").body["spec"]["nodeName"] == "n1"
    assert rest.send("POST", PODS, b"junk", content=MEDIA_TYPE).status == 400


def test_delete_options(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod(nodeName="n1")])
    options = envelope("v1", "DeleteOptions", message((1, 0), (2, message((1, "other")))))
    assert rest.send("DELETE", f"{PODS}/a", options, content=MEDIA_TYPE).status == 409
    options = envelope("v1", "DeleteOptions", message((1, 0)))
    assert rest.send("DELETE", f"{PODS}/a", options, content=MEDIA_TYPE).status == 200
