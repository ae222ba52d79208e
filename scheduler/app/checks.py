"""What can be wrong with single sections of flags. Every check tells all it finds, in kube-scheduler's words where it has any."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from scheduler.app.flags.sections import (
    Authentication,
    Authorization,
    SecureServing,
    Wharfinger,
)
from scheduler.client.access import in_cluster
from scheduler.features import Features
from scheduler.serving.authorization import OpenPaths, PathError
from scheduler.serving.ciphers import GROUPS, INSECURE, OPENSSL_NAMES, VERSIONS

_MAX_PORT = 65535
_MAX_GROUP = 65535
_STANDARD_HEADERS = {
    "requestheader-username-headers": "X-Remote-User header",
    "requestheader-group-headers": "X-Remote-Group header",
    "requestheader-extra-headers-prefix": "X-Remote-Extra- header prefix",
}
_HEADER_FLAGS = (*_STANDARD_HEADERS, "requestheader-allowed-names", "requestheader-uid-headers")
_CA_LOOKUP = "No authentication-kubeconfig provided in order to lookup {file} in configmap/extension-apiserver-authentication in kube-system, so {kind} authentication won't work."
_NO_REVIEWS = (
    "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work."
)


def serving_errors(serving: SecureServing) -> Iterator[str]:
    """Port, certificate files and TLS settings."""
    port = serving.secure_port
    if not 0 <= port <= _MAX_PORT:
        yield (
            f"--secure-port {port} must be between 0 and {_MAX_PORT}, inclusive. 0 for turning off secure port"
        )
    if not port:
        return
    if bool(serving.tls_cert_file) != bool(serving.tls_private_key_file):
        yield "missing filename for serving cert"
    for suite in serving.tls_cipher_suites:
        if suite not in OPENSSL_NAMES:
            yield f"Cipher suite {suite} not supported or doesn't exist"
    if serving.tls_min_version not in VERSIONS:
        yield f'unknown tls version "{serving.tls_min_version}"'
    yield from _group_errors(serving.tls_curve_preferences)


def _group_errors(groups: Sequence[int]) -> Iterator[str]:
    """The first thing that is wrong with ``--tls-curve-preferences``, as kube-scheduler stops there."""
    for position, group in enumerate(groups):
        if not 0 < group <= _MAX_GROUP:
            yield f"curve preference {group} is out of range (must be 1-{_MAX_GROUP})"
        elif group in groups[:position]:
            yield f"duplicate curve preference {group}"
        elif group not in GROUPS:
            yield f"curve preference {group} is not supported"
        else:
            continue
        return


def serving_warnings(serving: SecureServing) -> Iterator[str]:
    """Settings that work and are not wise."""
    for suite in serving.tls_cipher_suites:
        if suite in INSECURE:
            yield f"Use of insecure cipher '{suite}' detected."


def authentication_errors(authentication: Authentication, authorization: Authorization) -> Iterator[str]:
    """Files that cannot be read, and patterns of open paths."""
    kubeconfig = "failed to get delegated authentication kubeconfig"
    files = (
        (authentication.authentication_kubeconfig, f"{kubeconfig}: {kubeconfig}: stat"),
        (authentication.client_ca_file, "unable to load client CA provider: open"),
        (
            authentication.requestheader_client_ca_file,
            "unable to create request header authentication config: open",
        ),
        (authorization.authorization_kubeconfig, "failed to get delegated authorization kubeconfig: stat"),
    )
    for name, what in files:
        reason = _unreadable(name) if name else ""
        if reason:
            yield f"{what} {name}: {reason}"
    try:
        OpenPaths.parse(authorization.authorization_always_allow_paths)
    except PathError as error:
        yield str(error)


def header_errors(authentication: Authentication, features: Features) -> Iterator[str]:
    """Names of headers that are none."""
    for flag in _HEADER_FLAGS:
        names = getattr(authentication, flag.replace("-", "_"))
        if not all(map(str.strip, names)):
            yield f'empty value in "{flag}"'
    uids = authentication.requestheader_uid_headers
    if uids and not features.enabled("RemoteRequestHeaderUID"):
        yield '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled'
    elif uids and not _has(uids, "X-Remote-Uid"):
        yield (
            "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header"
            " - API aggregation will not work"
        )


def header_warnings(authentication: Authentication) -> Iterator[str]:
    """Headers that an API server does not use."""
    for flag, what in _STANDARD_HEADERS.items():
        names = getattr(authentication, flag.replace("-", "_"))
        if names and not _has(names, what.split()[0]):
            yield f"--{flag} is set without specifying the standard {what} - API aggregation will not work"


def _has(names: Sequence[str], wanted: str) -> bool:
    return wanted.lower() in map(str.lower, names)


def unmet_lookups(authentication: Authentication, authorization: Authorization) -> Iterator[str]:
    """Warnings: what cannot be found out about clients without a kubeconfig."""
    if in_cluster():
        return  # then the service account asks
    if not authentication.authentication_kubeconfig and not authentication.authentication_skip_lookup:
        if not authentication.client_ca_file:
            yield _CA_LOOKUP.format(file="client-ca-file", kind="client certificate")
        if not authentication.requestheader_client_ca_file:
            yield _CA_LOOKUP.format(
                file="requestheader-client-ca-file", kind="request-header client certificate"
            )
    if not authorization.authorization_kubeconfig:
        yield _NO_REVIEWS


def extender_warnings(wharfinger: Wharfinger) -> Iterator[str]:
    """That everybody is let in."""
    if wharfinger.extender_anonymous:
        yield (
            "--extender-anonymous: whoever reaches the serving port may call the extender's verbs, and bind pods with the rights of this process"
        )


def wharfinger_errors(wharfinger: Wharfinger) -> Iterator[str]:
    """Numbers that must be positive, plugins that must name a class."""
    for name in ("extender_max_body_bytes", "serving_threads"):
        value = getattr(wharfinger, name)
        if value < 1:
            yield f"--{name.replace('_', '-')} {value} must be at least 1"
    if wharfinger.extender_timeout < 0:
        yield "--extender-timeout must not be negative; 0 means as long as it takes"
    for plugin in wharfinger.plugin:
        module, _, attribute = plugin.partition(":")
        if not all(part.isidentifier() for part in [*module.split("."), attribute]):
            yield f'--plugin "{plugin}" must have the form MODULE:CLASS'


def _unreadable(name: str) -> str:
    """Why a file cannot be read; empty when it can."""
    try:
        with Path(name).open("rb"):
            return ""
    except OSError as error:
        return (error.strerror or str(error)).lower()
