"""Catalogs with what owns and serves pods."""

from __future__ import annotations

from typing import Any

from scheduler.apis.objects import ReplicaSet, ReplicationController, Service, StatefulSet, convert
from scheduler.framework.catalog import Catalog

KINDS: dict[str, type[Any]] = {
    "Service": Service,
    "ReplicationController": ReplicationController,
    "ReplicaSet": ReplicaSet,
    "StatefulSet": StatefulSet,
}


def catalog(*objects: tuple[str, str, Any], namespace: str = "default") -> Catalog:
    """A catalog of (kind, name, selector)."""
    made = Catalog()
    for kind, name, selector in objects:
        document = {"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}
        made.of(KINDS[kind]).put(convert(KINDS[kind], document))
    return made


def service(name: str, namespace: str = "default", **selector: str) -> Catalog:
    """A catalog with a single service."""
    return catalog(("Service", name, selector), namespace=namespace)
