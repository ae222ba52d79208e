"""Who may ask what."""

import pytest

from scheduler.serving.access import Access, Decision, OpenPaths, PathError, Request

OPEN = OpenPaths.parse(["/healthz", "metrics", "/debug/*", "/"])


@pytest.mark.parametrize(
    ("path", "is_open"),
    [
        ("/healthz", True),
        ("/healthz/ping", False),
        ("/metrics", True),
        ("/debug", False),
        ("/debug/", True),
        ("/debug/pprof/x", True),
        ("/", True),
        ("/configz", False),
    ],
)
def test_open_paths_match_exactly_or_by_prefix(path: str, is_open: bool) -> None:
    assert (path in OPEN) == is_open


@pytest.mark.parametrize("path", ["/", "/x", "/x/y"])
def test_a_lone_star_opens_everything(path: str) -> None:
    assert path in OpenPaths.parse(["/*"])


def test_no_patterns_open_nothing() -> None:
    assert "/healthz" not in OpenPaths.parse([])


def test_a_star_in_the_middle_is_refused() -> None:
    with pytest.raises(PathError, match=r'^only trailing \* allowed in "a\*b"$'):
        OpenPaths.parse(["/a*b"])


def test_what_is_not_open_is_refused_with_verb_user_and_path() -> None:
    refusal = Access(OPEN).refusal(Request("POST", "/filter", "Bearer secret"))
    assert refusal == 'forbidden: User "system:anonymous" cannot post path "/filter"'


def test_an_authorizer_decides_about_the_rest_and_never_about_open_paths() -> None:
    asked: list[Request] = []

    def authorizer(request: Request) -> Decision:
        asked.append(request)
        return Decision(allowed=request.method == "GET", user="jane")

    policy = Access(OPEN, authorizer)
    assert policy.refusal(Request("GET", "/healthz")) is None
    assert policy.refusal(Request("GET", "/configz")) is None
    assert policy.refusal(Request("PUT", "/configz")) == 'forbidden: User "jane" cannot put path "/configz"'
    assert [request.path for request in asked] == ["/configz", "/configz"]


def test_a_shown_request_hides_the_credentials() -> None:
    assert "secret" not in repr(Request("GET", "/metrics", "Bearer secret"))
