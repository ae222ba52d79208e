"""Flags that change while the process runs."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from scheduler.serving.debug_flags import debug_flags


@pytest.fixture
def given() -> list[str]:
    return []


@pytest.fixture
def client(given: list[str]) -> FlaskClient:
    def set_level(text: str) -> str:
        if not text.isdecimal():
            raise ValueError(f"not a level: {text}")
        given.append(text)
        return f"set to {text}"

    app = Flask(__name__)
    app.register_blueprint(debug_flags({"v": set_level}))
    return app.test_client()


def test_put_sets_the_flag(client: FlaskClient, given: list[str]) -> None:
    answer = client.put("/debug/flags/v", data="4")
    assert (answer.status_code, answer.text, answer.content_type) == (200, "set to 4\n", "text/plain")
    assert given == ["4"]


def test_what_is_no_value_is_told_and_not_set(client: FlaskClient, given: list[str]) -> None:
    answer = client.put("/debug/flags/v", data=b"\xff")
    assert (answer.status_code, answer.text) == (400, "not a level: \ufffd\n")
    assert given == []


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_no_other_method_is_answered(client: FlaskClient, given: list[str], method: str) -> None:
    answer = client.open("/debug/flags/v", method=method, data="4")
    assert (answer.status_code, answer.text) == (406, "unsupported http method\n")
    assert given == []


@pytest.mark.parametrize("path", ["/debug/flags", "/debug/flags/", "/debug/flags/unknown"])
def test_everything_else_is_the_index(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert "<tr>v<br>" in answer.text
