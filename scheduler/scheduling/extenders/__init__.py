"""Other extenders: the programs of ``extenders:`` in the configuration, called as kube-scheduler 1.36 calls them.

======================  =====================================================================================
``set``                 all of them, in order; who binds
``consultation``        all of them asked about one pod, with the lock released while they think
``extender``            one of them: its verbs, the pods that it wants to hear of
``wire``                the bodies of the protocol
``transport``, ``tls``  one POST within its time
======================  =====================================================================================

What the algorithm sees of them is ``framework/extenders``; ``docs/design/extenders.md`` tells why it is made this way. Upstream:
``pkg/scheduler/extender.go``.
"""

from scheduler.scheduling.extenders.consultation import Consultation
from scheduler.scheduling.extenders.set import (
    NODES,
    PLACED_PODS,
    PODS,
    ExtenderSet,
    build_extenders,
    whole_objects,
)

__all__ = ["NODES", "PLACED_PODS", "PODS", "Consultation", "ExtenderSet", "build_extenders", "whole_objects"]
