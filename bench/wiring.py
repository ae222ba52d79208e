"""What measurements share: the default profile, and a port that leads nowhere."""

from dataclasses import dataclass

from scheduler.apis import config
from scheduler.app.build import SchedulerHandle, build_frameworks, load_registry
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.runtime import Framework
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics

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


def default_frameworks(metrics: Metrics, waiting: WaitingPods) -> dict[str, Framework]:
    """The default profile by its ``schedulerName``."""
    handle = SchedulerHandle(FEATURES, Nowhere(), waiting, Catalog())
    return build_frameworks(COMPONENT, load_registry(()), handle, metrics)
