"""Every flag of kube-scheduler 1.36, by section, and Wharfinger's own.

``effect`` tells of a flag that is accepted and does nothing, and why that is harmless. What would not be harmless to ignore is refused by
``Options.validate``.
"""

from dataclasses import dataclass

from scheduler.apis.duration import SECOND
from scheduler.app.flags.table import Section, flag
from scheduler.app.flags.values import (
    BOOL,
    DURATION,
    FLOAT32,
    GATES,
    INT,
    INT32,
    INT32_SLICE,
    IP,
    LEVEL,
    NAMED_CERT_KEY,
    QUANTITY,
    STRING,
    STRING_TO_STRING,
    STRINGS,
    VMODULE,
)
from scheduler.app.flags.version import VERSION_REQUEST

_HTTP1 = "none: HTTP/2 is never offered"


@dataclass(frozen=True)
class Misc(Section):
    """What to run with."""

    title = "Misc"
    config: str = flag(STRING, "", "The configuration file (KubeSchedulerConfiguration).")
    master: str = flag(STRING, "", "The address of the API server; overrides the kubeconfig's.")
    write_config_to: str = flag(STRING, "", "Write the configuration in force to this file, then exit.")


@dataclass(frozen=True)
class SecureServing(Section):
    """Where and how to serve HTTPS."""

    title = "Secure serving"
    bind_address: str = flag(
        IP,
        "0.0.0.0",  # noqa: S104  # kube-scheduler's default: probes and scrapers come from elsewhere
        "The IP address to listen on; 0.0.0.0 and :: are all interfaces and both families of addresses.",
    )
    cert_dir: str = flag(
        STRING,
        "",
        "The directory with the serving certificate kube-scheduler.crt and its key, made there if both are missing. Without it, a self-signed certificate is kept in memory. Ignored when --tls-cert-file and --tls-private-key-file are given.",
    )
    disable_http2_serving: bool = flag(BOOL, False, "Do not offer HTTP/2.", effect=_HTTP1)
    http2_max_streams_per_connection: int = flag(
        INT, 0, "How many HTTP/2 streams a connection may have; 0 is the default.", effect=_HTTP1
    )
    permit_address_sharing: bool = flag(
        BOOL,
        False,
        "Listen with SO_REUSEADDR.",
        effect="none: SO_REUSEADDR is always set, by Go's listeners too",
    )
    permit_port_sharing: bool = flag(
        BOOL, False, "Listen with SO_REUSEPORT, so that several processes can have the same port."
    )
    secure_port: int = flag(INT, 10259, "The port to serve HTTPS on; 0 serves nothing.")
    tls_cert_file: str = flag(STRING, "", "The serving certificate, followed by its chain, in PEM.")
    tls_cipher_suites: tuple[str, ...] = flag(
        STRINGS, (), "The cipher suites for TLS up to 1.2, by Go's names; all good ones if omitted."
    )
    tls_curve_preferences: tuple[int, ...] = flag(
        INT32_SLICE,
        (),
        "The only key exchange mechanisms to accept, by Go's CurveID numbers (23, 24, 25: NIST curves; 29: X25519; 4587, 4588, 4589: with ML-KEM), in any order.",
    )
    tls_min_version: str = flag(
        STRING,
        "",
        "The oldest TLS version to speak: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13.",
    )
    tls_private_key_file: str = flag(STRING, "", "The private key of --tls-cert-file, in PEM.")
    tls_sni_cert_key: tuple[tuple[str, str, tuple[str, ...]], ...] = flag(
        NAMED_CERT_KEY,
        (),
        "A certificate and key (CERT,KEY) for the names in it, or for the host names, wildcards and addresses behind a colon (CERT,KEY:NAME,...); may be given several times.",
    )


