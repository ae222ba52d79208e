"""An extender for tests, in the process of the test: the verbs as methods, over nodes, pods and other objects that the test names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import unwrap
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from extender import Settings, create_blueprint
from extender.standalone import NoCluster
from scheduler.apis.manifests import Manifest, read
from scheduler.app.build import load_registry
from scheduler.app.offline import given_world
from scheduler.explain.cluster import read_cluster
from scheduler.explain.objects import DEFAULT_SCHEDULER
from scheduler.explain.profiles import Workshop, load_profiles
from scheduler.features import Features
from scheduler.framework.interface import PluginFactory
from scheduler.framework.registry import Registry

Document = Mapping[str, Any]
MakeExtender = Callable[..., "Extender"]

_API_VERSION = "kubescheduler.config.k8s.io/v1"
_NEEDED = ("PrioritySort", "DefaultBinder")
"""What every profile must have, although an extender asks neither."""


class Extender:
    """The verbs; each method posts a request and returns the document of the answer.

    Attributes:
        app: the Flask application.
        client: its test client, for requests of one's own.
        nodes: the names of the nodes.
    """

    def __init__(self, app: Flask, nodes: Sequence[str]) -> None:
        self.app = app
        self.client: FlaskClient = app.test_client()
        self.nodes = list(nodes)

    def filter(self, pod: Document, nodes: Iterable[str] | None = None, profile: str = "") -> Any:
        """``ExtenderFilterResult`` for these nodes by name, all of them by default."""
        return self.post("filter", self._args(pod, nodes), profile)

    def prioritize(
        self, pod: Document, nodes: Iterable[str] | None = None, profile: str = ""
    ) -> dict[str, int]:
        """The scores by node name, from 0 to 10."""
        found = self.post("prioritize", self._args(pod, nodes), profile)
        return {entry["Host"]: entry["Score"] for entry in found}

    def preempt(
        self, pod: Document, victims: Mapping[str, Sequence[str]], profile: str = ""
    ) -> dict[str, list[str]]:
        """The uids of the victims by node name, given those of the caller."""
        meta = {
            node: {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": 0}
            for node, uids in victims.items()
        }
        found = self.post("preempt", {"Pod": pod, "NodeNameToMetaVictims": meta}, profile)
        kept = found["NodeNameToMetaVictims"]
        return {node: [pod["UID"] for pod in each["Pods"]] for node, each in kept.items()}

    def post(self, verb: str, body: Document, profile: str = "") -> Any:
        """The answer to any body.

        Raises:
            AssertionError: its status is not 200; the text has what the webhook says.
        """
        path = f"/profiles/{profile}/{verb}" if profile else f"/{verb}"
        answer = self.client.post(path, json=body)
        if answer.status_code != 200:
            raise AssertionError(f"POST {path}: status {answer.status_code}: {answer.text.strip()}")
        return answer.json

    def _args(self, pod: Document, nodes: Iterable[str] | None) -> Document:
        return {"Pod": pod, "Nodes": None, "NodeNames": self.nodes if nodes is None else list(nodes)}


def make_extender(
    *given: Document | str | Path,
    plugins: Iterable[str | PluginFactory] = (),
    config: Document | str | Path | None = None,
) -> Extender:
    """An extender over what is given.

    Args:
        given: objects as documents with ``kind``, and files of them: nodes, pods, whatever else plugins read.
        plugins: classes, ``module:Class``, or the names of plugins of kube-scheduler's and of installed packages.
        config: a KubeSchedulerConfiguration, as a document or a file. Without one there is a single profile, ``default-scheduler``:
            of these plugins alone, or of kube-scheduler's when there are none.

    Raises:
        scheduler.explain.objects.InputError: what is given cannot be used; the text says where and why.
        scheduler.apis.manifests.ManifestError: a file cannot be read.
        scheduler.framework.registry.PluginLoadError: a plugin cannot be loaded.
    """
    registry = load_registry(())
    named = [_known(registry, plugin) for plugin in plugins]
    features = Features.default()
    source = str(config) if isinstance(config, str | Path) else "config"
    profiles = load_profiles(_configuration(config, named), source, features)
    cluster = read_cluster(_manifests(given))
    world = given_world(cluster, profiles, Workshop(registry, features))
    app = Flask("wharfinger_extender", static_folder=None)
    app.register_blueprint(create_blueprint(world, NoCluster(), Settings(find_pod=world.pod)))
    return Extender(app, [node.metadata.name for node in cluster.objects.nodes])


def _known(registry: Registry, plugin: str | PluginFactory) -> str:
    """The name of a plugin, which is registered from then on; one that an installed package offers is so already."""
    if not isinstance(plugin, str):
        name = str(getattr(plugin, "name", ""))
        offered = registry.get(name)
        if offered is not None and unwrap(offered) is plugin:
            return name
        return registry.adopt(plugin)
    return registry.load(plugin) if ":" in plugin or registry.get(plugin) is None else plugin


def _configuration(config: Document | str | Path | None, plugins: Sequence[str]) -> bytes | str:
    if isinstance(config, str | Path):
        return Path(config).read_bytes()
    if config is not None:
        return json.dumps(config)
    profile: dict[str, Any] = {"schedulerName": DEFAULT_SCHEDULER}
    if plugins:
        enabled = [{"name": name} for name in (*_NEEDED, *plugins)]
        profile["plugins"] = {"multiPoint": {"enabled": enabled, "disabled": [{"name": "*"}]}}
    document = {"apiVersion": _API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    return json.dumps(document)


def _manifests(given: Iterable[Document | str | Path]) -> Iterator[Manifest]:
    for place, each in enumerate(given, 1):
        if isinstance(each, str | Path):
            yield from read([Path(each)])
        else:
            yield Manifest(dict(each), f"object {place}")
