"""A small HTTP client and small objects for the sandbox's tests."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

Object = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Reply:
    """Status, headers and decoded body of a reply."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.raw = response.read()

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]

    @property
    def causes(self) -> list[str]:
        return [cause["field"] for cause in self.body["details"]["causes"]]


class Rest:
    """One keep-alive connection."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def send(
        self, method: str, path: str, body: Any = None, *, content: str = "application/json", **query: Any
    ) -> Reply:
        """One request; `body` is encoded as JSON unless it is bytes. Query names may end in an underscore (`continue_`)."""
        words = {name.rstrip("_"): value for name, value in query.items()}
        target = quote(path, safe="/:%?=&,") + (f"?{urlencode(words)}" if words else "")
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        self._connection.request(method, target, data, {"Content-Type": content})
        return Reply(self._connection.getresponse())

    def get(self, path: str, *, accept: str = "", **query: Any) -> Reply:
        words = {name.rstrip("_"): value for name, value in query.items()}
        target = path + (f"?{urlencode(words)}" if words else "")
        self._connection.request("GET", target, headers={"Accept": accept} if accept else {})
        return Reply(self._connection.getresponse())

    def post(self, path: str, body: Any, **query: Any) -> Reply:
        return self.send("POST", path, body, **query)

    def put(self, path: str, body: Any, **query: Any) -> Reply:
        return self.send("PUT", path, body, **query)

    def patch(self, path: str, body: Any, kind: str = "strategic", **query: Any) -> Reply:
        return self.send("PATCH", path, body, content=PATCHES[kind], **query)

    def delete(self, path: str, body: Any = None, **query: Any) -> Reply:
        return self.send("DELETE", path, body, **query)


class Watcher:
    """An open watch; iterate over its events, `close` when done."""

    def __init__(self, url: str, path: str, *, accept: str = "", **query: Any) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
        words = urlencode({"watch": "true", **query})
        self._connection.request("GET", f"{path}?{words}", headers={"Accept": accept} if accept else {})
        self.response = self._connection.getresponse()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.response.close()
        self._connection.close()

    def __iter__(self) -> Iterator[Object]:
        for line in iter(self.response.readline, b""):
            yield json.loads(line)

    def take(self, count: int) -> list[Object]:
        """The next events."""
        return [json.loads(self.response.readline()) for _ in range(count)]

    def summary(self, count: int) -> list[tuple[str, str]]:
        """(type, object name) of the next events."""
        return [(event["type"], event["object"]["metadata"].get("name", "")) for event in self.take(count)]


def pod(name: str = "a", **spec: Any) -> Object:
    """A pod with one container."""
    container = {"name": "main", "image": "registry.example/app:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **spec},
    }


def labelled(name: str, **labels: str) -> Object:
    """A pod with labels."""
    made = pod(name)
    made["metadata"]["labels"] = labels
    return made


def node(name: str = "n1", **metadata: Any) -> Object:
    """A node with some capacity."""
    capacity = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, **metadata},
        "status": {"capacity": capacity},
    }


def binding(name: str, target: str, **metadata: Any) -> Object:
    """A Binding."""
    meta = {"name": name, **metadata}
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": meta,
        "target": {"apiVersion": "v1", "kind": "Node", "name": target},
    }


def deployment(name: str = "d", **spec: Any) -> Object:
    """A deployment of pods labelled app=<name>."""
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": "app:1"}]},
    }
    full = {"selector": {"matchLabels": {"app": name}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": full}


def event(name: str, **fields: Any) -> Object:
    """A complete events.k8s.io/v1 Event about pod a."""
    return {
        "metadata": {"name": name},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "tester",
        "reportingInstance": "tester-1",
        "action": "Testing",
        "reason": "Tested",
        "type": "Normal",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "a"},
        **fields,
    }
