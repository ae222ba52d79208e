"""Pods that use what only newer kubelets can do: NodeDeclaredFeatures."""

from scheduler.plugins.node_declared_features.plugin import NodeDeclaredFeatures

__all__ = ["NodeDeclaredFeatures"]
