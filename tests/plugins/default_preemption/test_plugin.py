"""What the plugin asks to be done, and how it keeps the preemptor out meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from scheduler.apis.config.args import DefaultPreemptionArgs
from scheduler.features import Features
from scheduler.framework.algorithm import Rotation, decide
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import QueueingHint
from scheduler.framework.evictions import Evictions, Preemption
from scheduler.framework.status import Status
from tests.plugins.default_preemption.harness import node, preemptor, victim, world
from tests.plugins.harness import Handle, make_plugin

RUNNING = "waiting for the preemption for this pod to be finished"
SYNCHRONOUS = Features(chosen={"SchedulerAsyncPreemption": False})


@dataclass
class Evictor:
    """Notes what it is asked for."""

    running: set[str] = field(default_factory=set)
    begun: list[Preemption] = field(default_factory=list)
    attempts: int = 0

    def attempted(self) -> None:
        self.attempts += 1

    def begin(self, preemption: Preemption) -> None:
        self.begun.append(preemption)

    def is_running(self, uid: str) -> bool:
        return uid in self.running


def plugin_with(evictor: Evictor, features: Features | None = None) -> Any:
    handle = Handle(features=features or Features.default())
    handle.evictions.connect(evictor)
    return make_plugin("DefaultPreemption", DefaultPreemptionArgs(), handle)


def test_a_pod_whose_victims_are_being_evicted_is_kept_out() -> None:
    pod = preemptor().obj()
    evictor = Evictor({pod.metadata.uid})
    assert plugin_with(evictor).pre_enqueue(pod) == Status.unresolvable(RUNNING)
    evictor.running.clear()
    assert plugin_with(evictor).pre_enqueue(pod) is None


def test_without_the_gate_it_is_not() -> None:
    pod = preemptor().obj()
    plugin = plugin_with(Evictor({pod.metadata.uid}), SYNCHRONOUS)
    assert plugin.pre_enqueue(pod) is None
    assert plugin.events_to_register() == ()


def test_a_deletion_opens_the_gate_and_does_not_requeue() -> None:
    (registered,) = plugin_with(Evictor()).events_to_register()
    assert registered.event.label == "PodDelete"
    assert registered.hint(preemptor().obj(), victim("v", "n").obj(), None) is QueueingHint.SKIP


@pytest.mark.parametrize("priority", [pytest.param(0, id="victims"), pytest.param(200, id="none")])
def test_victims_are_evicted(priority: int) -> None:
    made, evictor = world(preemptor(), [node("n"), victim("v", "n", priority)]), Evictor()
    (plugin,) = (one for one in made.framework.plugins_at("postFilter") if one.name == "DefaultPreemption")
    evictions: Evictions = plugin._evictions
    evictions.connect(evictor)
    decision = decide(
        made.framework, Cycle(made.pod), made.cluster.nodes, made.nominator, plugin._rng, Rotation()
    )
    found = [
        (each.preemptor, each.node, [pod.metadata.name for pod in each.victims]) for each in evictor.begun
    ]
    assert found == ([] if priority else [(made.pod.pod, "n", ["v"])])
    assert decision.nominated == ("" if priority else "n")
    assert evictor.attempts == 1
