"""Users in headers: only from a front proxy that proves itself."""

from pathlib import Path

import pytest

from scheduler.sandbox import Sandbox
from tests.app.access.conftest import Flags
from tests.app.access.people import Authority

JANE = {"X-Remote-User": "jane"}


@pytest.fixture(scope="module")
def proxies() -> Authority:
    return Authority("proxies")


@pytest.fixture
def flag(proxies: Authority, tmp_path: Path) -> str:
    return f"--requestheader-client-ca-file={proxies.write(tmp_path / 'proxies.crt')}"


@pytest.fixture
def proxy(proxies: Authority, tmp_path: Path) -> Path:
    return proxies.person(tmp_path, "front-proxy")


def test_a_front_proxy_says_who_asks(port: Flags, flag: str, proxy: Path) -> None:
    assert port(flag).refused(person=proxy, headers=JANE) == "jane"


def test_anybody_else_is_not_believed(port: Flags, flag: str, tmp_path: Path) -> None:
    asked = port(flag)
    assert asked.refused(headers=JANE) == "system:anonymous"
    stranger = Authority("others").person(tmp_path, "front-proxy")
    assert asked.refused(person=stranger, headers=JANE) == "401"


def test_a_user_with_a_certificate_is_no_front_proxy(port: Flags, flag: str, tmp_path: Path) -> None:
    people = Authority()
    asked = port(flag, f"--client-ca-file={people.write(tmp_path / 'ca.crt')}")
    headers = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    assert asked.refused(person=people.person(tmp_path, "joe"), headers=headers) == "joe"


def test_a_front_proxy_without_a_user_is_nobody(port: Flags, flag: str, proxy: Path) -> None:
    assert port(flag).refused(person=proxy) == "system:anonymous"


@pytest.mark.parametrize(
    ("allowed", "expected"), [("front-proxy,other", "jane"), ("other", "401"), ("", "jane")]
)
def test_names_of_front_proxies_can_be_limited(
    port: Flags, flag: str, proxy: Path, allowed: str, expected: str
) -> None:
    asked = port(flag, f"--requestheader-allowed-names={allowed}")
    assert asked.refused(person=proxy, headers=JANE) == expected


def test_all_that_headers_say_goes_into_the_review(
    sandbox: Sandbox, port: Flags, flag: str, proxy: Path
) -> None:
    headers = [
        ("X-Remote-User", "jane"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "ops"),
        ("X-Remote-Group", "a,b"),
        ("X-Remote-Group", ""),
        ("X-Remote-Extra-Scopes", "read"),
        ("x-remote-extra-scopes", "write"),
        ("X-Remote-Extra-Example.org%2Fk", "v"),
    ]
    asked = port(flag, "--requestheader-uid-headers=x-remote-uid", authz=True)
    asked.refused(person=proxy, headers=headers)
    assert sandbox.access.asked[-1] == {
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
        "user": "jane",
        "uid": "7",
        "groups": ["ops", "a,b", "system:authenticated"],
        "extra": {"scopes": ["read", "write"], "example.org/k": ["v"]},
    }


def test_ids_in_headers_count_only_on_request(sandbox: Sandbox, port: Flags, flag: str, proxy: Path) -> None:
    port(flag, authz=True).refused(person=proxy, headers={**JANE, "X-Remote-Uid": "7"})
    assert "uid" not in sandbox.access.asked[-1]


def test_headers_have_the_names_of_the_flags(sandbox: Sandbox, port: Flags, flag: str, proxy: Path) -> None:
    asked = port(
        flag,
        "--requestheader-username-headers=x-first,x-second",
        "--requestheader-group-headers=x-groups",
        "--requestheader-extra-headers-prefix=x-more-",
        authz=True,
    )
    assert asked.refused(person=proxy, headers=JANE) == "system:anonymous"
    asked.refused(
        person=proxy, headers={"X-Second": "joe", "X-Groups": "g", "X-Remote-Group": "no", "X-More-K": "v"}
    )
    spec = sandbox.access.asked[-1]
    assert [spec["user"], spec["groups"], spec["extra"]] == [
        "joe",
        ["g", "system:authenticated"],
        {"k": ["v"]},
    ]


def test_a_header_with_underscores_is_no_header_with_dashes(port: Flags, flag: str, proxy: Path) -> None:
    assert port(flag).refused(person=proxy, headers={"X_Remote_User": "root"}) == "system:anonymous"
