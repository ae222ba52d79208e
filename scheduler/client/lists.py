"""Everything of one kind, read page by page: for whoever wants to know what the API server has now, and not what a watch has told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from scheduler.client.errors import MalformedAnswerError
from scheduler.client.resources import Resource
from scheduler.client.rest import Rest
from scheduler.client.wire import parse_page

PAGE_SIZE = 500
T = TypeVar("T")


def list_all(rest: Rest, resource: Resource, kind: type[T], *, field_selector: str = "") -> Iterator[T]:
    """The objects of all namespaces, each decoded as ``kind``, which may name a part of the fields.

    Raises:
        ClientError: the API server does not answer, refuses, or answers something else.
    """
    decoder = msgspec.json.Decoder(kind)
    query = {"limit": str(PAGE_SIZE)} | ({"fieldSelector": field_selector} if field_selector else {})
    while True:
        page = parse_page(rest.request("GET", resource.collection(), query=query).body)
        for raw in page.items:
            try:
                yield decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise MalformedAnswerError(f"an object of the list does not parse: {error}") from None
        if not page.continue_:
            return
        query["continue"] = page.continue_
