"""Bind: the pod is looked at once more in the newest state, counted on its node at once, and bound through the API server.

::

                ┌ another uid, being deleted, on another node, the node unknown,
                │ or the profile's filters reject the node by now ──────────────────────> refused, nobody is asked
    lock: look ─┤
                └ all is well: assumed ──> POST binding ──┬─ bound, or found bound ─────> stays assumed until the watch confirms it
                                                          └─ failed ────────────────────> forgotten, and told

So two pods that are bound at the same time by way of this webhook never take the same room, and a filter that comes before the watch
has told of the binding counts it already. A pod that is not known here, for its watch is behind, is left to the API server, which
knows it by its uid.
"""

from __future__ import annotations

from collections.abc import Callable

from extender import handlers
from extender.schemas import Binding
from scheduler.apis.objects import Pod
from scheduler.framework.pods import PodInfo
from scheduler.framework.port import Binder
from scheduler.framework.runtime import Framework
from scheduler.scheduling.world import State, World

FindPod = Callable[[str, str], Pod | None]
"""(namespace, name) -> the pod as it is now, None when it is not known."""


class BindingRefusedError(Exception):
    """The pod is not bound; the text says why."""


def no_pod(namespace: str, name: str) -> None:
    """Where nobody knows of pods."""


class Bindings:
    """Binds pods.

    Args:
        binder: asks the API server; a lost answer is made good there, by reading the pod.
        find_pod: the pods that are there.
    """

    def __init__(self, binder: Binder, find_pod: FindPod = no_pod) -> None:
        self._binder = binder
        self._find_pod = find_pod

    def pod(self, binding: Binding) -> PodInfo | None:
        """The pod to be bound, None when it is not known here.

        Raises:
            BindingRefusedError: the pod of that name is another one, or about to go.
        """
        pod = self._find_pod(binding.namespace, binding.name)
        if pod is None:
            return None
        if binding.uid and pod.metadata.uid != binding.uid:
            raise _refused(binding, f"the pod of that name has the uid {pod.metadata.uid!r} by now")
        if pod.metadata.deletion_timestamp:
            raise _refused(binding, "the pod is being deleted")
        return PodInfo(pod)

    def prepare(self, state: State, framework: Framework, binding: Binding, pod: PodInfo | None) -> bool:
        """Look at the pod and its node once more, and count the pod there; called under the lock.

        Returns:
            Whether the pod was counted. Pods of this process's own profiles are not: its scheduling loop keeps book of them.

        Raises:
            BindingRefusedError: it does not fit there, or is somewhere already.
            PluginError: a plugin failed.
        """
        if pod is None:
            return False
        placed = state.get_pod(pod.uid)
        where = pod.pod.spec.node_name or (placed.spec.node_name if placed else "")
        if where not in ("", binding.node):
            raise _refused(binding, f"the pod is on node {where!r} already")
        if where:
            return False
        examination = handlers.examine(state, framework, pod, [binding.node])
        verdict = handlers.verdict(examination, [binding.node])
        for reason in (verdict.failed | verdict.unresolvable).values():
            raise _refused(binding, reason)
        if pod.pod.spec.scheduler_name in state.frameworks:
            return False
        state.assume(pod, binding.node)
        return True

    def carry_out(self, world: World, binding: Binding, counted: PodInfo | None) -> None:
        """Ask the API server; no lock is held meanwhile.

        Args:
            counted: the pod, when it was counted.

        Raises:
            BindingRefusedError: it did not bind the pod.
        """
        try:
            self._binder.bind(binding.namespace, binding.name, binding.uid, binding.node)
        except Exception as error:  # any failure of the transport means: not bound
            if counted is not None:
                with world.current() as state:
                    state.forget(counted.uid)
            raise BindingRefusedError(str(error) or type(error).__name__) from error


def _refused(binding: Binding, why: str) -> BindingRefusedError:
    return BindingRefusedError(f"pod {binding.full_name} cannot be bound to node {binding.node}: {why}")
