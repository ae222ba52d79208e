"""``wharfinger explain``: arguments, output formats, exit codes.

======  ===============================================================================================
0       answered, whatever the answer is
1       the input cannot be used; a line on stderr says where and why
2       wrong usage
3       with ``--exit-code``: answered, and the pod would not get a node now
======  ===============================================================================================
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from scheduler.app.cli import inputs, outputs
from scheduler.app.cli.explain import bulk, subject
from scheduler.app.cli.inputs import CommandError, tell
from scheduler.explain.answers import Answer, answer
from scheduler.explain.objects import InputError
from scheduler.explain.world import build_world

_FAILURE = 1
_DOES_NOT_FIT = 3


def main(arguments: list[str]) -> int:
    """Answer; the exit code is returned."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.scenarios and (args.pod or args.filename or args.kubeconfig):
        parser.error("--scenarios goes without POD, -f and --kubeconfig")
    outputs.prepare()
    try:
        return _scenarios(args) if args.scenarios else _explain(args)
    except CommandError as error:
        tell(*(f"error: {line}" for line in str(error).splitlines()))
        return _FAILURE


def _scenarios(args: argparse.Namespace) -> int:
    workshop = inputs.deciders(args).workshop
    output = sys.stdout.buffer
    for found in bulk.answers(args.scenarios, workshop):
        output.write(msgspec.json.encode(found) + b"\n")
        output.flush()  # whoever feeds scenarios one by one waits for each answer
    return 0


def _explain(args: argparse.Namespace) -> int:
    inputs.take_misplaced_name(args, "pod")
    who = inputs.deciders(args)
    cluster = inputs.cluster(args, who)
    chosen = subject.find(cluster, args.pod, args.namespace, anywhere=args.anywhere)
    tell(*(f"note: {note}" for note in (*cluster.notes, *chosen.notes)))
    try:
        world = build_world(chosen.others, chosen.pod, who.component.profiles, who.workshop)
    except InputError as error:
        raise CommandError(str(error)) from error
    found = {"name": chosen.pod.full_name, **answer(world)}
    _print(args, found)
    return _DOES_NOT_FIT if args.exit_code and not found.get("feasible") else 0


def _print(args: argparse.Namespace, found: Answer) -> None:
    if args.output == "table":
        from scheduler.app.cli.explain.report import show  # rich takes a while to load

        show(found, args.nodes)
    else:
        outputs.write(found, args.output)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wharfinger explain",
        description="Would the pod get a node, which one, and why? Nothing is changed anywhere.",
        epilog="Exit codes: 0 answered, 1 the input cannot be used, 2 wrong usage, 3 with --exit-code: no node for the pod now.",
        allow_abbrev=False,
    )
    pod = (
        "a pod's name, or KIND/NAME of a workload that would make it; may be left out when one pod is pending"
    )
    parser.add_argument("pod", metavar="POD", nargs="?", default="", help=pod)
    inputs.add_arguments(parser)
    parser.add_argument(
        "--scenarios",
        metavar="FILE",
        type=Path,
        help="answer a file of scenarios (.jsonl, .jsonl.gz, - for stdin), a JSON line each, instead of one pod",
    )
    parser.add_argument(
        "--anywhere", action="store_true", help="a pod that has a node is judged as if it named none"
    )
    outputs.add_arguments(parser, "nodes")
    return parser
