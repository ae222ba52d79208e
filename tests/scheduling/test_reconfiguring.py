"""Another configuration comes into force between two turns of the loop: what becomes of pods, wherever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import Wait
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.status import Status
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk, profile

MakeDesk = Callable[..., Desk]

DEFAULT = "default-scheduler"


class Picky:
    """Rejects every node but the one of its arguments; counts how often it was made."""

    name = "Picky"
    made: ClassVar[int] = 0

    def __init__(self, args: Any, handle: Any) -> None:
        type(self).made += 1
        self.wanted = (args or {}).get("node", "")

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        return None if node.name == self.wanted else Status.unschedulable("not the one")


class Gatekeeper:
    """Lets no pod in."""

    name = "Gatekeeper"

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def pre_enqueue(self, pod: Any) -> Status | None:
        return Status.unresolvable("closed")


class Holder:
    """Has every pod wait at Permit."""

    name = "Holder"

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def permit(self, cycle: Cycle, node: str) -> Wait:
        return Wait(600)


def node(name: str) -> NodeBuilder:
    return make_node(name).capacity(cpu="10", memory="10Gi")


def pod(name: str, of: str = DEFAULT) -> PodBuilder:
    return make_pod(name).req(cpu="1", memory="1Gi").spec(schedulerName=of).metadata(uid=name)


def bound(desk: Desk, *pods: str) -> dict[str, str]:
    """Turn the loop until these are bound; where all pods are."""
    desk.run_until(lambda: {name for name, _ in desk.ledger.bound} >= set(pods))
    return dict(desk.ledger.bound)


def picking(node: str) -> list[dict[str, Any]]:
    return [profile(DEFAULT, "Picky", Picky={"node": node}), profile("second")]


def test_the_next_decision_is_made_by_the_new_arguments(desk: MakeDesk) -> None:
    made = desk(Picky)
    made.reload(profiles=picking("a"))
    made.put(node("a"), node("b"), pod("one"))
    assert bound(made, "one") == {"one": "a"}
    made.reload(profiles=picking("b"))
    made.put(pod("two"))
    assert bound(made, "two")["two"] == "b"


def test_a_refused_pod_is_tried_again_by_the_new_arguments(desk: MakeDesk) -> None:
    made = desk(Picky)
    made.put(node("a"), pod("one"))
    made.step(2)
    assert made.metric("pending_pods", queue="unschedulable") == 1
    made.reload(profiles=picking("a"))
    made.pass_time(3)
    assert bound(made, "one") == {"one": "a"}


def test_weights_change(desk: MakeDesk) -> None:
    """The empty node is preferred until the image on the other one outweighs that."""
    made = desk()
    made.put(node("full").image("pause", size=10**9), node("empty"), pod("load").node("full"))
    made.put(pod("one").container(name="c", image="pause"))
    assert bound(made, "one")["one"] == "empty"
    weighty = {
        "disabled": [{"name": "ImageLocality"}],
        "enabled": [{"name": "ImageLocality", "weight": 1000}],
    }
    made.reload(profiles=[{"schedulerName": DEFAULT, "plugins": {"score": weighty}}])
    made.put(pod("two").container(name="c", image="pause"))
    assert bound(made, "two")["two"] == "full"


def test_an_attempt_under_way_ends_by_the_framework_that_it_began_with(desk: MakeDesk) -> None:
    made = desk(Holder)
    made.put(node("a"), pod("held"))
    made.step()
    assert len(made.waiting) == 1
    made.reload(profiles=[profile(DEFAULT)])
    made.put(pod("next"))
    assert bound(made, "next") == {"next": "a"}
    held = made.waiting.get("held")
    assert held is not None
    held.allow("Holder")
    assert bound(made, "held")["held"] == "a"


def test_plugins_whose_arguments_stay_go_on_with_what_they_remember(desk: MakeDesk) -> None:
    Picky.made = 0
    made = desk(Picky)
    assert Picky.made == 2  # once per profile
    made.reload(profiles=[profile("second", "Picky"), profile(DEFAULT, "Picky", Picky={"node": "a"})])
    assert Picky.made == 3


def test_pods_of_a_profile_that_comes_are_adopted_once(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("a"), pod("early", "third"), pod("late", "third"))
    made.step()
    assert len(made.queue) == 0
    made.put(pod("under-way", "third"))  # seen by the watch, not yet by the loop
    made.reload(profiles=[profile("third")])
    assert [queued.name for _, queued in made.queue.pending()] == [
        "default/early",
        "default/late",
        "default/under-way",
    ]
    bound(made, "early", "late", "under-way")
    made.step()
    assert len(made.ledger.bound) == 3


def test_a_pod_whose_add_is_still_to_come_when_it_is_adopted_is_tried_once(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("a"))
    late = pod("late", "third").obj()
    made.pods.put(late)
    made.scheduler._inbox.drain()  # the watch's thread has stored it and not told yet
    made.put(node("b"))
    made.reload(profiles=[profile("third")])
    made.step()
    made.scheduler.pod_handler.on_add(late, False)
    bound(made, "late")
    made.step(2)
    assert made.metric("schedule_attempts_total", result="scheduled", profile="third") == 1
    assert len(made.queue) == 0


def test_pods_of_a_profile_that_goes_are_left_alone(desk: MakeDesk) -> None:
    made = desk()
    made.put(pod("waits", "second"))
    made.reload(profiles=[profile(DEFAULT)])
    made.put(node("a"), pod("new", "second"), pod("ours"))
    assert bound(made, "ours") == {"ours": "a"}
    made.pass_time(400)
    assert (len(made.queue), len(made.ledger.bound)) == (0, 1)


def test_a_pod_whose_profile_goes_while_it_is_bound_is_bound(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("a"), pod("one", "second"))
    with made.binding_held():
        made.step()
        made.reload(profiles=[profile(DEFAULT)])
    assert bound(made, "one") == {"one": "a"}


def test_a_pod_whose_profile_goes_while_it_is_bound_is_not_tried_again(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("a"), pod("one", "second"))
    made.ledger.refuse = True
    with made.binding_held():
        made.step()
        made.reload(profiles=[profile(DEFAULT)])
    made.run_until(lambda: made.metric("schedule_attempts_total", result="error", profile="second"))
    assert len(made.queue) == 0
    assert not made.queue.is_in_flight("one")
    assert made.cluster.verify() == []


def test_a_held_pod_whose_profile_is_gone_is_given_up_when_it_is_deleted(desk: MakeDesk) -> None:
    made = desk(Holder)
    made.put(node("a"), pod("held", "second"))
    made.step()
    made.reload(profiles=[profile(DEFAULT)])
    made.remove("held")
    made.step(2)
    assert len(made.waiting) == 0
    assert int(made.cluster.nodes.pod_count[0]) == 0


def test_a_profile_that_goes_and_comes_back_has_its_pods_again(desk: MakeDesk) -> None:
    made = desk()
    made.put(pod("one", "second"))
    made.step()
    made.reload(profiles=[profile(DEFAULT)])
    made.reload(profiles=[profile(DEFAULT), profile("second")])
    made.put(node("a"))
    assert bound(made, "one") == {"one": "a"}


def test_a_new_gate_keeps_waiting_pods_out_and_opens_when_it_goes(desk: MakeDesk) -> None:
    made = desk(Gatekeeper)
    made.reload(profiles=[profile(DEFAULT)])
    made.put(pod("one"))
    made.scheduler._leading = False
    made.step()
    made.reload(profiles=[profile(DEFAULT, "Gatekeeper")])
    assert made.metric("pending_pods", queue="gated") == 1
    made.scheduler._leading = True
    made.reload(profiles=[profile(DEFAULT)])
    made.put(node("a"))
    assert bound(made, "one") == {"one": "a"}


@pytest.mark.parametrize(("seconds", "waits"), [(1, 0), (8, 1)])
def test_back_off_times_change(desk: MakeDesk, seconds: int, waits: int) -> None:
    made = desk()
    made.put(pod("one"))
    made.step()
    made.put(node("a"))
    made.scheduler._apply_arrivals()
    assert made.metric("pending_pods", queue="backoff") == 1
    made.reload(podInitialBackoffSeconds=seconds, profiles=[profile(DEFAULT)])
    made.pass_time(3)
    assert made.metric("pending_pods", queue="backoff") == waits
    made.pass_time(7)
    assert bound(made, "one") == {"one": "a"}
