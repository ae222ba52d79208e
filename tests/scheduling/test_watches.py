"""Which kinds a scheduler watches besides nodes and pods, and what becomes of a kind that cannot be listed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scheduler.apis.objects import Pod, PodDisruptionBudget, Service
from scheduler.app.watches import RESOURCES
from scheduler.framework.catalog import COLLECTIONS
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from scheduler.framework.interface import Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.profile import ProfileError
from scheduler.framework.status import Status
from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod
from tests.scheduling.harness import DEADLINE, NO_VICTIMS, Observer, Running, objects, refusal
from tests.scheduling.plugins import profile

Start = Callable[..., Running]
CLAIM_ADDED = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)


class Shop:
    """Refuses pods until there is a service ``till`` (which no event tells of) and a claim ``ledger``."""

    name = "Shop"
    reads: tuple[type, ...] = (Service,)

    def __init__(self, _args: object, handle: Handle) -> None:
        self._catalog = handle.catalog

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [ClusterEventWithHint(CLAIM_ADDED)]

    def pre_filter(self, _cycle: Cycle, _nodes: Nodes) -> Status | None:
        if self._catalog.services.get("till", "default") is None:
            return Status.unschedulable("no till")
        if self._catalog.persistent_volume_claims.get("ledger", "default") is None:
            return Status.unschedulable("no ledger")
        return None


class Secretive(Shop):
    """Reads what it does not name."""

    name = "Secretive"
    reads = (PodDisruptionBudget,)


class Mistaken(Shop):
    """Names what is not in the catalog."""

    name = "Mistaken"
    reads = (Pod,)


def only(plugin: str) -> dict[str, Any]:
    """A configuration with no default plugins but those without which nothing is decided."""
    needed = [{"name": name} for name in ("PrioritySort", "DefaultBinder", plugin)]
    plugins = {"multiPoint": {"enabled": needed, "disabled": [{"name": "*"}]}}
    return {"profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}]}


def plugin(name: str) -> str:
    return f"--plugin={__name__}:{name}"


def named(kind: str, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"ports": [{"port": 80}]}
    if kind == "PersistentVolumeClaim":
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def watched(running: Running) -> set[str]:
    return {informer.name for informer in running.setup.process._informers._informers}


def test_every_kind_of_the_catalog_can_be_watched() -> None:
    assert RESOURCES.keys() == COLLECTIONS.keys()
    assert all(kind.__name__ == resource.kind for kind, resource in RESOURCES.items())


def test_only_what_a_plugin_needs_is_watched(scheduler: Start) -> None:
    running = scheduler(plugin("Shop"), config=only("Shop"))
    assert watched(running) == {"nodes", "pods", "services", "persistentvolumeclaims"}


def test_a_claim_and_a_service_reach_a_plugin_and_its_pod(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load([*objects(make_node("n1").capacity(cpu="4"), _pod()), named("Service", "till")])
    scheduler(plugin("Shop"), config=profile("Shop"))
    assert observer.wait_refused("p") == refusal(1, "no ledger", f"1 {NO_VICTIMS}")
    sandbox.load([named("PersistentVolumeClaim", "ledger")])
    observer.wait_bound("p")


def test_a_plugin_that_reads_what_it_does_not_name_is_told_so(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(make_node("n1").capacity(cpu="4"), _pod()))
    scheduler(plugin("Secretive"), config=only("Secretive"))
    words = "Service objects are not watched: no plugin of any profile names this kind in `reads`"
    assert words in observer.wait_refused("p")


def test_a_plugin_that_names_what_is_not_kept_is_refused_at_start(scheduler: Start) -> None:
    with pytest.raises(ProfileError, match="plugin 'Mistaken' reads Pod, which the catalog does not keep"):
        scheduler(plugin("Mistaken"), config=only("Mistaken"))


@pytest.mark.parametrize("status", [403, 404], ids=["not allowed", "not served"])
def test_a_kind_that_cannot_be_listed_is_waited_for(
    sandbox: Sandbox, observer: Observer, scheduler: Start, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.WARNING)
    sandbox.load([*objects(make_node("n1").capacity(cpu="4"), _pod()), named("Service", "till")])
    sandbox.load([named("PersistentVolumeClaim", "ledger")])
    rule = sandbox.faults.add(path="/services$", status=status, message="no services for you")
    running = scheduler(plugin("Shop"), config=only("Shop"))
    assert rule.struck.wait(DEADLINE)
    assert "services" in str(running.setup.process.unsynced())
    assert observer.bindings == []
    sandbox.faults.remove(rule)
    observer.wait_bound("p")
    lines = [record.getMessage() for record in caplog.records if "services" in record.getMessage()]
    assert len(lines) == 1
    assert "services: cannot list: " in lines[0]
    assert "no services for you" in lines[0]


def _pod() -> Any:
    return make_pod("p").container({"cpu": "1"}, name="c", image="pause")
