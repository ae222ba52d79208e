"""Scores: what the waiting pod prefers, what running pods prefer of it, and what their required affinity is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.status import Code
from tests.builders import PodBuilder
from tests.plugins.inter_pod_affinity.world import (
    HOST,
    INVALID,
    app,
    nodes,
    plugin,
    pod,
    term,
    where,
)

WEB = app("web")
SKIPPED = None


def raw(made: Any, waiting: PodBuilder, **running: Any) -> dict[str, int] | None:
    """The scores before normalizing, of the nodes that have one; None when the plugin skips the pod."""
    table = nodes(**running)
    cycle = Cycle(waiting.info())
    status = made.pre_score(cycle, table)
    if status is not None:
        assert status.code is Code.SKIP
        return None
    column = made.score(cycle, table).tolist()
    return {name: score for name, score in zip(table.names, column, strict=True) if score}


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        pytest.param(pod(likes=[(5, term(WEB))]), {"a1": 10, "a2": 10, "b1": 5}, id="once for each pod"),
        pytest.param(pod(likes=[(5, term(WEB, HOST))]), {"a1": 10, "b1": 5}, id="by host"),
        pytest.param(pod(dislikes=[(5, term(WEB, HOST))]), {"a1": -10, "b1": -5}, id="disliked"),
        pytest.param(
            pod(likes=[(5, term(WEB)), (3, term(where("tier", "Exists"), HOST))]),
            {"a1": 10, "a2": 10, "b1": 8},
            id="several terms, several keys",
        ),
        pytest.param(
            pod(likes=[(2, term(WEB)), (3, term(WEB))]),
            {"a1": 10, "a2": 10, "b1": 5},
            id="terms of one key add up",
        ),
        pytest.param(pod(likes=[(0, term(WEB))]), {}, id="a weight of zero still counts as a term"),
        pytest.param(pod(likes=[(5, term(WEB))], dislikes=[(5, term(WEB))]), {}, id="they cancel out"),
        pytest.param(pod(likes=[(5, term(app("none")))]), SKIPPED, id="nobody is meant"),
        pytest.param(pod(likes=[(5, term(WEB, "rack"))]), SKIPPED, id="a label that no node has"),
        pytest.param(pod(), SKIPPED, id="no preference"),
    ],
)
def test_what_the_pod_prefers(waiting: PodBuilder, expected: dict[str, int] | None) -> None:
    running = {
        "a1": [pod("w0", "app=web"), pod("w1", "app=web")],
        "b1": pod("w2", "app=web", "tier=1"),
        "x": pod("d", "app=db"),
    }
    assert raw(plugin(), waiting, **running) == expected


@pytest.mark.parametrize(
    ("running", "arguments", "expected"),
    [
        pytest.param(pod("r", likes=[(5, term(WEB))]), {}, {"a1": 5, "a2": 5}, id="it is liked"),
        pytest.param(pod("r", dislikes=[(5, term(WEB))]), {}, {"a1": -5, "a2": -5}, id="it is disliked"),
        pytest.param(
            [pod("r", likes=[(5, term(WEB))]), pod("s", likes=[(5, term(WEB)), (1, term(WEB, HOST))])],
            {},
            {"a1": 11, "a2": 10},
            id="by several pods",
        ),
        pytest.param(pod("r", likes=[(2, term(WEB))] * 2), {}, {"a1": 4, "a2": 4}, id="twice by one pod"),
        pytest.param(pod("r", near=[term(WEB)]), {}, {"a1": 1, "a2": 1}, id="it is required company"),
        pytest.param(
            pod("r", near=[term(WEB)]), {"hard_pod_affinity_weight": 7}, {"a1": 7, "a2": 7}, id="weighing 7"
        ),
        pytest.param(pod("r", near=[term(WEB)]), {"hard_pod_affinity_weight": 0}, SKIPPED, id="weighing 0"),
        pytest.param(pod("r", apart=[term(WEB)]), {}, SKIPPED, id="required anti-affinity gives no score"),
        pytest.param(
            pod("r", likes=[(5, term(WEB))]),
            {"ignore_preferred_terms_of_existing_pods": True},
            SKIPPED,
            id="nobody asks",
        ),
        pytest.param(pod("r", likes=[(5, term(app("db")))]), {}, SKIPPED, id="another is liked"),
        pytest.param(pod("r", likes=[(5, term(WEB, "rack"))]), {}, SKIPPED, id="where no label is"),
        pytest.param(
            pod(
                "r",
                near=[term(INVALID)],
                likes=[(5, term(WEB)), (1, term(INVALID))],
                dislikes=[(2, term(WEB))],
            ),
            {},
            {"a1": -2, "a2": -2},
            id="lists that cannot be read are passed over",
        ),
    ],
)
def test_what_running_pods_prefer(
    running: PodBuilder | list[PodBuilder], arguments: dict[str, Any], expected: dict[str, int] | None
) -> None:
    assert raw(plugin(**arguments), pod("p", "app=web"), a1=running) == expected


def test_ignored_preferences_count_for_a_pod_that_has_preferences_itself() -> None:
    """Upstream's quirk: the argument looks at the waiting pod, and ignores all or nothing."""
    waiting = pod("p", "app=web", likes=[(1, term(app("db"), HOST))])
    running = {"a1": pod("r", likes=[(5, term(WEB, HOST))]), "b1": pod("d", "app=db")}
    made = plugin(ignore_preferred_terms_of_existing_pods=True)
    assert raw(made, waiting, **running) == {"a1": 5, "b1": 1}


def test_preferences_that_cannot_be_read_fail_the_attempt() -> None:
    status = plugin().pre_score(Cycle(pod(near=[term(INVALID)]).info()), nodes())
    assert status.code is Code.ERROR
    assert status.message == (
        'failed to parse pod: requiredAffinityTerms: "Odd" is not a valid label selector operator'
    )


def test_unreadable_preferences_are_not_looked_at_when_they_are_ignored() -> None:
    made = plugin(ignore_preferred_terms_of_existing_pods=True)
    assert made.pre_score(Cycle(pod(near=[term(INVALID)]).info()), nodes()).code is Code.SKIP
    assert made.pre_score(Cycle(pod(likes=[(1, term(INVALID))]).info()), nodes()).code is Code.ERROR


@pytest.mark.parametrize(
    ("scores", "normalized"),
    [
        pytest.param([0, 5, 10], [0, 50, 100], id="spread out"),
        pytest.param([-10, -5], [0, 100], id="negative"),
        pytest.param([-1, 0, 2], [0, 33, 100], id="cut off, not rounded"),
        pytest.param([4, 4], [0, 0], id="all equal"),
        pytest.param([0, 29, 100], [0, 28, 100], id="floats: 100 * 0.29 is below 29"),
        pytest.param([], [], id="no node"),
    ],
)
def test_normalized_scores(scores: list[int], normalized: list[int]) -> None:
    final = plugin().normalize(Cycle(pod().info()), np.array(scores, np.int64))
    assert final.dtype == np.int64
    assert final.tolist() == normalized


def test_a_score_without_its_pre_score_is_an_error_as_upstream() -> None:
    with pytest.raises(RuntimeError, match='failed to read "PreScoreInterPodAffinity" from cycleState'):
        plugin().score(Cycle(pod().info()), nodes())
