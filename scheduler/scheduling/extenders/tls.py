"""The TLS side of an extender: who it has to be, and who we are (upstream: ``makeTransport``, client-go's ``TLSConfigFor``).

With HTTPS switched on and no authority given nothing is verified, as in kube-scheduler; that is said once in the log. Data win over files.
What cannot be used was refused with the configuration (``apis/config/extender_tls``).
"""

from __future__ import annotations

import logging
import os
import ssl
import tempfile
from pathlib import Path

from scheduler.apis.config.types import Extender, ExtenderTLSConfig
from scheduler.scheduling.extenders.transport import shown

logger = logging.getLogger(__name__)

_NONE = ExtenderTLSConfig()


def context_of(extender: Extender) -> ssl.SSLContext:
    """The context for connections to the extender.

    Raises:
        OSError: a file cannot be read, or holds nothing that can be used (``ssl.SSLError``).
    """
    tls = extender.tls_config or _NONE
    authority = bool(tls.ca_data or tls.ca_file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if tls.insecure or (extender.enable_https and not authority):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if extender.url_prefix.startswith("https"):
            logger.warning("the certificate of the extender %s is not verified", shown(extender.url_prefix))
    elif authority:
        context.load_verify_locations(cadata=_text(tls.ca_data or Path(tls.ca_file).read_bytes()))
    else:
        context.load_default_certs()
    _load_pair(context, tls)
    return context


def _text(pem: bytes) -> str:
    return pem.decode("ascii", errors="replace")


def _load_pair(context: ssl.SSLContext, tls: ExtenderTLSConfig) -> None:
    """The client certificate, when both halves are given; data reach OpenSSL through a file that only we may read."""
    if tls.cert_file and tls.key_file and not (tls.cert_data or tls.key_data):
        context.load_cert_chain(tls.cert_file, tls.key_file)
        return
    certificate = tls.cert_data or (Path(tls.cert_file).read_bytes() if tls.cert_file else b"")
    key = tls.key_data or (Path(tls.key_file).read_bytes() if tls.key_file else b"")
    if not (certificate and key):
        return
    handle, name = tempfile.mkstemp(prefix="wharfinger-", suffix=".pem")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(certificate + b"\n" + key)
        context.load_cert_chain(name)
    finally:
        Path(name).unlink()
