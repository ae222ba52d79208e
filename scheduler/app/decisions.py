"""``GET /decisions``: the last attempt of every pod: its node with the score per plugin, or why it has none.

``?namespace=`` and ``?name=`` narrow it down.
"""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, request

from scheduler.scheduling.decisions import Decisions


def decisions_blueprint(decisions: Decisions) -> Blueprint:
    """The route."""
    blueprint = Blueprint("decisions", __name__)

    @blueprint.get("/decisions")
    def show() -> Response:
        wanted = {name: request.args[name] for name in ("namespace", "name") if name in request.args}
        items = [
            record.as_json()
            for record in decisions.all()
            if all(getattr(record, name) == value for name, value in wanted.items())
        ]
        return Response(msgspec.json.encode({"items": items}), content_type="application/json")

    return blueprint
