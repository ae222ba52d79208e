"""KubeSchedulerConfiguration v1 as the program uses it: typed, immutable, complete.

Field names are the file's in snake_case; durations are nanoseconds. A value of these types that came out of `load` or
`default` has every default filled in, so nobody downstream asks "is it set?".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from scheduler.apis.duration import SECOND

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"


@dataclass(frozen=True, slots=True)
class LeaderElectionConfiguration:
    """Who of several replicas schedules."""

    leader_elect: bool = True
    lease_duration: int = 15 * SECOND
    renew_deadline: int = 10 * SECOND
    retry_period: int = 2 * SECOND
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


@dataclass(frozen=True, slots=True)
class ClientConnectionConfiguration:
    """How to reach the API server, and how fast requests may be sent."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = 50.0
    burst: int = 100


@dataclass(frozen=True, slots=True)
class PluginRef:
    """A plugin by name, with its weight for scoring; 0 means that none was given."""

    name: str
    weight: int = 0


@dataclass(frozen=True, slots=True)
class PluginSet:
    """What is switched on and off at one extension point; a disabled `*` means all defaults."""

    enabled: tuple[PluginRef, ...] = ()
    disabled: tuple[PluginRef, ...] = ()

    def disables(self, name: str) -> bool:
        """Whether the name itself is listed as disabled."""
        return any(plugin.name == name for plugin in self.disabled)


@dataclass(frozen=True, slots=True)
class Plugins:
    """The plugin sets by extension point (`filter`, ..., and `multiPoint`); a point not listed is empty."""

    sets: Mapping[str, PluginSet] = field(default_factory=lambda: MappingProxyType({}))

    def __getitem__(self, point: str) -> PluginSet:
        return self.sets.get(point, _EMPTY)


_EMPTY: Final = PluginSet()


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """Arguments for a plugin: one of the types of `args`, or the plain tree of an out-of-tree plugin."""

    name: str = ""
    args: Any = None


@dataclass(frozen=True, slots=True)
class KubeSchedulerProfile:
    """One scheduler name and the plugins that decide for it."""

    scheduler_name: str = ""
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_configs: tuple[PluginConfig, ...] = ()

    @property
    def plugin_config(self) -> dict[str, Any]:
        """The arguments by plugin name."""
        return {config.name: config.args for config in self.plugin_configs}


@dataclass(frozen=True, slots=True)
class ExtenderTLSConfig:
    """How to talk TLS to an extender; data win over files. The key never shows in `repr`."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = field(default=b"", repr=False)
    ca_data: bytes = b""


@dataclass(frozen=True, slots=True)
class ExtenderManagedResource:
    """A resource that an extender manages, and whether NodeResourcesFit leaves it alone."""

    name: str = ""
    ignored_by_scheduler: bool = False


@dataclass(frozen=True, slots=True)
class Extender:
    """A webhook that takes part in decisions."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: int = 0
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


@dataclass(frozen=True, slots=True)
class KubeSchedulerConfiguration:
    """The whole file."""

    parallelism: int = 16
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    profiles: tuple[KubeSchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
