"""Answers of the server: envelopes, failures, and answers that are neither."""

import msgspec
import pytest

from scheduler.client import errors
from scheduler.client.errors import ApiError, MalformedAnswerError, api_error
from scheduler.client.event_objects import NOTE_LIMIT, shorten
from scheduler.client.resources import LEASES, NODES, PODS, Resource
from scheduler.client.wire import identify, parse_event, parse_page


def test_a_page_keeps_its_items_raw() -> None:
    page = parse_page(b'{"metadata":{"resourceVersion":"7","continue":"t"},"items":[{"a":1},{"b":2}]}')
    assert (page.resource_version, page.continue_) == ("7", "t")
    assert [bytes(item) for item in page.items] == [b'{"a":1}', b'{"b":2}']


def test_nulls_are_absent() -> None:
    page = parse_page(b'{"metadata":{"resourceVersion":"7","continue":null},"items":null}')
    assert (page.continue_, page.items) == ("", [])


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"items":3}', b'{"items":[{]}', b'{"items":["\xff"]']
)
def test_what_is_no_list_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedAnswerError, match="the list does not parse"):
        parse_page(body)


def test_an_event_keeps_its_object_raw() -> None:
    event = parse_event(
        b'{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","resourceVersion":"3"}}}'
    )
    assert event.type == "ADDED"
    identity = identify(event.object)
    assert (identity.key, identity.resource_version) == ("n/a", "3")


@pytest.mark.parametrize("line", [b"x", b"{}", b'{"type":"ADDED"}', b'{"type":1,"object":{}}'])
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(MalformedAnswerError, match="the event of the watch does not parse"):
        parse_event(line)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequestError),
        (401, errors.UnauthorizedError),
        (403, errors.ForbiddenError),
        (404, errors.NotFoundError),
        (409, errors.ConflictError),
        (410, errors.GoneError),
        (418, ApiError),
        (422, errors.InvalidError),
        (429, errors.TooManyRequestsError),
        (500, errors.ServerError),
        (503, errors.ServerError),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[ApiError]) -> None:
    error = api_error(status, b'{"kind":"Status","reason":"Why","message":"what"}')
    assert type(error) is kind
    assert (str(error), error.status, error.reason) == ("what", status, "Why")


def test_an_error_event_carries_its_own_code() -> None:
    raw = msgspec.Raw(b'{"kind":"Status","code":410,"reason":"Expired","message":"too old"}')
    assert isinstance(api_error(0, raw), errors.GoneError)


def test_retry_after_is_taken_from_the_details() -> None:
    assert api_error(429, b'{"details":{"retryAfterSeconds":3}}').retry_after == 3.0
    assert api_error(429, b'{"details":{"retryAfterSeconds":3}}', 1.0).retry_after == 1.0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"<h1>Bad\nGateway</h1>", "<h1>Bad Gateway</h1>", id="html"),
        pytest.param(b"", "the server answered 502", id="empty"),
        pytest.param(b"\xff\xfe", "\ufffd\ufffd", id="binary"),
        pytest.param(b"x" * 100_000, "x" * 2048, id="long"),
    ],
)
def test_a_proxys_answer_is_one_short_line(body: bytes, message: str) -> None:
    assert str(api_error(502, body)) == message


def test_paths() -> None:
    assert PODS.collection() == "/api/v1/pods"
    assert PODS.object("ns", "p", "binding") == "/api/v1/namespaces/ns/pods/p/binding"
    assert NODES.object("", "n") == "/api/v1/nodes/n"
    stateful_sets = Resource("apps", "v1", "statefulsets", "StatefulSet", namespaced=True)
    assert stateful_sets.collection("ns") == "/apis/apps/v1/namespaces/ns/statefulsets"
    assert LEASES.name == "leases.coordination.k8s.io"
    assert NODES.object("", "../../x?y") == "/api/v1/nodes/..%2F..%2Fx%3Fy"


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        NODES.object("", name)


@pytest.mark.parametrize("note", ["x" * NOTE_LIMIT, "short", ""])
def test_a_note_that_fits_stays(note: str) -> None:
    assert shorten(note) == note


@pytest.mark.parametrize("letter", ["x", "é", "語", "🚢"])
def test_a_long_note_is_cut_between_letters(letter: str) -> None:
    cut = shorten(letter * 2000)
    assert NOTE_LIMIT - 4 <= len(cut.encode()) <= NOTE_LIMIT
    assert cut.endswith(f"{letter} ...")
