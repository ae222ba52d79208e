"""The serving port of a real process: certificates, tokens, permissions, ports."""

import json
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import trustme

from scheduler.sandbox import Sandbox
from tests.app.access.people import Authority
from tests.e2e.processes import (
    DEADLINE,
    SchedulerProcess,
    eventually,
    eventually_bound,
    node,
    pod,
    run,
    scheduler,
)
from tests.serving.builders import write_pair

NAME = "wharfinger-extender.wharfinger-system.svc"
ARGUMENTS = json.dumps({"Pod": pod("asked"), "NodeNames": ["n1"]})
pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl program")


class Cluster:
    """An API server with people, and a scheduler that it lets nobody ask without permission."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.people = Authority()
        self.servers = trustme.CA()
        self.servers.cert_pem.write_to_path(str(folder / "server-ca.crt"))
        sandbox.write_kubeconfig(folder / "kubeconfig")
        sandbox.load([node("n1")])
        sandbox.access.know("scraper", "prometheus")
        sandbox.access.grant("prometheus", "get", "/metrics")
        sandbox.access.grant("system:kube-scheduler", "post", "/filter")
        meta = {"name": "extension-apiserver-authentication", "namespace": "kube-system"}
        data = {"client-ca-file": self.people.pem.decode()}
        sandbox.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})

    def flags(self) -> list[str]:
        """As a cluster's administrator gives them: the account of the process, and a certificate for its Service."""
        certificate, key = write_pair(self.servers.issue_cert(NAME), self.folder)
        return [
            "--authentication-kubeconfig=kubeconfig",
            "--authorization-kubeconfig=kubeconfig",
            f"--tls-sni-cert-key={certificate},{key}:{NAME}",
            "--leader-elect=false",
        ]

    def curl(self, process: SchedulerProcess, path: str, *words: str, person: str = "") -> tuple[int, Any]:
        """Status and JSON (or text) that curl gets, when it trusts the authority of the Service's certificate."""
        certificate = ["--cert", str(self.people.person(self.folder, person))] if person else []
        command = [
            "curl", "-s", "-w", "\n%{http_code}", "--cacert", str(self.folder / "server-ca.crt"), *certificate,
            "--connect-to", f"{NAME}:443:127.0.0.1:{process.port}", f"https://{NAME}{path}", *words,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
        text, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(text) if text.startswith("{") else text


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Sandbox() as sandbox:
        yield Cluster(tmp_path_factory.mktemp("secured"), sandbox)


@pytest.fixture(scope="module")
def process(cluster: Cluster) -> Iterator[SchedulerProcess]:
    paths = "/healthz,/livez,/readyz"
    with scheduler(cluster.folder, cluster.sandbox.url, *cluster.flags(), open_paths=paths) as running:
        running.wait_until_ready()
        yield running


def post(path: str) -> tuple[str, ...]:
    return (path, "-H", "Content-Type: application/json", "--data", ARGUMENTS)


def test_a_kube_scheduler_with_its_certificate_may_filter_and_not_bind(
    cluster: Cluster, process: SchedulerProcess
) -> None:
    person = "system:kube-scheduler"
    status, answer = cluster.curl(process, *post("/filter"), person=person)
    assert status == 200, answer
    assert answer["NodeNames"] == ["n1"]
    status, answer = cluster.curl(process, *post("/bind"), person=person)
    assert (status, answer["reason"]) == (403, "Forbidden")
    assert answer["message"].startswith('forbidden: User "system:kube-scheduler" cannot post path "/bind"')


def test_without_credentials_the_verbs_are_forbidden(cluster: Cluster, process: SchedulerProcess) -> None:
    status, answer = cluster.curl(process, *post("/filter"))
    assert (status, answer["code"]) == (403, 403)


def test_a_scraper_with_its_token_gets_metrics(cluster: Cluster, process: SchedulerProcess) -> None:
    token = ("-H", "Authorization: Bearer scraper")
    status, text = cluster.curl(process, "/metrics", *token)
    assert (status, "scheduler_pending_pods" in text) == (200, True)
    assert cluster.curl(process, "/configz", *token)[0] == 403


def test_a_token_of_nobody_is_unauthorized(cluster: Cluster, process: SchedulerProcess) -> None:
    status, answer = cluster.curl(process, "/livez", "-H", "Authorization: Bearer stolen")
    assert (status, answer["reason"]) == (401, "Unauthorized")
    assert "stolen" not in process.log.read_text()


def test_probes_need_nothing(process: SchedulerProcess) -> None:
    assert [process.get(path)[0] for path in ("/healthz", "/livez", "/readyz")] == [200, 200, 200]


def test_reviews_are_counted_like_all_requests_to_the_api_server(
    cluster: Cluster, process: SchedulerProcess
) -> None:
    _, text = cluster.curl(process, "/metrics", "-H", "Authorization: Bearer scraper")
    assert re.search(r'rest_client_requests_total\{code="201",host="[^"]+",method="POST"\} [1-9]', text)


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl program")
def test_flags_about_tls_decide_what_is_negotiated(cluster: Cluster, tmp_path: Path) -> None:
    certificate, key = write_pair(cluster.servers.issue_cert("by-file.example"), tmp_path)
    flags = (
        f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}", "--tls-min-version=VersionTLS12",
        "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "--tls-curve-preferences=24,25",
        "--http2-max-streams-per-connection=5", "--disable-http2-serving=false",
    )  # fmt: skip
    with scheduler(tmp_path, cluster.sandbox.url, *flags) as process:
        process.wait_until_ready()
        said = s_client(process.port, "-tls1_2", "-alpn", "h2,http/1.1")
        assert "Cipher is ECDHE-ECDSA-AES256-GCM-SHA384" in said
        assert "No ALPN negotiated" in said  # HTTP/2 is not offered
        assert "(NONE)" in s_client(process.port, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256")
        assert "(NONE)" in s_client(process.port, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
        assert "(NONE)" in s_client(process.port, "-groups", "P-256:X25519")
        served = ssl.get_server_certificate(("127.0.0.1", process.port))
        assert served.strip() in certificate.read_text()


def s_client(port: int, *words: str) -> str:
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *words]
    return subprocess.run(command, input="", capture_output=True, text=True, timeout=DEADLINE).stdout


def test_a_port_in_use_is_one_line_and_exit_code_1(cluster: Cluster, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(
            f"--master={cluster.sandbox.url}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            cwd=tmp_path,
        )
    assert done.returncode == 1
    assert f"failed to listen on 127.0.0.1:{port}: address already in use" in done.stderr.splitlines()
    assert "Traceback" not in done.stderr


def test_a_port_can_be_shared_by_two_processes(cluster: Cluster, tmp_path: Path) -> None:
    flags = ("--permit-port-sharing", "--leader-elect=false")
    with ExitStack() as running:
        first = running.enter_context(scheduler(tmp_path, cluster.sandbox.url, *flags))
        first.wait_until_ready()
        folder = tmp_path / "second"
        folder.mkdir()
        second = running.enter_context(
            scheduler(folder, cluster.sandbox.url, *flags, f"--secure-port={first.port}")
        )
        eventually(lambda: "Serving securely" in second.log.read_text(), "the second to listen")
        assert (first.terminate(), second.terminate()) == (0, 0)


def test_with_port_0_nothing_listens_and_access_flags_do_not_matter(tmp_path: Path) -> None:
    flags = ("--secure-port=0", "--client-ca-file=missing", "--leader-elect=false")
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, *flags, open_paths="/a*b") as silent:
        sandbox.load([node("n1"), pod("scheduled")])
        eventually_bound(sandbox, "scheduled")
        assert silent.get("/livez") == (0, "")
        assert "Serving securely" not in silent.log.read_text()
        assert silent.terminate() == 0


def test_an_api_server_that_says_nothing_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    with Sandbox() as sandbox, ThreadPoolExecutor(1) as pool:
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        flags = ("--authorization-kubeconfig=kubeconfig", "--leader-elect=false")
        with scheduler(tmp_path, sandbox.url, *flags, open_paths="/readyz") as process:
            process.wait_until_ready()
            silent = sandbox.faults.add(path="/subjectaccessreviews$", delay=3600)
            asking = pool.submit(process.get, "/metrics")
            assert silent.struck.wait(DEADLINE)
            assert process.terminate() == 0
            asking.result()
            assert "the process ends" in process.log.read_text()  # rather than: timed out


def test_a_look_up_that_must_not_fail_is_one_line_and_exit_code_1(cluster: Cluster, tmp_path: Path) -> None:
    refused = cluster.sandbox.faults.add(path="/configmaps/", status=403, message="you may not")
    done = run(
        f"--master={cluster.sandbox.url}", "--secure-port=1",
        f"--authentication-kubeconfig={cluster.folder / 'kubeconfig'}",
        "--authentication-tolerate-lookup-failure=false", cwd=tmp_path,
    )  # fmt: skip
    cluster.sandbox.faults.remove(refused)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == "unable to load configmap based request-header-client-ca-file: you may not"
