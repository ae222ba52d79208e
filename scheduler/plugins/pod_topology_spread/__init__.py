"""PodTopologySpread: how evenly matching pods lie over the values of a node label (zones, racks, hosts).

::

    constraints ── of the pod, or the profile's defaults with the selector of who owns and serves the pod (default_selector)
        │
        ├─ DoNotSchedule  ── required:  matching pods by domain, the emptiest domain, a node's skew     PreFilter, Filter
        │                    hints:     which changes may lower a skew
        └─ ScheduleAnyway ── preferred: matching pods by domain, weighed by the number of domains       PreScore, Score

    counting: which nodes count (labels, node affinity, taints) and how many matching pods each domain has
"""

from scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
