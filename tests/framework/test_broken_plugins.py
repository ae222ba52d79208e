"""Plugins with bugs: whatever one raises or returns, the pod fails with a line that names it, and nothing else does."""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import PreFilterResult, Wait
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Code, Status
from tests.builders import make_pod
from tests.framework.harness import Prefer, decision, framework, refuse, table

pod = make_pod("p")
cycle = Cycle(pod.info())


def broken(method: str, answer: Any, **more: Any) -> Any:
    """A plugin named Broken with one method, which answers or raises this."""

    def act(self: Any, *arguments: Any) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    methods = {method: act, **{name: lambda self, *_, value=value: value for name, value in more.items()}}
    return type("Broken", (), {"name": "Broken", **methods})()


RAISED = [
    pytest.param(RuntimeError("oops"), "oops", id="exception"),
    pytest.param(KeyError("cpu"), "KeyError: 'cpu'", id="key error"),
    pytest.param(AssertionError(), "AssertionError", id="no text"),
    pytest.param(SystemExit(3), "SystemExit: 3", id="exit"),
    pytest.param(CancelledError(), "CancelledError", id="cancelled"),
]


@pytest.mark.parametrize(("raised", "text"), RAISED)
@pytest.mark.parametrize(
    ("method", "words", "more"),
    [
        pytest.param("pre_filter", 'running PreFilter plugin "Broken": ', {}, id="pre_filter"),
        pytest.param("filter", 'running Filter plugin "Broken": ', {}, id="filter"),
        pytest.param("pre_score", 'running PreScore plugin "Broken": ', {}, id="pre_score"),
        pytest.param("score", 'running Score plugins: plugin "Broken" failed with: ', {}, id="score"),
        pytest.param(
            "normalize",
            'running Normalize on Score plugins: plugin "Broken" failed with: ',
            {"score": np.zeros(2, np.int64)},
            id="normalize",
        ),
    ],
)
def test_whatever_a_deciding_point_raises_is_an_error_of_the_pod(
    raised: BaseException, text: str, method: str, words: str, more: dict[str, Any]
) -> None:
    made = decision(framework(broken(method, raised, **more), Prefer("A")), table("n1", "n2"), pod)
    assert made.status.code is Code.ERROR
    assert made.status.message == words + text


@pytest.mark.parametrize(("raised", "text"), RAISED)
@pytest.mark.parametrize(
    ("method", "point", "more"),
    [
        pytest.param("reserve", "Reserve", {"unreserve": None}, id="reserve"),
        pytest.param("permit", "Permit", {}, id="permit"),
        pytest.param("pre_bind_pre_flight", "PreBindPreFlight", {"pre_bind": None}, id="pre_flight"),
        pytest.param("pre_bind", "PreBind", {}, id="pre_bind"),
        pytest.param("bind", "Bind", {}, id="bind"),
    ],
)
def test_whatever_an_acting_point_raises_is_an_error_of_the_pod(
    raised: BaseException, text: str, method: str, point: str, more: dict[str, Any]
) -> None:
    answer = getattr(framework(broken(method, raised, **more)), method)(cycle, "n")
    status = answer[0] if method == "permit" else answer
    assert (status.code, status.plugin) == (Code.ERROR, "Broken")
    assert status.message == f'running {point} plugin "Broken": {text}'


