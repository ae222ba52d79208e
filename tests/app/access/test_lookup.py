"""The cluster's own client CAs: looked up at the start, followed, and what happens when that is not possible."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scheduler.app.access import make_admission
from scheduler.app.options import Options
from scheduler.client.errors import AccessError
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from scheduler.serving.pem import CertificateError
from tests.app.access.conftest import Flags, Port
from tests.app.access.people import Authority
from tests.e2e.processes import eventually

PATH = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
JANE = {"X-Remote-User": "jane"}


@pytest.fixture(scope="module")
def people() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def proxies() -> Authority:
    return Authority("proxies")


def config_map(**data: Any) -> dict[str, Any]:
    texts = {
        key.replace("_", "-"): value if isinstance(value, str) else json.dumps(value)
        for key, value in data.items()
    }
    meta = {"name": "extension-apiserver-authentication", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": texts}


@pytest.fixture
def publish(sandbox: Sandbox, kubeconfig: Path) -> Callable[..., None]:
    """Write the ConfigMap, as an API server does."""
    from scheduler.client.access import load_access

    rest = Rest(load_access(str(kubeconfig)), user_agent="t", qps=-1)

    def write(**data: Any) -> None:
        document = config_map(**data)
        try:
            sandbox.create(document)
        except Exception:  # it is there
            rest.request("PUT", PATH, body=document)

    return write


def published(people: Authority, proxies: Authority, **more: Any) -> dict[str, Any]:
    return {
        "client_ca_file": people.pem.decode(),
        "requestheader_client_ca_file": proxies.pem.decode(),
        "requestheader_username_headers": ["X-Remote-User"],
        "requestheader_group_headers": ["X-Remote-Group"],
        "requestheader_extra_headers_prefix": ["X-Remote-Extra-"],
        "requestheader_allowed_names": ["front-proxy"],
        **more,
    }


def test_both_authorities_and_the_headers_are_found(
    port: Flags, publish: Any, people: Authority, proxies: Authority, tmp_path: Path
) -> None:
    publish(**published(people, proxies))
    asked = port(authn=True)
    assert asked.refused(person=people.person(tmp_path, "joe")) == "joe"
    assert asked.refused(person=proxies.person(tmp_path, "front-proxy"), headers=JANE) == "jane"
    assert asked.refused(person=proxies.person(tmp_path, "other"), headers=JANE) == "401"


def test_changes_are_followed(
    port: Flags, publish: Any, people: Authority, proxies: Authority, tmp_path: Path
) -> None:
    publish(**published(people, proxies))
    asked = port(authn=True)
    new = Authority("new")
    publish(**published(new, proxies, requestheader_username_headers=["X-Who"]))
    joe = new.person(tmp_path, "joe")
    eventually(lambda: asked.refused(person=joe) == "joe", "the new authority to count")
    proxy = proxies.person(tmp_path, "front-proxy")
    assert asked.refused(person=proxy, headers={"X-Who": "jane"}) == "jane"
    assert asked.refused(person=people.person(tmp_path, "old")) == "401"


def test_what_comes_later_is_found(
    port: Flags, publish: Any, people: Authority, proxies: Authority, tmp_path: Path
) -> None:
    asked = port("--authentication-tolerate-lookup-failure=false", authn=True)
    joe = people.person(tmp_path, "joe")
    assert asked.refused(person=joe) == "system:anonymous"
    publish(**published(people, proxies))
    eventually(lambda: asked.refused(person=joe) == "joe", "the authority to be found")


@pytest.mark.parametrize(
    "broken",
    [{"client_ca_file": "nothing"}, {"client_ca_file": ""}, {"requestheader_username_headers": "{"}],
    ids=str,
)
def test_contents_that_are_no_good_leave_the_last_good_ones(
    port: Flags,
    publish: Any,
    people: Authority,
    proxies: Authority,
    tmp_path: Path,
    broken: dict[str, str],
) -> None:
    publish(**published(people, proxies))
    asked = port(authn=True)
    publish(
        **published(people, proxies) | {"requestheader_client_ca_file": Authority("n").pem.decode()} | broken
    )
    proxy = proxies.person(tmp_path, "front-proxy")
    eventually(lambda: asked.refused(person=proxy, headers=JANE) == "401", "the change to arrive")
    assert asked.refused(person=people.person(tmp_path, "joe")) == "joe"
    assert asked.admission.followed.unsynced() == []


def test_a_file_wins_over_the_cluster(
    port: Flags, publish: Any, people: Authority, proxies: Authority, tmp_path: Path
) -> None:
    publish(**published(people, proxies))
    own = Authority("own")
    asked = port(f"--client-ca-file={own.write(tmp_path / 'ca.crt')}", authn=True)
    assert asked.refused(person=own.person(tmp_path, "jane")) == "jane"
    assert asked.refused(person=people.person(tmp_path, "joe")) == "401"
    assert asked.refused(person=proxies.person(tmp_path, "front-proxy"), headers=JANE) == "jane"


def test_the_look_up_can_be_skipped(
    port: Flags, publish: Any, people: Authority, proxies: Authority, tmp_path: Path
) -> None:
    publish(**published(people, proxies))
    asked = port("--authentication-skip-lookup", authn=True)
    assert asked.refused(person=people.person(tmp_path, "joe")) == "system:anonymous"
    assert asked.refused(token="t0ken") == "jane"


def admission(*flags: str) -> None:
    options, _ = Options.parse(flags)
    make_admission(options, lambda access, name: Rest(access, user_agent=name, qps=-1))


def test_a_look_up_that_fails_is_told_and_goes_on_being_tried(
    sandbox: Sandbox, port: Flags, publish: Any, people: Authority, proxies: Authority, tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    publish(**published(people, proxies))
    sandbox.faults.add(path=PATH, status=403, times=1)
    asked: Port = port(authn=True)
    assert "Unable to get configmap/extension-apiserver-authentication in kube-system" in caplog.text
    assert "Continuing without authentication configuration" in caplog.text
    joe = people.person(tmp_path, "joe")
    eventually(lambda: asked.refused(person=joe) == "joe", "the informer to find it")


def test_a_look_up_that_must_not_fail_ends_the_start(sandbox: Sandbox, kubeconfig: Path) -> None:
    sandbox.faults.add(path=PATH, status=403, message="you may not")
    with pytest.raises(
        AccessError, match=r"^unable to load configmap based request-header-client-ca-file: you may"
    ):
        admission(
            f"--authentication-kubeconfig={kubeconfig}", "--authentication-tolerate-lookup-failure=false"
        )


def test_what_no_kubeconfig_is_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("[]")
    for purpose in ("authentication", "authorization"):
        with pytest.raises(
            AccessError, match=f"^failed to get delegated {purpose} kubeconfig: kubeconfig .*broken"
        ):
            admission(f"--{purpose}-kubeconfig={tmp_path / 'broken'}")


@pytest.mark.parametrize(
    ("flag", "error"),
    [
        ("client-ca-file", "unable to load client CA provider: .*empty: there is no certificate"),
        (
            "requestheader-client-ca-file",
            "unable to create request header authentication config: .*empty: there",
        ),
    ],
)
def test_a_bundle_without_certificates_ends_the_start(tmp_path: Path, flag: str, error: str) -> None:
    (tmp_path / "empty").write_text("")
    with pytest.raises(CertificateError, match=error):
        admission(f"--{flag}={tmp_path / 'empty'}")


def test_in_a_pod_without_a_service_account_there_is_nobody_to_ask(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for part in ("HOST", "PORT"):
        monkeypatch.setenv(f"KUBERNETES_SERVICE_{part}", "1")
    admission()
    for purpose in ("authentication", "authorization"):
        assert f"failed to read in-cluster kubeconfig for delegated {purpose}" in caplog.text


def test_in_a_pod_the_service_account_asks(
    sandbox: Sandbox, port: Flags, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The `kubernetes` package reads files of fixed names, and speaks https; what it makes of them is not what is tested here."""

    def load_in_cluster(client_configuration: Any) -> None:
        client_configuration.host = sandbox.url

    monkeypatch.setattr("kubernetes.config.incluster_config.load_incluster_config", load_in_cluster)
    for part in ("HOST", "PORT"):
        monkeypatch.setenv(f"KUBERNETES_SERVICE_{part}", "1")
    sandbox.access.grant("jane", "get", "/metrics")
    assert port().ask(token="t0ken")[0] == 200
