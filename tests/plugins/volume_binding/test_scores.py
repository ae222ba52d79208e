"""Scores under the gate StorageCapacityScoring, and none without it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config.args import UtilizationShapePoint
from scheduler.apis.config.completion import CAPACITY_SHAPE
from scheduler.features import Features
from scheduler.framework.status import SKIP
from tests.plugins.volume_binding.world import (
    HOST,
    ZONE,
    World,
    cluster,
    disk,
    held,
    sort_of,
    storage,
    wish,
    within,
    world,
)
from tests.plugins.volumes import csi_driver, of_claim, pod_with

ON = Features.default().with_gates(StorageCapacityScoring=True)
FULLER = (UtilizationShapePoint(0, 0), UtilizationShapePoint(50, 8), UtilizationShapePoint(100, 10))
DRIVER = [sort_of("made", "csi.example"), csi_driver("csi.example", storageCapacity=True)]


def scores(made: World, *claims: str) -> list[int] | None:
    """The scores of all nodes; None when the plugin skips the pod."""
    cycle, _ = made.start(pod_with(*map(of_claim, claims)))
    made.plugin.filter(cycle, made.nodes)
    if made.plugin.pre_score(cycle, made.nodes) == SKIP:
        return None
    found: list[int] = made.plugin.score(cycle, made.nodes).tolist()
    return found


def gated(*objects: Any, shape: Any = FULLER, zones: tuple[str, ...] = ("a", "b", "c")) -> World:
    return world(cluster(*zones), *objects, features=ON, shape=shape)


def test_without_the_gate_nothing_is_scored() -> None:
    assert scores(world(cluster("a"), wish("c"), sort_of("local"), disk("pv")), "c") is None


def test_volumes_that_exist_are_scored_by_how_full_they_get() -> None:
    disks = [
        disk(f"d{n}", size, reach=within(HOST, f"n{n}")) for n, size in enumerate(("5Gi", "10Gi", "20Gi"))
    ]
    assert scores(gated(wish("c"), sort_of("local"), *disks), "c") == [100, 80, 40]
    assert scores(gated(wish("c"), sort_of("local"), *disks, shape=CAPACITY_SHAPE), "c") == [0, 50, 75]


def test_classes_weigh_the_same_and_the_mean_is_rounded() -> None:
    made = gated(
        wish("c"),
        wish("d"),
        wish("e", of_class="other"),
        sort_of("local"),
        sort_of("other"),
        disk("small", "5Gi"),
        disk("large", "15Gi"),
        disk("huge", "33Gi", "other"),
        zones=("a",),
    )
    # local: 10 of 20 Gi, 80 points; other: 5 of 33 Gi is 15 %, 24 points
    assert scores(made, "c", "d", "e") == [52]
    # local: 5 of 5 Gi, 100 points; 100 and 24 are 62
    assert scores(made, "c", "e") == [62]


def test_storage_is_scored_where_nothing_exists() -> None:
    made = gated(
        wish("c", of_class="made"),
        wish("d", of_class="made"),
        *DRIVER,
        storage("sa", "a", "10Gi"),
        storage("sb", "b", "20Gi"),
        storage("sc", "c", "8Gi"),
    )
    assert scores(made, "c") == [80, 40, 84]
    # two claims of a class share its capacity; more than all counts as all
    assert scores(made, "c", "d") == [100, 80, 100]


def test_where_one_claim_finds_a_volume_only_volumes_count() -> None:
    made = gated(
        wish("c", of_class="made"),
        wish("d", of_class="made"),
        *DRIVER,
        *(storage(f"s{zone}", zone, "10Gi") for zone in "abc"),
        disk("pv", "20Gi", "made", reach=within(ZONE, "a")),
    )
    assert scores(made, "c", "d") == [40, 100, 100]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([held("c", "pv"), disk("pv")], [0, 0, 0], id="bound claims"),
        pytest.param(
            [wish("c", of_class="made"), sort_of("made", "csi.example")], [0, 0, 0], id="nobody tells"
        ),
        pytest.param([], [0, 0, 0], id="no claims"),
        pytest.param(
            [wish("c", "0"), sort_of("local"), disk("pv", "0")], [100, 100, 100], id="nothing at all"
        ),
        pytest.param(
            [wish("c", of_class="made"), *DRIVER, *(storage(z, z, None, largest="9Gi") for z in "abc")],
            [100, 100, 100],
            id="only the largest volume is known",
        ),
        pytest.param(
            [
                wish("c", of_class=None, annotations={"volume.beta.kubernetes.io/storage-class": "made"}),
                *DRIVER,
                *(storage(z, z, "10Gi") for z in "abc"),
            ],
            [80, 80, 80],
            id="the class of an annotation",
        ),
    ],
)
def test_special_cases(objects: list[Any], expected: list[int]) -> None:
    assert scores(gated(*objects), *(["c"] if objects else [])) == expected


def test_rows_are_scored_alike_alone() -> None:
    disks = [
        disk(f"d{n}", size, reach=within(HOST, f"n{n}")) for n, size in enumerate(("5Gi", "10Gi", "20Gi"))
    ]
    made = gated(wish("c"), sort_of("local"), *disks)
    cycle, _ = made.start(pod_with(of_claim("c")))
    made.plugin.filter(cycle, made.nodes)
    assert made.plugin.score(cycle, made.nodes.take(made.nodes.rows_of(["n2", "n0"]))).tolist() == [40, 100]
