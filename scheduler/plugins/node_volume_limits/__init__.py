"""NodeVolumeLimits: a node takes no more volumes of a CSI driver than the driver can attach there."""

from scheduler.plugins.node_volume_limits.node_volume_limits import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
