"""What the cluster's API server tells about its own clients: ConfigMap ``kube-system/extension-apiserver-authentication``.

It holds the authorities of client certificates and of front proxies, and the headers that the latter use. It is looked up once at the start, so
that somebody can be told that this is not allowed, and followed from then on. Contents that are no good leave the last good ones in force.

::

    start ── look_up ──► one GET: not there yet is fine, anything else is an error
      └───── informer ─► every change ──► bundles and header names
"""

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from scheduler.apis.objects import decode
from scheduler.apis.objects.meta import Base, ObjectMeta
from scheduler.client.errors import MalformedAnswerError, NotFoundError
from scheduler.client.informers import Informer
from scheduler.client.resources import CONFIG_MAPS
from scheduler.client.rest import Rest
from scheduler.serving.authentication.authorities import Authorities, parse_bundle
from scheduler.serving.authentication.headers import HeaderNames
from scheduler.serving.pem import CertificateError

logger = logging.getLogger(__name__)

NAMESPACE = "kube-system"
NAME = "extension-apiserver-authentication"
_CLIENT_CA = "client-ca-file"
_PROXY_CA = "requestheader-client-ca-file"
_HEADERS = {
    "users": "requestheader-username-headers",
    "uids": "requestheader-uid-headers",
    "groups": "requestheader-group-headers",
    "extra_prefixes": "requestheader-extra-headers-prefix",
    "allowed": "requestheader-allowed-names",
}
_SECONDS = 10.0


class ConfigMap(Base, frozen=True):
    """The part that is read."""

    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = {}


@dataclass(slots=True)
class ClusterAuthentication:
    """The ConfigMap's contents as of now. Each field is replaced as a whole, so any thread may read it."""

    clients: Authorities | None = None
    proxies: Authorities | None = None
    headers: HeaderNames = field(default_factory=HeaderNames)

    def informer(self, rest: Rest) -> Informer[ConfigMap]:
        """An informer that keeps this up to date once it is started."""
        informer: Informer[ConfigMap] = Informer(
            rest,
            CONFIG_MAPS,
            partial(decode, ConfigMap),
            field_selector=f"metadata.name={NAME}",
            namespace=NAMESPACE,
        )
        informer.add_handler(self)
        return informer

    def look_up(self, rest: Rest) -> None:
        """Read it once. Raises ClientError when that fails; one that does not exist is no failure."""
        path = CONFIG_MAPS.object(NAMESPACE, NAME)
        try:
            self._take(decode(ConfigMap, rest.request("GET", path, timeout=_SECONDS).body))
        except NotFoundError:
            return
        except ValueError as error:
            raise MalformedAnswerError(f"configmap {NAMESPACE}/{NAME} does not decode: {error}") from error

    # What the informer tells

    def on_add(self, obj: ConfigMap, initial: bool) -> None:  # noqa: ARG002  # a Handler
        """It is there."""
        self._take(obj)

    def on_update(self, old: ConfigMap, new: ConfigMap) -> None:  # noqa: ARG002  # a Handler
        """It has changed."""
        self._take(new)

    def on_delete(self, obj: ConfigMap) -> None:  # noqa: ARG002  # a Handler
        """It is gone: what it said stays in force, as in kube-scheduler."""
        logger.warning("configmap %s/%s is gone; what it said stays in force", NAMESPACE, NAME)

    def _take(self, config_map: ConfigMap) -> None:
        self.clients = _bundle(config_map.data, _CLIENT_CA) or self.clients
        self.proxies = _bundle(config_map.data, _PROXY_CA) or self.proxies
        try:
            self.headers = HeaderNames(
                **{field: _words(config_map.data, key) for field, key in _HEADERS.items()}
            )
        except ValueError as error:
            logger.warning("configmap %s/%s: the last good headers stay in use: %s", NAMESPACE, NAME, error)


def _bundle(data: dict[str, str], key: str) -> Authorities | None:
    text = data.get(key, "")
    if not text:
        return None
    try:
        return parse_bundle(text.encode(), f"configmap {NAMESPACE}/{NAME} {key}")
    except CertificateError as error:
        logger.warning("the last good bundle stays in use: %s", error)
        return None


def _words(data: dict[str, str], key: str) -> tuple[str, ...]:
    """A list of words in JSON; none when the key is not there. Raises ValueError."""
    text: Any = data.get(key, "")
    try:
        return msgspec.json.decode(text, type=tuple[str, ...]) if text else ()
    except msgspec.DecodeError as error:
        raise ValueError(f"{key}: {error}") from None
