"""A serving port with the access that flags ask for, and an API server to ask."""

import http.client
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask import Blueprint

from scheduler.app.access import Admission, make_admission
from scheduler.app.options import Options
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from scheduler.serving.app import create_app
from scheduler.serving.http import Server
from scheduler.serving.tls import ServingFiles, serving_tls
from tests.serving.builders import parts

DEADLINE = 20.0
Flags = Callable[..., "Port"]


class Port:
    """A running serving port."""

    def __init__(self, server: Server, admission: Admission) -> None:
        self.server = server
        self.admission = admission

    def ask(
        self,
        path: str = "/metrics",
        *,
        method: str = "GET",
        person: Path | None = None,
        token: str = "",
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    ) -> tuple[int, str]:
        """Status and text that a client gets over a connection of its own."""
        with closing(self.connect(person)) as client:
            client.putrequest(method, path)
            pairs = [*(headers.items() if isinstance(headers, Mapping) else headers)]
            if token:
                pairs.append(("Authorization", f"Bearer {token}"))
            for name, value in pairs:
                client.putheader(name, value)
            client.endheaders()
            answer = client.getresponse()
            return answer.status, answer.read().decode()

    def connect(self, person: Path | None = None) -> http.client.HTTPSConnection:
        """A connection, with the person's certificate."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if person:
            context.load_cert_chain(person)
        return http.client.HTTPSConnection("127.0.0.1", self.server.port, context=context, timeout=DEADLINE)

    def refused(self, **how: Any) -> str:
        """Who is refused ``/metrics``: the name in a 403's message; "401" for somebody unknown."""
        status, text = self.ask(**how)
        if status == 401:
            return "401"
        assert status == 403, text
        message: str = msgspec.json.decode(text)["message"]
        return message.split('"')[1]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as server:
        server.access.know("t0ken", "jane", groups=["ops"])
        yield server


@pytest.fixture
def kubeconfig(sandbox: Sandbox, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    sandbox.write_kubeconfig(path)
    return path


@pytest.fixture
def port(kubeconfig: Path) -> Iterator[Flags]:
    """Start a port with flags; ``authn``/``authz``: with the sandbox's kubeconfig."""
    running: list[Port] = []

    def start(*flags: str, authn: bool = False, authz: bool = False) -> Port:
        delegates = [
            f"--{each}-kubeconfig={kubeconfig}"
            for each, wanted in (("authentication", authn), ("authorization", authz))
            if wanted
        ]
        options, errors = Options.parse([*delegates, *flags])
        assert (errors, options.validate()) == ((), ())
        admission = make_admission(options, lambda access, name: Rest(access, user_agent=name, qps=-1))
        tls = serving_tls(ServingFiles(), now=datetime.now(UTC), authorities=admission.authorities)
        app = create_app(parts(access=admission.access, blueprints=(extender_routes(),)))
        server = Server(app, tls=tls, is_open=admission.is_open)
        admission.followed.start()
        server.start()
        running.append(Port(server, admission))
        return running[-1]

    yield start
    for each in running:
        each.server.stop(grace=1)
        each.admission.followed.stop()


def extender_routes() -> Blueprint:
    """Stand-ins for the extender's verbs."""
    routes = Blueprint("verbs", __name__)
    for number, path in enumerate(("/filter", "/prioritize", "/bind", "/profiles/packed/filter")):
        routes.add_url_rule(path, f"verb-{number}", lambda: "judged", methods=["POST"])
    return routes
