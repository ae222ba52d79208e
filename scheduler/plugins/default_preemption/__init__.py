"""DefaultPreemption: when a pod fits nowhere, find the pods of lower priority that have to go, and have them go.

======================  =====================================================================================
``plugin``              the class: its points, its events, what it asks to be done
``evaluation``          eligible? candidates? which one? A pure function, and its answer with everything in it
``dry_run``             which pods would have to leave a node, for many nodes at once
``victims``             who is more important, and whom a disruption budget protects
``pick``                which candidate hurts least
======================  =====================================================================================

Upstream: ``plugins/defaultpreemption``, ``framework/preemption``.
"""

from scheduler.plugins.default_preemption.evaluation import Evaluation
from scheduler.plugins.default_preemption.pick import Candidate
from scheduler.plugins.default_preemption.plugin import DefaultPreemption

__all__ = ["Candidate", "DefaultPreemption", "Evaluation"]
