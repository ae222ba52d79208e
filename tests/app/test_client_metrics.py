"""Requests to the API server are counted under client-go's labels."""

from __future__ import annotations

from urllib.parse import urlsplit

from scheduler.app.config import make_config
from scheduler.app.options import Options
from scheduler.sandbox import Sandbox


def test_the_host_is_a_host_without_a_scheme() -> None:
    with Sandbox() as sandbox:
        options, errors = Options.parse([f"--master={sandbox.url}", "--secure-port=0"])
        component = options.configuration().config
        assert errors == ()
        assert component is not None
        config = make_config(options, component)
        config.clients.scheduling.request("GET", "/api/v1/nodes")
        labels = {"code": "200", "method": "GET", "host": urlsplit(sandbox.url).netloc}
        assert config.metrics.registry.get_sample_value("rest_client_requests_total", labels) == 1
