"""What ``explain`` and ``simulate`` are told: a cluster, from files or live, and the profiles that decide.

Every fault of the input is a ``CommandError`` with one line per fault, each with its place.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scheduler.apis import config as configuration
from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.apis.manifests import STDIN, ManifestError, read
from scheduler.apis.objects import Node, Pod, PriorityClass, RuntimeClass
from scheduler.app.build import ConfigurationError, check_profiles, load_registry
from scheduler.client.errors import ClientError
from scheduler.explain.cluster import Cluster, read_cluster
from scheduler.explain.objects import InputError
from scheduler.explain.profiles import Workshop
from scheduler.features import Features
from scheduler.framework.catalog import COLLECTIONS, Catalog
from scheduler.framework.registry import PluginLoadError, Registry

_MAX_CONFIG = 8 * 1024 * 1024
_OF_FILES = frozenset({".yaml", ".yml", ".json"})
"""A word that ends so is a file, whether it is there or not."""


class CommandError(Exception):
    """The command cannot go on; the text has a line for each reason."""


@dataclass(frozen=True, slots=True)
class Deciders:
    """Who decides.

    Attributes:
        component: the configuration in force.
        workshop: builds its profiles' frameworks.
    """

    component: KubeSchedulerConfiguration
    registry: Registry
    features: Features
    workshop: Workshop


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that say what is there and who decides."""
    add_files(parser)
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        default="",
        help="read a live cluster, once and without changing anything; -f adds objects to it",
    )
    add_deciders(parser)


def add_files(parser: argparse.ArgumentParser) -> None:
    """The flags that say what is there, in files."""
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        help="manifests, Lists and dumps (kubectl get ... -o yaml|json), YAML or JSON; - is the standard input",
    )
    parser.add_argument(
        "-n",
        "--namespace",
        metavar="NAME",
        default="default",
        help="of the pod, and of objects that name none (default %(default)s)",
    )


def add_deciders(parser: argparse.ArgumentParser) -> None:
    """The flags that say who decides."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="a KubeSchedulerConfiguration (default: kube-scheduler's)",
    )
    parser.add_argument(
        "--feature-gates",
        metavar="A=true,...",
        action="append",
        default=[],
        help="feature gates, as kube-scheduler has them",
    )
    parser.add_argument(
        "--plugin",
        metavar="MODULE:CLASS",
        action="append",
        default=[],
        help="a plugin of another package (repeatable)",
    )


def deciders(args: argparse.Namespace) -> Deciders:
    """The profiles that the flags ask for. Raises CommandError."""
    features, warnings, errors = Features.parse(args.feature_gates)
    if errors:
        raise CommandError("\n".join(f"--feature-gates: {error}" for error in errors))
    for warning in warnings:
        tell(f"warning: {warning}")
    try:
        registry = load_registry(args.plugin)
        component = _component(args.config, features)
        check_profiles(component, registry)
    except (PluginLoadError, ConfigurationError) as error:
        raise CommandError(_placed(str(error), args.config)) from error
    return Deciders(component, registry, features, Workshop(registry, features))


def cluster(args: argparse.Namespace, who: Deciders) -> Cluster:
    """The cluster that the flags describe. Raises CommandError."""
    if not args.filename and not args.kubeconfig:
        raise CommandError("there is no cluster: give -f FILE or --kubeconfig FILE")
    if args.filename.count(STDIN) > 1:
        raise CommandError("-f: the standard input can be read once only")
    try:
        known = _live(args.kubeconfig, who, args.filename) if args.kubeconfig else ()
        return read_cluster(read(args.filename), args.namespace, known)
    except (ManifestError, InputError, ClientError) as error:
        raise CommandError(str(error)) from error


def take_misplaced_name(args: argparse.Namespace, field: str) -> None:
    """``explain -f cluster.yaml web-1``: the last word behind ``-f`` is the name when it is no file."""
    if not getattr(args, field) and len(args.filename) > 1:
        last = args.filename[-1]
        if last != STDIN and last.suffix not in _OF_FILES and not last.exists():
            setattr(args, field, str(args.filename.pop()))


def count(text: str) -> int:
    """A number of things, for argparse."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 999999999")
    return int(text)


def tell(*lines: str) -> None:
    """Say something beside the answer."""
    for line in lines:
        print(line, file=sys.stderr)


def _live(kubeconfig: str, who: Deciders, files: Sequence[Path]) -> Iterable[Any]:
    """The live objects. Classes are wanted only when files bring pods that have to be completed."""
    from scheduler.app.cli import live  # the client takes a while to load
    from scheduler.app.watches import kinds_needed

    workshop, profiles = who.workshop, who.component.profiles
    frameworks = [workshop.framework(profiles, each.scheduler_name, Catalog()) for each in profiles]
    needed = kinds_needed(frameworks)
    kinds: list[type[Any]] = [Node, Pod, *(kind for kind in COLLECTIONS if kind in needed)]
    with live.connected(kubeconfig) as rest:
        snapshot = live.read(rest, kinds, (PriorityClass, RuntimeClass) if files else ())
    tell(*(f"note: {note}" for note in snapshot.notes))
    return snapshot.objects


def _component(path: Path | None, features: Features) -> KubeSchedulerConfiguration:
    if path is None:
        return configuration.default(features)
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_CONFIG)
    except OSError as error:
        raise CommandError(f"--config: {path}: {error.strerror or error}") from error
    loaded = configuration.load(text, source=str(path), features=features)
    if loaded.config is None or loaded.errors:
        raise CommandError("\n".join(_placed(str(error), path) for error in loaded.errors))
    return loaded.config


def _placed(text: str, path: Path | None) -> str:
    return text if path is None or str(path) in text else f"{path}: {text}"
