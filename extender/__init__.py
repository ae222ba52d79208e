"""The scheduler-extender webhook: the same plugins and the same cluster state, asked by other kube-schedulers.

* ``app``: the Flask blueprint: routes, body limits, what a caller gets for a bad request
* ``webhook``: one method per verb, from body to answer; holds the cluster's lock no longer than the judging takes
* ``handlers``: the judging: plain functions over a ``State``
* ``bodies``: bytes within limits; ``schemas``: request envelopes, checked; ``answers``: the answers' shapes
* ``quantities``: where in an object an amount cannot be read
"""

from extender.app import DEFAULT_MAX_BODY_BYTES, body_limits, create_blueprint

__all__ = ["DEFAULT_MAX_BODY_BYTES", "body_limits", "create_blueprint"]
