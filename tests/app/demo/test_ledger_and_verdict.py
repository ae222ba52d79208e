"""What the demo notes down about pods, and what it concludes."""

import pytest

from scheduler.apis.objects import Condition, ObjectMeta, Pod, PodSchedulingGate, PodSpec, PodStatus
from scheduler.app.cli.demo.ledger import Ledger, Placement, State, rate, state_of
from scheduler.app.cli.demo.verdict import settled, surprises, unjudged

REFUSED = Condition(type="PodScheduled", status="False", reason="Unschedulable", message="0/1 nodes")
FAILED = Condition(type="PodScheduled", status="False", reason="SchedulerError", message="no luck")


def made(
    name: str = "p",
    *,
    node: str = "",
    gate: str = "",
    condition: Condition | None = None,
    expect: str = "",
) -> Pod:
    return Pod(
        metadata=ObjectMeta(
            name=name, namespace="ns", annotations={"wharfinger.dev/expect": expect} if expect else {}
        ),
        spec=PodSpec(
            node_name=node,
            scheduler_name="s",
            scheduling_gates=(PodSchedulingGate(name=gate),) if gate else (),
        ),
        status=PodStatus(conditions=(condition,) if condition else ()),
    )


@pytest.mark.parametrize(
    ("pod", "state"),
    [
        pytest.param(made(), "waiting", id="nobody has looked"),
        pytest.param(made(node="n"), "bound", id="bound"),
        pytest.param(made(node="n", condition=REFUSED), "bound", id="bound after a refusal"),
        pytest.param(made(gate="g"), "gated", id="gated"),
        pytest.param(made(condition=REFUSED), "unschedulable", id="refused"),
        pytest.param(made(condition=FAILED), "waiting", id="an error is no verdict"),
    ],
)
def test_the_state_of_a_pod(pod: Pod, state: State) -> None:
    assert state_of(pod) == state
    assert settled([pod]) == (state != "waiting")


def test_only_pods_bound_while_watching_were_placed() -> None:
    clock = iter((1.0, 2.0, 3.0))
    ledger = Ledger(lambda: next(clock))
    ledger.on_add(made("before", node="n"), initial=True)
    ledger.on_add(made("a"), initial=True)
    ledger.on_update(made("a"), made("a", node="n"))
    ledger.on_update(made("a", node="n"), made("a", node="n", condition=REFUSED))
    assert ledger.placements() == [Placement(2.0, "ns/a", "n")]
    ledger.claim(["ns/before", "ns/unheard-of"])
    assert [each.pod for each in ledger.placements()] == ["ns/before", "ns/a"]


def test_a_deleted_pod_counts_no_more() -> None:
    ledger = Ledger(lambda: 0.0)
    ledger.on_add(made("a"), initial=True)
    ledger.on_add(made("b", node="n"), initial=False)
    ledger.on_delete(made("a"))
    assert ledger.counts() == {"bound": 1}
    assert [pod.full_name for pod in ledger.pods()] == ["ns/b"]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param((), 0.0, id="none"),
        pytest.param((5.0,), 0.0, id="one"),
        pytest.param((1.0, 1.5, 2.0), 2.0, id="three in a second"),
    ],
)
def test_the_rate_counts_from_the_first_placement_to_the_last(
    times: tuple[float, ...], expected: float
) -> None:
    assert rate([Placement(at, "p", "n") for at in times]) == expected


@pytest.mark.parametrize(
    ("pods", "lines"),
    [
        pytest.param([made(condition=REFUSED)], [], id="nothing was expected, so a refusal is fine"),
        pytest.param(
            [made(condition=REFUSED, expect="pending"), made("q", node="n")], [], id="all as expected"
        ),
        pytest.param(
            [made(node="n", expect="pending")],
            ["ns/p was bound to n, expected to stay pending"],
            id="bound against expectation",
        ),
        pytest.param(
            [made(condition=REFUSED), made("q", gate="g", expect="pending")],
            ["ns/p is unschedulable, expected to be bound"],
            id="pending against expectation",
        ),
    ],
)
def test_surprises_are_told_pod_by_pod(pods: list[Pod], lines: list[str]) -> None:
    assert surprises(pods) == lines


def test_a_pod_that_nobody_judged_is_named_with_what_is_known() -> None:
    assert unjudged([made("a"), made("b", condition=FAILED), made("c", node="n")]) == [
        "ns/a was not judged (schedulerName s: no attempt yet)",
        "ns/b was not judged (SchedulerError: no luck)",
    ]
