"""VolumeBinding: a pod runs where its volumes can be reached, and volumes are chosen, or made, where the pod is going to run.

Most claims are bound before a pod uses them, and their volumes say from which nodes they can be reached. Claims whose class waits
for the first consumer are bound by this plugin, together with the pod: each gets the smallest volume that fits and can be
reached from the node, or is provisioned there. What is chosen is assumed in memory (Reserve), so that the next pod does not
choose it again, then written and waited for (PreBind).

Modules: ``pod_claims`` sorts a pod's claims · ``bound``, ``static``, ``dynamic`` judge the nodes, and ``placement`` puts their
verdicts together · ``reach`` and ``migration`` know from where volumes are reached · ``assume_cache``, ``changes``, ``binder``, ``progress``
carry the choice out · ``scorer`` ranks under a gate · ``hints`` · ``plugin``.

Quirks: a claim that is deleted, lost or not there is nobody's to help (unresolvable, no node is looked at); a class that does not
say when to bind is an error; a row may be rejected for a bound and for an unbound claim at once.

Upstream: ``plugins/volumebinding``, ``component-helpers/storage/volume``.
"""

from scheduler.plugins.volume_binding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
