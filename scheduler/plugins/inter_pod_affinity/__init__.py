"""InterPodAffinity: pods that want to be near others, and pods that want them kept away."""

from scheduler.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
