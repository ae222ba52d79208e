"""Lists: which entries at which version, in pages.

`resourceVersion` and `resourceVersionMatch` follow the API's table: none or `0` is the newest state (this server has one copy, so "any" is the
newest too), `NotOlderThan` waits for nothing and answers 504 for the future, `Exact` and continue tokens are answered from the snapshot of
that version or with 410 when the history no longer has it.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import msgspec

from scheduler.apis.fielderror import FieldError, forbidden, invalid, not_supported
from scheduler.sandbox import errors
from scheduler.sandbox.reads.fields import Wanted
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.store import Entry, ExpiredError, Store

_MATCH = "resourceVersionMatch"
_MATCHES = ("Exact", "NotOlderThan")
_TOO_OLD = "The resourceVersion for the provided list is too old."
_CONTINUE_TOO_OLD = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter."


class _Token(msgspec.Struct, frozen=True):
    """A continue token: the snapshot's version and the last key that was sent."""

    rv: int
    after: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """One page: entries, the version that it shows, the token of the next page and how many entries that and later pages hold."""

    entries: list[Entry]
    version: int
    token: str
    remaining: int | None

    @property
    def meta(self) -> dict[str, object]:
        """The ListMeta."""
        meta: dict[str, object] = {"resourceVersion": str(self.version)}
        if self.token:
            meta["continue"] = self.token
        if self.remaining is not None:
            meta["remainingItemCount"] = self.remaining
        return meta


def version_number(text: str) -> int:
    """A resourceVersion as a number, 0 for none. Raises 400."""
    if text and (not text.isascii() or not text.isdigit() or len(text) > 18):
        fault = invalid("resourceVersion", text, f'strconv.ParseUint: parsing "{text}": invalid syntax')
        raise errors.bad_request(f"invalid resource version: {fault}")
    return int(text or "0")


def list_page(store: Store, resource: Resource, wanted: Wanted, query: dict[str, str]) -> Page:
    """The page that the query asks for. Raises `StatusError` (400, 410, 504)."""
    limit = _limit(query.get("limit", ""))
    token = query.get("continue", "")
    if token:
        return _continue(store, resource, wanted, limit, token, query)
    version = version_number(query.get("resourceVersion", ""))
    match = _match(query, version)
    if version > store.version:
        raise errors.future_version(version, store.version)
    shown = version if match == "Exact" else store.version
    try:
        entries = store.snapshot(resource.key, shown)
    except ExpiredError:
        raise errors.expired(_TOO_OLD) from None
    return _page(
        [entry for entry in entries if wanted.everything or wanted.matches(entry)], shown, limit, wanted
    )


def _match(query: dict[str, str], version: int) -> str:
    match = query.get("resourceVersionMatch", "")
    fault: FieldError | None = None
    if match not in ("", *_MATCHES):
        fault = not_supported(_MATCH, match, (*_MATCHES, ""))
    elif match and not query.get("resourceVersion"):
        fault = forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided")
    elif match == "Exact" and version == 0:
        fault = forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if fault is not None:
        raise errors.invalid("ListOptions", "meta.k8s.io", "", [fault])
    return match


def _limit(text: str) -> int:
    if text and not (text.isascii() and text.lstrip("-").isdigit() and len(text) < 18):
        raise errors.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return max(int(text or "0"), 0)


def _continue(
    store: Store, resource: Resource, wanted: Wanted, limit: int, token: str, query: dict[str, str]
) -> Page:
    if query.get("resourceVersion") not in (None, "", "0"):
        raise errors.bad_request("specifying resource version is not allowed when using continue")
    try:
        found = msgspec.json.decode(base64.urlsafe_b64decode(token), type=_Token)
        entries = store.snapshot(resource.key, found.rv)
    except (binascii.Error, msgspec.DecodeError, ValueError):
        raise errors.bad_request(f"continue key is not valid: {token[:80]}") from None
    except ExpiredError:
        raise errors.expired(_CONTINUE_TOO_OLD) from None
    rest = [
        entry for entry in entries if entry.key > found.after and (wanted.everything or wanted.matches(entry))
    ]
    return _page(rest, found.rv, limit, wanted)


def _page(entries: list[Entry], version: int, limit: int, wanted: Wanted) -> Page:
    if not limit or len(entries) <= limit:
        return Page(entries, version, "", None)
    page = entries[:limit]
    token = base64.urlsafe_b64encode(msgspec.json.encode(_Token(version, page[-1].key))).decode()
    selective = wanted.labels is not None or bool(wanted.fields)
    return Page(page, version, token, None if selective else len(entries) - limit)
