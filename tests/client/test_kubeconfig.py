"""A kubeconfig that is wrong gets one clear line that names the place, and never shows a credential."""

import base64
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from kubernetes.config import incluster_config

from scheduler.client.access import Access, load_access, user_agent
from scheduler.client.errors import AccessError
from scheduler.client.kubeconfig import SIZE_LIMIT

SECRET = "s3cr3t-t0ken"
GOOD: dict[str, Any] = {
    "current-context": "here",
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1/"}}],
    "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    "users": [{"name": "u", "user": {"token": SECRET}}],
}

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    def write(change: Change = lambda config: None) -> str:
        config = copy.deepcopy(GOOD)
        change(config)
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return str(path)

    return write


def test_the_current_context_gives_server_and_token(write: Callable[..., str]) -> None:
    access = load_access(write())
    assert access.host == "http://127.0.0.1:1"
    assert access.auth_headers() == {"authorization": f"Bearer {SECRET}"}


def test_master_overrides_the_server_and_keeps_the_credentials(write: Callable[..., str]) -> None:
    access = load_access(write(), "http://other:8080")
    assert access.host == "http://other:8080"
    assert access.auth_headers() == {"authorization": f"Bearer {SECRET}"}


def test_a_master_alone_is_talked_to_anonymously() -> None:
    access = load_access(master="http://127.0.0.1:8080")
    assert access.host == "http://127.0.0.1:8080"
    assert access.auth_headers() == {}


def test_a_user_name_and_password_become_basic_authentication(write: Callable[..., str]) -> None:
    def change(config: dict[str, Any]) -> None:
        config["users"][0]["user"] = {"username": "me", "password": "pw"}

    assert load_access(write(change)).auth_headers() == {"authorization": "Basic bWU6cHc="}


