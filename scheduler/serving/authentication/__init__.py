"""Who asks, found out as kube-scheduler does (apiserver's ``DelegatingAuthenticationOptions``): in this order, the first that knows wins.

::

    request headers behind a front proxy's certificate ─► client certificate ─► bearer token, reviewed by the API server ─► anonymous
      (``headers``)                                         (``certificates``)     (``tokens``)

Who shows something that is no good, and nothing else that is, is not anonymous but refused: 401. Anonymous is who shows nothing.

* ``user``: what is known of somebody; ``chain``: the order above
* ``authorities``: CA bundles, followed when they change; ``verification``: certificates against them
* ``cluster``: the ConfigMap in which an API server publishes its own bundles and headers
"""

from scheduler.serving.authentication.chain import Authenticator, Fault, anonymous, delegated
from scheduler.serving.authentication.user import ANONYMOUS, User

__all__ = ["ANONYMOUS", "Authenticator", "Fault", "User", "anonymous", "delegated"]
