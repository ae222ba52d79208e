"""A whole scheduler against a sandbox, in this process: real HTTP, real threads, the command's own way of being built."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from scheduler.app.config import make_config
from scheduler.app.options import Options
from scheduler.app.setup import set_up
from scheduler.client.access import load_access
from scheduler.client.backoff import Backoff
from scheduler.client.informers import Informer
from scheduler.client.resources import EVENTS, LEASES, PODS, Resource
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from tests.builders import NodeBuilder, PodBuilder

DEADLINE = 30.0
"""Seconds after which a test gives up waiting; never waited for in a passing test."""

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"

Object = dict[str, Any]


class Loose(msgspec.Struct, frozen=True):
    """An object whose metadata is typed, as informers need it, and whose rest is a dict."""

    metadata: Any
    doc: Object

    @classmethod
    def decode(cls, raw: msgspec.Raw) -> Loose:
        doc = json.loads(bytes(raw))
        meta = doc["metadata"]
        return cls(_Meta(meta["name"], meta.get("namespace", ""), meta["uid"], meta["resourceVersion"]), doc)


class _Meta(msgspec.Struct, frozen=True):
    name: str
    namespace: str
    uid: str
    resource_version: str


class Observer:
    """Watches pods, events and leases, keeps every state that a pod ever had, and lets a test wait for something to be true."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        path = folder / "observer"
        sandbox.write_kubeconfig(path)
        self._access = load_access(str(path))
        self._rest = Rest(self._access, user_agent="observer", qps=-1)
        self._changed = threading.Condition()
        self._objects: dict[tuple[str, str], Object] = {}
        self.bindings: list[tuple[str, str]] = []
        self._informers = [self._watch(resource) for resource in (PODS, EVENTS, LEASES)]

    def _watch(self, resource: Resource) -> Informer[Loose]:
        informer: Informer[Loose] = Informer(self._rest, resource, Loose.decode, backoff=Backoff(0.01, 0.05))
        informer.add_handler(_Notebook(resource.plural, self._note))
        informer.start()
        return informer

    def _note(self, kind: str, obj: Loose, *, gone: bool) -> None:
        with self._changed:
            key, name = (kind, obj.metadata.name), obj.metadata.name
            before = self._objects.get(key, {})
            node = obj.doc.get("spec", {}).get("nodeName")
            if kind == "pods" and node and not before.get("spec", {}).get("nodeName"):
                self.bindings.append((name, node))
            if gone:
                self._objects.pop(key, None)
            else:
                self._objects[key] = obj.doc
            self._changed.notify_all()

    def pod(self, name: str) -> Object:
        return self._objects.get(("pods", name), {})

    def node_of(self, name: str) -> str:
        return str(self.pod(name).get("spec", {}).get("nodeName", ""))

    def condition(self, name: str) -> Object:
        conditions = self.pod(name).get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == "PodScheduled"), {})

    def events(self, reason: str) -> list[Object]:
        return [
            doc for (kind, _), doc in self._objects.items() if kind == "events" and doc["reason"] == reason
        ]

    def leases(self) -> list[Object]:
        return [doc for (kind, _), doc in self._objects.items() if kind == "leases"]

    def wait(self, true: Callable[[], Any], what: str = "") -> None:
        """Wait until it is true."""
        with self._changed:
            assert self._changed.wait_for(true, DEADLINE), (
                f"waited in vain for {what or true}: {self._objects}"
            )

    def wait_bound(self, *names: str) -> None:
        self.wait(lambda: all(map(self.node_of, names)), f"{names} to be bound")

    def wait_refused(self, name: str) -> str:
        """Wait until the pod's condition says that it was refused; the message is returned."""
        self.wait(lambda: self.condition(name).get("status") == "False", f"{name} to be refused")
        return str(self.condition(name)["message"])

    def close(self) -> None:
        for informer in self._informers:
            informer.stop()
        self._rest.close()
        self._access.close()


class _Notebook:
    def __init__(self, kind: str, note: Callable[..., None]) -> None:
        self._kind = kind
        self._note = note

    def on_add(self, obj: Loose, initial: bool) -> None:
        self._note(self._kind, obj, gone=False)

    def on_update(self, old: Loose, new: Loose) -> None:
        self._note(self._kind, new, gone=False)

    def on_delete(self, obj: Loose) -> None:
        self._note(self._kind, obj, gone=True)


class Running:
    """A scheduler in a thread. ``flags`` as on the command line; nothing is served unless a port is given."""

    def __init__(self, sandbox: Sandbox, folder: Path, *flags: str, config: Object | None = None) -> None:
        kubeconfig, file = folder / "kubeconfig", folder / "config.json"
        sandbox.write_kubeconfig(kubeconfig)
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": -1},
            "leaderElection": {"leaderElect": False},
            **(config or {}),
        }
        file.write_text(json.dumps(document))
        options, errors = Options.parse([f"--config={file}", "--secure-port=0", *flags])
        loaded = options.configuration()
        faults = [*errors, *options.validate(), *loaded.errors]
        assert faults == []
        assert loaded.config is not None
        self.setup = set_up(make_config(options, loaded.config))
        self.exit_code: int | None = None
        self._thread = threading.Thread(target=self._run, name="running", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.exit_code = self.setup.process.run()

    def stop(self) -> int | None:
        """Stop it as a signal would; the exit code is returned."""
        self.setup.process.request_stop()
        self._thread.join(DEADLINE)
        return self.exit_code

    def wait_ready(self) -> None:
        """Wait until nodes and pods are known."""
        assert self.setup.process._informers.wait_for_sync(DEADLINE)

    def wait_for_end(self) -> int | None:
        """Wait until it ends by itself."""
        self._thread.join(DEADLINE)
        return self.exit_code


def refusal(nodes: int, reasons: str, evictions: str) -> str:
    """The sentence about a pod that fits nowhere, and that has no claims: why, and why evictions would not help."""
    head = f"0/{nodes} nodes are available:"
    return f"{head} {reasons}. no new claims to deallocate, preemption: {head} {evictions}."


def objects(*builders: NodeBuilder | PodBuilder) -> list[Object]:
    """What the sandbox loads."""
    return [builder.doc() for builder in builders]
