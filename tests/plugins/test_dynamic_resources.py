"""DynamicResources lets pods without claims pass, and never places one with claims."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.status import SKIP, Code, Status
from tests.builders import PodBuilder, make_node, make_pod
from tests.plugins.harness import make_plugin, rejections, table

REFUSAL = Status.unresolvable("resource claims are not supported yet")
CLAIMED = make_pod("claimed").spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
PLAIN = make_pod("plain")


@pytest.fixture
def plugin() -> Any:
    return make_plugin("DynamicResources")


def test_a_pod_without_claims_is_none_of_its_business(plugin: Any) -> None:
    cycle, nodes = Cycle(PLAIN.info()), table(make_node("n"), make_node("m"))
    assert plugin.pre_enqueue(cycle.pod) is None
    assert plugin.pre_filter(cycle, nodes) is SKIP
    assert plugin.score(cycle, nodes).tolist() == [0, 0]
    assert plugin.reserve(cycle, "n") is None
    assert plugin.pre_bind_pre_flight(cycle, "n") is SKIP
    assert plugin.pre_bind(cycle, "n") is None


def test_a_pod_with_claims_is_refused_wherever_it_is_asked(plugin: Any) -> None:
    cycle, nodes = Cycle(CLAIMED.info()), table(make_node("n"))
    assert plugin.pre_filter(cycle, nodes) == REFUSAL
    assert plugin.reserve(cycle, "n") == REFUSAL
    found = plugin.filter(cycle, nodes)
    assert found.status(0) == REFUSAL
    assert plugin.filter(cycle, nodes.take(np.empty(0, np.intp))) is None


def test_a_skipped_filter_rejects_nobody(plugin: Any) -> None:
    assert rejections(plugin, PLAIN, table(make_node("n"))) == {}


@pytest.mark.parametrize(
    ("pod", "asked", "code", "message"),
    [
        pytest.param(PLAIN, True, Code.UNSCHEDULABLE, "no new claims to deallocate", id="plain"),
        pytest.param(CLAIMED, True, Code.UNSCHEDULABLE, "still not schedulable", id="claims"),
        pytest.param(PLAIN, False, Code.ERROR, "not found", id="refused before it was asked"),
    ],
)
def test_what_it_says_of_a_pod_that_fits_nowhere(
    plugin: Any, pod: PodBuilder, asked: bool, code: Code, message: str
) -> None:
    cycle, nodes = Cycle(pod.info()), table(make_node("n"))
    if asked:
        plugin.pre_filter(cycle, nodes)
    result = plugin.post_filter(cycle, nodes, None, None)
    assert (result.status.code, result.status.message, result.nominated_node) == (code, message, None)
