"""The pages of the serving port beside health and metrics: what the process tells about itself, and what can be changed while it runs.

Which of them there are follows from the configuration (``enableProfiling``) and the feature gates (``ComponentFlagz``, ``ComponentStatusz``).
"""

from __future__ import annotations

import platform
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import yaml
from flask import Blueprint

from scheduler.apis import config as configuration
from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.apis.objects import Pod
from scheduler.app import logs
from scheduler.app.config import Config
from scheduler.app.flags import SECTIONS
from scheduler.app.options import Options
from scheduler.scheduling.pod_resources import PodResources
from scheduler.serving.debug_flags import debug_flags
from scheduler.serving.pprof import profiling
from scheduler.serving.resource_metrics import resource_metrics
from scheduler.serving.zpages import Status, flagz, statusz

COMPONENT = "kube-scheduler"
"""The component that this process stands for, as its pages name it."""

_PLUGIN_ORDER = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind",
    "bind", "postBind", "multiPoint",
)  # fmt: skip
_FIRST = ("kind", "apiVersion", *_PLUGIN_ORDER)
"""The keys that Go's structs put first, where a sorted tree does not."""
_SECRET = frozenset({"keyData"})
_ADDRESS = frozenset({"urlPrefix"})
"""May hold a user and a password."""
_REDACTED = "REDACTED"
"""Stands for a secret; base64 still, as private keys are, so that the configuration can be read back."""

_USER_INFO = re.compile(r"//[^/@\s]+@")


def pages(
    config: Config,
    pods: Callable[[], Iterable[Pod]],
    leading: Callable[[], bool],
    started: float,
    stopping: threading.Event,
) -> list[Blueprint]:
    """All pages that the configuration asks for.

    Args:
        pods: the pods as the informer knows them.
        leading: whether this process schedules.
        started: when the process started, in seconds since 1970.
        stopping: set when the process is about to end; profiles that are being taken end then.
    """
    found = [resource_metrics(PodResources(pods), leading, started)]
    if config.component.enable_profiling:
        found += [profiling(stopping), debug_flags({"v": logs.set_level})]
    features = config.options.features
    if features.enabled("ComponentFlagz"):
        found.append(flagz(COMPONENT, shown_flags(config.options)))
    if features.enabled("ComponentStatusz"):
        found.append(statusz(COMPONENT, _status(config, started), config.clocks.wall))
    return found


def configz(component: KubeSchedulerConfiguration) -> bytes:
    """The JSON of ``/configz``: the configuration in force, without secrets."""
    return msgspec.json.encode({"componentconfig": _as_shown(configuration.tree(component))})


def shown_configuration(component: KubeSchedulerConfiguration) -> str:
    """The configuration in force as YAML for the log, without secrets."""
    return yaml.safe_dump(_as_shown(configuration.tree(component)))


def _as_shown(tree: Any) -> Any:
    """A tree in the order of Go's structs, with secrets left out."""
    if isinstance(tree, list):
        return [_as_shown(item) for item in tree]
    if not isinstance(tree, Mapping):
        return tree
    keys = [key for key in _FIRST if key in tree] + [key for key in tree if key not in _FIRST]
    return {key: _member_as_shown(key, tree[key]) for key in keys}


def _member_as_shown(key: str, value: Any) -> Any:
    if key in _SECRET and value:
        return _REDACTED
    return _without_credentials(value) if key in _ADDRESS else _as_shown(value)


def shown_flags(options: Options) -> dict[str, str]:
    """Every flag with its value, as ``/flagz`` and the log print it: without credentials that stand in an address."""
    flags = sorted((flag for section in SECTIONS for flag in section.flags()), key=lambda flag: flag.name)
    shown = {flag.name: flag.kind.show(options.parsed.values[flag.name]) for flag in flags}
    return {name: _without_credentials(value) for name, value in shown.items()}


def _without_credentials(text: str) -> str:
    return _USER_INFO.sub(f"//{_REDACTED}@", text)


def _status(config: Config, started: float) -> Status:
    return Status(
        started=datetime.fromtimestamp(started, UTC),
        binary_version=config.version.removeprefix("v"),
        emulation_version=config.options.compatibility.emulated,
        runtime=f"python{platform.python_version()}",
    )
