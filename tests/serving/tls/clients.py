"""Clients that tell what they met."""

import http.client
import ssl
from contextlib import closing

from cryptography import x509

from scheduler.serving.http import Server


def unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def peer(
    server: Server, context: ssl.SSLContext | None = None, host: str = "127.0.0.1", *, sni: str = ""
) -> tuple[x509.Certificate, str | None]:
    """The certificate and TLS version that a client meets; ``sni``: the host name that it asks for."""
    context = context or unverified()
    with closing(http.client.HTTPSConnection(host, server.port, context=context, timeout=20)) as client:
        if sni:
            plain = client._create_connection((host, server.port), 20)  # type: ignore[attr-defined]
            client.sock = context.wrap_socket(plain, server_hostname=sni)
        client.request("GET", "/healthz")
        assert client.getresponse().read() == b"ok"
        assert isinstance(client.sock, ssl.SSLSocket)
        raw = client.sock.getpeercert(binary_form=True)
        assert raw is not None
        return x509.load_der_x509_certificate(raw), client.sock.version()
