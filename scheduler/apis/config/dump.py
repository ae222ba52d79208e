"""A completed configuration as a file again, as kube-scheduler's `--write-config-to` writes it.

Keys are sorted, empty optional fields are left out, a profile lists the arguments of the plugins that it builds and no
others. What is written can be read back and gives the same configuration.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from scheduler.apis import duration
from scheduler.apis.config import types
from scheduler.apis.config.args_dump import args_tree
from scheduler.apis.config.defaults import EXTENSION_POINTS, MULTI_POINT
from scheduler.apis.config.document import plain_means_text
from scheduler.apis.config.expansion import needed


def dump(config: types.KubeSchedulerConfiguration) -> str:
    """YAML text."""
    return yaml.dump(
        tree(config),
        Dumper=_Dumper,
        default_flow_style=False,
        allow_unicode=True,
        width=math.inf,
        sort_keys=True,
    )


def tree(config: types.KubeSchedulerConfiguration) -> dict[str, Any]:
    """The plain tree that `dump` writes, e.g. for configz."""
    found = {
        "apiVersion": types.API_VERSION,
        "kind": types.KIND,
        "parallelism": config.parallelism,
        "leaderElection": _leader_election(config.leader_election),
        "clientConnection": _client_connection(config.client_connection),
        "enableProfiling": config.enable_profiling,
        "enableContentionProfiling": config.enable_contention_profiling,
        "percentageOfNodesToScore": config.percentage_of_nodes_to_score,
        "podInitialBackoffSeconds": config.pod_initial_backoff_seconds,
        "podMaxBackoffSeconds": config.pod_max_backoff_seconds,
    }
    optional = {
        "profiles": [_profile(profile) for profile in config.profiles],
        "extenders": [_extender(extender) for extender in config.extenders],
        "delayCacheUntilActive": config.delay_cache_until_active,
    }
    return found | given(optional)


def given(optional: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty: Go's `omitempty`."""
    return {key: value for key, value in optional.items() if value}


def _leader_election(election: types.LeaderElectionConfiguration) -> dict[str, Any]:
    return {
        "leaderElect": election.leader_elect,
        "leaseDuration": duration.format(election.lease_duration),
        "renewDeadline": duration.format(election.renew_deadline),
        "retryPeriod": duration.format(election.retry_period),
        "resourceLock": election.resource_lock,
        "resourceName": election.resource_name,
        "resourceNamespace": election.resource_namespace,
    }


def _client_connection(connection: types.ClientConnectionConfiguration) -> dict[str, Any]:
    return {
        "kubeconfig": connection.kubeconfig,
        "acceptContentTypes": connection.accept_content_types,
        "contentType": connection.content_type,
        "qps": _float32(connection.qps),
        "burst": connection.burst,
    }


def _profile(profile: types.KubeSchedulerProfile) -> dict[str, Any]:
    plugins = {point: _plugin_set(profile.plugins[point]) for point in (MULTI_POINT, *EXTENSION_POINTS)}
    found: dict[str, Any] = {"schedulerName": profile.scheduler_name, "plugins": plugins}
    if profile.percentage_of_nodes_to_score is not None:
        found["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
    built = needed(profile.plugins)
    configs = [
        {"name": config.name, "args": args_tree(config.args)}
        for config in sorted(profile.plugin_configs, key=lambda config: config.name)
        if config.name in built and config.args is not None
    ]
    return found | given({"pluginConfig": configs})


def _plugin_set(plugins: types.PluginSet) -> dict[str, Any]:
    def refs(side: Sequence[types.PluginRef]) -> list[dict[str, Any]]:
        return [{"name": plugin.name, "weight": plugin.weight} for plugin in side]

    return given({"enabled": refs(plugins.enabled), "disabled": refs(plugins.disabled)})


def _extender(extender: types.Extender) -> dict[str, Any]:
    optional = {
        "filterVerb": extender.filter_verb,
        "preemptVerb": extender.preempt_verb,
        "prioritizeVerb": extender.prioritize_verb,
        "weight": extender.weight,
        "bindVerb": extender.bind_verb,
        "enableHTTPS": extender.enable_https,
        "nodeCacheCapable": extender.node_cache_capable,
        "managedResources": [
            {"name": resource.name} | given({"ignoredByScheduler": resource.ignored_by_scheduler})
            for resource in extender.managed_resources
        ],
        "ignorable": extender.ignorable,
    }
    found = {"urlPrefix": extender.url_prefix, "httpTimeout": duration.format(extender.http_timeout)}
    if extender.tls_config is not None:
        found["tlsConfig"] = _tls(extender.tls_config)
    return found | given(optional)


def _tls(tls: types.ExtenderTLSConfig) -> Any:
    return given(
        {
            "insecure": tls.insecure,
            "serverName": tls.server_name,
            "certFile": tls.cert_file,
            "keyFile": tls.key_file,
            "caFile": tls.ca_file,
            "certData": base64.b64encode(tls.cert_data).decode(),
            "keyData": base64.b64encode(tls.key_data).decode(),
            "caData": base64.b64encode(tls.ca_data).decode(),
        }
    )


def _float32(number: float) -> int | float:
    """The shortest text of a 32-bit number, as a number."""
    if number.is_integer():
        return int(number)
    same: Final = struct.pack(">f", number)
    for digits in range(1, 10):
        short = float(f"{number:.{digits}g}")
        if struct.pack(">f", short) == same:
            return short
    return number


class _Dumper(yaml.SafeDumper):
    """Block style, and double quotes exactly where plain text would be read as something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """The same value twice is written twice."""
        del data
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if plain_means_text(text) else '"'
    )


_Dumper.add_representer(str, _text)
