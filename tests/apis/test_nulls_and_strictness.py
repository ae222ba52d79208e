"""Nulls count as Go's zero values, and what a server would not have stored is found."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import DecodeError, LabelSelector, Pod, ResourceRequirements, convert, verify

Document = dict[str, Any]


def container(resources: Any) -> Document:
    return {"spec": {"containers": [{"resources": resources}]}}


def test_a_field_that_is_null_is_absent() -> None:
    pod = convert(
        Pod, {"metadata": {"labels": None, "creationTimestamp": None}, "spec": None, "status": None}
    )
    assert pod == Pod()


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"requests": {"cpu": None}}, {"cpu": 0}),
        ({"requests": None}, {}),
        ({"requests": {}}, {}),
    ],
    ids=["null amount", "null map", "empty map"],
)
def test_a_null_amount_is_a_request_of_nothing(document: Document, expected: Document) -> None:
    assert convert(ResourceRequirements, document).requests == expected


def test_nulls_in_maps_and_lists_are_entries() -> None:
    selector = {"matchLabels": {"a": None}, "matchExpressions": [None, {"key": "b", "values": [None, "c"]}]}
    found = convert(LabelSelector, selector)
    assert found.match_labels == {"a": ""}
    assert [each.key for each in found.match_expressions] == ["", "b"]
    assert found.match_expressions[1].values == ("", "c")
    assert len(convert(Pod, {"spec": {"containers": [None]}}).spec.containers) == 1


def test_a_wrong_type_is_told_with_its_place() -> None:
    with pytest.raises(
        DecodeError, match=r"Expected `object`, got `int` - at `\$.spec.containers\[0\].resources`"
    ):
        convert(Pod, container(3))


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (container({"limits": {"cpu": "x"}}), "$.spec.containers[0].resources.limits.cpu"),
        ({"spec": {"overhead": {"memory": "1Gx"}}}, "$.spec.overhead.memory"),
        ({"metadata": {"creationTimestamp": "yesterday"}}, "$.metadata.creationTimestamp"),
        ({"status": {"startTime": "2025-02-30T00:00:00Z"}}, "$.status.startTime"),
        (
            {"status": {"conditions": [{"lastProbeTime": "2025-02-03"}]}},
            "$.status.conditions[0].lastProbeTime",
        ),
    ],
    ids=["limit", "overhead", "creation", "no such day", "condition"],
)
def test_quantities_and_times_are_verified(document: Document, place: str) -> None:
    with pytest.raises(DecodeError) as raised:
        verify(convert(Pod, document))
    assert str(raised.value).endswith(f"at `{place}`")


@pytest.mark.parametrize(
    "document",
    [
        {},
        container({"requests": {"cpu": 1, "memory": "1.5Gi", "ephemeral-storage": 0.5}}),
        {"metadata": {"deletionTimestamp": "2026-01-02T03:04:05.123456Z"}},
        {"status": {"startTime": "2026-01-02T03:04:05+02:00"}},
    ],
    ids=["empty", "numbers", "fractions of a second", "another zone"],
)
def test_what_a_server_stores_passes(document: Document) -> None:
    verify(convert(Pod, document))
