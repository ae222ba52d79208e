"""Live: what a thread that waits may ask of the world as it is now, outside of any attempt.

A binding that waits for others (a provisioner, say) lasts longer than the attempt that began it: its pod may be deleted, its node may
change, the scheduler may be told to stop. Every method is safe in every thread and takes no lock::

    while not done():
        if live.pod(namespace, name) is None or live.called_back(uid) or not live.pause(1.0):
            give up
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from scheduler.apis.objects import Node, Pod

LookUpPod = Callable[[str, str], Pod | None]
LookUpNode = Callable[[str], Node | None]


class Live:
    """Pods and nodes as the watches have them, and time.

    Args:
        pod: (namespace, name) -> the pod as last seen, None when it is gone.
        node: name -> the node as last seen, None when it is gone.
        now: monotonic seconds.
        wait: sleeps for so many seconds and says whether the scheduler has retired; the default sleeps until ``retire`` at most.

    Attributes:
        called_back: uid -> why a pod that is being bound is to give its node up (it is preempted), empty when it is not.
    """

    def __init__(
        self,
        pod: LookUpPod = lambda namespace, name: None,  # noqa: ARG005
        node: LookUpNode = lambda name: None,  # noqa: ARG005
        *,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._retired = threading.Event()
        self._wait = wait or self._retired.wait
        self.pod = pod
        self.node = node
        self.now = now
        self.called_back: Callable[[str], str] = lambda uid: ""  # noqa: ARG005

    def pause(self, seconds: float) -> bool:
        """Wait; False as soon as the scheduler retires: then nobody is left to carry on for."""
        return not self._wait(seconds) and not self._retired.is_set()

    def retire(self) -> None:
        """Have everybody who waits give up."""
        self._retired.set()
