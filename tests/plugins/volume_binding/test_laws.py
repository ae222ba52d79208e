"""The laws of the contract: the columns say what looking at one node and one volume at a time says, for any selection of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.framework.node_table import NodeTable
from tests.plugins.volume_binding.reference import judge
from tests.plugins.volume_binding.world import (
    HOST,
    SELECTED_NODE,
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

LAW = settings(max_examples=250, deadline=None)
ZONES = st.sampled_from(["a", "b", ""])
SIZES = st.sampled_from(["1Gi", "1024Mi", "2Gi", "3Gi", "4Gi"])
CLASSES = st.sampled_from(["local", "made", "there"])
NAMES = [f"c{number}" for number in range(4)]
REACHES = st.none() | st.builds(
    within,
    st.sampled_from([ZONE, HOST]),
    st.sampled_from(["a", "b", "n0", "n1", "n2", "n3", "x"]),
    st.sampled_from(["a", "n0", "n2"]),
)
KINDS = st.sampled_from([{}, {}, {"labels": {"kind": "k"}}])


@st.composite
def volumes(draw: st.DrawFn) -> list[Any]:
    """Up to eight volumes; some are set aside, some taken."""
    found = []
    for number in range(draw(st.integers(0, 8))):
        owner = draw(st.sampled_from([None, None, None, *NAMES]))
        reference = {
            "namespace": "default",
            "name": owner,
            "uid": draw(st.sampled_from(["", f"uid-{owner}", "x"])),
        }
        settled = {} if owner is None else {"claimRef": reference}
        found.append(
            disk(
                f"pv{number}",
                draw(SIZES),
                draw(CLASSES),
                reach=draw(REACHES),
                metadata=draw(KINDS),
                phase=draw(st.sampled_from(["Available", "Available", "Bound"])),
                volumeMode=draw(st.sampled_from([None, None, "Block"])),
                **settled,
            )
        )
    return found


@st.composite
def claims(draw: st.DrawFn) -> list[Any]:
    """Up to four claims; some are bound, some have a node."""
    found = []
    for name in NAMES[: draw(st.integers(1, 4))]:
        if draw(st.sampled_from([True, False, False, False])):
            found.append(held(name, draw(st.sampled_from(["pv0", "pv1", "pv9"]))))
            continue
        node = draw(st.sampled_from([None, None, None, "n0", "n1"]))
        annotations = {} if node is None else {SELECTED_NODE: node}
        selector = draw(st.sampled_from([None, None, {"matchLabels": {"kind": "k"}}]))
        size = draw(SIZES | st.none())
        found.append(wish(name, size, draw(CLASSES), annotations=annotations, selector=selector))
    return found


@st.composite
def worlds(draw: st.DrawFn) -> tuple[World, list[Any]]:
    """A cluster of up to five nodes with storage, and the claims of a pod."""
    topology = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]
    wanted = draw(claims())
    capacities = [
        storage(f"s{number}", draw(st.sampled_from(["a", "b", None])), draw(SIZES), "made")
        for number in range(draw(st.integers(0, 3)))
    ]
    nodes: NodeTable = cluster(*draw(st.lists(ZONES, min_size=1, max_size=5)))
    objects = [
        *wanted,
        *draw(volumes()),
        *capacities,
        sort_of("local"),
        sort_of("made", "csi.example"),
        sort_of("there", "other.example", topology),
        csi_driver("csi.example", storageCapacity=True),
    ]
    return world(nodes, *objects), wanted


@LAW
@given(worlds())
def test_columns_say_what_one_node_at_a_time_says(given_world: tuple[World, list[Any]]) -> None:
    made, wanted = given_world
    pod = pod_with(*(of_claim(claim.metadata.name) for claim in wanted))
    verdicts = made.verdicts(pod)
    for node in made.nodes.objects:
        name = node.metadata.name
        found = judge(wanted, node, made.catalog)
        assert verdicts.get(name, ()) == tuple(found.reasons)
        if not found.reasons:
            assert made.choice(pod, name) == found.choice


@LAW
@given(worlds(), st.data())
def test_any_selection_of_rows_is_judged_alike(
    given_world: tuple[World, list[Any]], data: st.DataObject
) -> None:
    made, wanted = given_world
    rows = np.array(data.draw(st.permutations(range(len(made.nodes)))), np.intp)
    rows = rows[: data.draw(st.integers(0, len(rows)))]
    cycle, status = made.start(pod_with(*(of_claim(claim.metadata.name) for claim in wanted)))
    assert status.ok
    whole, part = made.plugin.filter(cycle, made.nodes), made.plugin.filter(cycle, made.nodes.take(rows))
    for place, row in enumerate(rows.tolist()):
        expected = () if whole is None else whole.status(row).reasons
        assert (() if part is None else part.status(place).reasons) == expected
