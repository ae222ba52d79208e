"""Where the serving certificates come from, in kube-scheduler's order.

* ``--tls-cert-file`` and ``--tls-private-key-file``: that pair, read again when the files change, without a restart;
* ``--cert-dir``: the pair ``kube-scheduler.crt`` and ``.key`` in it, made and signed by itself if there is neither, and followed likewise;
* nothing: a pair in memory only, for this run.

``--tls-sni-cert-key`` adds pairs for certain host names to any of these.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from scheduler.serving.followed import Followed
from scheduler.serving.pem import KeyPair, read_pair
from scheduler.serving.tls.contexts import Authorities, NamedPair, Settings, TLSContexts
from scheduler.serving.tls.generated import names_for, pair_in, self_signed

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """One ``--tls-sni-cert-key``."""

    certificate: Path
    key: Path
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServingFiles:
    """The flags about certificates, and how they are used."""

    certificate: Path | None = None
    key: Path | None = None
    directory: Path | None = None
    named: tuple[NamedFiles, ...] = ()
    settings: Settings = field(default_factory=Settings)
    bind_address: str = "127.0.0.1"


def serving_tls(
    files: ServingFiles, *, now: datetime, authorities: Callable[[], Authorities] | None = None
) -> TLSContexts:
    """The TLS that the flags ask for (``authorities``: see `TLSContexts`).

    Raises:
        CertificateError: files that cannot be read, do not fit, or a directory that cannot be written.
    """
    default = _default(files, now)
    named = [
        NamedPair(_followed(each.certificate, each.key, "SNI certificate"), each.patterns)
        for each in files.named
    ]
    return TLSContexts(default, files.settings, named=named, authorities=authorities)


def _default(files: ServingFiles, now: datetime) -> Callable[[], KeyPair]:
    if files.certificate and files.key:
        return _followed(files.certificate, files.key, "serving certificate")
    names = names_for(files.bind_address)
    if files.directory:
        return _followed(*pair_in(files.directory, names, now=now), "serving certificate")
    pair = self_signed(names, now=now)
    logger.info("Generated self-signed cert in-memory")
    return lambda: pair


def _followed(certificate: Path, key: Path, what: str) -> Callable[[], KeyPair]:
    return Followed(what, (certificate, key), partial(read_pair, certificate, key)).current
