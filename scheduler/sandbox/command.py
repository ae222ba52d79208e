"""`wharfinger sandbox`: flags and exit code. The command line calls `add_arguments` and `run`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from scheduler.sandbox.server import serve

SUMMARY = "Serve an in-memory Kubernetes API, loaded from manifests, for trying things out and for tests."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "--load",
        metavar="FILE",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        help="manifests to create at start, YAML or JSON, many documents per file",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="port to listen on (default: any free one)")
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        type=Path,
        help="where to write a kubeconfig (default: a temporary file)",
    )
    parser.add_argument(
        "--token-env",
        metavar="NAME",
        default="",
        help="demand the bearer token in this environment variable (default: none)",
    )
    _add_kubelet_arguments(parser)


def _add_kubelet_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run-pods",
        metavar="SECONDS",
        type=_seconds,
        nargs="?",
        const=1.0,
        help="report bound pods as running after that many seconds (1 when not given; default: they stay Pending)",
    )
    parser.add_argument(
        "--termination-delay",
        metavar="SECONDS",
        type=_seconds,
        default=0.0,
        help="how long a bound pod takes to end after its deletion (default: ends at once)",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until told to stop. Returns the exit code."""
    token = os.environ.get(args.token_env, "") if args.token_env else ""
    if args.token_env and not token:
        print(f"error: --token-env: the environment variable {args.token_env} is not set", file=sys.stderr)
        return 1
    return serve(
        args.load,
        args.host,
        args.port,
        args.kubeconfig,
        token=token,
        termination_delay=args.termination_delay,
        start_delay=args.run_pods,
    )


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text[:6]) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port number")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return value
