"""What the webhook counts: ``wharfinger_extender_*``, which kube-scheduler has nothing like.

The profile is the one that judged, empty for requests that came to none; so no client can make up labels. The plugin of a rejection is
empty when no plugin rejected the node: it is unknown here, say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector

from extender.requests import Request
from scheduler.metrics import families
from scheduler.metrics.families import Children, ConstrainedChildren, M
from scheduler.metrics.policy import OPEN, Policy
from scheduler.metrics.table import Family, exponential

_SECONDS: Final = exponential(0.0005, 2, 15)
_BYTES: Final = exponential(256, 4, 10)

REQUESTS: Final = Family(
    "wharfinger_extender_requests_total",
    "counter",
    "ALPHA",
    ("verb", "profile", "code", "result"),
    "Number of requests to the extender, by HTTP status and result. 'error' means that the verb failed, which a status of 200 does not exclude.",
)
DURATION: Final = Family(
    "wharfinger_extender_request_duration_seconds",
    "histogram",
    "ALPHA",
    ("verb", "profile"),
    "Duration of requests to the extender in seconds, reading the body included.",
    _SECONDS,
)
REQUEST_BYTES: Final = Family(
    "wharfinger_extender_request_size_bytes",
    "histogram",
    "ALPHA",
    ("verb", "profile"),
    "Size of request bodies in bytes, after inflating.",
    _BYTES,
)
RESPONSE_BYTES: Final = Family(
    "wharfinger_extender_response_size_bytes",
    "histogram",
    "ALPHA",
    ("verb", "profile"),
    "Size of response bodies in bytes.",
    _BYTES,
)
JUDGED: Final = Family(
    "wharfinger_extender_nodes_judged_total",
    "counter",
    "ALPHA",
    ("verb", "profile"),
    "Number of nodes that were judged.",
)
REJECTED: Final = Family(
    "wharfinger_extender_nodes_rejected_total",
    "counter",
    "ALPHA",
    ("verb", "profile", "plugin"),
    "Number of nodes that were rejected, by the plugin that did; no plugin: the node is not known, or cannot be read.",
)


class WebhookMetrics:
    """The webhook's metrics over an explicit registry. Every method may be called from any thread.

    Args:
        policy: what the operator says about metrics.
    """

    def __init__(self, registry: CollectorRegistry, policy: Policy = OPEN) -> None:
        self._registry = registry
        self._policy = policy
        self._build()

    def reset(self) -> None:
        """Start over with nothing, as ``DELETE /metrics`` does."""
        for family in self._registered:
            self._registry.unregister(family)
        self._build()

    def _build(self) -> None:
        self._registered: list[Collector] = []
        self._requests, self._judged, self._rejected = (
            self._children(one, families.counter) for one in (REQUESTS, JUDGED, REJECTED)
        )
        self._duration, self._received, self._sent = (
            self._children(one, families.histogram) for one in (DURATION, REQUEST_BYTES, RESPONSE_BYTES)
        )

    def _children(self, family: Family, make: Callable[[Family, CollectorRegistry | None], M]) -> Children[M]:
        policy = self._policy
        disabled = family.name in policy.disabled
        made = make(family, None if disabled else self._registry)
        if not disabled:
            self._registered.append(made)
        return ConstrainedChildren(
            made, lambda values: policy.constrained(family.name, family.labels, values)[0]
        )

    def answered(
        self, verb: str, request: Request, code: int, seconds: float, received: int, sent: int
    ) -> None:
        """A request was answered with an HTTP status; sizes in bytes."""
        labels = (verb, request.judged_by)
        failed = request.failed or code != 200
        self._requests[(*labels, str(code), "error" if failed else "ok")].inc()
        self._duration[labels].observe(seconds)
        self._received[labels].observe(received)
        self._sent[labels].observe(sent)
        if request.judged:
            self._judged[labels].inc(request.judged)
        for plugin, count in request.rejected.items():
            self._rejected[(*labels, plugin)].inc(count)
