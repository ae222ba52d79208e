"""Which certificate a client meets by the host name, or the address, that it asks for."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from scheduler.serving.http import Server
from scheduler.serving.tls import CertificateError, NamedFiles, ServingFiles, serving_tls
from tests.serving.builders import write_pair
from tests.serving.tls.clients import peer

Serve = Callable[..., Server]


class Wardrobe:
    """Pairs in files, by the name that is in them."""

    def __init__(self, authority: trustme.CA, folder: Path) -> None:
        self._authority = authority
        self._folder = folder

    def named(self, name: str, *patterns: str) -> NamedFiles:
        """A pair for ``name``; ``*``: for no name at all."""
        folder = self._folder / str(len([*self._folder.iterdir()]))
        folder.mkdir()
        leaf = self._authority.issue_cert(name, organization_name=name)
        return NamedFiles(*write_pair(leaf, folder), patterns)

    def serving(self, *named: NamedFiles) -> ServingFiles:
        default = self.named("default.example")
        return ServingFiles(default.certificate, default.key, named=named)


@pytest.fixture
def wardrobe(authority: trustme.CA, tmp_path: Path) -> Wardrobe:
    return Wardrobe(authority, tmp_path)


def met(server: Server, sni: str = "", host: str = "127.0.0.1") -> str:
    """The name in the certificate that a client meets."""
    certificate, _ = peer(server, host=host, sni=sni)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return str(next(iter(names)).value)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("a.example", "one.example"),
        ("A.Example", "one.example"),
        ("x.wild.example", "two.example"),
        ("exact.wild.example", "three.example"),
        ("x.y.wild.example", "default.example"),
        ("wild.example", "default.example"),
        ("own.example", "own.example"),
        ("taken.example", "one.example"),
        ("two.example", "two.example"),
        ("elsewhere.example", "default.example"),
        ("", "default.example"),
    ],
)
def test_patterns_names_and_wildcards(serve: Serve, wardrobe: Wardrobe, asked: str, expected: str) -> None:
    files = wardrobe.serving(
        wardrobe.named("taken.example"),
        wardrobe.named("one.example", "a.example", "taken.example"),
        wardrobe.named("two.example", "*.wild.example", "a.example"),
        wardrobe.named("three.example", "exact.wild.example"),
        wardrobe.named("own.example"),
    )
    assert met(serve(tls=serving_tls(files, now=datetime.now(UTC))), asked) == expected


@pytest.mark.parametrize("bind_address", ["127.0.0.1", "::"])
def test_a_client_without_a_name_gets_the_certificate_of_the_address(
    serve: Serve, wardrobe: Wardrobe, bind_address: str
) -> None:
    files = wardrobe.serving(wardrobe.named("by-address.example", "127.0.0.1"))
    server = serve(tls=serving_tls(files, now=datetime.now(UTC)), bind_address=bind_address)
    assert met(server) == "by-address.example"
    assert met(server, "default.example") == "default.example"


def test_named_pairs_are_followed_too(serve: Serve, wardrobe: Wardrobe, authority: trustme.CA) -> None:
    files = wardrobe.serving(wardrobe.named("old.example", "x.example"))
    server = serve(tls=serving_tls(files, now=datetime.now(UTC)))
    assert met(server, "x.example") == "old.example"
    write_pair(authority.issue_cert("new.example"), files.named[0].certificate.parent)
    assert met(server, "x.example") == "new.example"


def test_a_named_pair_that_cannot_be_read_is_named(wardrobe: Wardrobe, tmp_path: Path) -> None:
    files = wardrobe.serving(wardrobe.named("x.example"))
    broken = replace(files, named=(NamedFiles(tmp_path / "no.crt", tmp_path / "no.key"),))
    with pytest.raises(CertificateError, match=r"open .*/no\.crt: no such file or directory"):
        serving_tls(broken, now=datetime.now(UTC))
