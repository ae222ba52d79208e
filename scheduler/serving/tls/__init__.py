"""TLS on the serving port: which certificate a client meets, what may be negotiated, and what the client shows of itself.

* ``generated``: the certificate that is made when none is given
* ``pairs``: where the flags say that certificates come from
* ``names``: which of several certificates a host name gets
* ``contexts``: the settings of a connection, built anew when a file changes
* ``sockets``: a connection

pyOpenSSL, not the standard library's ``ssl``: a server has to ask for a client certificate without refusing those that it cannot verify (they
are answered with 401, or not needed at all for open paths), it needs the chain that the client sent, and the list of key exchange groups.
``ssl`` has none of the three.
"""

from scheduler.serving.pem import CertificateError
from scheduler.serving.tls.contexts import ContextSource, Settings, TLSContexts
from scheduler.serving.tls.generated import PAIR_NAME
from scheduler.serving.tls.pairs import NamedFiles, ServingFiles, serving_tls
from scheduler.serving.tls.sockets import TLSSocket

__all__ = [
    "PAIR_NAME",
    "CertificateError",
    "ContextSource",
    "NamedFiles",
    "ServingFiles",
    "Settings",
    "TLSContexts",
    "TLSSocket",
    "serving_tls",
]
