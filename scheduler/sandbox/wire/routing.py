"""From a path to what it names: a resource, perhaps a namespace, a name, a subresource.

/api/v1/nodes/n1/status                       core group, cluster scope
/apis/apps/v1/namespaces/default/deployments  named group, a namespace's collection
/api/v1/namespaces/default/pods/a/binding     subresource
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.sandbox import errors
from scheduler.sandbox.resources import BY_PATH, NAMESPACES, Resource


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about; empty strings where the path names nothing."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse(path: str) -> Target:
    """The target of a resource path. Raises 404 for paths that this server does not serve."""
    words = path.strip("/").split("/")
    if words[0] == "api" and len(words) > 2 and words[1] == "v1":
        return _target("", "v1", words[2:])
    if words[0] == "apis" and len(words) > 3:
        return _target(words[1], words[2], words[3:])
    raise errors.no_such_path()


def _target(group: str, version: str, words: list[str]) -> Target:
    if words[0] == "namespaces" and len(words) > 2:
        resource = BY_PATH.get((group, version, words[2]))
        if resource is not None and resource.namespaced:
            return _named(resource, words[1], words[3:])
        if group == "" and len(words) == 3:
            return _named(NAMESPACES, "", words[1:])
        raise errors.no_such_path()
    resource = BY_PATH.get((group, version, words[0]))
    if resource is None or (resource.namespaced and len(words) > 1):
        raise errors.no_such_path()
    return _named(resource, "", words[1:])


def _named(resource: Resource, namespace: str, words: list[str]) -> Target:
    name, subresource = words[0] if words else "", words[1] if len(words) > 1 else ""
    if len(words) > 2 or (subresource and subresource not in resource.subresources):
        raise errors.no_such_path()
    return Target(resource, namespace, name, subresource)
