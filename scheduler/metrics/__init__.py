"""What the scheduler counts and measures, under kube-scheduler's metric names.

Dashboards and alerts written for kube-scheduler must keep working, so names, labels, buckets and help texts are its own:

* ``table``: every family as one row of data; the only place that knows names and buckets
* ``recorder``: `Metrics`, what the program calls while it works
* ``policy``: what operators disable, and which label values they keep
* ``component``: health checks and the process
* ``exposition``: a registry as kube-scheduler prints it
"""

from scheduler.metrics.component import HealthMetrics, add_process
from scheduler.metrics.exposition import exposition
from scheduler.metrics.policy import Policy
from scheduler.metrics.recorder import Metrics
from scheduler.metrics.table import FAMILIES, Family

__all__ = ["FAMILIES", "Family", "HealthMetrics", "Metrics", "Policy", "add_process", "exposition"]
