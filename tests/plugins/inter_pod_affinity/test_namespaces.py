"""Where the pods are that terms mean: listed namespaces, namespaces by label, namespaces that nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import Document
from tests.plugins.harness import Handle, scores
from tests.plugins.inter_pod_affinity.world import (
    ANTI_AFFINITY,
    EXISTING,
    HOST,
    app,
    nodes,
    plugin,
    pod,
    put_namespace,
    reasons,
    term,
    where,
)

WEB = app("web")
TEAM = {"matchLabels": {"team": "red"}}
KNOWN = {"red": {"team": "red"}, "blue": {"team": "blue"}, "bare": {}}

CASES = [
    # (namespaces and namespaceSelector of the term, in which namespaces pods are meant); "lost" is not known
    pytest.param({}, {"default"}, id="neither: the pod's own"),
    pytest.param({"namespaces": ["red", "lost"]}, {"red", "lost"}, id="listed"),
    pytest.param({"namespaceSelector": {}}, {"default", "red", "blue", "bare", "lost"}, id="empty: all"),
    pytest.param({"namespaceSelector": TEAM}, {"red"}, id="selected"),
    pytest.param({"namespaces": ["lost"], "namespaceSelector": TEAM}, {"lost", "red"}, id="both: either"),
    pytest.param({"namespaceSelector": where("team", "In", "green")}, set(), id="none selected"),
]


@pytest.mark.parametrize(("fields", "meant"), CASES)
@pytest.mark.parametrize("namespace", ["default", "red", "blue", "bare", "lost"])
def test_terms_of_the_waiting_pod(namespace: str, fields: Document, meant: set[str]) -> None:
    table = nodes(a1=pod("w", "app=web", namespace=namespace))
    found = reasons(plugin(KNOWN), pod(apart=[term(WEB, HOST, **fields)]), table)
    assert found == ({"a1": ANTI_AFFINITY} if namespace in meant else {})


@pytest.mark.parametrize(("fields", "meant"), CASES)
@pytest.mark.parametrize("namespace", ["default", "red", "blue", "bare", "lost"])
def test_terms_of_running_pods(namespace: str, fields: Document, meant: set[str]) -> None:
    table = nodes(a1=pod("w", apart=[term(WEB, HOST, **fields)]))
    found = reasons(plugin(KNOWN), pod("p", "app=web", namespace=namespace), table)
    assert found == ({"a1": EXISTING} if namespace in meant else {})


EXCLUDING = [
    pytest.param(where("team", "NotIn", "red"), id="NotIn"),
    pytest.param(where("team", "DoesNotExist"), id="DoesNotExist"),
]


@pytest.mark.parametrize("excluding", EXCLUDING)
class TestExcludedNamespaces:
    """kubernetes#141526: 1.34 to 1.36 count pods of namespaces that the selector excludes. We do not."""

    def test_a_pod_of_an_excluded_namespace_does_not_reject(self, excluding: Document) -> None:
        table = nodes(a1=pod("w", "app=web", namespace="red"))
        waiting = pod("p", namespace="red", apart=[term(WEB, HOST, namespaceSelector=excluding)])
        assert reasons(plugin(KNOWN), waiting, table) == {}

    def test_a_pod_of_another_namespace_rejects(self, excluding: Document) -> None:
        table = nodes(a1=pod("w", "app=web", namespace="bare"))
        waiting = pod("p", namespace="red", apart=[term(WEB, HOST, namespaceSelector=excluding)])
        assert reasons(plugin(KNOWN), waiting, table) == {"a1": ANTI_AFFINITY}

    def test_it_is_no_company(self, excluding: Document) -> None:
        table = nodes(a1=pod("w", "app=web", namespace="red"))
        waiting = pod("p", near=[term(WEB, HOST, namespaceSelector=excluding)])
        assert reasons(plugin(KNOWN), waiting, table).keys() == {"a1", "a2", "b1", "x"}

    def test_a_pod_of_an_excluded_namespace_is_not_the_first_of_its_group(self, excluding: Document) -> None:
        waiting = pod("p", "app=web", namespace="red", near=[term(WEB, HOST, namespaceSelector=excluding)])
        assert reasons(plugin(KNOWN), waiting, nodes()).keys() == {"a1", "a2", "b1", "x"}

    def test_it_gives_no_score(self, excluding: Document) -> None:
        table = nodes(a1=pod("w", "app=web", namespace="red"))
        waiting = pod("p", likes=[(5, term(WEB, HOST, namespaceSelector=excluding))])
        assert scores(plugin(KNOWN), waiting, table) is None

    def test_a_running_pods_term_does_not_keep_the_excluded_away(self, excluding: Document) -> None:
        table = nodes(a1=pod("w", apart=[term(WEB, HOST, namespaceSelector=excluding)]))
        assert reasons(plugin(KNOWN), pod("p", "app=web", namespace="red"), table) == {}

    def test_unknown_namespaces(self, excluding: Document) -> None:
        """The waiting pod's selector picks among known namespaces; a running pod's sees one without labels."""
        made, picky = plugin(KNOWN), term(WEB, HOST, namespaceSelector=excluding)
        table = nodes(a1=pod("w", "app=web", namespace="lost"))
        assert reasons(made, pod(apart=[picky]), table) == {}
        table = nodes(a1=pod("w", apart=[picky]))
        assert reasons(made, pod("p", "app=web", namespace="lost"), table) == {"a1": EXISTING}


def _rejected(made: Any, direction: str) -> bool:
    picky = term(WEB, HOST, namespaceSelector=TEAM)
    if direction == "of the waiting pod":
        table, waiting = nodes(a1=pod("w", "app=web", namespace="ns")), pod(apart=[picky])
    else:
        table, waiting = nodes(a1=pod("w", apart=[picky])), pod("p", "app=web", namespace="ns")
    return bool(reasons(made, waiting, table))


@pytest.mark.parametrize("direction", ["of the waiting pod", "of a running pod"])
def test_changed_namespaces_are_noticed(direction: str) -> None:
    handle = Handle()
    made = plugin(handle=handle)
    answers = [_rejected(made, direction)]
    for labels in ({}, {"team": "red"}, {"team": "blue"}):
        put_namespace(handle, "ns", labels)
        answers.append(_rejected(made, direction))
    assert answers == [False, False, True, False]


def test_one_table_is_judged_anew_when_a_namespace_changes() -> None:
    handle = Handle()
    made = plugin(handle=handle)
    table, waiting = nodes(a1=pod("w", apart=[term(WEB, namespaceSelector=TEAM)])), pod("p", "app=web")
    assert reasons(made, waiting, table) == {}
    put_namespace(handle, "default", {"team": "red"})
    assert reasons(made, waiting, table).keys() == {"a1", "a2"}