@dataclass(frozen=True)
class Authentication(Section):
    """Who is asking."""

    title = "Authentication"
    authentication_kubeconfig: str = flag(
        STRING,
        "",
        "A kubeconfig that may create tokenreviews. Without it, a process in a pod uses its service account; elsewhere every client is anonymous.",
    )
    authentication_skip_lookup: bool = flag(BOOL, False, "Do not look up client CAs in the cluster.")
    authentication_token_webhook_cache_ttl: int = flag(
        DURATION, 10 * SECOND, "How long to remember token reviews."
    )
    authentication_tolerate_lookup_failure: bool = flag(
        BOOL, True, "Go on when client CAs cannot be looked up."
    )
    client_ca_file: str = flag(STRING, "", "The CAs that sign client certificates, in PEM.")
    requestheader_allowed_names: tuple[str, ...] = flag(
        STRINGS, (), "Common names of front proxies that may pass on users in headers; any if empty."
    )
    requestheader_client_ca_file: str = flag(
        STRING, "", "The CAs that sign front proxies' certificates, in PEM."
    )
    requestheader_extra_headers_prefix: tuple[str, ...] = flag(
        STRINGS, ("x-remote-extra-",), "Prefixes of headers with extra user fields."
    )
    requestheader_group_headers: tuple[str, ...] = flag(STRINGS, ("x-remote-group",), "Headers with groups.")
    requestheader_uid_headers: tuple[str, ...] = flag(STRINGS, (), "Headers with user ids.")
    requestheader_username_headers: tuple[str, ...] = flag(
        STRINGS, ("x-remote-user",), "Headers with user names."
    )


@dataclass(frozen=True)
class Authorization(Section):
    """Who may."""

    title = "Authorization"
    authorization_always_allow_paths: tuple[str, ...] = flag(
        STRINGS,
        ("/healthz", "/readyz", "/livez"),
        "Paths that everybody may ask, without the API server's consent; a trailing * matches any rest.",
    )
    authorization_kubeconfig: str = flag(
        STRING,
        "",
        "A kubeconfig that may create subjectaccessreviews. Without it, a process in a pod uses its service account; elsewhere only open paths are allowed.",
    )
    authorization_webhook_cache_authorized_ttl: int = flag(
        DURATION, 10 * SECOND, "How long to remember permissions."
    )
    authorization_webhook_cache_unauthorized_ttl: int = flag(
        DURATION, 10 * SECOND, "How long to remember refusals."
    )


@dataclass(frozen=True)
class Deprecated(Section):
    """What belongs into the configuration file; ignored, the last one apart, when there is one."""

    title = "Deprecated"
    deprecated = True
    contention_profiling: bool = flag(
        BOOL,
        True,
        "DEPRECATED: profile lock contention.",
        effect="none: Python's locks are not profiled; kept in the configuration",
    )
    kube_api_burst: int = flag(INT32, 100, "DEPRECATED: how many requests may exceed --kube-api-qps at once.")
    kube_api_content_type: str = flag(
        STRING,
        "application/vnd.kubernetes.protobuf",
        "DEPRECATED: the content type of requests to the API server.",
        effect="none: requests are JSON; kept in the configuration",
    )
    kube_api_qps: float = flag(FLOAT32, 50.0, "DEPRECATED: requests per second to the API server.")
    kubeconfig: str = flag(STRING, "", "DEPRECATED: the kubeconfig to reach the API server with.")
    pod_max_in_unschedulable_pods_duration: int = flag(
        DURATION,
        300 * SECOND,
        "DEPRECATED: how long a pod stays unschedulable before it is tried again whatever happens.",
    )
    profiling: bool = flag(BOOL, True, "DEPRECATED: serve /debug/pprof/ and /debug/flags/.")


@dataclass(frozen=True)
class LeaderElection(Section):
    """Which of several replicas schedules; these flags win over the configuration file when given."""

    title = "Leader election"
    leader_elect: bool = flag(BOOL, True, "Schedule only while holding the lease.")
    leader_elect_lease_duration: int = flag(
        DURATION, 15 * SECOND, "How long others wait before they take over a lease that is not renewed."
    )
    leader_elect_renew_deadline: int = flag(
        DURATION, 10 * SECOND, "How long the leader tries to renew before it stops leading."
    )
    leader_elect_resource_lock: str = flag(STRING, "leases", "The kind of object to lock: leases.")
    leader_elect_resource_name: str = flag(STRING, "kube-scheduler", "The lease's name.")
    leader_elect_resource_namespace: str = flag(STRING, "kube-system", "The lease's namespace.")
    leader_elect_retry_period: int = flag(DURATION, 2 * SECOND, "How long to wait between attempts.")


