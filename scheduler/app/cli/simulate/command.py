"""``wharfinger simulate``: arguments, progress, exit codes.

======  ===============================================================================================
0       simulated, whatever came of it
1       the input cannot be used; a line on stderr says where and why
2       wrong usage
3       with ``--exit-code``: simulated, and some pod stays pending
======  ===============================================================================================
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from scheduler.apis.manifests import ManifestError, read
from scheduler.apis.objects import Pod
from scheduler.app.cli import inputs, outputs
from scheduler.app.cli.inputs import CommandError, Deciders, tell
from scheduler.app.cli.simulate.copies import Copies, copies_of
from scheduler.app.cli.simulate.result import Full, Result, Waiting
from scheduler.app.cli.simulate.stage import Stage
from scheduler.app.cli.simulate.usage import Usages, measure
from scheduler.explain.cluster import Cluster
from scheduler.explain.workload_pods import Made
from scheduler.framework.profile import ProfileError

_FAILURE = 1
_PENDING = 3
_MOST_COPIES = 100_000
_NO_PREEMPTION = re.compile(r" (no new claims to deallocate, )?preemption: not eligible due to \S+$")
"""The end of the sentence for a copy, which may not preempt since we said so."""
Progress = Callable[[int], None]


def main(arguments: list[str]) -> int:
    """Simulate; the exit code is returned."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.template and args.name:
        parser.error("give a NAME or a --template, not both")
    outputs.prepare()
    try:
        result = _simulate(args)
    except (CommandError, ProfileError) as error:
        tell(*(f"error: {line}" for line in str(error).splitlines()))
        return _FAILURE
    if args.output == "table":
        from scheduler.app.cli.simulate.report import show  # rich takes a while to load

        show(result, args.nodes)
    else:
        outputs.write(result.as_json(), args.output)
    return _PENDING if args.exit_code and result.pending else 0


def _simulate(args: argparse.Namespace) -> Result:
    inputs.take_misplaced_name(args, "name")
    who = inputs.deciders(args)
    name = args.name
    if args.template:
        args.filename.append(args.template)
        name = _name_in(args.template)
    cluster = inputs.cluster(args, who)
    if not name and (args.until_full or args.replicas is not None):
        name = _only_candidate(cluster)
    if not name:
        return _all_pending(cluster, who, args.seed)
    copies = copies_of(cluster, name, args.namespace)
    tell(*(f"note: {note}" for note in (*cluster.notes, *copies.notes)))
    if args.until_full:
        most = _MOST_COPIES if args.replicas is None else args.replicas
        return _until_full(copies, who, args.seed, most)
    count = copies.wanted if args.replicas is None else args.replicas
    return _some_copies(copies, who, args.seed, count)


def _all_pending(cluster: Cluster, who: Deciders, seed: int) -> Result:
    tell(*(f"note: {note}" for note in cluster.notes))
    waiting = cluster.objects.waiting()
    if not waiting:
        named = "; name a workload (KIND/NAME) to place its pods" if cluster.workloads else ""
        tell(f"note: no pod of the input waits for a node{named}")
    stage = Stage(cluster.objects, who, seed)
    before = measure(stage.nodes)
    return _run(stage, waiting, before)


def _some_copies(copies: Copies, who: Deciders, seed: int, count: int) -> Result:
    stage = Stage(copies.cluster, who, seed)
    before = measure(stage.nodes)
    pods = [_created(stage, made) for made in islice(copies.makes, count)]
    return _run(stage, pods, before)


def _created(stage: Stage, made: Made) -> Pod:
    """The pod that is to be placed; its claims are there already."""
    stage.memory.provide(made.claims)
    return made.pod


def _run(stage: Stage, pods: Sequence[Pod], before: Usages) -> Result:
    with _progress("placing pods", len(pods)) as progress:
        stage.run(*pods, progress=progress)
    if stage.exhausted:
        tell("note: the simulation was stopped: some pods are tried again and again without an end")
    return _result(stage, pods, before)


def _until_full(copies: Copies, who: Deciders, seed: int, most: int) -> Result:
    """One copy after the other, until one has no place. Copies evict nobody: the question is what fits beside what is there."""
    stage = Stage(copies.cluster, who, seed)
    before = measure(stage.nodes)
    number, limit = 0, ""
    with _progress("placing copies", None) as progress:
        for made in islice(copies.makes, most):
            pod = _created(stage, made)
            pod = replace(pod, spec=replace(pod.spec, preemption_policy="Never"))
            stage.run(pod, progress=progress)
            if not stage.memory.pods[pod.full_name].spec.node_name:
                limit = _NO_PREEMPTION.sub("", stage.reason(pod))
                break
            number += 1
    return _result(stage, (), before, Full(number, limit))


def _result(stage: Stage, pods: Sequence[Pod], before: Usages, full: Full | None = None) -> Result:
    memory = stage.memory
    # A victim may be one of the pods that were placed a moment ago: it is gone, it does not wait.
    waiting = [pod for pod in pods if (found := memory.pods.get(pod.full_name)) and not found.spec.node_name]
    return Result(
        placed=memory.placements,
        pending=[Waiting(pod.full_name, stage.reason(pod)) for pod in waiting],
        evicted=memory.evictions,
        before=before,
        after=measure(stage.nodes),
        full=full,
    )


def _name_in(template: Path) -> str:
    """The pod or workload of a file that holds just one object. Raises CommandError."""
    try:
        found = list(read([template]))
    except ManifestError as error:
        raise CommandError(str(error)) from error
    if len(found) != 1:
        raise CommandError(f"--template: {template}: expected one object, found {len(found)}")
    document = found[0].obj
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{document['kind']}/{name}"


def _only_candidate(cluster: Cluster) -> str:
    """What is copied when nothing is named: the only workload, or else the only pending pod. Raises CommandError."""
    if len(cluster.workloads) == 1:
        return f"{cluster.workloads[0].kind}/{cluster.workloads[0].metadata.name}"
    pending = cluster.objects.waiting()
    if len(pending) == 1 and not cluster.workloads:
        return pending[0].metadata.name
    raise CommandError("name the pod or workload (KIND/NAME) that is to be copied, or give --template FILE")


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Progress]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda placed: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda placed: bar.update(task, completed=placed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wharfinger simulate",
        description="Place pods with the real scheduling loop, in memory: where do they go, what stays pending, how full is it then?",
        epilog="Exit codes: 0 simulated, 1 the input cannot be used, 2 wrong usage, 3 with --exit-code: some pod stays pending.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        default="",
        help="copy this pod, or the pods of KIND/NAME; without it all pending pods are placed",
    )
    inputs.add_arguments(parser)
    parser.add_argument(
        "--template", metavar="FILE", type=Path, help="a manifest of the pod or workload that is copied"
    )
    parser.add_argument(
        "--replicas",
        metavar="N",
        type=inputs.count,
        help="so many copies (default: as many as the workload wants; one of a pod)",
    )
    parser.add_argument(
        "--until-full",
        action="store_true",
        help="how many copies fit, at most --replicas, and what keeps the next one out",
    )
    parser.add_argument(
        "--seed", type=inputs.count, default=0, help="breaks ties among equal nodes (default %(default)s)"
    )
    outputs.add_arguments(parser, "lines")
    return parser
