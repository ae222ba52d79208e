"""Who may ask the serving port, made out of the flags: the chain of ``serving.access``, and what it needs of the API server.

::

    --authentication-kubeconfig ─► TokenReviews, ConfigMap with the client CAs ─┐
    --client-ca-file, --requestheader-*  ──────────────────────────────────────┼─► Access ─► the application
    --authorization-kubeconfig ──► SubjectAccessReviews ────────────────────────┘     └────► TLS: whose certificates to ask for

Without a kubeconfig a process that runs in a pod asks with its service account, as kube-scheduler does; elsewhere there is nobody to ask:
every client is anonymous, and only open paths are allowed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from extender.app import VERBS
from scheduler.apis.duration import SECOND
from scheduler.app.flags.sections import Authentication, Authorization
from scheduler.app.options import Options
from scheduler.client.access import Access as Cluster
from scheduler.client.access import in_cluster, load_access
from scheduler.client.errors import AccessError, ClientError, ForbiddenError
from scheduler.client.informers import InformerSet
from scheduler.client.rest import Rest
from scheduler.client.reviews import Reviews
from scheduler.serving.access import Access
from scheduler.serving.authentication import delegated
from scheduler.serving.authentication.authorities import Bundle, bundle_file
from scheduler.serving.authentication.certificates import ClientCertificates
from scheduler.serving.authentication.chain import Way
from scheduler.serving.authentication.cluster import NAME, NAMESPACE, ClusterAuthentication
from scheduler.serving.authentication.headers import HeaderNames, RequestHeaders
from scheduler.serving.authentication.tokens import BearerTokens
from scheduler.serving.authorization import AccessReviews, Authorizer, OpenPaths, privileged_groups, union
from scheduler.serving.pem import CertificateError

logger = logging.getLogger(__name__)

EXTENDER_PATHS = (*(f"/{verb}" for verb in VERBS), "/profiles/*")
"""What ``--extender-anonymous`` opens."""

Connect = Callable[[Cluster, str], Rest]
"""A client of an API server under a name."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The policy, and what belongs to it.

    Attributes:
        access: who may.
        authorities: whose client certificates TLS asks for; nothing: of nobody.
        followed: informers that keep it up to date while the process runs.
        is_open: whether everybody may ask for a path, so that the API server need not be asked.
        reviews: what asks the API server, to be closed when nobody is served any more.
    """

    access: Access
    authorities: Callable[[], Sequence[x509.Certificate]] | None
    followed: InformerSet
    is_open: Callable[[str], bool]
    reviews: tuple[Reviews, ...] = ()

    def let_go(self) -> None:
        """Free whoever waits for the API server."""
        for each in self.reviews:
            each.close()


def make_admission(options: Options, connect: Connect) -> Admission:
    """The admission that the flags ask for; the API server is asked for its client CAs once.

    Raises:
        AccessError: a kubeconfig that cannot be used, or a look-up that fails and must not (``--authentication-tolerate-lookup-failure=false``).
        CertificateError: a CA bundle that cannot be used.
    """
    if not options.serving.secure_port:
        return Admission(Access(union(())), None, InformerSet(), lambda path: True)  # noqa: ARG005
    rest = _delegate(options.authentication.authentication_kubeconfig, "authentication", connect)
    delegate = _delegate(options.authorization.authorization_kubeconfig, "authorization", connect)
    tokens = Reviews(rest) if rest else None
    permissions = Reviews(delegate) if delegate else None
    cluster, followed = _looked_up(options.authentication, rest)
    proxies, names = _front_proxies(options.authentication, cluster)
    clients = _client_bundle(options.authentication, cluster)
    ways = _ways(options, clients, proxies, names, tokens)
    bundles = [bundle for bundle in (clients, proxies) if bundle]
    open_paths = OpenPaths.parse(_open_patterns(options))
    return Admission(
        Access(_authorizer(options.authorization, open_paths, permissions), delegated(ways)),
        (lambda: _certificates(bundles)) if bundles else None,
        followed,
        open_paths.__contains__,
        tuple(filter(None, (tokens, permissions))),
    )


def _ways(
    options: Options,
    clients: Bundle | None,
    proxies: Bundle | None,
    names: Callable[[], HeaderNames],
    tokens: Reviews | None,
) -> list[Way]:
    ways: list[Way] = []
    if proxies:
        ways.append(RequestHeaders(proxies, names))
    if clients:
        reads_uid = options.features.enabled("AllowParsingUserUIDFromCertAuth")
        ways.append(ClientCertificates(clients, reads_uid=reads_uid))
    if tokens:
        ttl = options.authentication.authentication_token_webhook_cache_ttl / SECOND
        ways.append(BearerTokens(tokens.token, ttl))
    return ways


def _open_patterns(options: Options) -> tuple[str, ...]:
    patterns = options.authorization.authorization_always_allow_paths
    return (*patterns, *EXTENDER_PATHS) if options.wharfinger.extender_anonymous else patterns


def _authorizer(flags: Authorization, open_paths: OpenPaths, reviews: Reviews | None) -> Authorizer:
    chain: list[Authorizer] = [privileged_groups, open_paths]
    if reviews:
        ttls = (
            flags.authorization_webhook_cache_authorized_ttl / SECOND,
            flags.authorization_webhook_cache_unauthorized_ttl / SECOND,
        )
        chain.append(AccessReviews(reviews.access, *ttls))
    return union(chain)


def _delegate(kubeconfig: str, purpose: str, connect: Connect) -> Rest | None:
    """The client to ask with; nothing when there is none."""
    if kubeconfig:
        try:
            return connect(load_access(kubeconfig), f"delegated-{purpose}")
        except AccessError as error:
            raise AccessError(f"failed to get delegated {purpose} kubeconfig: {error}") from None
    if not in_cluster():
        return None
    try:
        return connect(load_access(), f"delegated-{purpose}")
    except AccessError as error:
        logger.warning("failed to read in-cluster kubeconfig for delegated %s: %s", purpose, error)
        return None


def _looked_up(flags: Authentication, rest: Rest | None) -> tuple[ClusterAuthentication | None, InformerSet]:
    """What the cluster publishes about its clients, when the flags leave something to it; looked up once and followed from then on."""
    told = flags.client_ca_file and flags.requestheader_client_ca_file
    if rest is None or told or flags.authentication_skip_lookup:
        return None, InformerSet()
    cluster = ClusterAuthentication()
    try:
        cluster.look_up(rest)
    except ClientError as error:
        _report(error)
        if not flags.authentication_tolerate_lookup_failure:
            raise AccessError(
                f"unable to load configmap based request-header-client-ca-file: {error}"
            ) from None
        logger.warning("Error looking up in-cluster authentication configuration: %s", error)
        logger.warning(
            "Continuing without authentication configuration. This may treat all requests as anonymous."
        )
        logger.warning(
            "To require authentication configuration lookup to succeed, set --authentication-tolerate-lookup-failure=false"
        )
    return cluster, InformerSet([cluster.informer(rest)])


def _report(error: ClientError) -> None:
    if isinstance(error, ForbiddenError):
        logger.warning(
            "Unable to get configmap/%s in %s.  Usually fixed by 'kubectl create rolebinding -n %s ROLEBINDING_NAME "
            "--role=extension-apiserver-authentication-reader --serviceaccount=YOUR_NS:YOUR_SA'",
            NAME,
            NAMESPACE,
            NAMESPACE,
        )


def _client_bundle(flags: Authentication, cluster: ClusterAuthentication | None) -> Bundle | None:
    if flags.client_ca_file:
        what = "unable to load client CA provider"
        return _bundle_file(flags.client_ca_file, "client CA bundle", what)
    return (lambda: cluster.clients) if cluster else None


def _front_proxies(
    flags: Authentication, cluster: ClusterAuthentication | None
) -> tuple[Bundle | None, Callable[[], HeaderNames]]:
    """The bundle of the front proxies, and the headers that they use."""
    if flags.requestheader_client_ca_file:
        what = "unable to create request header authentication config"
        names = HeaderNames(
            users=flags.requestheader_username_headers,
            uids=flags.requestheader_uid_headers,
            groups=flags.requestheader_group_headers,
            extra_prefixes=flags.requestheader_extra_headers_prefix,
            allowed=flags.requestheader_allowed_names,
        )
        bundle = _bundle_file(flags.requestheader_client_ca_file, "request-header CA bundle", what)
        return bundle, lambda: names
    if cluster is None:
        return None, HeaderNames
    return (lambda: cluster.proxies), (lambda: cluster.headers)


def _bundle_file(name: str, what: str, trouble: str) -> Bundle:
    try:
        return bundle_file(Path(name).expanduser(), what)
    except CertificateError as error:
        raise CertificateError(f"{trouble}: {error}") from error


def _certificates(bundles: Sequence[Bundle]) -> list[x509.Certificate]:
    known = filter(None, (bundle() for bundle in bundles))
    return [certificate for authorities in known for certificate in authorities.certificates]
