"""A scheduler on a desk: no sockets, a clock that stands until it is moved, and a loop that the test turns by hand.

What the informers would have seen is put into the stores that they keep, which tell the scheduler as always; what it asks of the API
server is noted by the ``Ledger``. For races: the test decides what happens when. Whole schedulers against a server are in ``harness``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from random import Random
from typing import Any

from prometheus_client import CollectorRegistry

from scheduler.apis import config as configuration
from scheduler.apis.objects import Node, PersistentVolume, PersistentVolumeClaim, Pod
from scheduler.app.build import SchedulerHandle, build_frameworks, build_scheduler, load_registry
from scheduler.app.extending import make_extenders
from scheduler.app.reload.exchange import Exchange
from scheduler.client.errors import ConflictError
from scheduler.client.informers import InformerSet
from scheduler.client.references import ObjectReference
from scheduler.client.store import Store
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.live import Live
from scheduler.framework.registry import Registry
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.scheduling.handlers import InboxHandler
from scheduler.scheduling.parts import Clocks, Outside
from tests.builders import NodeBuilder, PodBuilder
from tests.scheduling.harness import DEADLINE

PROFILES = ("default-scheduler", "second")
WALL = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Ledger:
    """The port and the recorder: notes what it is asked for. ``bindings_wait`` holds bindings up; ``refuse`` fails them."""

    def __init__(self) -> None:
        self.bound: list[tuple[str, str]] = []
        self.patches: list[tuple[str, Mapping[str, Any]]] = []
        self.events: list[tuple[str, str]] = []
        self.deleted: list[tuple[str, str]] = []
        self.undeletable: dict[str, Exception] = {}
        self.refuse = False
        self.may_bind = threading.Event()
        self.may_patch = threading.Event()
        self.may_delete = threading.Event()
        self.may_delete.set()
        self.may_bind.set()
        self.may_patch.set()

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        assert self.may_bind.wait(DEADLINE)
        if self.refuse:
            raise ConflictError(409, "Conflict", f"pod {name} cannot be bound")
        self.bound.append((name, node))

    def patch_pod_status(self, namespace: str, name: str, patch: Mapping[str, Any]) -> None:
        assert self.may_patch.wait(DEADLINE)
        self.patches.append((name, patch["status"]))

    def patch_volume(self, name: str, patch: Mapping[str, Any]) -> PersistentVolume:
        raise NotImplementedError

    def patch_claim(self, namespace: str, name: str, patch: Mapping[str, Any]) -> PersistentVolumeClaim:
        raise NotImplementedError

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        assert self.may_delete.wait(DEADLINE)
        if name in self.undeletable:
            raise self.undeletable[name]
        self.deleted.append((name, uid))

    def eventf(
        self,
        regarding: ObjectReference,
        type: str,  # noqa: A002
        reason: str,
        action: str,
        note: str,
        *,
        related: object = None,
    ) -> None:
        self.events.append((reason, note))


class Desk:
    """The scheduler, the informers' stores, the ledger and the clock.

    ``plugins`` are enabled besides the default ones, ``extenders`` are entries of the configuration.
    """

    def __init__(self, *plugins: type, extenders: Sequence[Mapping[str, Any]] = ()) -> None:
        self.time = 1000.0
        self.ledger = Ledger()
        self.metrics = Metrics(CollectorRegistry())
        features = Features.default()
        component = _component([plugin.name for plugin in plugins], features, extenders)  # type: ignore[attr-defined]
        self.component = component
        registry = load_registry(())
        for plugin in plugins:
            registry.register(plugin.name, plugin)  # type: ignore[attr-defined]
        clocks = Clocks(lambda: self.time, lambda: WALL)
        self.waiting = WaitingPods(clocks.now)
        self.catalog = Catalog()
        live = Live(self._lookup, lambda name: self.nodes.get(name), now=clocks.now)  # noqa: PLW0108  # not made yet
        handle = SchedulerHandle(features, self.ledger, self.waiting, self.catalog, rng=Random(1), live=live)
        made = make_extenders(component, self.metrics)
        frameworks = build_frameworks(component, registry, handle, self.metrics, extenders=made)
        outside = Outside(self.ledger, dict.fromkeys(frameworks, self.ledger), self._lookup, live)
        self.scheduler = build_scheduler(
            component,
            frameworks,
            self.waiting,
            outside,
            self.metrics,
            clocks,
            Random(1),
            features=features,
            max_in_unschedulable=300.0,
            catalog=self.catalog,
            evictions=handle.evictions,
        )
        self.cluster, self.queue = self.scheduler.cluster, self.scheduler.queue
        self.pods: Store[Pod] = Store(_notifier(self.scheduler.pod_handler))
        self.nodes: Store[Node] = Store(_notifier(self.scheduler.node_handler))
        self._exchange = self._make_exchange(registry, handle)
        self._version = 0
        self.scheduler.lead()

    def reload(self, **document: Any) -> None:
        """Another configuration comes into force: the default one with these fields."""
        new = _load(document, Features.default())
        self._exchange.put_in_force(self.component, new, lambda: True)
        self.component = new

    def _make_exchange(self, registry: Registry, handle: SchedulerHandle) -> Exchange:
        return Exchange(
            registry,
            handle,
            self.metrics,
            self.scheduler,
            InformerSet(),
            lambda kinds: (),
            lambda component: None,
            lambda name: self.ledger,
            self.pods,
            300.0,
        )

    def put(self, *builders: PodBuilder | NodeBuilder) -> None:
        """The API server has these now, each in a new version."""
        for builder in builders:
            self._version += 1
            made = builder.metadata(resourceVersion=str(self._version)).obj()
            if isinstance(made, Pod):
                self.pods.put(made)
            else:
                self.nodes.put(made)

    def remove(self, *names: str) -> None:
        """These pods or nodes are gone."""
        for name in names:
            self.pods.remove(f"default/{name}")
            self.nodes.remove(name)

    def step(self, times: int = 1) -> None:
        """Turn the loop."""
        for _ in range(times):
            self.scheduler.step()

    def run_until(self, true: Callable[[], Any]) -> None:
        """Turn the loop, as often as something arrives, until it is true."""
        ended = threading.Event()
        timer = threading.Timer(DEADLINE, ended.set)
        timer.start()
        while not true():
            assert not ended.is_set(), "waited in vain"
            if self.scheduler.step() is not None:
                self.scheduler._inbox.wait(0.01)
        timer.cancel()

    def pass_time(self, seconds: float) -> None:
        """Let the clock run on, and the loop notice."""
        self.time += seconds
        self.step()

    @contextmanager
    def binding_held(self) -> Iterator[None]:
        """Bindings that are begun in the block, or before, end after it."""
        self.ledger.may_bind.clear()
        yield
        self.ledger.may_bind.set()

    def metric(self, name: str, **labels: str) -> float:
        """The value of one sample; 0 when there is none."""
        return self.metrics.registry.get_sample_value(f"scheduler_{name}", labels) or 0.0

    def close(self) -> None:
        """End the workers, and see that the books are in order."""
        self.ledger.may_bind.set()
        self.ledger.may_patch.set()
        self.ledger.may_delete.set()
        self.scheduler.retire()
        assert self.cluster.verify() == []

    def _lookup(self, namespace: str, name: str) -> Pod | None:
        return self.pods.get(f"{namespace}/{name}")


def _component(
    plugins: list[str], features: Features, extenders: Sequence[Mapping[str, Any]]
) -> configuration.KubeSchedulerConfiguration:
    """The default configuration; every profile has these plugins besides."""
    profiles = [profile(name, *plugins) for name in PROFILES]
    return _load({"profiles": profiles, "extenders": list(extenders)}, features)


def profile(name: str, *plugins: str, **args: Any) -> dict[str, Any]:
    """A profile with these plugins besides the default ones, and arguments by plugin."""
    enabled = {"multiPoint": {"enabled": [{"name": each} for each in plugins]}}
    config = [{"name": each, "args": given} for each, given in args.items()]
    return {"schedulerName": name, "plugins": enabled, "pluginConfig": config}


def _load(fields: Mapping[str, Any], features: Features) -> configuration.KubeSchedulerConfiguration:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **fields,
    }
    config = configuration.load(json.dumps(document), source="desk", features=features).config
    assert config is not None
    return config


def _notifier(handler: InboxHandler[Any]) -> Callable[[Callable[[Any], None]], None]:
    return lambda tell: tell(handler)
