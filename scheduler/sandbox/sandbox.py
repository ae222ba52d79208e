"""The sandbox: an API server in a thread, with everything a test or a demonstration wants to do to it.

with Sandbox() as sandbox:
    sandbox.load(manifest.obj for manifest in manifests.read([path]))
    client = connect(sandbox.url)
    sandbox.faults.add(method="POST", path="/binding$", status=500, times=1)
"""

from __future__ import annotations

import asyncio
import random
import re
import ssl
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scheduler.sandbox import errors
from scheduler.sandbox.api import Api
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.faults import Faults
from scheduler.sandbox.kubeconfig import kubeconfig
from scheduler.sandbox.reads.watching import Watches
from scheduler.sandbox.resources import BY_KIND
from scheduler.sandbox.store import Store
from scheduler.sandbox.wire.bodies import as_kind, clean
from scheduler.sandbox.wire.http import Connection
from scheduler.sandbox.writes.pipeline import create
from scheduler.sandbox.writes.verbs import stored_form

Object = dict[str, Any]
_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_PRIORITIES = (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000))
_START_TIMEOUT = 30.0
_STOP_TIMEOUT = 10.0
_BACKLOG = 1024


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Sandbox:
    """An in-memory Kubernetes API server.

    `host` and `port` (0: any free one) say where it listens, `token` makes it demand a bearer token, `tls` serves HTTPS with that context
    (`ca` is the PEM text that clients need to trust it). `now` and `rng` make it repeatable. `history` is how many events each resource
    remembers. In seconds: `bookmark_interval`, how often watches get a bookmark; `termination_delay`, how long a bound pod takes to end (see
    `writes.deleting`); `start_delay`, how long until it is reported running, None for never (see `kubelet`).

    Use it as a context manager, or call `start` and `stop`. Raises `OSError` when it cannot listen.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        token: str = "",
        tls: ssl.SSLContext | None = None,
        ca: str = "",
        now: Callable[[], datetime] = _utc_now,
        rng: random.Random | None = None,
        history: int = 20_000,
        bookmark_interval: float = 60.0,
        termination_delay: float = 0.0,
        start_delay: float | None = None,
    ) -> None:
        self.store = Store(history)
        self.faults = Faults()
        self._address = (host, port)
        self._token, self._tls, self._ca = token, tls, ca
        self._bookmark_interval = bookmark_interval
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: set[Connection] = set()
        self._started = threading.Event()
        self._failure: OSError | None = None
        self._port = port
        rng = rng or random.Random()
        self._cluster = Cluster(self.store, now, rng, self._later, termination_delay, start_delay)
        self.access = self._cluster.access
        self._watches = Watches(self._cluster, self._wake)
        self.faults.on_watches = lambda path, action: self._call(lambda: self._watches.act(path, action))
        self._api = Api(self._cluster, self._watches, self.faults, token)
        self._furnish()

    @property
    def url(self) -> str:
        """Where it serves, e.g. `http://127.0.0.1:40123`."""
        host = f"[{self._address[0]}]" if ":" in self._address[0] else self._address[0]
        return f"{'https' if self._tls else 'http'}://{host}:{self._port}"

    def start(self) -> Sandbox:
        """Listen and serve in a thread; returns when connections are accepted. Raises `OSError`."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(self._loop,), name="sandbox", daemon=True)
        self._thread.start()
        self._started.wait(_START_TIMEOUT)
        if self._failure is not None:
            raise self._failure
        return self

    def stop(self) -> None:
        """Close every connection and end the thread. Stopping twice is no error."""
        if self._loop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_STOP_TIMEOUT)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def kubeconfig(self) -> str:
        """A kubeconfig for this server, YAML text."""
        return kubeconfig(self.url, self._token, self._ca)

    def write_kubeconfig(self, path: str | Path) -> None:
        """Write the kubeconfig, readable by its owner only."""
        target = Path(path)
        target.touch(mode=0o600)
        if target.is_file():
            target.chmod(0o600)  # one that was there before may be open to others
        target.write_text(self.kubeconfig(), encoding="utf-8")

    def load(self, objects: Iterable[Object]) -> None:
        """Create objects as clients would, in order, but with the status they carry (there are no controllers to give them one).

        Raises `StatusError` at the first that is refused.
        """
        for obj in objects:
            self.create(obj)

    def create(self, obj: Object) -> Object:
        """Create one object through the same defaulting, admission and validation as HTTP, keeping its status. Raises `StatusError`."""
        resource = BY_KIND.get((obj.get("apiVersion", ""), obj.get("kind", "")))
        if resource is None or resource.verbs == ("create",):
            message = f'no matches for kind "{obj.get("kind", "")}" in version "{obj.get("apiVersion", "")}"'
            raise errors.bad_request(message)
        cleaned, _ = clean(as_kind(obj, resource), resource, "Strict")
        namespace = (
            ((cleaned.get("metadata") or {}).get("namespace") or "default") if resource.namespaced else ""
        )
        with self.store.lock:
            form = stored_form(resource, cleaned)
            return create(self._cluster, resource, namespace, form, keep_status=True).obj

    def compact(self) -> int:
        """Forget all history: older resourceVersions answer 410 Gone from now on. Returns the version."""
        return self.store.compact()

    def drop_connections(self) -> None:
        """Close every open connection at once, as a server that goes away does; new ones are accepted."""
        self._call(self._abort_connections)

    def _furnish(self) -> None:
        for name in _NAMESPACES:
            self.create({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}})
        for name, value in _PRIORITIES:
            self.create(
                {
                    "kind": "PriorityClass",
                    "apiVersion": "scheduling.k8s.io/v1",
                    "metadata": {"name": name},
                    "value": value,
                }
            )

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            server = loop.run_until_complete(
                loop.create_server(self._connection, *self._address, ssl=self._tls, backlog=_BACKLOG)
            )
        except OSError as error:
            self._failure = error
            self._started.set()
            loop.close()
            return
        self._port = server.sockets[0].getsockname()[1]
        loop.call_later(self._bookmark_interval, self._bookmarks, loop)
        self._started.set()
        loop.run_forever()
        server.close()
        self._abort_connections()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    def _connection(self) -> Connection:
        return Connection(self._api.handle, self._connections)

    def _abort_connections(self) -> None:
        for connection in tuple(self._connections):
            connection.transport.abort()

    def _bookmarks(self, loop: asyncio.AbstractEventLoop) -> None:
        self._watches.act(re.compile(""), "bookmark")
        loop.call_later(self._bookmark_interval, self._bookmarks, loop)

    def _wake(self, call: Callable[[], None]) -> None:
        """Run a call soon in the server's thread; at once when no server runs."""
        loop = self._loop
        if loop is None or loop.is_closed():
            call()
        elif threading.current_thread() is self._thread:
            loop.call_soon(call)
        else:
            loop.call_soon_threadsafe(call)

    def _later(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        loop = self._loop
        if loop is None or loop.is_closed():
            call()
            return lambda: None
        timer: list[asyncio.TimerHandle] = []

        def cancel() -> None:
            for handle in timer:
                handle.cancel()

        if threading.current_thread() is self._thread:
            timer.append(loop.call_later(seconds, call))
        else:
            loop.call_soon_threadsafe(lambda: timer.append(loop.call_later(seconds, call)))
        return cancel

    def _call(self, call: Callable[[], object]) -> None:
        """Run a call in the server's thread and wait for it."""
        loop = self._loop
        if loop is None or loop.is_closed() or threading.current_thread() is self._thread:
            call()
            return
        done = threading.Event()

        def run() -> None:
            try:
                call()
            finally:
                done.set()

        loop.call_soon_threadsafe(run)
        done.wait(_STOP_TIMEOUT)
