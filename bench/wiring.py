"""What measurements share: the default profile, a scheduler to be stepped by hand, and a port that leads nowhere."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from scheduler.apis import config
from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim, Pod
from scheduler.app.build import SchedulerHandle, build_frameworks, build_scheduler, load_registry
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.runtime import Framework
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.scheduling.parts import Clocks, Outside
from scheduler.scheduling.scheduler import Scheduler

FEATURES = Features.default()
COMPONENT = config.default(FEATURES)


@dataclass(frozen=True, slots=True)
class Nowhere:
    """A port and recorder that lead nowhere: only deciding is measured."""

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind."""

    def patch_pod_status(self, namespace: str, name: str, patch: object) -> None:
        """Patch."""

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        """Delete."""

    def patch_volume(self, name: str, patch: object) -> PersistentVolume:
        """Never asked."""
        raise NotImplementedError

    def patch_claim(self, namespace: str, name: str, patch: object) -> PersistentVolumeClaim:
        """Never asked."""
        raise NotImplementedError

    def eventf(
        self,
        regarding: object,
        type: str,  # noqa: A002  # the API's word
        reason: str,
        action: str,
        note: str,
        *,
        related: object = None,
    ) -> None:
        """Record."""


def handle_of(waiting: WaitingPods, catalog: Catalog | None = None) -> SchedulerHandle:
    """What plugins get: a world in which nothing happens."""
    return SchedulerHandle(FEATURES, Nowhere(), waiting, catalog or Catalog())


def default_frameworks(
    metrics: Metrics, waiting: WaitingPods, catalog: Catalog | None = None
) -> dict[str, Framework]:
    """The default profile by its ``schedulerName``."""
    return build_frameworks(COMPONENT, load_registry(()), handle_of(waiting, catalog), metrics)


def scheduler_of(
    catalog: Catalog | None = None, lookup: Callable[[str, str], Pod | None] = lambda *_: None
) -> Scheduler:
    """A scheduler with the default profile that acts on nothing.

    Args:
        lookup: the pod as an informer would have it; by default every pod is gone, which suits when nothing is refused.
    """
    catalog, nowhere, metrics = catalog or Catalog(), Nowhere(), Metrics(CollectorRegistry())
    clocks = Clocks(time.monotonic, lambda: datetime.now(UTC))
    waiting = WaitingPods(clocks.now)
    frameworks = default_frameworks(metrics, waiting, catalog)
    return build_scheduler(
        COMPONENT,
        frameworks,
        waiting,
        Outside(nowhere, dict.fromkeys(frameworks, nowhere), lookup),
        metrics,
        clocks,
        random.Random(1),
        features=FEATURES,
        max_in_unschedulable=300.0,
        catalog=catalog,
    )
