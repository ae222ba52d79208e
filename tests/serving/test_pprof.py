"""Profiles of this process: they can be read back, and they name what was running."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from scheduler.serving.pprof import profiling
from scheduler.serving.pprof.profile import cpu_profile, message_class, thread_profile
from scheduler.serving.pprof.sampler import Line, Recording, Sample, record
from scheduler.serving.pprof.timeline import trace_events

OUTER = Line("serve", "app.py", 10, 12)
INNER = Line("decide", "cycle.py", 20, 29)
ELSEWHERE = Line("decide", "cycle.py", 20, 31)
MS = 1_000_000


@pytest.fixture
def client() -> FlaskClient:
    app = Flask(__name__)
    app.register_blueprint(profiling())
    return app.test_client()


@contextmanager
def busy_thread(name: str) -> Iterator[None]:
    """A thread that computes while the block runs."""
    done = threading.Event()

    def burn_cycles() -> None:
        while not done.is_set():
            sum(number * number for number in range(500))

    thread = threading.Thread(target=burn_cycles, name=name)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def read(body: bytes) -> Any:
    return message_class("Profile").FromString(gzip.decompress(body))


def functions(profile: Any) -> set[str]:
    return {profile.string_table[function.name] for function in profile.function}


def test_a_profile_names_what_was_running(client: FlaskClient) -> None:
    with busy_thread("burner"):
        answer = client.get("/debug/pprof/profile?seconds=0.3")
    assert (answer.status_code, answer.content_type) == (200, "application/octet-stream")
    profile = read(answer.data)
    assert any("burn_cycles" in name for name in functions(profile))
    labels = {profile.string_table[label.str] for sample in profile.sample for label in sample.label}
    assert "burner" in labels
    assert sum(sample.value[1] for sample in profile.sample) > 0


def test_threads_that_wait_cost_nothing() -> None:
    release = threading.Event()
    waiting = threading.Thread(target=release.wait, name="waiting")
    waiting.start()
    with busy_thread("burner"):
        recording = record(0.2)
    release.set()
    waiting.join()
    assert {sample.thread for sample in recording.samples} >= {"burner"}
    assert "waiting" not in {sample.thread for sample in recording.samples}


def test_a_recording_ends_when_the_process_does() -> None:
    stop = threading.Event()
    stop.set()
    assert record(600, stop).samples == []


def test_equal_stacks_are_added_up_and_every_text_is_kept_once() -> None:
    samples = [Sample(10 * MS, "t", (INNER, OUTER), 7 * MS), Sample(20 * MS, "t", (INNER, OUTER), 3 * MS)]
    profile = read(cpu_profile(Recording(1, 2, [*samples, Sample(30 * MS, "t", (ELSEWHERE, OUTER), MS)])))
    assert [list(sample.value) for sample in profile.sample] == [[2, 10 * MS], [1, MS]]
    assert [line.line for location in profile.location for line in location.line] == [29, 12, 31]
    assert len(profile.function) == 2
    assert profile.string_table[0] == ""
    assert len(set(profile.string_table)) == len(profile.string_table)
    assert (profile.time_nanos, profile.duration_nanos, profile.period) == (1, 2, 10 * MS)


def test_stacks_of_threads_are_counted() -> None:
    profile = read(thread_profile({(INNER,): 3}, now=5))
    assert [list(sample.value) for sample in profile.sample] == [[3]]
    assert [profile.string_table[kind.type] for kind in profile.sample_type] == ["goroutine"]


def test_a_trace_joins_calls_that_go_on() -> None:
    samples = [
        Sample(10 * MS, "t", (INNER, OUTER), MS),
        Sample(20 * MS, "t", (ELSEWHERE, OUTER), MS),
        Sample(30 * MS, "t", (OUTER,), MS),
        Sample(300 * MS, "t", (OUTER,), MS),
    ]
    events = json.loads(trace_events(Recording(0, 0, samples)))["traceEvents"]
    calls = [(event["name"], event["ts"], event["dur"]) for event in events if event["ph"] == "X"]
    assert calls == [("serve", 0, 30_000), ("decide", 0, 20_000), ("serve", 290_000, 10_000)]


def test_threads_can_be_read_as_text(client: FlaskClient) -> None:
    with busy_thread("burner"):
        answer = client.get("/debug/pprof/goroutine?debug=2")
    assert answer.text.startswith("goroutine profile: total ")
    assert "burn_cycles" in answer.text


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/debug/pprof", 302, ""),
        ("/debug/pprof/", 200, "Types of profiles available:"),
        ("/debug/pprof/symbol", 200, "num_symbols: 1\n"),
        ("/debug/pprof/heap", 404, "Unknown profile\n"),
        ("/debug/pprof/profile?seconds=601", 400, "at most 600 seconds can be profiled\n"),
    ],
)
def test_other_paths(client: FlaskClient, path: str, status: int, text: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert text in answer.text


def test_only_one_profile_is_taken_at_a_time(client: FlaskClient) -> None:
    stop = threading.Event()
    app = Flask(__name__)
    app.register_blueprint(profiling(stop))
    begun = threading.Event()

    @app.before_request
    def note() -> None:
        begun.set()

    first = threading.Thread(target=lambda: app.test_client().get("/debug/pprof/profile?seconds=60"))
    first.start()
    begun.wait(10)
    second = app.test_client()
    refused = next(
        answer
        for _ in range(1000)
        if (answer := second.get("/debug/pprof/trace?seconds=0.001")).status_code == 500
    )
    stop.set()
    first.join()
    assert "cpu profiling already in use" in refused.text
    assert refused.headers["X-Go-Pprof"] == "1"
