"""Required affinity and anti-affinity: which nodes a pod may go to, given the pods that run."""

from __future__ import annotations

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.status import Code
from tests.builders import Document, PodBuilder
from tests.plugins.harness import rejections
from tests.plugins.inter_pod_affinity.world import (
    AFFINITY,
    ANTI_AFFINITY,
    EXISTING,
    HOST,
    INVALID,
    ZONE,
    app,
    nodes,
    plugin,
    pod,
    reasons,
    term,
    where,
)

WEB = app("web")


@pytest.mark.parametrize(
    ("terms", "fits"),
    [
        pytest.param([term(WEB)], {"a1", "a2"}, id="the same zone"),
        pytest.param([term(WEB, HOST)], {"a1"}, id="the same host"),
        pytest.param([term(WEB), term(WEB, HOST)], {"a1"}, id="both"),
        pytest.param([term(where("app", "NotIn", "web"))], {"b1"}, id="anybody but"),
        pytest.param([term({})], {"a1", "a2", "b1"}, id="anybody"),
        pytest.param([term(None)], set(), id="nobody: no selector"),
        pytest.param([term(app("none"))], set(), id="nobody there"),
        pytest.param([term(WEB, "rack")], set(), id="a label that no node has"),
        pytest.param([term(WEB, "")], set(), id="no topology key"),
        pytest.param([term(WEB), term(where("tier", "Exists"))], {"a1", "a2"}, id="one pod meets both terms"),
        pytest.param([term(WEB), term(app("db"))], set(), id="two pods meet one term each"),
        pytest.param([term(WEB, namespaces=["other"])], set(), id="in another namespace"),
    ],
)
def test_required_company(terms: list[Document], fits: set[str]) -> None:
    table = nodes(a1=pod("w", "app=web", "tier=front"), b1=pod("d", "app=db"))
    found = reasons(plugin(), pod(near=terms), table)
    assert set(table.names) - found.keys() == fits
    assert set(found.values()) <= {AFFINITY}


@pytest.mark.parametrize(
    ("terms", "fits"),
    [
        pytest.param([term(WEB)], {"b1", "x"}, id="not in its zone"),
        pytest.param([term(WEB, HOST)], {"a2", "b1", "x"}, id="not on its host"),
        pytest.param([term(WEB, HOST), term(app("db"))], {"a2", "x"}, id="neither of two"),
        pytest.param([term(WEB, "rack")], {"a1", "a2", "b1", "x"}, id="a label that no node has"),
        pytest.param([term(None)], {"a1", "a2", "b1", "x"}, id="from nobody: no selector"),
        pytest.param([term({})], {"x"}, id="from anybody"),
        pytest.param([term(WEB, namespaces=["other"])], {"a1", "a2", "b1", "x"}, id="elsewhere"),
    ],
)
def test_pods_to_stay_away_from(terms: list[Document], fits: set[str]) -> None:
    table = nodes(a1=pod("w", "app=web"), b1=pod("d", "app=db"))
    found = reasons(plugin(), pod(apart=terms), table)
    assert set(table.names) - found.keys() == fits
    assert set(found.values()) <= {ANTI_AFFINITY}


@pytest.mark.parametrize(
    ("waiting", "fits"),
    [
        pytest.param(pod("p", "app=web"), {"b1", "x"}, id="meant"),
        pytest.param(pod("p", "app=db"), {"a1", "a2", "b1", "x"}, id="not meant"),
        pytest.param(pod("p", "app=web", namespace="other"), {"a1", "a2", "b1", "x"}, id="elsewhere"),
    ],
)
def test_running_pods_keep_others_away(waiting: PodBuilder, fits: set[str]) -> None:
    table = nodes(a1=pod("w", apart=[term(WEB)]))
    found = reasons(plugin(), waiting, table)
    assert set(table.names) - found.keys() == fits
    assert set(found.values()) <= {EXISTING}


def test_each_term_of_a_running_pod_counts_where_its_own_key_is() -> None:
    table = nodes(a1=pod("w", apart=[term(app("db"), HOST), term(WEB, HOST)]), b1=pod("v", apart=[term(WEB)]))
    assert reasons(plugin(), pod("p", "app=web"), table) == {"a1": EXISTING, "b1": EXISTING}


def test_the_first_broken_rule_is_the_reason() -> None:
    table = nodes(a1=pod("h", "app=db", apart=[term(WEB)]), b1=pod("k", "app=db"))
    waiting = pod("p", "app=web", near=[term(app("db"), HOST)], apart=[term(app("db"))])
    found = rejections(plugin(), waiting, table)
    assert {name: (status.code, status.message) for name, status in found.items()} == {
        "a1": (Code.UNSCHEDULABLE, ANTI_AFFINITY),
        "a2": (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, AFFINITY),
        "b1": (Code.UNSCHEDULABLE, ANTI_AFFINITY),
        "x": (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, AFFINITY),
    }


