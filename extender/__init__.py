"""The scheduler-extender webhook: the same plugins and the same cluster state, asked by other kube-schedulers.

* ``app``: the Flask blueprint: routes, limits, deadlines, what a caller gets for a bad request
* ``webhook``: one method per verb, from body to answer; holds the cluster's lock no longer than the judging takes
* ``handlers``: filter and prioritize, ``preemption``, ``binding``: plain functions over a ``State`` and the ``scene`` made from it
* ``bodies``: bytes within limits; ``schemas``: request envelopes, checked; ``answers``: the answers' shapes
* ``requests``: a request under way and its deadline; ``metrics``: what is counted; ``openapi``: all of it for programs
* ``standalone``: an application over given nodes and pods, without a cluster
* ``quantities``: where in an object an amount cannot be read
"""

from extender.app import DEFAULT_MAX_BODY_BYTES, DEFAULT_TIMEOUT, Settings, body_limits, create_blueprint
from extender.metrics import WebhookMetrics
from extender.standalone import GivenError, GivenWorld, create_app

__all__ = [
    "DEFAULT_MAX_BODY_BYTES",
    "DEFAULT_TIMEOUT",
    "GivenError",
    "GivenWorld",
    "Settings",
    "WebhookMetrics",
    "body_limits",
    "create_app",
    "create_blueprint",
]