@pytest.mark.parametrize(("raised", "_"), RAISED)
@pytest.mark.parametrize("method", ["unreserve", "post_bind"])
def test_what_cannot_fail_is_told_and_passed_over(
    raised: BaseException, _: str, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    getattr(framework(broken(method, raised, reserve=None)), method)(cycle, "n")
    assert 'plugin "Broken"' in caplog.text


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        pytest.param("pre_filter", frozenset({"n1"}), id="pre_filter names"),
        pytest.param("pre_filter", True, id="pre_filter bool"),
        pytest.param("pre_filter", PreFilterResult(5), id="pre_filter of no names"),  # type: ignore[arg-type]
        pytest.param("pre_filter", Status(Code.PENDING, ("later",)), id="pre_filter pending"),
        pytest.param("pre_filter", Status(Code.WAIT), id="pre_filter wait"),
        pytest.param("filter", True, id="filter bool"),
        pytest.param("filter", np.ones(2, np.bool_), id="filter mask"),
        pytest.param("filter", Rejections(np.ones(1, np.uint64), [Reason("no")]), id="filter short"),
        pytest.param("filter", Rejections(np.ones(3, np.uint64), [Reason("no")]), id="filter long"),
        pytest.param("filter", Rejections(np.ones(2, np.float64), [Reason("no")]), id="filter floats"),
        pytest.param("filter", Rejections(np.ones(2, np.uint64), [Reason("", Code.SKIP)]), id="filter skip"),
        pytest.param("filter", Rejections(np.full(2, 2, np.uint64), [Reason("no")]), id="filter no reason"),
        pytest.param("pre_score", 3, id="pre_score number"),
        pytest.param("pre_score", Status.unschedulable("no"), id="pre_score refuses"),
        pytest.param("score", None, id="score none"),
        pytest.param("score", [1, 2], id="score list"),
        pytest.param("score", np.zeros(1, np.int64), id="score short"),
        pytest.param("score", np.zeros((2, 2), np.int64), id="score matrix"),
        pytest.param("score", np.full(2, np.nan), id="score nan"),
        pytest.param("score", np.full(2, 2**64 - 1, np.uint64), id="score overflow"),
    ],
)
def test_an_answer_of_the_wrong_kind_is_an_error_of_the_pod(method: str, answer: Any) -> None:
    made = decision(framework(broken(method, answer), Prefer("A")), table("n1", "n2"), pod)
    assert made.status.code is Code.ERROR
    assert "Broken" in made.status.message


@pytest.mark.parametrize(
    ("method", "answer", "more"),
    [
        pytest.param("reserve", True, {"unreserve": None}, id="reserve bool"),
        pytest.param("reserve", Status.skip(), {"unreserve": None}, id="reserve skip"),
        pytest.param("permit", 5, {}, id="permit number"),
        pytest.param("permit", Status(Code.WAIT), {}, id="permit wait without a time"),
        pytest.param("permit", Wait(None), {}, id="permit wait of none"),  # type: ignore[arg-type]
        pytest.param("permit", Wait(float("nan")), {}, id="permit wait of nan"),
        pytest.param("permit", Status.skip(), {}, id="permit skip"),
        pytest.param("pre_bind_pre_flight", Status.unschedulable("no"), {"pre_bind": None}, id="flight"),
        pytest.param("pre_bind", Status.skip(), {}, id="pre_bind skip"),
        pytest.param("bind", "bound", {}, id="bind text"),
    ],
)
def test_an_acting_point_s_answer_of_the_wrong_kind_is_an_error_of_the_pod(
    method: str, answer: Any, more: dict[str, Any]
) -> None:
    got = getattr(framework(broken(method, answer, **more)), method)(cycle, "n")
    status = got[0] if method == "permit" else got
    assert status.code is Code.ERROR
    assert "Broken" in status.message


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(RuntimeError("oops"), id="raises"),
        pytest.param(None, id="none"),
        pytest.param(Status.unschedulable("bare status"), id="bare status"),
    ],
)
def test_a_post_filter_with_a_bug_leaves_the_pod_unschedulable_and_its_nomination_alone(answer: Any) -> None:
    fwk = framework(refuse("F", "n1"), broken("post_filter", answer))
    made = decision(fwk, table("n1"), pod)
    assert made.status.code is Code.UNSCHEDULABLE
    assert made.status.message.startswith("0/1 nodes are available: 1 F says no. running PostFilter plugin")
    assert made.nominated is None


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8])
def test_narrow_scores_do_not_wrap_around(dtype: Any) -> None:
    fwk = framework(broken("score", np.array([100, 90], dtype)), Prefer("A", n2=1), Broken=10_000_000)
    made = decision(fwk, table("n1", "n2"), pod)
    assert made.node == "n1"