def test_an_exec_plugin_gives_the_token(write: Callable[..., str], tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text(
        '#!/bin/sh\necho \'{"apiVersion":"v1","kind":"ExecCredential","status":{"token":"abc"}}\'\n'
    )
    plugin.chmod(0o755)

    def change(config: dict[str, Any]) -> None:
        config["users"][0]["user"] = {"exec": {"command": str(plugin), "apiVersion": "v1"}}

    assert load_access(write(change)).auth_headers() == {"authorization": "Bearer abc"}


def test_a_token_file_is_read_again_after_a_while(write: Callable[..., str], tmp_path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config["users"][0]["user"] = {"tokenFile": "token"}

    seconds = 0.0
    (tmp_path / "token").write_text("old\n")
    access = load_access(write(change), now=lambda: seconds)
    assert access.auth_headers() == {"authorization": "Bearer old"}
    (tmp_path / "token").write_text("new\n")
    assert access.auth_headers() == {"authorization": "Bearer old"}
    seconds = 61.0
    assert access.auth_headers() == {"authorization": "Bearer new"}


def test_a_token_that_cannot_be_refreshed_is_an_access_error(
    write: Callable[..., str], tmp_path: Path
) -> None:
    def change(config: dict[str, Any]) -> None:
        config["users"][0]["user"] = {"tokenFile": "token"}

    seconds = 0.0
    (tmp_path / "token").write_text("old")
    access = load_access(write(change), now=lambda: seconds)
    (tmp_path / "token").unlink()
    seconds = 61.0
    with pytest.raises(AccessError, match="cannot be refreshed"):
        access.auth_headers()


def test_a_token_that_no_header_may_carry_is_refused_without_showing_it(write: Callable[..., str]) -> None:
    access = load_access(write(put(f"{SECRET}\r\nX-Evil: 1", "users", 0, "user", "token")))
    with pytest.raises(AccessError, match="no header may have") as caught:
        access.auth_headers()
    assert SECRET not in str(caught.value)


def drop(*path: str | int) -> Change:
    def change(config: dict[str, Any]) -> None:
        place: Any = config
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return change


def put(value: Any, *path: str | int) -> Change:
    def change(config: dict[str, Any]) -> None:
        place: Any = config
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(drop("current-context"), "current-context is not set", id="no context"),
        pytest.param(put("x", "current-context"), 'contexts: no entry named "x"', id="unknown context"),
        pytest.param(drop("clusters"), "clusters: expected a list", id="no clusters"),
        pytest.param(put("x", "contexts", 0, "context", "user"), 'users: no entry named "x"', id="unknown user"),
        pytest.param(put([], "clusters", 0, "cluster"), 'clusters["c"].cluster: expected a mapping', id="list"),
        pytest.param(drop("clusters", 0, "cluster", "server"), "cluster has no server", id="no server"),
        pytest.param(put("ftp://x", "clusters", 0, "cluster", "server"), "kubeconfig: the API server's address must start with http", id="scheme"),
        pytest.param(put("https://x:port", "clusters", 0, "cluster", "server"),
                     "kubeconfig: the API server's address is malformed: https://x:port", id="port"),
        pytest.param(put("https://", "clusters", 0, "cluster", "server"), "kubeconfig: the API server's address is malformed", id="no host"),
        pytest.param(put({"exec": {"command": "/no/such", "apiVersion": "v1"}}, "users", 0, "user"),
                     "the exec plugin /no/such is not there, or is no program", id="exec"),
        pytest.param(put({"exec": {"command": "no-such-program", "apiVersion": "v1"}}, "users", 0, "user"),
                     "the exec plugin no-such-program is not there", id="exec on the path"),
        pytest.param(put({"exec": {"command": "true", "apiVersion": "v1"}}, "users", 0, "user"),
                     "the exec plugin gave no credentials", id="exec without an answer"),
        pytest.param(put({"tokenFile": "/no/such"}, "users", 0, "user"), "credentials cannot be loaded", id="file"),
    ],
)  # fmt: skip
def test_mistakes_are_named(write: Callable[..., str], change: Change, message: str) -> None:
    with pytest.raises(AccessError) as caught:
        load_access(write(change))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_missing_exec_plugin_is_told_once(
    write: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(AccessError):
        load_access(write(put({"exec": {"command": "./no-such", "apiVersion": "v1"}}, "users", 0, "user")))
    assert caplog.messages == []


@pytest.mark.parametrize("address", ["https://me:secret@x:6443", "ftp://me:secret@x/", "me:secret@x"])
def test_an_address_with_credentials_is_refused_without_showing_them(
    write: Callable[..., str], address: str
) -> None:
    with pytest.raises(AccessError, match="must not contain credentials") as caught:
        load_access(write(), address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("address", ["ftp://x", "https://[::1", "https://x:port"])
def test_a_master_that_is_none_is_not_blamed_on_the_kubeconfig(
    write: Callable[..., str], address: str
) -> None:
    with pytest.raises(AccessError, match=r"^the API server's address ") as caught:
        load_access(write(), address)
    assert str(caught.value).endswith(address)


XXX = base64.b64encode(b"xxx").decode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            put(
                {"server": "https://127.0.0.1:1", "certificate-authority-data": XXX}, "clusters", 0, "cluster"
            ),
            "the certificate authority for https://127.0.0.1:1 cannot be loaded: no certificate or crl found",
            id="authority",
        ),
        pytest.param(
            put({"client-certificate-data": XXX, "client-key-data": XXX}, "users", 0, "user"),
            "the client certificate and key for https://127.0.0.1:1 cannot be loaded: not PEM",
            id="client certificate",
        ),
    ],
)
def test_certificates_that_are_none_are_refused_at_once(
    write: Callable[..., str], change: Change, message: str
) -> None:
    def both(config: dict[str, Any]) -> None:
        put("https://127.0.0.1:1", "clusters", 0, "cluster", "server")(config)
        change(config)

    with pytest.raises(AccessError) as caught:
        load_access(write(both))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"a: [", "not valid YAML (line 2, column 1)", id="syntax"),
        pytest.param(b"\xff\xfe\x00", "not valid YAML", id="binary"),
        pytest.param(b"- 1", "expected a mapping", id="list"),
        pytest.param(b"", "expected a mapping", id="empty"),
        pytest.param(b"#" * (SIZE_LIMIT + 1), "larger than", id="huge"),
    ],
)
def test_files_that_are_no_kubeconfig(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_bytes(content)
    with pytest.raises(AccessError) as caught:
        load_access(str(path))
    assert str(caught.value).startswith(f"kubeconfig {path}: ")
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match=r"kubeconfig .*/nowhere: no such file or directory"):
        load_access(str(tmp_path / "nowhere"))


def test_neither_flag_outside_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(AccessError, match="give --kubeconfig or --master, or run inside a pod"):
        load_access()


def test_inside_a_pod_the_service_account_gives_access(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("pod-token\n")
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.crt"))
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    access = load_access()
    assert access.host == "https://[fd00::1]:443"
    assert access.auth_headers() == {"authorization": "bearer pod-token"}


def test_inside_a_pod_without_a_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "none"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with pytest.raises(AccessError, match="Service token file does not exist"):
        load_access()


def test_the_user_agent_names_program_version_and_component() -> None:
    agent = user_agent("1.2.3")
    assert agent.startswith("wharfinger/1.2.3 (")
    assert agent.endswith(") scheduler")


def test_credentials_are_looked_at_every_ten_seconds_only() -> None:
    configuration = load_access(master="http://x")._configuration
    calls: list[object] = []
    configuration.api_key["BearerToken"] = "t"
    configuration.refresh_api_key_hook = calls.append
    seconds = 0.0
    access = Access(configuration, now=lambda: seconds)
    for _ in range(100):
        access.auth_headers()
    assert len(calls) == 1
    seconds = 10.0
    access.auth_headers()
    assert len(calls) == 2
