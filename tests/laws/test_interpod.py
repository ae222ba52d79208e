"""InterPodAffinity against its plain twin, in crowds where nearly every pod has terms and most terms mean somebody.

The clusters of ``test_plugins`` hold everything that any plugin reads, so that few of their pods meet each other's terms.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.apis.config import args
from scheduler.apis.objects import Node, Pod, convert
from scheduler.features import Features
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.per_node import columnar
from scheduler.framework.pods import PodInfo
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.plugins import IN_TREE
from tests.laws import interpod_reference
from tests.laws.strategies import AFFINITY_TERMS, NAMESPACES, POD_METADATA, Document, catalog

CROWDED = settings(max_examples=120, deadline=None)
HARD_WEIGHT = 3

_weighted = st.fixed_dictionaries({"weight": st.integers(0, 3), "podAffinityTerm": AFFINITY_TERMS})
_side = st.fixed_dictionaries(
    {},
    optional={
        "requiredDuringSchedulingIgnoredDuringExecution": st.lists(AFFINITY_TERMS, min_size=1, max_size=2),
        "preferredDuringSchedulingIgnoredDuringExecution": st.lists(_weighted, min_size=1, max_size=2),
    },
)
_affinity = st.fixed_dictionaries({"podAffinity": _side, "podAntiAffinity": _side})
_documents = st.tuples(POD_METADATA, _affinity)
_labels = st.fixed_dictionaries(
    {"zone": st.sampled_from("ab")}, optional={"rack": st.sampled_from(("r", "s", ""))}
)
_nodes = st.lists(st.tuples(_labels, st.lists(_documents, min_size=1, max_size=3)), min_size=1, max_size=4)


def _pod(uid: str, metadata: Document, affinity: Document) -> PodInfo:
    document = {"metadata": {"name": "p", **metadata, "uid": uid}, "spec": {"affinity": affinity}}
    return PodInfo(convert(Pod, document))


def _cluster(nodes: list[tuple[Document, list[tuple[Document, Document]]]]) -> NodeTable:
    table = NodeTable()
    for number, (labels, pods) in enumerate(nodes):
        row = table.set_node(convert(Node, {"metadata": {"name": f"n{number}", "labels": labels}}))
        for place, pod in enumerate(pods):
            table.add_pod(row, _pod(f"{number}/{place}", *pod))
    return table


CROWDS = _nodes.map(_cluster)
PODS = _documents.map(lambda pod: _pod("pending", *pod))
NEWCOMERS = _documents.map(lambda pod: _pod("newcomer", *pod))


def _plugin() -> Any:
    handle: Any = SimpleNamespace(features=Features.default(), port=None, catalog=catalog())
    return IN_TREE["InterPodAffinity"](args.InterPodAffinityArgs(HARD_WEIGHT), handle)


def _filtered(plugin: Any, cycle: Cycle, nodes: Nodes) -> list[Status]:
    found = plugin.filter(cycle, nodes)
    return [SUCCESS if found is None else found.status(row) for row in range(len(nodes))]


def _answers(plugin: Any, pod: PodInfo, nodes: Nodes) -> list[Any]:
    """What it says at each point: the statuses of the nodes and their scores, or the code with which it stops before."""
    cycle, answers = Cycle(pod), []
    stopped = plugin.pre_filter(cycle, nodes)
    answers.append(stopped.code if stopped else _filtered(plugin, cycle, nodes))
    stopped = plugin.pre_score(cycle, nodes)
    answers.append(stopped.code if stopped else plugin.score(cycle, nodes).tolist())
    return answers


@CROWDED
@given(crowd=CROWDS, pod=PODS)
def test_it_answers_as_its_twin(crowd: NodeTable, pod: PodInfo) -> None:
    twin = columnar(interpod_reference.InterPodAffinity(crowd, NAMESPACES, HARD_WEIGHT))
    assert _answers(_plugin(), pod, crowd) == _answers(twin, pod, crowd)


@CROWDED
@given(crowd=CROWDS, pods=st.lists(PODS, min_size=2, max_size=3), newcomer=NEWCOMERS)
def test_what_it_remembers_changes_no_answer(
    crowd: NodeTable, pods: list[PodInfo], newcomer: PodInfo
) -> None:
    plugin = _plugin()
    for change in (crowd.add_pod, crowd.remove_pod, lambda row, pod: None):
        for pod in pods:
            assert _answers(plugin, pod, crowd) == _answers(_plugin(), pod, crowd)
        change(0, newcomer)


@CROWDED
@given(crowd=CROWDS, pod=PODS, newcomer=NEWCOMERS, data=st.data())
def test_in_a_what_if_each_row_says_what_a_new_count_would_with_its_own_changes(
    crowd: NodeTable, pod: PodInfo, newcomer: PodInfo, data: st.DataObject
) -> None:
    plugin, cycle = _plugin(), Cycle(pod)
    if plugin.pre_filter(cycle, crowd) is not None:
        return
    before, expected = _filtered(plugin, cycle, crowd), []
    hypothesis, taken = cycle.clone(), crowd.take(np.arange(len(crowd)))
    for row in range(len(crowd)):
        copy = NodeTable.copy_of(crowd)
        for other in data.draw(st.lists(st.sampled_from((newcomer, *crowd.pods(row))), unique=True)):
            told = plugin.add_pod if other is newcomer else plugin.remove_pod
            told(hypothesis, other, taken, row)
            (copy.add_pod if other is newcomer else copy.remove_pod)(row, other)
        found = _answers(_plugin(), pod, copy)[0]
        expected.append(SUCCESS if found is Code.SKIP else found[row])
    assert _filtered(plugin, hypothesis, taken) == expected
    assert _filtered(plugin, cycle, crowd) == before
