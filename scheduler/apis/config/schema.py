"""How KubeSchedulerConfiguration v1 is written in a file.

The schemas mirror the v1 types field by field; defaults that need nothing but the file itself are applied here, those that
depend on feature gates or on the other profiles in `completion`. An empty text or a zero counts as "not given" exactly
where upstream's types cannot tell the two apart.
"""

from __future__ import annotations

from typing import Any, Final

from marshmallow import fields

from scheduler.apis.config import types
from scheduler.apis.config.args_schema import PLUGINS_WITH_ARGS, load_args
from scheduler.apis.config.defaults import EXTENSION_POINTS, MULTI_POINT
from scheduler.apis.config.fields import (
    GoBool,
    GoBytes,
    GoDuration,
    GoFloat32,
    GoInt,
    GoList,
    GoSchema,
    GoString,
    structs,
)


class _LeaderElectionSchema(GoSchema):
    target = types.LeaderElectionConfiguration
    leader_elect = GoBool()
    lease_duration = GoDuration()
    renew_deadline = GoDuration()
    retry_period = GoDuration()
    resource_lock = GoString()
    resource_name = GoString()
    resource_namespace = GoString()

    def finish(self, data: dict[str, Any]) -> Any:
        return self.target(**_given(data, keep="leader_elect"))


class _ClientConnectionSchema(GoSchema):
    target = types.ClientConnectionConfiguration
    kubeconfig = GoString()
    accept_content_types = GoString()
    content_type = GoString()
    qps = GoFloat32()
    burst = GoInt()

    def finish(self, data: dict[str, Any]) -> Any:
        return self.target(**_given(data))


class _PluginSchema(GoSchema):
    target = types.PluginRef
    name = GoString(load_default="")
    weight = GoInt()


class _PluginSetSchema(GoSchema):
    target = types.PluginSet
    enabled = structs(_PluginSchema)
    disabled = structs(_PluginSchema)


def _plugin_sets(**sets: types.PluginSet) -> types.Plugins:
    return types.Plugins(sets)


_PluginsSchema: Final = type(
    "_PluginsSchema",
    (GoSchema,),
    {
        "target": staticmethod(_plugin_sets),
        **{
            point: fields.Nested(_PluginSetSchema, data_key=point)
            for point in (MULTI_POINT, *EXTENSION_POINTS)
        },
    },
)


class _ArgsField(fields.Field[Any]):
    """Arguments of in-tree plugins are typed; those of other plugins stay the tree that they are."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        del attr, kwargs
        name = data.get("name")
        return load_args(name, value) if name in PLUGINS_WITH_ARGS else value


class _PluginConfigSchema(GoSchema):
    target = types.PluginConfig
    name = GoString(load_default="")
    args = _ArgsField(load_default=None)

    def finish(self, data: dict[str, Any]) -> Any:
        if data["args"] is None and data["name"] in PLUGINS_WITH_ARGS:
            data["args"] = load_args(data["name"], None)
        return self.target(**data)


class _ProfileSchema(GoSchema):
    target = types.KubeSchedulerProfile
    scheduler_name = GoString()
    percentage_of_nodes_to_score = GoInt()
    plugins = fields.Nested(_PluginsSchema)
    plugin_configs = structs(_PluginConfigSchema, data_key="pluginConfig")


class _TLSSchema(GoSchema):
    target = types.ExtenderTLSConfig
    insecure = GoBool()
    server_name = GoString()
    cert_file = GoString()
    key_file = GoString()
    ca_file = GoString(data_key="caFile")
    cert_data = GoBytes()
    key_data = GoBytes()
    ca_data = GoBytes(data_key="caData")


class _ManagedResourceSchema(GoSchema):
    target = types.ExtenderManagedResource
    name = GoString()
    ignored_by_scheduler = GoBool()


class _ExtenderSchema(GoSchema):
    target = types.Extender
    url_prefix = GoString()
    filter_verb = GoString()
    preempt_verb = GoString()
    prioritize_verb = GoString()
    weight = GoInt(64)
    bind_verb = GoString()
    enable_https = GoBool(data_key="enableHTTPS")
    tls_config = fields.Nested(_TLSSchema)
    http_timeout = GoDuration()
    node_cache_capable = GoBool()
    managed_resources = structs(_ManagedResourceSchema)
    ignorable = GoBool()


class _ConfigurationSchema(GoSchema):
    target = types.KubeSchedulerConfiguration
    api_version = GoString()
    kind = GoString()
    parallelism = GoInt()
    leader_election = fields.Nested(_LeaderElectionSchema)
    client_connection = fields.Nested(_ClientConnectionSchema)
    enable_profiling = GoBool(load_default=True)
    enable_contention_profiling = GoBool()
    percentage_of_nodes_to_score = GoInt()
    pod_initial_backoff_seconds = GoInt(64)
    pod_max_backoff_seconds = GoInt(64)
    profiles = GoList(fields.Nested(_ProfileSchema), {}, load_default=())
    extenders = structs(_ExtenderSchema)
    delay_cache_until_active = GoBool()

    def finish(self, data: dict[str, Any]) -> Any:
        data.pop("api_version", None)
        data.pop("kind", None)
        # Contention profiling follows profiling unless it is set itself.
        data.setdefault("enable_contention_profiling", data["enable_profiling"])
        return self.target(**data)


def load_configuration(tree: Any) -> types.KubeSchedulerConfiguration:
    """The configuration in a tree, before completion. Raises marshmallow's `ValidationError` with every fault."""
    loaded: types.KubeSchedulerConfiguration = _ConfigurationSchema().load(_with_default_name(tree))
    return loaded


def _with_default_name(tree: Any) -> Any:
    """Only the sole profile of a file may leave its name out; an empty name is a name, if an invalid one."""
    profiles = tree.get("profiles") if isinstance(tree, dict) else None
    if not isinstance(profiles, list) or len(profiles) != 1:
        return tree
    profile = {} if profiles[0] is None else profiles[0]
    if not isinstance(profile, dict) or profile.get("schedulerName") is not None:
        return tree
    return {**tree, "profiles": [{**profile, "schedulerName": types.DEFAULT_SCHEDULER_NAME}]}


def _given(data: dict[str, Any], keep: str = "") -> dict[str, Any]:
    """The fields that are not zero: the others take the default of their dataclass."""
    return {name: value for name, value in data.items() if value or name == keep}
