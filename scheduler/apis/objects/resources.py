"""Resource quantities by name, as containers, pods, nodes and claims carry them."""

from __future__ import annotations

from scheduler.apis.objects.meta import Base

QuantityText = str | int | float
"""A resource quantity as JSON gave it; ``scheduler.apis.quantity`` gives it meaning."""

ResourceList = dict[str, QuantityText]


class ResourceRequirements(Base, frozen=True):
    """Requests and limits by resource name."""

    requests: ResourceList = {}
    limits: ResourceList = {}
