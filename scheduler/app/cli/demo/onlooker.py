"""The onlooker: watches the pods get their nodes, tells the outcome, and stays until the user has had enough."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Console

from scheduler.apis.objects import Pod, decode
from scheduler.app.cli.demo import decisions, live, paste, summary, verdict
from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.ledger import Ledger
from scheduler.app.cli.demo.settings import Settings
from scheduler.app.cli.demo.stage import Stage
from scheduler.client.access import Access, load_access, user_agent
from scheduler.client.errors import ClientError
from scheduler.client.informers import Informer
from scheduler.client.resources import PODS
from scheduler.client.rest import Rest

_POLL_SECONDS = 0.1
_WIDTH = 150
"""Columns where there is no terminal to ask."""


class Onlooker:
    """One demo.

    Args:
        stop: set when the user has had enough.
        now: seconds since the start of this process.
        terminal: whether somebody sees the output while it comes.
    """

    def __init__(
        self,
        chosen: Settings,
        stage: Stage,
        stop: threading.Event,
        now: Callable[[], float],
        *,
        terminal: bool,
    ) -> None:
        self._settings = chosen
        self._stage = stage
        self._stop = stop
        self._now = now
        self._console = Console(highlight=False, width=None if terminal else _WIDTH)
        self._ledger = Ledger(now)

    def run(self) -> int:
        """All of it; the exit code. Raises DemoError."""
        access = self._access()
        self._stage.wait_for_sandbox(self._stop, self._now)
        rest = Rest(access, user_agent=user_agent("demo", "demo"))
        informer = Informer(rest, PODS, partial(decode, Pod))
        informer.add_handler(self._ledger)
        informer.start()
        try:
            self._follow(informer)
            if self._stop.is_set():
                return self._stopped_early()
            self._tell(rest)
            if self._settings.once:
                return self._judge()
            self._keep_serving()
            return 0
        finally:
            informer.stop()

    def _access(self) -> Access:
        try:
            return load_access(str(self._settings.kubeconfig))
        except ClientError as error:
            raise DemoError(str(error)) from None

    def _follow(self, informer: Informer[Pod]) -> None:
        """Show progress until every pod is judged. Raises DemoError when that takes too long."""
        with live.view(self._console, self._ledger, self._now) as view:
            while not self._stop.is_set():
                self._stage.check()
                pods = self._ledger.pods()
                if informer.has_synced and verdict.settled(pods):
                    return
                if self._now() > self._settings.timeout:
                    raise DemoError(self._too_late(pods))
                view.look()
                self._ledger.wait(_POLL_SECONDS)

    def _too_late(self, pods: Sequence[Pod]) -> str:
        waiting = verdict.unjudged(pods)
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        first = waiting[0] if waiting else "the sandbox did not list its pods"
        log = self._settings.log("scheduler")
        return f"not finished after {self._settings.timeout:.0f} s: {first}{more} (log: {log})"

    def _tell(self, rest: Rest) -> None:
        """The summary, and what to try next."""
        made = decisions.fetch(self._stage.port, self._settings.certificate)
        self._ledger.claim(pod for pod, each in made.items() if each.result == "scheduled")
        summary.show(self._console, self._ledger.pods(), self._ledger.placements(), made)
        paste.write_body(rest, self._settings.body)
        if not self._settings.once:
            self._console.print("\nIt keeps running. In another terminal, in this directory:\n", markup=False)
            for line in paste.lines(self._settings, self._stage.port):
                self._console.out(line)
            self._console.print("\nNew placements follow. Ctrl-C ends it.", markup=False)

    def _judge(self) -> int:
        surprises = verdict.surprises(self._ledger.pods())
        if surprises:
            raise DemoError("; ".join(surprises))
        self._console.print("all that can be placed is placed", markup=False)
        return 0

    def _keep_serving(self) -> None:
        """Until the user has had enough, tell each new placement."""
        told = len(self._ledger.placements())
        while not self._stop.is_set():
            self._stage.check()
            for each in self._ledger.placements(told):
                told += 1
                self._console.print(f"{each.pod} -> {each.node}", markup=False)
            self._ledger.wait(_POLL_SECONDS)

    def _stopped_early(self) -> int:
        if self._settings.once:
            raise DemoError("stopped before every pod was judged")
        return 0
