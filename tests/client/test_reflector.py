"""The reflector's decisions: which request follows which outcome. No sockets, no clocks."""

import random

import pytest

from scheduler.client.backoff import Backoff
from scheduler.client.errors import (
    ClientError,
    ForbiddenError,
    GoneError,
    MalformedAnswerError,
    ServerError,
    TooManyRequestsError,
    TransportError,
)
from scheduler.client.reflector import ListRequest, Reflector, WatchRequest

TOO_LARGE = ServerError(504, "Timeout", "Too large resource version: 9, current: 3")
RESET = TransportError("reset")
REFUSED = TransportError("refused", refused=True)


def make(page_size: int = 500, **selectors: str) -> Reflector:
    backoff = Backoff(jitter=0.0, now=lambda: 0.0)
    return Reflector(page_size=page_size, selectors=selectors, backoff=backoff, rng=random.Random(1))


def list_query(reflector: Reflector) -> dict[str, str]:
    request = reflector.next_request()
    assert isinstance(request, ListRequest)
    return request.query


def watch_query(reflector: Reflector) -> dict[str, str]:
    request = reflector.next_request()
    assert isinstance(request, WatchRequest)
    return request.query


def watching(version: str = "7") -> Reflector:
    reflector = make()
    assert reflector.page_received(version, "")
    return reflector


def test_first_list_takes_any_version_from_the_servers_cache_in_pages() -> None:
    assert list_query(make(fieldSelector="spec.nodeName!=")) == {
        "fieldSelector": "spec.nodeName!=",
        "resourceVersion": "0",
        "limit": "500",
    }


def test_further_pages_carry_the_token_and_no_version() -> None:
    reflector = make(page_size=2)
    assert not reflector.page_received("7", "token")
    assert list_query(reflector) == {"limit": "2", "continue": "token"}
    assert reflector.page_received("7", "")
    assert watch_query(reflector)["resourceVersion"] == "7"


def test_page_size_zero_asks_for_the_whole_list() -> None:
    assert list_query(make(page_size=0)) == {"resourceVersion": "0"}


def test_watch_starts_after_the_list_with_bookmarks_and_a_random_time_limit() -> None:
    request = watching().next_request()
    assert isinstance(request, WatchRequest)
    assert 300 <= request.seconds <= 600
    assert request.query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "7",
        "timeoutSeconds": str(request.seconds),
    }


def test_a_watch_that_ends_is_resumed_at_once_after_the_last_event() -> None:
    reflector = watching()
    reflector.event_seen("9")
    assert reflector.watch_ended(None, events=1, lasted=0.1) == 0.0
    assert watch_query(reflector)["resourceVersion"] == "9"


@pytest.mark.parametrize(
    ("error", "events", "lasted", "delay"),
    [
        pytest.param(RESET, 3, 0.1, 0.0, id="cut after events"),
        pytest.param(RESET, 0, 5.0, 0.0, id="cut after a quiet while"),
        pytest.param(RESET, 0, 0.1, 0.8, id="cut at once"),
        pytest.param(REFUSED, 0, 0.0, 0.8, id="refused"),
        pytest.param(TooManyRequestsError(429), 0, 0.0, 0.8, id="429"),
        pytest.param(TooManyRequestsError(429, retry_after=5.0), 0, 0.0, 5.0, id="429 with Retry-After"),
        pytest.param(ServerError(500), 2, 9.0, 0.8, id="500"),
    ],
)
def test_trouble_that_leaves_the_version_valid_resumes_the_watch(
    error: ClientError, events: int, lasted: float, delay: float
) -> None:
    reflector = watching()
    assert reflector.watch_ended(error, events=events, lasted=lasted) == delay
    assert watch_query(reflector)["resourceVersion"] == "7"


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(GoneError(410, "Expired"), id="410"),
        pytest.param(MalformedAnswerError("not JSON"), id="malformed event"),
        pytest.param(ForbiddenError(403), id="403"),
        pytest.param(TOO_LARGE, id="version from the future"),
        pytest.param(None, id="ends at once without an event"),
    ],
)
def test_trouble_that_may_hide_events_lists_again_at_least_as_fresh(error: ClientError | None) -> None:
    reflector = watching()
    assert reflector.watch_ended(error, events=0, lasted=0.1) == 0.8
    assert list_query(reflector) == {"resourceVersion": "7"}


@pytest.mark.parametrize("error", [GoneError(410, "Expired"), TOO_LARGE], ids=["too old", "too new"])
def test_an_unknown_version_leads_to_a_consistent_list_at_once(error: ClientError) -> None:
    reflector = watching()
    reflector.watch_ended(GoneError(410), events=0, lasted=9.0)
    assert reflector.list_failed(error) == 0.0
    assert list_query(reflector) == {"limit": "500"}
    assert reflector.list_failed(error) > 0.0, "but not in a tight loop"


def test_a_token_that_expires_between_pages_leads_to_the_whole_list() -> None:
    reflector = make()
    reflector.page_received("7", "token")
    assert reflector.list_failed(GoneError(410, "Expired")) == 0.0
    assert list_query(reflector) == {"resourceVersion": "0"}


def test_a_server_that_pages_its_first_list_is_asked_for_pages_later() -> None:
    reflector = make(page_size=2)
    reflector.page_received("7", "token")
    reflector.page_received("7", "")
    reflector.watch_ended(GoneError(410), events=0, lasted=9.0)
    assert list_query(reflector) == {"resourceVersion": "7", "limit": "2"}


def test_failed_lists_back_off_exponentially_and_start_over() -> None:
    reflector = make()
    reflector.page_received("7", "token")
    delays = [reflector.list_failed(REFUSED) for _ in range(7)]
    assert delays == pytest.approx([0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0])
    assert list_query(reflector) == {"resourceVersion": "0", "limit": "500"}
