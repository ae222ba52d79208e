"""Pod affinity and anti-affinity: who is meant, and who comes first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import make_pod
from tests.conformance.surprises.world import (
    ZONE,
    apart,
    app,
    ask,
    near,
    node,
    pending,
    reason,
    running,
    term,
    victims,
)

ALONE = "node(s) didn't match pod affinity rules"
REPELLED = "node(s) didn't match pod anti-affinity rules"


def test_the_first_of_a_group_may_go_where_the_topology_is_known() -> None:
    """38339 of the website: company to itself, on any node that has the label."""
    found = ask(pending(app="web").spec(affinity=near(term(ZONE, app("web")))), node("bare"), node("a1", "a"))
    assert found["feasible"] == ["a1"]


def test_the_first_of_a_group_must_be_meant_by_all_of_its_terms() -> None:
    """62232"""
    affinity = near(term(ZONE, app("web")), term(ZONE, app("db")))
    found = ask(pending(app="web").spec(affinity=affinity), node("a1", "a"))
    assert reason(found) == f"0/1 nodes are available: 1 {ALONE}"


def test_a_group_on_a_node_without_the_label_is_no_group() -> None:
    """129319: the pod is there, but in no domain, so the next one counts as the first."""
    cluster = [node("bare"), node("a1", "a"), running("r", "bare", app="web")]
    assert ask(pending(app="web").spec(affinity=near(term(ZONE, app("web")))), *cluster)["feasible"] == ["a1"]


def test_two_groups_that_want_each_other_wait_for_ever() -> None:
    """43971"""
    found = ask(pending(app="web").spec(affinity=near(term(selector=app("db")))), node("n1"))
    assert reason(found) == f"0/1 nodes are available: 1 {ALONE}"


def test_running_pods_repel_what_does_not_mind() -> None:
    """126632: the rule is the running pods', which carry no such label themselves."""
    rule = apart(term(selector={"matchLabels": {"custom": "aj"}}))
    found = ask(
        pending(custom="aj"),
        *(node("n1"), node("n2")),
        *(running(f"r{n}", f"n{n}").spec(affinity=rule) for n in (1, 2)),
    )
    assert reason(found) == (
        "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules"
    )


def test_anti_affinity_needs_no_label_of_its_own() -> None:
    """68101: a pod is kept from pods with ``bbb`` whether it carries ``bbb`` or not."""
    rule = apart(term(selector={"matchLabels": {"bbb": "1"}}))
    found = ask(pending(aaa="1").spec(affinity=rule), node("n1"), running("r", "n1", bbb="1"))
    assert reason(found) == f"0/1 nodes are available: 1 {REPELLED}"


NAMESPACES: list[Any] = [
    pytest.param({}, True, id="none: the pod's own"),
    pytest.param({"namespaceSelector": None}, True, id="null: the pod's own"),
    pytest.param({"namespaceSelector": {}}, False, id="empty: all"),
    pytest.param({"namespaces": ["other"]}, False, id="named"),
    pytest.param({"namespaceSelector": {"matchLabels": {"team": "z"}}}, True, id="none selected"),
]


@pytest.mark.parametrize(("scope", "fits"), NAMESPACES)
def test_namespaces_of_a_term(scope: dict[str, Any], fits: bool) -> None:
    """45484: pods of another namespace are meant only when the term says so; an empty selector means all."""
    other = make_pod("r", "other").node("n1").labels({"app": "web"})
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("default", "other")
    ]
    found = ask(
        pending(app="web").spec(affinity=apart(term(selector=app("web"), **scope))),
        node("n1"),
        other,
        *spaces,
    )
    assert ("feasible" in found) is fits


@pytest.mark.parametrize(
    ("selector", "fits"), [(None, True), ({}, False)], ids=["no selector: nobody", "an empty one: everybody"]
)
def test_no_selector_and_an_empty_one(selector: dict[str, Any] | None, fits: bool) -> None:
    found = ask(
        pending(app="web").spec(affinity=apart(term(selector=selector))), node("n1"), running("r", "n1")
    )
    assert ("feasible" in found) is fits


def test_not_in_draws_to_pods_without_the_label() -> None:
    """106795: ``NotIn`` holds for what has no such label, too."""
    anything_else = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}
    found = ask(
        pending(app="web").spec(affinity=near(term(selector=anything_else))),
        *(node("n1"), node("n2"), node("n3")),
        *(running("unlabelled", "n1"), running("w", "n2", app="web")),
    )
    assert found["feasible"] == ["n1"]


def test_pending_twins_do_not_repel_until_they_are_placed() -> None:
    """138546"""
    rule = apart(term(selector=app("web")))
    twin = make_pod("twin").labels({"app": "web"}).spec(affinity=rule)
    assert ask(pending(app="web").spec(affinity=rule), node("n1"), twin)["feasible"] == ["n1"]
    twin = twin.nominated("n1").priority(1)
    assert reason(ask(pending(app="web").spec(affinity=rule), node("n1"), twin)) == (
        f"0/1 nodes are available: 1 {REPELLED}"
    )


def test_nobody_is_evicted_on_another_node() -> None:
    """The pod that is in the way runs on the zone's other node, where there is no room after its eviction."""
    found = ask(
        pending(app="web").priority(10).req(cpu="2").spec(affinity=apart(term(ZONE, app("web")))),
        *(node("a1", "a", cpu="1"), node("a2", "a")),
        running("r", "a1", app="web"),
    )
    assert "selected" not in found["preemption"]
    assert victims(found) == {}


def test_preemption_does_not_evict_the_company_that_the_pod_wants() -> None:
    found = ask(
        pending(app="web").priority(10).req(cpu="1").spec(affinity=near(term(selector=app("db")))),
        node("n1", cpu="2"),
        *(running("db", "n1", cpu="1", app="db"), running("other", "n1", cpu="1")),
    )
    assert victims(found) == {}