@dataclass(frozen=True)
class FeatureGates(Section):
    """Which features are on."""

    title = "Feature gate"
    emulated_version: tuple[str, ...] = flag(
        STRINGS, (), "Behave as this version by default ([kube=]MAJOR.MINOR)."
    )
    feature_gates: tuple[str, ...] = flag(
        GATES, (), "Features to turn on or off ([kube:]NAME=true|false, comma-separated):"
    )
    min_compatibility_version: tuple[str, ...] = flag(
        STRINGS,
        (),
        "The oldest control plane version to stay compatible with ([kube=]MAJOR.MINOR).",
        effect="none: checked only",
    )


@dataclass(frozen=True)
class MetricsFlags(Section):
    """What /metrics shows."""

    title = "Metrics"
    allow_metric_labels: tuple[tuple[str, str], ...] = flag(
        STRING_TO_STRING,
        (),
        "The values of a label that are told apart, all others count as unexpected (METRIC,LABEL=VALUE,...).",
    )
    allow_metric_labels_manifest: str = flag(
        STRING, "", "A YAML file that says the same as --allow-metric-labels, instead of it."
    )
    disabled_metrics: tuple[str, ...] = flag(STRINGS, (), "Metrics to leave out, by their full names.")
    show_hidden_metrics_for_version: str = flag(
        STRING,
        "",
        "Show metrics that were hidden since this version (only the previous minor one).",
        effect="none: no metric is hidden",
    )


@dataclass(frozen=True)
class Logs(Section):
    """What is logged, and how."""

    title = "Logs"
    log_flush_frequency: int = flag(
        DURATION,
        5 * SECOND,
        "How long lines of a buffered info stream may wait; all others are written at once.",
    )
    log_json_info_buffer_size: str = flag(
        QUANTITY, "0", "[Alpha] How many bytes of a split info stream to buffer in JSON format."
    )
    log_json_split_stream: bool = flag(
        BOOL, False, "[Alpha] In JSON format, errors to stderr and the rest to stdout."
    )
    log_text_info_buffer_size: str = flag(
        QUANTITY, "0", "[Alpha] How many bytes of a split info stream to buffer in text format."
    )
    log_text_split_stream: bool = flag(
        BOOL, False, "[Alpha] In text format, errors to stderr and the rest to stdout."
    )
    logging_format: str = flag(STRING, "text", "The format of log lines: text or json.")
    v: int = flag(
        LEVEL, 0, "How much to log: flags at 1, configuration and every pod at 2, every step at 4.", short="v"
    )
    vmodule: tuple[tuple[str, int], ...] = flag(
        VMODULE,
        (),
        "Other levels for certain files (text format only): queue=4, leader*=4, or with the module, scheduler/backend/*=4.",
    )


@dataclass(frozen=True)
class Wharfinger(Section):
    """What kube-scheduler does not have."""

    title = "Wharfinger"
    extender_anonymous: bool = flag(
        BOOL,
        False,
        "Let everybody who reaches the serving port call the extender's verbs, bind among them, without credentials.",
    )
    extender_max_body_bytes: int = flag(
        INT,
        256 << 20,
        "The largest request body that the extender's verbs accept, in bytes, after inflating.",
    )
    extender_timeout: int = flag(
        DURATION,
        9 * SECOND // 2,
        "How long the extender's verbs may take; then they answer with an error. Less than the callers' httpTimeout. 0: as long as it takes.",
    )
    plugin: tuple[str, ...] = flag(
        STRINGS, (), "An out-of-tree plugin to load (MODULE:CLASS); may be given several times."
    )
    reload: bool = flag(
        BOOL,
        False,
        "Load the file of --config again whenever it is another, without a restart; SIGHUP does so at any time.",
    )
    serving_threads: int = flag(INT, 16, "How many requests with a body are served at the same time.")


@dataclass(frozen=True)
class Global(Section):
    """What is asked for instead of a scheduler."""

    title = "Global"
    help: bool = flag(BOOL, False, "Print this text.", short="h")
    version: str = flag(
        VERSION_REQUEST,
        "false",
        "--version and --version=raw print the version and exit; --version=vX.Y.Z... sets the reported version.",
    )


SECTIONS: tuple[type[Section], ...] = (
    Misc,
    SecureServing,
    Authentication,
    Authorization,
    Deprecated,
    LeaderElection,
    FeatureGates,
    MetricsFlags,
    Logs,
    Wharfinger,
    Global,
)
"""In the order of ``--help``."""
