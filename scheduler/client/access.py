"""Where the API server is and how to prove who we are.

The rules are client-go's ``BuildConfigFromFlags(master, kubeconfig)``: a kubeconfig with its current context, whose
server ``--master`` overrides; or only a master; or, with neither, the service account of the pod that we run in.

The ``kubernetes`` package does the work: certificates, exec plugins, OIDC, bearer tokens and their refresh, proxies. It
is slow to import, so that happens here on the first use, and only ``kubernetes.config`` and the API client. Certificates
that stand in the kubeconfig as data are written by it to files with mode 0600, removed at exit.
"""

import logging
import os
import platform
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from urllib3 import HTTPConnectionPool

from scheduler.client import kubeconfig as kubeconfigs
from scheduler.client.errors import AccessError
from scheduler.client.links import Links

logger = logging.getLogger(__name__)

POOL_SIZE = 128
"""Idle connections kept: dozens of binding threads, a watch per informer, events, the lease."""
REFRESH_SECONDS = 10.0
"""How long credentials are used before the token's expiry or file is looked at again."""
TOKEN_FILE_SECONDS = 60.0
"""How often a ``tokenFile`` is read again, as in client-go."""


def user_agent(version: str, component: str = "scheduler") -> str:
    """``wharfinger/0.1.0 (linux/x86_64) scheduler``, after kube-scheduler's pattern."""
    return f"wharfinger/{version} ({platform.system().lower()}/{platform.machine()}) {component}"


class Access:
    """An address, a connection pool and credentials. Thread-safe; shared by all clients of the process.

    ``host``: the server's URL without a trailing slash. ``pool``: urllib3's PoolManager with TLS set up. ``links``: for
    short requests; None when a proxy stands between, which only urllib3 knows how to talk to.
    """

    def __init__(self, configuration: Any, *, now: Callable[[], float] = time.monotonic) -> None:
        from kubernetes.client.api_client import ApiClient

        configuration.connection_pool_maxsize = POOL_SIZE
        configuration.socket_options = _socket_options()
        self.host: str = configuration.host.rstrip("/")
        self.pool: Any = ApiClient(configuration).rest_client.pool_manager
        server: HTTPConnectionPool = self.pool.connection_from_url(self.host)
        self.links = Links(self.host, server) if server.proxy is None else None
        self._configuration = configuration
        self._now = now
        self._lock = threading.Lock()
        self._headers: dict[str, str] = {}
        self._headers_until = float("-inf")
        if not configuration.verify_ssl and self.host.startswith("https"):
            logger.warning(
                "the certificate of %s is not verified: insecure-skip-tls-verify is set", self.host
            )

    def auth_headers(self) -> dict[str, str]:
        """The headers that prove who we are; empty with client certificates or anonymous access.

        Refreshes tokens as needed. Raises AccessError when a token cannot be read or refreshed.
        """
        with self._lock:
            now = self._now()
            if now >= self._headers_until:
                self._headers = self._read_headers()
                self._headers_until = now + REFRESH_SECONDS
            return self._headers

    def _read_headers(self) -> dict[str, str]:
        try:
            settings = self._configuration.auth_settings()
        except Exception as error:
            # The refresh hooks of the kubernetes package run plugins and read files: they raise anything.
            raise AccessError(
                f"the credentials for {self.host} cannot be refreshed ({type(error).__name__})"
            ) from error
        headers = {
            s["key"]: s["value"].strip() for s in settings.values() if s["in"] == "header" and s["value"]
        }
        for value in headers.values():
            if not (value.isascii() and value.isprintable()):
                raise AccessError(
                    f"the credentials for {self.host} contain characters that no header may have"
                )
        return headers

    def close(self) -> None:
        """Drop the idle connections."""
        if self.links is not None:
            self.links.close()
        self.pool.clear()


def load_access(
    kubeconfig: str = "", master: str = "", *, now: Callable[[], float] = time.monotonic
) -> Access:
    """The access that ``--kubeconfig`` and ``--master`` describe. Raises AccessError with one clear line."""
    from kubernetes.client.configuration import Configuration

    configuration = Configuration()
    if kubeconfig:
        _load_kubeconfig(configuration, Path(kubeconfig).expanduser(), master, now)
    elif master:
        configuration.host = master
    else:
        _load_in_cluster(configuration)
    kubeconfigs.check_address(configuration.host)
    if configuration.host.startswith("https://"):
        _check_certificates(configuration)
    try:
        return Access(configuration, now=now)
    except (OSError, ValueError) as error:
        raise AccessError(f"the certificates for {configuration.host} cannot be loaded: {error}") from None


def _check_certificates(configuration: Any) -> None:
    """Load what every connection will load, as client-go does at the start: trying again would not make it any better."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    what = "certificate authority"
    try:
        if configuration.ssl_ca_cert:
            context.load_verify_locations(configuration.ssl_ca_cert)
        what = "client certificate and key"
        if configuration.cert_file:
            # Without a pass phrase OpenSSL would ask for one at the terminal, and wait.
            context.load_cert_chain(configuration.cert_file, configuration.key_file, lambda: "")
    except OSError as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        text = reason.replace("_", " ").lower() if reason else "not PEM"
        raise AccessError(f"the {what} for {configuration.host} cannot be loaded: {text}") from None


def in_cluster() -> bool:
    """Whether this process runs in a pod, by the signs that client-go goes by (``rest.InClusterConfig``)."""
    return all(os.environ.get(f"KUBERNETES_SERVICE_{part}") for part in ("HOST", "PORT"))


def _load_in_cluster(configuration: Any) -> None:
    from kubernetes.config import incluster_config
    from kubernetes.config.config_exception import ConfigException

    load: Any = incluster_config.load_incluster_config
    try:
        load(client_configuration=configuration)
    except (ConfigException, OSError) as error:
        raise AccessError(
            f"no API server to talk to: give --kubeconfig or --master, or run inside a pod ({error})"
        ) from None


def _load_kubeconfig(configuration: Any, path: Path, master: str, now: Callable[[], float]) -> None:
    from kubernetes.config import kube_config

    loader: Any = kube_config.KubeConfigLoader
    config = kubeconfigs.read(path, master)
    user = kubeconfigs.current_user(config)
    kubeconfigs.check_plugin(path, user)
    try:
        loader(config_dict=config, config_base_path=str(path.absolute().parent)).load_and_set(configuration)
    except Exception as error:
        # The message may quote credentials, so only its kind is told, except for a missing file.
        reason = str(error) if str(error).startswith("File does not exist") else type(error).__name__
        raise AccessError(f"kubeconfig {path}: the credentials cannot be loaded ({reason})") from None
    if "exec" in user and not configuration.api_key and not configuration.cert_file:
        raise AccessError(f"kubeconfig {path}: the exec plugin gave no credentials")
    if user.get("tokenFile") and not user.get("token"):
        token_file = path.absolute().parent / str(user["tokenFile"])
        configuration.refresh_api_key_hook = _token_file_hook(token_file, now)


def _token_file_hook(path: Path, now: Callable[[], float]) -> Callable[[Any], None]:
    """A refresh hook that reads the token again every minute, since the kubelet rotates such files."""
    due = now() + TOKEN_FILE_SECONDS

    def refresh(configuration: Any) -> None:
        nonlocal due
        if now() >= due:
            for key in configuration.api_key:
                configuration.api_key[key] = f"Bearer {path.read_text().strip()}"
            due = now() + TOKEN_FILE_SECONDS

    return refresh


def _socket_options() -> list[tuple[int, int, int]]:
    """No Nagle delay, and keep-alives that find a dead peer within a minute: a watch may be silent for longer."""
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options
