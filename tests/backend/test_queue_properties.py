"""Whatever happens, in whatever order: no pod is lost, none is in two places, and the counts add up."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scheduler.backend.changes import FORCE_ACTIVATE
from scheduler.backend.hints import Registration
from scheduler.backend.queued import QueuedPodInfo
from scheduler.framework.events import ClusterEvent
from tests.backend.harness import NODE_ADD, NODE_LABEL, POD_LABEL, Harness, only_for, pod

NAMES = st.sampled_from(["a", "b", "c", "d"])
PLUGINS = st.sets(st.sampled_from(["Fit", "Affinity", "Wait"]))
EVENTS = st.sampled_from([NODE_ADD, NODE_LABEL, FORCE_ACTIVATE])

REGISTRATIONS = (
    Registration(NODE_ADD, "Fit"),
    Registration(NODE_ADD, "Affinity", only_for("a", "b")),
    Registration(NODE_LABEL, "Wait"),
    Registration(NODE_LABEL, "Gate"),
    Registration(POD_LABEL, "Gate"),
    Registration(POD_LABEL, "Affinity"),
)


class AnyOrder(RuleBasedStateMachine):
    """A queue with early popping, as it comes."""

    early = True

    def __init__(self) -> None:
        super().__init__()
        self.harness = Harness(*REGISTRATIONS, pop_from_backoff=self.early)
        self.queue = self.harness.queue
        self.alive: set[str] = set()
        self.flying: dict[str, QueuedPodInfo] = {}

    @rule(name=NAMES, priority=st.integers(0, 2))
    def comes(self, name: str, priority: int) -> None:
        if name not in self.alive and name not in self.flying:
            self.harness.add(name, priority=priority)
            self.alive.add(name)

    @rule(name=NAMES, priority=st.integers(0, 2), label=st.sampled_from(["x", "y"]))
    def changes(self, name: str, priority: int, label: str) -> None:
        if name in self.alive:
            self.queue.update(pod(name).obj(), pod(name).priority(priority).label("label", label).obj())

    @rule(name=NAMES)
    def goes(self, name: str) -> None:
        self.queue.delete(pod(name).obj())
        self.alive.discard(name)

    @rule()
    def is_popped(self) -> None:
        counts = self.queue.pending_counts()
        queued = self.queue.pop()
        if queued is None:
            assert counts["active"] == 0
        else:
            self.flying[queued.pod.metadata.name] = queued

    @rule(name=NAMES, rejecting=PLUGINS, pending=PLUGINS)
    def comes_back(self, name: str, rejecting: set[str], pending: set[str]) -> None:
        queued = self.flying.pop(name, None)
        if queued is None:
            return
        if name in self.alive:
            self.harness.give_back(queued, *rejecting, pending=tuple(pending))
        else:
            self.queue.done(queued.pod_info.uid)

    @rule(name=NAMES)
    def is_bound(self, name: str) -> None:
        queued = self.flying.pop(name, None)
        if queued is not None:
            self.queue.done(queued.pod_info.uid)
            self.alive.discard(name)

    @rule(event=EVENTS)
    def something_happens(self, event: ClusterEvent) -> None:
        self.queue.move_all(event, None, None)

    @rule(name=NAMES)
    def is_activated(self, name: str) -> None:
        self.queue.activate([pod(name).obj()])

    @rule(names=st.sets(NAMES))
    def gates_move(self, names: set[str]) -> None:
        self.harness.gate.closed_for = names

    @rule(seconds=st.sampled_from([0.3, 1.0, 5.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        self.harness.clock.time += seconds
        self.queue.flush()
        wakeup = self.queue.next_wakeup()
        assert wakeup is None or wakeup > self.harness.clock.time

    @invariant()
    def every_pod_is_in_one_place(self) -> None:
        places = Counter(queued.pod.metadata.name for _, queued in self.queue.pending())
        assert places == Counter(self.alive | self.flying.keys())

    @invariant()
    def counts_add_up(self) -> None:
        places = Counter(place for place, _ in self.queue.pending())
        del places["in flight"]
        assert Counter(self.queue.pending_counts()) == places
        assert len(self.queue) == places.total()
        assert self.queue.in_flight_counts()["PodPopped"] == len(self.flying)

    @invariant()
    def rejections_add_up(self) -> None:
        waiting = (queued for place, queued in self.queue.pending() if place != "in flight")
        assert self.harness.counted.rejected_by == Counter(
            plugin for queued in waiting for plugin in queued.rejectors
        )

    @invariant()
    def events_are_kept_for_nobody_in_vain(self) -> None:
        if not self.flying:
            assert not any(self.queue.in_flight_counts().values())


class AnyOrderWithoutEarlyPopping(AnyOrder):
    """The same with ``SchedulerPopFromBackoffQ`` off."""

    early = False


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestAnyOrderWithoutEarlyPopping = AnyOrderWithoutEarlyPopping.TestCase
TestAnyOrderWithoutEarlyPopping.settings = TestAnyOrder.settings
