"""What one scheduling cycle costs a scheduler that is at work: from the pop to the assumed pod.

Each pod is another one, is placed and stays, so that every cycle meets a cluster that the last one has changed, as in life: what
plugins keep between cycles pays only as far as it survives that.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from scheduler.apis.objects import Pod
from scheduler.app import memory
from scheduler.scheduling.scheduler import Scheduler

Clock = Callable[[], float]
"""Seconds; ``time.thread_time`` instead of ``time.perf_counter`` on a machine that is busy with something else."""


def median_cycle(
    scheduler: Scheduler, pods: Iterable[Pod], clock: Clock = time.perf_counter, *, warm_up: int = 0
) -> float:
    """The median in milliseconds; the scheduler is retired afterwards.

    Args:
        warm_up: so many of the first pods do not count.

    Raises:
        RuntimeError: a pod was not tried, so nothing was measured.
    """
    scheduler.step()
    scheduler.lead()
    with settled_heap():
        times = [_cycle(scheduler, pod, clock) for pod in pods]
    scheduler.retire()
    return statistics.median(times[warm_up:]) * 1000


def _cycle(scheduler: Scheduler, pod: Pod, clock: Clock) -> float:
    scheduler.pod_handler.on_add(pod, initial=False)
    with scheduler.current():
        pass  # the event is applied here, so that only the cycle is timed below
    start = clock()
    tried = scheduler.step() is None
    took = clock() - start
    if not tried:
        raise RuntimeError("the pod was not tried")
    return took


@contextmanager
def settled_heap() -> Iterator[None]:
    """Memory as a scheduler that has synced treats it: what is there is there to stay."""
    thresholds = gc.get_threshold()
    memory.settle()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
