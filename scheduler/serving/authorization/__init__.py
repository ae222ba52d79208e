"""Who may, decided as kube-scheduler does (apiserver's ``DelegatingAuthorizationOptions``): the first that has an opinion wins.

::

    group system:masters ─► open paths ─► SubjectAccessReview by the API server ─► nobody has an opinion: no
      (``groups``)            (``paths``)     (``reviews``)

* ``chain``: opinions, and the order above
"""

from scheduler.serving.authorization.chain import Authorizer, Decision, union
from scheduler.serving.authorization.groups import privileged_groups
from scheduler.serving.authorization.paths import OpenPaths, PathError
from scheduler.serving.authorization.reviews import AccessReviews

__all__ = [
    "AccessReviews",
    "Authorizer",
    "Decision",
    "OpenPaths",
    "PathError",
    "privileged_groups",
    "union",
]
