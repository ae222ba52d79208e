"""KubeSchedulerConfiguration v1: read strictly, complete, validate, write back; and the expansion of plugin sets.

One module per step; `v1` ties them together and draws the way through.
"""

from scheduler.apis.config.dump import dump, tree
from scheduler.apis.config.expansion import PluginSetError, expand_plugins
from scheduler.apis.config.startup import startup_errors
from scheduler.apis.config.types import (
    ClientConnectionConfiguration,
    Extender,
    ExtenderManagedResource,
    ExtenderTLSConfig,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    PluginConfig,
    PluginRef,
    Plugins,
    PluginSet,
)
from scheduler.apis.config.v1 import LoadResult, default, load
from scheduler.apis.config.validation import validate

__all__ = [
    "ClientConnectionConfiguration",
    "Extender",
    "ExtenderManagedResource",
    "ExtenderTLSConfig",
    "KubeSchedulerConfiguration",
    "KubeSchedulerProfile",
    "LeaderElectionConfiguration",
    "LoadResult",
    "PluginConfig",
    "PluginRef",
    "PluginSet",
    "PluginSetError",
    "Plugins",
    "default",
    "dump",
    "expand_plugins",
    "load",
    "startup_errors",
    "tree",
    "validate",
]
