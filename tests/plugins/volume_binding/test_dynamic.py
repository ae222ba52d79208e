"""Dynamic provisioning: where a volume can be made."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugins.volume_binding.world import (
    BIND_CONFLICT,
    NOT_ENOUGH,
    SELECTED_NODE,
    ZONE,
    cluster,
    disk,
    sort_of,
    storage,
    wish,
    within,
    world,
)
from tests.plugins.volumes import csi_driver, of_claim, pod_with

POD = pod_with(of_claim("c"))
TRACKED = csi_driver("csi.example", storageCapacity=True)


def topology(*terms: Any) -> list[Any]:
    return [
        {"matchLabelExpressions": [{"key": key, "values": values} for key, values in expressions]}
        for expressions in terms
    ]


@pytest.mark.parametrize("provisioner", ["", "kubernetes.io/no-provisioner"])
def test_classes_that_make_nothing(provisioner: str) -> None:
    made = world(cluster("a"), wish("c", of_class="made"), sort_of("made", provisioner))
    assert made.verdicts(POD) == {"n0": (BIND_CONFLICT,)}


@pytest.mark.parametrize(
    ("topologies", "allowed"),
    [
        pytest.param(None, "n0 n1 n2", id="not said"),
        pytest.param([], "n0 n1 n2", id="empty"),
        pytest.param(topology([(ZONE, ["a"])]), "n0", id="one zone"),
        pytest.param(topology([(ZONE, ["a"])], [(ZONE, ["b"])]), "n0 n1", id="alternatives"),
        pytest.param(topology([(ZONE, ["a"]), ("rack", ["1"])]), "", id="all at once"),
        pytest.param(topology([]), "", id="an empty term allows nothing"),
        pytest.param(topology([(ZONE, [])], [(ZONE, ["b"])]), "n1", id="a term that cannot be read"),
    ],
)
def test_allowed_topologies(topologies: Any, allowed: str) -> None:
    made = world(
        cluster("a", "b", ""), wish("c", of_class="made"), sort_of("made", "csi.example", topologies)
    )
    refused = sorted({"n0", "n1", "n2"} - set(allowed.split()))
    assert made.verdicts(POD) == dict.fromkeys(refused, (BIND_CONFLICT,))


@pytest.mark.parametrize(
    ("driver", "size", "capacity", "enough"),
    [
        pytest.param(TRACKED, "5Gi", storage("s", "a", "5Gi"), True, id="enough"),
        pytest.param(TRACKED, "5Gi", storage("s", "a", "5119Mi"), False, id="too little"),
        pytest.param(TRACKED, "5Gi", storage("s", "b", "9Gi"), False, id="out of reach"),
        pytest.param(TRACKED, "5Gi", storage("s", None, "9Gi"), False, id="out of everybody's reach"),
        pytest.param(TRACKED, "5Gi", storage("s", "a", "9Gi", "other"), False, id="of another class"),
        pytest.param(TRACKED, "5Gi", storage("s", "a", "9Gi", largest="4Gi"), False, id="no volume so large"),
        pytest.param(
            TRACKED, "5Gi", storage("s", "a", "1Gi", largest="5Gi"), True, id="the largest volume counts"
        ),
        pytest.param(TRACKED, "5Gi", storage("s", "a", None), False, id="not known"),
        pytest.param(TRACKED, None, storage("s", "b", "1"), True, id="a claim that does not say how much"),
        pytest.param(csi_driver("csi.example", storageCapacity=False), "5Gi", None, True, id="does not tell"),
        pytest.param(csi_driver("csi.example"), "5Gi", None, True, id="does not say whether it tells"),
        pytest.param(csi_driver("other", storageCapacity=True), "5Gi", None, True, id="another driver tells"),
        pytest.param(TRACKED, "5Gi", None, False, id="tells nothing"),
    ],
)
def test_capacity(driver: Any, size: str | None, capacity: Any, enough: bool) -> None:
    objects = [wish("c", size, "made"), sort_of("made", "csi.example"), driver, *filter(None, [capacity])]
    verdicts = world(cluster("a"), *objects).verdicts(POD)
    assert verdicts == ({} if enough else {"n0": (NOT_ENOUGH,)})


def test_a_capacity_that_cannot_be_read_is_out_of_reach() -> None:
    faulty = storage("s", "a", "9Gi")
    broken = type(faulty)(
        metadata=faulty.metadata,
        storage_class_name="made",
        capacity="9Gi",
        node_topology=type(faulty.node_topology)(match_labels={"not a key": "x"}),  # type: ignore[misc]
    )
    made = world(cluster("a"), wish("c", of_class="made"), sort_of("made", "csi.example"), TRACKED, broken)
    assert made.verdicts(POD) == {"n0": (NOT_ENOUGH,)}


def test_what_changes_is_seen() -> None:
    made = world(cluster("a"), wish("c", of_class="made"), sort_of("made", "csi.example"), TRACKED)
    assert made.verdicts(POD) == {"n0": (NOT_ENOUGH,)}
    made.catalog.csi_storage_capacities.put(storage("s", "a", "9Gi"))
    assert made.verdicts(POD) == {}


def test_what_finds_no_volume_is_made() -> None:
    made = world(
        cluster("a", "b"),
        wish("c", of_class="made"),
        wish("d", "6Gi", "made"),
        sort_of("made", "csi.example"),
        disk("pv", of_class="made", reach=within(ZONE, "a")),
    )
    pod = pod_with(of_claim("d"), of_claim("c"))
    assert made.choice(pod, "n0") == {"c": "pv", "d": "made"}
    assert made.choice(pod, "n1") == {"c": "made", "d": "made"}


def test_topology_comes_before_capacity_and_the_first_claim_that_fails_decides() -> None:
    made = world(
        cluster("a", "b"),
        wish("c", of_class="made"),
        wish("d", "6Gi", "there"),
        sort_of("made", "csi.example"),
        sort_of("there", "csi.example", topology([(ZONE, ["b"])])),
        TRACKED,
        storage("s", "b", "9Gi"),
    )
    assert made.verdicts(pod_with(of_claim("d"), of_claim("c"))) == {"n0": (NOT_ENOUGH,), "n1": (NOT_ENOUGH,)}
    assert made.verdicts(pod_with(of_claim("d"))) == {"n0": (BIND_CONFLICT,), "n1": (NOT_ENOUGH,)}


@pytest.mark.parametrize(
    ("nodes", "rejected"),
    [
        pytest.param(["n1"], ["n0", "n2"], id="one claim has a node"),
        pytest.param(["n1", "n1"], ["n0", "n2"], id="two claims have the same"),
        pytest.param(["n1", "n2"], ["n0", "n1", "n2"], id="two claims have two"),
        pytest.param(["gone"], ["n0", "n1", "n2"], id="a node that is gone"),
        pytest.param([""], ["n0", "n1", "n2"], id="an empty name is a name"),
    ],
)
def test_nodes_that_were_chosen_before(nodes: list[str], rejected: list[str]) -> None:
    claims = [
        wish(f"c{number}", of_class="made", annotations={SELECTED_NODE: node})
        for number, node in enumerate(nodes)
    ]
    made = world(cluster("a", "b", "c"), *claims, sort_of("made", "csi.example"))
    pod = pod_with(*(of_claim(claim.metadata.name) for claim in claims))
    assert made.verdicts(pod) == dict.fromkeys(rejected, (BIND_CONFLICT,))


def test_rows_are_judged_alike_alone() -> None:
    made = world(
        cluster("a", "b", "b"),
        wish("c", annotations={SELECTED_NODE: "n1"}, of_class="made"),
        sort_of("made", "csi.example"),
    )
    cycle, _ = made.start(POD)
    alone = made.nodes.take(made.nodes.rows_of(["n2", "n1"]))
    found = made.plugin.filter(cycle, alone)
    assert found is not None
    assert [found.status(row).reasons for row in range(2)] == [(BIND_CONFLICT,), ()]
