"""What stands between threads: the lock that is taken in turn, the workers, the writer of statuses, the informers' handler."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from scheduler.backend.inbox import Inbox
from scheduler.client.errors import NotFoundError, ServerError
from scheduler.scheduling.handlers import InboxHandler
from scheduler.scheduling.status_writer import StatusWriter
from scheduler.scheduling.turns import Turns
from scheduler.scheduling.workers import Workers
from tests.builders import make_pod
from tests.scheduling.harness import DEADLINE


def test_who_waits_for_the_lock_comes_before_who_has_just_had_it() -> None:
    turns, order, waits = Turns(), [], threading.Event()

    def other() -> None:
        waits.set()
        with turns.hold():
            order.append("other")

    thread = threading.Thread(target=other)
    with turns.hold():
        thread.start()
        assert waits.wait(DEADLINE)
        deadline = time.monotonic() + DEADLINE
        while not turns._turnstile.locked():  # until the other stands in line
            assert time.monotonic() < deadline
    with turns.hold():
        order.append("again")
    thread.join(DEADLINE)
    assert order == ["other", "again"]


def test_the_lock_is_given_back_when_its_block_raises() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns.hold():
        raise ZeroDivisionError
    with turns.hold():
        assert turns._lock.locked()


def test_workers_work_at_once_but_never_more_than_the_limit() -> None:
    workers, together, release = Workers("test", 3), threading.Semaphore(0), threading.Event()
    busy: set[str] = set()

    def work() -> None:
        busy.add(threading.current_thread().name)
        together.release()
        assert release.wait(DEADLINE)

    for _ in range(10):
        workers.submit(work)
    for _ in range(3):
        assert together.acquire(timeout=DEADLINE)
    assert not together.acquire(blocking=False)
    release.set()
    for _ in range(7):
        assert together.acquire(timeout=DEADLINE)
    assert workers.stop(DEADLINE) == 0
    assert busy == {"test-1", "test-2", "test-3"}


@pytest.mark.parametrize("bug", [RuntimeError("oops"), SystemExit(1)], ids=["exception", "exit"])
def test_work_that_raises_is_told_and_the_worker_goes_on(
    bug: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    workers, done = Workers("test", 1), threading.Event()

    def stumble() -> None:
        raise bug

    workers.submit(stumble)
    workers.submit(done.set)
    assert done.wait(DEADLINE)
    assert "a worker failed" in caplog.text
    assert workers.stop(DEADLINE) == 0


def test_a_worker_forgets_what_it_has_done() -> None:
    workers, forgotten = Workers("test", 1), threading.Event()

    class Work:
        def __call__(self) -> None:
            """Nothing to do."""

    work = Work()
    weakref.finalize(work, forgotten.set)
    workers.submit(work)
    del work
    assert forgotten.wait(DEADLINE)
    assert workers.stop(DEADLINE) == 0


def test_stopping_ends_what_has_begun_and_drops_the_rest() -> None:
    workers, begun, release, log = Workers("test", 1), threading.Event(), threading.Event(), []

    def first() -> None:
        begun.set()
        assert release.wait(DEADLINE)
        log.append("first")

    workers.submit(first)
    assert begun.wait(DEADLINE)
    workers.submit(lambda: log.append("second"))
    assert workers.stop(0) == 1
    release.set()
    assert workers.stop(DEADLINE) == 0
    workers.submit(lambda: log.append("third"))
    assert log == ["first"]


class Statuses:
    """A port that notes patches, or fails; and workers that work when the test says so."""

    def __init__(self, error: Exception | None = None) -> None:
        self.written: list[tuple[str, Any]] = []
        self.error = error
        self.work: list[Callable[[], None]] = []
        self.writer = StatusWriter(self, self.work.append)  # type: ignore[arg-type]

    def patch_pod_status(self, namespace: str, name: str, patch: Mapping[str, Any]) -> None:
        if self.error:
            raise self.error
        self.written.append((name, patch))

    def run(self) -> None:
        while self.work:
            self.work.pop(0)()


def test_only_the_latest_patch_of_a_pod_is_written() -> None:
    statuses, one, two = Statuses(), make_pod("one").obj(), make_pod("two").obj()
    for pod, patch in ((one, {"a": 1}), (two, {"a": 1}), (one, {"a": 2})):
        statuses.writer.write(pod, patch)
    assert len(statuses.work) == 2
    statuses.run()
    assert statuses.written == [("one", {"a": 2}), ("two", {"a": 1})]


def test_a_patch_that_is_not_needed_any_more_is_dropped() -> None:
    statuses, pod = Statuses(), make_pod("one").obj()
    statuses.writer.write(pod, {"a": 1})
    statuses.writer.write(pod, {})
    statuses.run()
    assert statuses.written == []
    statuses.writer.write(pod, {"a": 2})
    statuses.run()
    assert statuses.written == [("one", {"a": 2})]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(ServerError(500, "InternalError", "broken"), True, id="server error"),
        pytest.param(NotFoundError(404, "NotFound", "gone"), False, id="the pod is gone"),
    ],
)
def test_a_patch_that_fails_is_told_unless_the_pod_is_gone(
    error: Exception,
    told: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    statuses = Statuses(error)
    statuses.writer.write(make_pod("one").obj(), {"a": 1})
    statuses.run()
    assert ("the status of pod default/one could not be updated" in caplog.text) is told


def test_a_handler_leaves_each_kind_of_event_in_order() -> None:
    inbox: Inbox[Callable[[], None]] = Inbox()
    seen: list[Any] = []
    handler: InboxHandler[str] = InboxHandler(
        inbox,
        lambda change, *objects: change(*objects),
        lambda obj: seen.append(("added", obj)),
        lambda old, new: seen.append(("updated", old, new)),
        lambda obj: seen.append(("deleted", obj)),
    )
    handler.on_add("a", initial=True)
    handler.on_update("a", "b")
    handler.on_delete("b")
    assert seen == []
    for arrival in inbox.drain():
        arrival()
    assert seen == [("added", "a"), ("updated", "a", "b"), ("deleted", "b")]
