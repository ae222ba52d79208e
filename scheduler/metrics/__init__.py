"""What the scheduler counts and measures, under kube-scheduler's metric names.

Dashboards and alerts written for kube-scheduler must keep working, so names, labels, buckets and help texts are its own:

* ``table``: every family as one row of data; the only place that knows names and buckets
* ``recorder``: `Metrics`, what the program calls while it works
* ``exposition``: a registry as kube-scheduler prints it
"""

from scheduler.metrics.exposition import exposition
from scheduler.metrics.recorder import LabelValues, Metrics
from scheduler.metrics.table import FAMILIES, Family

__all__ = ["FAMILIES", "Family", "LabelValues", "Metrics", "exposition"]
