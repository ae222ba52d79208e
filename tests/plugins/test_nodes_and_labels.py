"""NodeName, NodeUnschedulable, TaintToleration and NodeAffinity."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config import args
from scheduler.apis.objects import NodeAffinity, convert
from scheduler.features import Features
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import PreFilterResult
from scheduler.framework.status import Code, Status
from tests.builders import PodBuilder, make_node, make_pod
from tests.plugins.harness import Handle, make_plugin, rejections, scores, table

THREE = table(
    make_node("a").label("disk", "ssd").label("cores", "8"),
    make_node("b").label("disk", "hdd").label("cores", "many"),
    make_node("c"),
)


def affinity(args_: args.NodeAffinityArgs | None = None) -> Any:
    return make_plugin("NodeAffinity", args_ or args.NodeAffinityArgs())


def added(document: dict[str, Any]) -> args.NodeAffinityArgs:
    return args.NodeAffinityArgs(convert(NodeAffinity, document))


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(*names: str, operator: str = "In") -> dict[str, Any]:
    fields = [{"key": "metadata.name", "operator": operator, "values": [name]} for name in names]
    return {"matchFields": fields}


def test_a_pod_that_names_its_node_runs_only_there() -> None:
    found = rejections(make_plugin("NodeName"), make_pod().node("b"), THREE)
    assert found == dict.fromkeys("ac", Status.unresolvable("node(s) didn't match the requested node name"))
    assert set(rejections(make_plugin("NodeName"), make_pod().node("gone"), THREE)) == set("abc")


def test_cordoned_nodes_take_only_pods_that_tolerate_the_cordon() -> None:
    nodes = table(make_node("open"), make_node("cordoned").unschedulable())
    plugin = make_plugin("NodeUnschedulable")
    assert rejections(plugin, make_pod(), nodes) == {
        "cordoned": Status.unresolvable("node(s) were unschedulable")
    }
    tolerant = make_pod().toleration("node.kubernetes.io/unschedulable", operator="Exists")
    assert rejections(plugin, tolerant, nodes) == {}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(), {"hard", "evicting"}, id="no toleration"),
        pytest.param(make_pod().toleration("k", "v"), set(), id="key and value"),
        pytest.param(make_pod().toleration("k", "other"), {"hard", "evicting"}, id="another value"),
        pytest.param(make_pod().toleration("k", operator="Exists"), set(), id="any value"),
        pytest.param(make_pod().toleration(operator="Exists"), set(), id="any key"),
        pytest.param(make_pod().toleration(value="v"), set(), id="any key with the value"),
        pytest.param(make_pod().toleration("k", "v", "NoSchedule"), {"evicting"}, id="one effect"),
        pytest.param(
            make_pod().toleration("k", "9", operator="Lt"), {"hard", "evicting"}, id="comparisons are off"
        ),
    ],
)
def test_taints_repel_pods_that_do_not_tolerate_them(pod: PodBuilder, expected: set[str]) -> None:
    nodes = table(
        make_node("free"),
        make_node("hard").taint("k", "v"),
        make_node("evicting").taint("k", "v", "NoExecute"),
        make_node("soft").taint("k", "v", "PreferNoSchedule"),
    )
    found = rejections(make_plugin("TaintToleration"), pod, nodes)
    assert set(found) == expected
    assert set(found.values()) <= {Status.unresolvable("node(s) had untolerated taint(s)")}


@pytest.mark.parametrize(
    ("operator", "value", "tolerated"),
    [
        ("Lt", "10", True),
        ("Lt", "5", False),
        ("Gt", "4", True),
        ("Gt", "5", False),
        ("Gt", "04", False),
        ("Gt", "four", False),
        ("Gt", "-9223372036854775809", False),
    ],
)
def test_tolerations_compare_numbers_when_the_gate_is_on(operator: str, value: str, tolerated: bool) -> None:
    features = Features.default().with_gates(TaintTolerationComparisonOperators=True)
    plugin = make_plugin("TaintToleration", handle=Handle(features))
    pod = make_pod().toleration("level", value, operator=operator)
    nodes = table(make_node("five").taint("level", "5"), make_node("text").taint("level", "x"))
    assert set(rejections(plugin, pod, nodes)) == {"text"} | (set() if tolerated else {"five"})


def test_soft_taints_cost_score() -> None:
    soft = "PreferNoSchedule"
    nodes = table(
        make_node("none"),
        make_node("one").taint("a", effect=soft),
        make_node("three").taint("a", effect=soft).taint("b", effect=soft).taint("c", effect=soft),
    )
    plugin = make_plugin("TaintToleration")
    assert scores(plugin, make_pod(), nodes) == {"none": 100, "one": 67, "three": 0}
    hard = make_pod().toleration("a", effect="NoSchedule", operator="Exists")
    assert scores(plugin, hard, nodes) == {"none": 100, "one": 67, "three": 0}
    tolerant = make_pod().toleration(operator="Exists")
    assert scores(plugin, tolerant, nodes) == dict.fromkeys(("none", "one", "three"), 100)


@pytest.mark.parametrize(
    ("pod", "matching"),
    [
        pytest.param(make_pod(), "abc", id="nothing required"),
        pytest.param(make_pod().node_selector({"disk": "ssd"}), "a", id="selector"),
        pytest.param(make_pod().node_selector({"disk": ""}), "", id="an empty value is a value"),
        pytest.param(make_pod().node_affinity(expression("disk", "In", "ssd", "nvme")), "a", id="In"),
        pytest.param(make_pod().node_affinity(expression("disk", "NotIn", "ssd")), "bc", id="NotIn"),
        pytest.param(make_pod().node_affinity(expression("disk", "Exists")), "ab", id="Exists"),
        pytest.param(make_pod().node_affinity(expression("disk", "DoesNotExist")), "c", id="DoesNotExist"),
        pytest.param(make_pod().node_affinity(expression("cores", "Gt", "4")), "a", id="Gt"),
        pytest.param(make_pod().node_affinity(expression("cores", "Lt", "4")), "", id="Lt"),
        pytest.param(make_pod().node_affinity(), "", id="no terms"),
        pytest.param(make_pod().node_affinity({}), "", id="an empty term"),
        pytest.param(make_pod().node_affinity(named("b", operator="NotIn")), "ac", id="a name"),
        pytest.param(
            make_pod().node_affinity(expression("disk", "Odd"), expression("disk", "In", "hdd")),
            "b",
            id="a faulty term beside a good one",
        ),
        pytest.param(make_pod().node_affinity(expression("disk", "Odd")), "", id="a faulty term alone"),
        pytest.param(
            make_pod().node_selector({"disk": "ssd"}).node_affinity(expression("disk", "In", "hdd")),
            "",
            id="selector and affinity",
        ),
    ],
)
def test_required_affinity(pod: PodBuilder, matching: str) -> None:
    found = rejections(affinity(), pod, THREE)
    assert set(found) == set("abc") - set(matching)
    assert set(found.values()) <= {Status.unresolvable("node(s) didn't match Pod's node affinity/selector")}


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param([named("a")], {"a"}, id="a name"),
        pytest.param([named("a"), named("b")], {"a", "b"}, id="alternatives"),
        pytest.param([named("a"), expression("disk", "Exists")], None, id="a term without a name"),
        pytest.param([named("a", operator="NotIn")], None, id="not a name"),
        pytest.param([named("a", "b"), named("c")], {"c"}, id="a contradiction beside a name"),
    ],
)
def test_named_nodes_narrow_the_search(terms: list[Any], expected: set[str] | None) -> None:
    answer = affinity().pre_filter(Cycle(make_pod().node_affinity(*terms).info()), THREE)
    assert answer == (None if expected is None else PreFilterResult(frozenset(expected)))


def test_contradicting_names_refuse_the_pod() -> None:
    answer = affinity().pre_filter(Cycle(make_pod().node_affinity(named("a", "b")).info()), THREE)
    assert answer == Status.unresolvable("pod affinity terms conflict")


def test_preferences_add_up_and_the_largest_sum_is_100() -> None:
    pod = (
        make_pod()
        .node_preference(60, expression("disk", "Exists"))
        .node_preference(30, expression("disk", "In", "ssd"))
    )
    pod.node_preference(0, expression("disk", "Odd"))
    assert scores(affinity(), pod, THREE) == {"a": 100, "b": 66, "c": 0}
    assert scores(affinity(), make_pod(), THREE) is None


def test_a_faulty_preference_is_an_error() -> None:
    pod = make_pod().node_preference(1, expression("disk", "Odd"))
    status = affinity().pre_score(Cycle(pod.info()), THREE)
    assert status.code is Code.ERROR
    assert status.message.startswith('[0].matchExpressions[0].operator: Unsupported value: "Odd"')


def test_added_affinity_holds_for_every_pod() -> None:
    required = {"nodeSelectorTerms": [expression("disk", "Exists")]}
    preferred = [{"weight": 5, "preference": expression("disk", "In", "hdd")}]
    plugin = affinity(
        added(
            {
                "requiredDuringSchedulingIgnoredDuringExecution": required,
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            }
        )
    )
    assert rejections(plugin, make_pod().node_selector({"disk": "ssd"}), THREE) == {
        "b": Status.unresolvable("node(s) didn't match Pod's node affinity/selector"),
        "c": Status.unresolvable("node(s) didn't match scheduler-enforced node affinity"),
    }
    assert scores(plugin, make_pod(), THREE) == {"a": 0, "b": 100, "c": 0}


@pytest.mark.parametrize("field", ["required", "preferred"])
def test_faulty_added_affinity_is_refused_at_start(field: str) -> None:
    term = expression("disk", "Odd")
    parts = {"required": {"nodeSelectorTerms": [term]}, "preferred": [{"weight": 1, "preference": term}]}
    path = f"{field}DuringSchedulingIgnoredDuringExecution"
    with pytest.raises(ValueError, match=rf"parsing addedAffinity\.{path}: .*Unsupported value"):
        affinity(added({path: parts[field]}))
