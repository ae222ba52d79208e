"""The inbox: nothing is lost, nobody waits in vain."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Thread

import pytest

from scheduler.backend.inbox import Inbox

DEADLINE = 10.0


def in_thread(work: Callable[[], object]) -> Thread:
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_drain_gives_everything_once_and_in_order() -> None:
    inbox: Inbox[int] = Inbox()
    for number in range(3):
        inbox.put(number)
    assert len(inbox) == 3
    assert [inbox.drain(), inbox.drain()] == [[0, 1, 2], []]


def test_wait_gives_up_after_its_timeout() -> None:
    assert not Inbox[int]().wait(0.01)


@pytest.mark.parametrize(
    "stir",
    [lambda inbox: inbox.put(1), lambda inbox: inbox.wake(), lambda inbox: inbox.close()],
    ids=["put", "wake", "close"],
)
@pytest.mark.parametrize("before", [True, False], ids=["before the wait", "during the wait"])
def test_wait_ends(stir: Callable[[Inbox[int]], None], before: bool) -> None:
    inbox: Inbox[int] = Inbox()
    if before:
        stir(inbox)
    else:
        in_thread(lambda: stir(inbox))
    assert inbox.wait(DEADLINE)


def test_a_wake_ends_one_wait() -> None:
    inbox: Inbox[int] = Inbox()
    inbox.wake()
    assert inbox.wait(DEADLINE)
    assert inbox.drain() == []
    assert not inbox.wait(0.01)


def test_a_closed_inbox_still_takes_and_gives_and_never_waits() -> None:
    inbox: Inbox[int] = Inbox()
    inbox.close()
    inbox.put(1)
    assert inbox.closed
    assert inbox.drain() == [1]
    assert inbox.wait(DEADLINE)


def test_many_producers_lose_nothing_and_keep_their_own_order() -> None:
    inbox: Inbox[tuple[int, int]] = Inbox()

    def produce(producer: int) -> None:
        for number in range(500):
            inbox.put((producer, number))

    threads = [in_thread(partial(produce, producer)) for producer in range(4)]
    received: list[tuple[int, int]] = []
    while len(received) < 2000:
        assert inbox.wait(DEADLINE)
        received += inbox.drain()
    for thread in threads:
        thread.join(DEADLINE)
    for producer in range(4):
        assert [number for whose, number in received if whose == producer] == list(range(500))
