"""``wharfinger serve``: reads manifests, serves the verbs over them, until it is told to stop.

::

    read ──> listen, print the URL ──┬── SIGHUP: read again ──> exchange the world; what cannot be read leaves the old one
       │                             └── SIGTERM, SIGINT: answer what is under way, end
       └─ cannot be read: exit 1

======  ===============================================================================================
0       told to stop
1       the input cannot be used, or the address cannot be listened on; a line on stderr says where and why
2       wrong usage
======  ===============================================================================================
"""

from __future__ import annotations

import argparse
import logging
import signal
from collections.abc import Iterable

from flask import Flask
from prometheus_client import CollectorRegistry

from extender import (
    DEFAULT_MAX_BODY_BYTES,
    GivenWorld,
    Settings,
    WebhookMetrics,
    body_limits,
    create_blueprint,
)
from extender.standalone import NoCluster
from scheduler.app.cli import inputs
from scheduler.app.cli.inputs import CommandError, tell
from scheduler.app.cli.serve.address import Address, AddressError, parse
from scheduler.app.cli.serve.signals import Signals
from scheduler.app.offline import given_world
from scheduler.explain.objects import InputError
from scheduler.serving.access import Access
from scheduler.serving.app import Parts, create_app
from scheduler.serving.authorization import OpenPaths
from scheduler.serving.http import ListenError, Server

_FAILURE = 1
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(arguments: list[str]) -> int:
    """Serve; the exit code is returned."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if not args.filename:
        parser.error("there is nothing to serve over: give -f FILE")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        address = parse(args.listen)
        world, summary = _read(args)
        tell(summary)
        with Signals(_SIGNALS) as signals:
            _serve(args, address, world, signals)
    except (CommandError, AddressError, ListenError) as error:
        tell(*(f"error: {line}" for line in str(error).splitlines()))
        return _FAILURE
    return 0


def _serve(args: argparse.Namespace, address: Address, world: GivenWorld, signals: Signals) -> None:
    server = Server(_application(world), bind_address=address.host, port=address.port)
    server.start()
    try:
        print(f"serving on {server.url}", flush=True)
        while signals.wait() is signal.SIGHUP:
            _read_again(args, world)
    finally:
        server.stop()


def _read(args: argparse.Namespace) -> tuple[GivenWorld, str]:
    """The world that the flags describe, and a line about it, to be told once it answers. Raises CommandError."""
    who = inputs.deciders(args)
    cluster = inputs.cluster(args, who)
    tell(*(f"note: {note}" for note in cluster.notes))
    try:
        world = given_world(cluster, who.component.profiles, who.workshop)
    except InputError as error:
        raise CommandError(str(error)) from error
    names = ", ".join(profile.scheduler_name for profile in who.component.profiles)
    summary = (
        f"{_count(cluster.objects.nodes, 'node')}, {_count(cluster.objects.pods, 'pod')}; profiles: {names}"
    )
    return world, summary


def _read_again(args: argparse.Namespace, world: GivenWorld) -> None:
    try:
        newer, summary = _read(args)
        world.exchange(newer)
        tell(summary)
    except CommandError as error:
        tell(*(f"error: {line}" for line in str(error).splitlines()), "what was read before stays")


def _application(world: GivenWorld) -> Flask:
    """The verbs, ``/openapi.json``, and the pages by which a test finds out that it may begin."""
    registry = CollectorRegistry()
    metrics = WebhookMetrics(registry)
    settings = Settings(find_pod=world.pod)
    return create_app(
        Parts(
            access=Access(OpenPaths.parse(("/*",))),
            registry=registry,
            reset_metrics=metrics.reset,
            blueprints=(create_blueprint(world, NoCluster(), settings, metrics),),
            body_limits=body_limits(DEFAULT_MAX_BODY_BYTES),
        )
    )


def _count(things: Iterable[object], what: str) -> str:
    number = len(list(things))
    return f"{number} {what}{'' if number == 1 else 's'}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wharfinger serve",
        description="Answer as a scheduler extender over the nodes and pods of manifests, on this machine only, without any cluster.",
        epilog="SIGHUP reads the files again. Exit codes: 0 told to stop, 1 the input or the address cannot be used, 2 wrong usage.",
        allow_abbrev=False,
    )
    inputs.add_files(parser)
    inputs.add_deciders(parser)
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        default="127.0.0.1:0",
        help="an address of the loopback; port 0 takes a free one, and the first line of the output names it (default %(default)s)",
    )
    parser.set_defaults(kubeconfig="")
    return parser
