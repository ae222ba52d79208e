"""Objects beside nodes and pods: the catalog follows them, and pods that wait for them are tried again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scheduler.apis.objects import PersistentVolumeClaim, Service, convert
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from scheduler.framework.interface import Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.status import Status
from tests.builders import make_node, make_pod
from tests.scheduling.desk import Desk


class NeedsData:
    """Refuses every pod until the claim ``data`` is there; told of added claims only."""

    name = "NeedsData"

    def __init__(self, _args: object, handle: Handle) -> None:
        self._claims = handle.catalog.persistent_volume_claims

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)),
        ]

    def pre_filter(self, _cycle: Cycle, _nodes: Nodes) -> Status | None:
        there = self._claims.get("data", "default") is not None
        return None if there else Status.unschedulable("no data")


def claim(name: str, volume: str = "") -> PersistentVolumeClaim:
    made = {"metadata": {"name": name, "namespace": "default"}, "spec": {"volumeName": volume}}
    return convert(PersistentVolumeClaim, made)


def service(name: str) -> Service:
    return convert(Service, {"metadata": {"name": name, "namespace": "default"}})


@pytest.fixture
def waiting(desk: Callable[..., Desk]) -> Desk:
    """A pod was refused since its claim is not there, and its back-off is over."""
    made = desk(NeedsData)
    made.put(make_node("n1").capacity(cpu="4"), make_pod("web").spec(schedulerName="default-scheduler"))
    made.step()
    made.time += 60
    assert made.queue.pending_counts()["unschedulable"] == 1
    return made


def test_a_claim_that_comes_later_brings_the_pod_back(waiting: Desk) -> None:
    waiting.scheduler.catalog_handler.on_add(claim("data"), initial=False)
    waiting.run_until(lambda: waiting.ledger.bound == [("web", "n1")])


@pytest.mark.parametrize(
    "happens",
    [
        lambda handler: handler.on_update(claim("other"), claim("other", "pv")),
        lambda handler: handler.on_delete(claim("data")),
        lambda handler: handler.on_add(service("data"), initial=False),
    ],
    ids=["another action", "a deletion", "another kind"],
)
def test_what_no_plugin_registered_for_moves_nothing(waiting: Desk, happens: Any) -> None:
    happens(waiting.scheduler.catalog_handler)
    waiting.step()
    assert waiting.queue.pending_counts()["unschedulable"] == 1


def test_the_catalog_follows_the_events(desk: Callable[..., Desk]) -> None:
    made = desk()
    handler, claims = made.scheduler.catalog_handler, made.catalog.persistent_volume_claims
    handler.on_add(claim("data"), initial=True)
    made.step()
    before = claims.get("data", "default")
    handler.on_update(claim("data"), claim("data", "pv"))
    made.step()
    after = claims.get("data", "default")
    handler.on_delete(claim("data", "pv"))
    made.step()
    assert (before, after, len(claims)) == (claim("data"), claim("data", "pv"), 0)


@pytest.mark.parametrize(("event", "count"), [("PersistentVolumeClaimAdd", 1), ("ServiceAdd", 0)])
def test_events_are_measured_when_somebody_registered_for_them(waiting: Desk, event: str, count: int) -> None:
    handler = waiting.scheduler.catalog_handler
    handler.on_add(claim("other"), initial=False)
    handler.on_add(service("other"), initial=False)
    waiting.step()
    assert waiting.metric("event_handling_duration_seconds_count", event=event) == count
