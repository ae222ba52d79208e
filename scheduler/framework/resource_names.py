"""Which resource names count, and how they are measured.

Besides cpu, memory and ephemeral-storage a scheduler counts only *scalar* resources: extended ones (``example.com/gpu``),
huge pages, names in the ``kubernetes.io/`` domain and attachable volumes. Any other name that a pod writes is ignored.

Upstream: ``pkg/apis/core/v1/helper`` and ``pkg/scheduler/util.IsScalarResourceName``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from scheduler.apis import quantity
from scheduler.apis.names import label_key_faults

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

_NATIVE: Final = frozenset((CPU, MEMORY, EPHEMERAL_STORAGE))
_NATIVE_DOMAIN: Final = "kubernetes.io/"
_QUOTA_PREFIX: Final = "requests."
_HUGE_PAGES_PREFIX: Final = "hugepages-"
_VOLUMES_PREFIX: Final = "attachable-volumes-"
_CACHED: Final = 4096


@lru_cache(maxsize=_CACHED)
def is_extended(name: str) -> bool:
    """A resource of somebody's own domain, ``example.com/gpu`` (upstream: ``IsExtendedResourceName``)."""
    if "/" not in name or _NATIVE_DOMAIN in name or name.startswith(_QUOTA_PREFIX):
        return False
    return not label_key_faults(_QUOTA_PREFIX + name)


@lru_cache(maxsize=_CACHED)
def is_scalar(name: str) -> bool:
    """Counted as a whole number of units or bytes, beside the native resources (upstream: ``IsScalarResourceName``)."""
    return (
        is_extended(name) or name.startswith((_HUGE_PAGES_PREFIX, _VOLUMES_PREFIX)) or _NATIVE_DOMAIN in name
    )


@lru_cache(maxsize=_CACHED)
def is_counted(name: str) -> bool:
    """Whether requests for it are counted at all."""
    return name in _NATIVE or is_scalar(name)


def is_pod_level(name: str) -> bool:
    """Whether a pod as a whole may request it in ``spec.resources`` (upstream: ``IsSupportedPodLevelResource``)."""
    return name in (CPU, MEMORY) or name.startswith(_HUGE_PAGES_PREFIX)


def amount(name: str, wanted: quantity.Quantity) -> int:
    """A quantity in scheduling units: millicores of cpu, whole bytes or units of everything else, rounded up."""
    return wanted.milli_value() if name == CPU else wanted.value()


def read_amount(name: str, text: str | float) -> int:
    """A quantity as JSON gave it, in scheduling units. Raises ``QuantityError``."""
    return quantity.milli_value(text) if name == CPU else quantity.value(text)
