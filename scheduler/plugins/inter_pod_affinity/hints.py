"""Which changes may help a pod that was refused for affinity.

::

    pod came        all affinity terms mean it
    pod went        an anti-affinity term means it, or one of its own means the refused pod; or it was company that kept the
                    refused pod from being the first of its group elsewhere
    labels changed  of the refused pod: always; of another: as if the pod with the old labels went and the one with the new came
    node came       it has a topology key of the affinity terms; any node when there are none, or anti-affinity too
    node changed    it entered a domain of an affinity term, or left a domain of any kind

Unreadable terms mean another attempt. Where upstream passes over a change that would help, and lets the pod wait for the
periodic retry, we do not: ``docs/differences.md`` lists these.

Upstream: ``isSchedulableAfterPodChange``, ``isSchedulableAfterNodeChange``.
"""

from __future__ import annotations

from scheduler.apis.objects import Node, Pod
from scheduler.framework.events import QueueingHint
from scheduler.plugins.helper.hints import held_room
from scheduler.plugins.inter_pod_affinity.namespaces import Meaning, Namespaces, joint_meaning, meaning
from scheduler.plugins.inter_pod_affinity.terms import terms_of


def after_pod_event(namespaces: Namespaces, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
    """Whether another pod's coming, going or new labels are worth another attempt for ``pod``; its own labels are."""
    if old is not None and new is not None and new.metadata.uid == pod.metadata.uid:
        return QueueingHint.QUEUE
    if any(side is not None and not held_room(side) for side in (old, new)):
        return QueueingHint.SKIP
    terms = terms_of(pod)
    if terms.errors:
        return QueueingHint.QUEUE
    near = joint_meaning(terms.affinity, namespaces)
    if near is not None and _company_changed(near, pod, old, new):
        return QueueingHint.QUEUE
    if any(_left(meaning(term, namespaces), old, new) for term in terms.anti_affinity):
        return QueueingHint.QUEUE
    gone = old if new is None else None
    return QueueingHint.QUEUE if gone is not None and _avoided(namespaces, pod, gone) else QueueingHint.SKIP


def after_node_change(pod: Pod, old: Node | None, new: Node) -> QueueingHint:
    """Whether a node that appeared, or has other labels, is worth another attempt."""
    terms = terms_of(pod)
    keys = {term.topology_key for term in terms.affinity}
    labels = new.metadata.labels
    if terms.errors:
        helps = True
    elif old is None:
        helps = not keys or not keys.isdisjoint(labels) or bool(terms.anti_affinity)
    else:
        before = old.metadata.labels
        entered = any(key in labels and before.get(key) != labels[key] for key in keys)
        helps = entered or any(labels.get(key) != value for key, value in before.items())
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _company_changed(near: Meaning, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """There is new company; or old company left, and the pod may be the first of its group now."""
    was = old is not None and near.includes(old)
    now = new is not None and near.includes(new)
    return not now and near.includes(pod) if was else now


def _left(meant: Meaning, old: Pod | None, new: Pod | None) -> bool:
    return old is not None and meant.includes(old) and not (new is not None and meant.includes(new))


def _avoided(namespaces: Namespaces, pod: Pod, gone: Pod) -> bool:
    """Whether the pod that went kept ``pod`` away; what cannot be read is taken to have done so."""
    terms = terms_of(gone)
    labels = namespaces.labels_of(pod.metadata.namespace)
    return bool(terms.errors) or any(term.means(pod, labels) for term in terms.anti_affinity)