@pytest.mark.parametrize(
    ("waiting", "running", "fits"),
    [
        pytest.param(
            pod("p", "app=web", near=[term(WEB)]), pod("d", "app=db"), {"a1", "a2", "b1"}, id="the first"
        ),
        pytest.param(
            pod("p", "app=web", near=[term(WEB), term(WEB, "rack")]), pod("d"), set(), id="a key is missing"
        ),
        pytest.param(pod("p", "app=db", near=[term(WEB)]), pod("d"), set(), id="not of its own group"),
        pytest.param(pod("p", "app=web", near=[term(WEB)]), pod("w", "app=web"), {"b1"}, id="not the first"),
        pytest.param(
            pod("p", "app=web", near=[term(WEB, namespaces=["other"])]),
            pod("w", "app=web"),
            set(),
            id="its own group is elsewhere",
        ),
        pytest.param(
            pod("p", "app=web", near=[term(WEB), term(where("tier", "Exists"))]),
            pod("w", "app=web"),
            set(),
            id="it meets only one of its terms",
        ),
    ],
)
def test_the_first_pod_of_a_group(waiting: PodBuilder, running: PodBuilder, fits: set[str]) -> None:
    table = nodes(b1=running)
    assert set(table.names) - reasons(plugin(), waiting, table).keys() == fits


def test_company_where_no_label_is_does_not_end_a_group() -> None:
    """The pod on x matches, but x is in no zone: nobody counts, so the waiting pod is the first."""
    table = nodes(x=pod("w", "app=web"))
    assert reasons(plugin(), pod("p", "app=web", near=[term(WEB)]), table) == {"x": AFFINITY}


@pytest.mark.parametrize(
    ("waiting", "running", "skipped"),
    [
        pytest.param(pod(), pod("w", "app=web"), True, id="nobody requires anything"),
        pytest.param(pod(), pod("w", near=[term({})]), True, id="running pods want company"),
        pytest.param(pod(), pod("w", apart=[term({})]), False, id="a running pod avoids it"),
        pytest.param(pod(), pod("w", apart=[term(WEB)]), True, id="a running pod avoids another"),
        pytest.param(pod(), pod("w", apart=[term({}, "rack")]), True, id="avoided where no label is"),
        pytest.param(pod(near=[term(None)]), pod("w"), False, id="requires company"),
        pytest.param(pod(apart=[term(None)]), pod("w"), False, id="avoids nobody"),
        pytest.param(pod(likes=[(1, term({}))]), pod("w"), True, id="only prefers"),
    ],
)
def test_when_the_filter_is_skipped(waiting: PodBuilder, running: PodBuilder, skipped: bool) -> None:
    status = plugin().pre_filter(Cycle(waiting.info()), nodes(a1=running))
    assert (status is not None) is skipped
    assert status is None or status.code is Code.SKIP


@pytest.mark.parametrize(
    ("waiting", "message"),
    [
        pytest.param(
            pod(near=[term(INVALID)]),
            'parsing pod: requiredAffinityTerms: "Odd" is not a valid label selector operator',
            id="affinity",
        ),
        pytest.param(
            pod(apart=[term({}, namespaceSelector=INVALID)]),
            'parsing pod: requiredAntiAffinityTerms: "Odd" is not a valid label selector operator',
            id="anti-affinity, the namespaces",
        ),
        pytest.param(
            pod(likes=[(1, term(INVALID))], dislikes=[(1, term(INVALID))]),
            'parsing pod: [preferredAffinityTerms: "Odd" is not a valid label selector operator, '
            'preferredAntiAffinityTerms: "Odd" is not a valid label selector operator]',
            id="preferences",
        ),
    ],
)
def test_terms_that_cannot_be_read_refuse_the_pod(waiting: PodBuilder, message: str) -> None:
    status = plugin().pre_filter(Cycle(waiting.info()), nodes())
    assert (status.code, status.message) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message)


def test_a_running_pods_unreadable_list_is_passed_over_and_its_other_lists_count() -> None:
    broken = pod("w", near=[term(INVALID)], apart=[term(WEB)])
    silent = pod("v", apart=[term(WEB), term(INVALID)])
    table = nodes(a1=broken, b1=silent)
    assert reasons(plugin(), pod("p", "app=web"), table) == {"a1": EXISTING, "a2": EXISTING}


def test_keys_that_the_api_server_merged_are_not_read_again() -> None:
    """Upstream's scheduler leaves matchLabelKeys alone: their selectors are in labelSelector when the pod is stored."""
    table = nodes(a1=pod("w", "app=web", "version=1"))
    keys = {"matchLabelKeys": ["version"], "mismatchLabelKeys": ["app"]}
    waiting = pod("p", "app=web", "version=2", near=[term(WEB, ZONE, **keys)])
    assert reasons(plugin(), waiting, table).keys() == {"b1", "x"}


def test_a_filter_without_its_pre_filter_is_an_error_as_upstream() -> None:
    status = plugin().filter(Cycle(pod().info()), nodes()).status(0)
    assert status.code is Code.ERROR
    assert status.message == 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
