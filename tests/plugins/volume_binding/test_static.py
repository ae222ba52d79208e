"""Static provisioning: the smallest volume that fits, node by node."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.features import Features
from scheduler.framework.status import Code
from tests.plugins.volume_binding.world import (
    BIND_CONFLICT,
    HOST,
    SELECTED_NODE,
    ZONE,
    cluster,
    disk,
    sort_of,
    wish,
    within,
    world,
)
from tests.plugins.volumes import Document, of_claim, pod_with

POD = pod_with(of_claim("c"))
CLAIM_REF: Document = {"namespace": "default", "name": "c"}
LOCAL = sort_of("local")


def chosen(claim: Any, *volumes: Any, **settings: Any) -> str | None:
    """The volume that the claim gets on a lonely node."""
    made = world(cluster("a"), claim, LOCAL, *volumes, **settings)
    return None if made.verdicts(POD) else made.choice(POD, "n0")["c"]


@pytest.mark.parametrize(
    ("claim", "volume", "fits"),
    [
        pytest.param({}, {}, True, id="fits"),
        pytest.param({"size": "10Gi"}, {}, True, id="just large enough"),
        pytest.param({"size": "10241Mi"}, {}, False, id="too small"),
        pytest.param({"size": None}, {"size": "0"}, True, id="a claim that does not say how much"),
        pytest.param({}, {"of_class": "other"}, False, id="another class"),
        pytest.param({}, {"phase": "Released"}, False, id="not available"),
        pytest.param({"accessModes": []}, {"accessModes": []}, True, id="no access modes"),
        pytest.param({"accessModes": ["ReadWriteMany"]}, {}, False, id="another access mode"),
        pytest.param(
            {"accessModes": ["ReadWriteOnce"]},
            {"accessModes": ["ReadWriteMany", "ReadWriteOnce"]},
            True,
            id="more modes",
        ),
        pytest.param({"volumeMode": "Block"}, {}, False, id="another mode"),
        pytest.param({"volumeMode": "Filesystem"}, {}, True, id="file systems are the default"),
        pytest.param({}, {"volumeMode": "Block"}, False, id="a block device for a file system"),
        pytest.param({"volumeAttributesClassName": "gold"}, {}, False, id="attributes that the volume lacks"),
        pytest.param({}, {"volumeAttributesClassName": "gold"}, False, id="attributes that nobody asked for"),
        pytest.param({"volumeAttributesClassName": ""}, {}, True, id="empty attributes are none"),
        pytest.param({"selector": {"matchLabels": {"kind": "b"}}}, {}, True, id="selected"),
        pytest.param({"selector": {"matchLabels": {"kind": "x"}}}, {}, False, id="not selected"),
        pytest.param({"selector": {}}, {}, True, id="an empty selector"),
        pytest.param({}, {"claimRef": {**CLAIM_REF, "name": "d"}}, False, id="set aside for another claim"),
        pytest.param(
            {}, {"claimRef": {**CLAIM_REF, "uid": "old"}}, False, id="set aside for an earlier claim"
        ),
        pytest.param({}, {"claimRef": CLAIM_REF}, True, id="set aside for the claim"),
        pytest.param(
            {"selector": {"matchLabels": {"kind": "x"}}, "accessModes": ["ReadWriteMany"]},
            {"claimRef": CLAIM_REF, "phase": "Released"},
            True,
            id="of a volume set aside less is asked",
        ),
        pytest.param({"size": "11Gi"}, {"claimRef": CLAIM_REF}, False, id="set aside, and too small"),
    ],
)
def test_what_fits(claim: Document, volume: Document, fits: bool) -> None:
    found = chosen(wish("c", **claim), disk("pv", metadata={"labels": {"kind": "b"}}, **volume))
    assert found == ("pv" if fits else None)


def test_a_volume_that_is_being_deleted_does_not_fit() -> None:
    assert chosen(wish("c"), disk("pv", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})) is None


def test_the_smallest_is_taken() -> None:
    assert chosen(wish("c"), disk("large", "20Gi"), disk("small", "6Gi"), disk("tiny", "4Gi")) == "small"


def test_the_first_of_equals_is_taken() -> None:
    assert chosen(wish("c"), disk("b", "6Gi"), disk("a", "6144Mi")) == "b"


def test_one_set_aside_is_taken_before_a_smaller_one() -> None:
    assert chosen(wish("c"), disk("small", "6Gi"), disk("mine", "20Gi", claimRef=CLAIM_REF)) == "mine"


def test_a_node_that_cannot_reach_the_one_set_aside_has_none() -> None:
    mine = disk("mine", claimRef=CLAIM_REF, reach=within(ZONE, "a"))
    made = world(cluster("a", "b"), wish("c"), LOCAL, mine, disk("other"))
    assert made.verdicts(POD) == {"n1": (BIND_CONFLICT,)}


def test_each_node_has_its_own_choice() -> None:
    volumes = [
        disk("at-n0", "9Gi", reach=within(HOST, "n0")),
        disk("in-a", "8Gi", reach=within(ZONE, "a")),
        disk("in-b", "30Gi", reach=within(ZONE, "b")),
        disk("anywhere", "20Gi"),
    ]
    made = world(cluster("a", "b", "c"), wish("c"), LOCAL, *volumes)
    assert [made.choice(POD, node)["c"] for node in ("n0", "n1", "n2")] == ["in-a", "anywhere", "anywhere"]


def test_small_claims_choose_first_and_nothing_is_chosen_twice() -> None:
    volumes = [disk("v6", "6Gi"), disk("v20", "20Gi"), disk("v8", "8Gi", reach=within(ZONE, "a"))]
    made = world(
        cluster("a", "b"), wish("big", "6Gi"), wish("small", "5Gi"), wish("mid", "5500Mi"), LOCAL, *volumes
    )
    pod = pod_with(of_claim("big"), of_claim("small"), of_claim("mid"))
    assert made.verdicts(pod) == {"n1": (BIND_CONFLICT,)}
    assert made.choice(pod, "n0") == {"small": "v6", "mid": "v8", "big": "v20"}


def test_a_claim_that_two_volumes_name_takes_two() -> None:
    made = world(cluster("a"), wish("c"), LOCAL, disk("v6", "6Gi"))
    assert made.verdicts(pod_with(of_claim("c"), of_claim("c"))) == {"n0": (BIND_CONFLICT,)}


def test_a_claim_that_two_volumes_name_takes_the_one_set_aside_first() -> None:
    mine = [disk(name, "9Gi", claimRef=CLAIM_REF) for name in ("mine", "mine-too")]
    twice = pod_with(of_claim("c"), of_claim("c"))
    made = world(cluster("a"), wish("c"), LOCAL, *mine, disk("free"))
    bindings = made.reserved(twice, "n0").state["VolumeBinding"].binding.chosen.bindings
    assert [pair.volume.metadata.name for pair in bindings] == ["mine", "mine-too"]
    made = world(cluster("a"), wish("c"), LOCAL, mine[0], disk("free"))
    bindings = made.reserved(twice, "n0").state["VolumeBinding"].binding.chosen.bindings
    assert [pair.volume.metadata.name for pair in bindings] == ["mine", "free"]
    made = world(cluster("a"), wish("c"), LOCAL, mine[0])
    assert made.verdicts(twice) == {"n0": (BIND_CONFLICT,)}


@pytest.mark.parametrize("count", [pytest.param(3, id="few nodes"), pytest.param(100, id="many nodes")])
def test_all_that_a_volume_asks_of_a_node_counts(count: int) -> None:
    expressions = [
        {"key": ZONE, "operator": "In", "values": ["a"]},
        {"key": HOST, "operator": "NotIn", "values": ["n1"]},
    ]
    reach = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    made = world(cluster(*["a"] * count, "b"), wish("c"), LOCAL, disk("pv", reach=reach))
    assert made.verdicts(POD) == dict.fromkeys(("n1", f"n{count}"), (BIND_CONFLICT,))


@pytest.mark.parametrize(
    ("features", "claim", "message"),
    [
        pytest.param(
            Features.default(),
            {"selector": {"matchExpressions": [{"key": "k", "operator": "Like"}]}},
            'error creating internal label selector for claim: default/c: "Like" is not a valid label selector operator',
            id="selector",
        ),
        pytest.param(
            Features.default().with_gates(VolumeAttributesClass=False),
            {"volumeAttributesClassName": "gold"},
            "unsupported volumeAttributesClassName is set on claim default/c "
            "when the feature-gate VolumeAttributesClass is disabled",
            id="attributes class",
        ),
    ],
)
def test_a_claim_that_cannot_be_matched_is_an_error(
    features: Features, claim: Document, message: str
) -> None:
    made = world(cluster("a"), wish("c", **claim), LOCAL, disk("pv"), features=features)
    cycle, _ = made.start(POD)
    found = made.plugin.filter(cycle, made.nodes)
    assert found is not None
    assert (found.status(0).code, found.status(0).reasons) == (Code.ERROR, (message,))


def test_without_the_gate_volumes_with_attributes_are_left_alone() -> None:
    off = Features.default().with_gates(VolumeAttributesClass=False)
    assert chosen(wish("c"), disk("pv", volumeAttributesClassName="gold"), features=off) is None
    assert chosen(wish("c"), disk("pv"), features=off) == "pv"


def test_a_chosen_node_rules_out_all_others_and_finds_no_volume() -> None:
    selected = wish("c", annotations={SELECTED_NODE: "n1"})
    made = world(cluster("a", "b"), selected, LOCAL, disk("pv"))
    assert made.verdicts(POD) == {"n0": (BIND_CONFLICT,), "n1": (BIND_CONFLICT,)}
