"""``wharfinger serve`` as a process: what it prints, what it answers, how it is told to read again, what it refuses."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scheduler.app.cli.serve.address import Address, AddressError, parse
from tests.app.serve.processes import Served, command, environment, served
from tests.builders import make_node, make_pod

POD = make_pod("p").req(cpu="2").doc()
PLUGIN = """
from scheduler.framework.status import Status

class Quiet:
    name = "Quiet"

    def filter_node(self, cycle, node):
        if "quiet" in node.labels:
            return Status.unschedulable("node(s) wanted to be left alone")
"""
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "quiet",
            "plugins": {
                "multiPoint": {
                    "disabled": [{"name": "*"}],
                    "enabled": [{"name": "PrioritySort"}, {"name": "DefaultBinder"}, {"name": "Quiet"}],
                }
            },
        }
    ],
}


def fitting(running: Served, *names: str) -> list[str]:
    found: list[str] = running.ask("/filter", {"Pod": POD, "NodeNames": list(names)})[1]["NodeNames"]
    return found


def write(path: Path, *objects: Any) -> Path:
    path.write_text("\n---\n".join(map(json.dumps, objects)))
    return path


def test_verbs_over_manifests_and_again_after_a_hangup(tmp_path: Path) -> None:
    small, large = (make_node(name).capacity(cpu=cpu).doc() for name, cpu in (("small", "1"), ("large", "4")))
    file = write(tmp_path / "nodes.yaml", small, large)
    with served("-f", file) as running:
        assert fitting(running, "small", "large") == ["large"]
        running.told("2 nodes")
        write(file, make_node("small").capacity(cpu="8").doc())
        running.process.send_signal(signal.SIGHUP)
        running.told("1 node, ")
        assert fitting(running, "small", "large") == ["small"]
        file.write_text("kind: [")
        running.process.send_signal(signal.SIGHUP)
        assert "nodes.yaml" in running.told("error: ")
        running.told("what was read before stays")
        assert fitting(running, "small", "large") == ["small"]
        assert running.close() == 0


def test_everything_else_that_a_test_needs(tmp_path: Path) -> None:
    file = write(tmp_path / "all.yaml", make_node("n").capacity(cpu="4").doc(), POD)
    with served("-f", file) as running:
        body = {"PodName": "p", "PodNamespace": "default", "PodUID": POD["metadata"]["uid"], "Node": "n"}
        assert "there is no cluster" in running.ask("/bind", body)[1]["Error"]
        assert running.ask("/openapi.json")[1]["openapi"] == "3.1.0"
        assert running.ask("/prioritize", {"Pod": POD, "NodeNames": ["n"]})[1][0]["Host"] == "n"
        assert running.close() == 0


def test_an_extender_only_profile(tmp_path: Path) -> None:
    (tmp_path / "quiet_plugin.py").write_text(PLUGIN)
    config = write(tmp_path / "config.json", CONFIG)
    nodes = write(tmp_path / "n.json", make_node("tiny").doc(), make_node("still").label("quiet", "").doc())
    words = ("-f", nodes, "--config", config, "--plugin", "quiet_plugin:Quiet")
    with served(*words, path=tmp_path) as running:
        # Only the plugin judges: that the pod is too large for the node is the caller's business.
        answer = running.ask("/profiles/quiet/filter", {"Pod": POD, "NodeNames": ["tiny", "still"]})[1]
        assert answer["NodeNames"] == ["tiny"]
        assert answer["FailedNodes"] == {"still": "node(s) wanted to be left alone"}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        pytest.param([], 2, "there is nothing to serve over: give -f FILE", id="no files"),
        pytest.param(["-f", "nowhere.yaml"], 1, "error: nowhere.yaml: ", id="no such file"),
        pytest.param(
            ["-f", "ok.yaml", "--listen", "0.0.0.0:0"], 1, "for this machine only", id="not loopback"
        ),
        pytest.param(["-f", "ok.yaml", "--plugin", "no_such:Thing"], 1, "no_such", id="no such plugin"),
        pytest.param(["-f", "bad.yaml"], 1, "bad.yaml: document 1 (line 1): status.", id="unreadable"),
    ],
)
def test_what_is_refused(tmp_path: Path, words: list[str], code: int, told: str) -> None:
    write(tmp_path / "ok.yaml", make_node("n").doc())
    write(tmp_path / "bad.yaml", make_node("n").capacity(cpu="four").doc())
    done = subprocess.run(
        command(*words), cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8080", Address("127.0.0.1", 8080)),
        ("127.9.9.9:0", Address("127.9.9.9", 0)),
        ("localhost:1", Address("127.0.0.1", 1)),
        ("[::1]:0", Address("::1", 0)),
    ],
)
def test_addresses_of_this_machine(text: str, address: Address) -> None:
    assert parse(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8080",
        ":8080",
        "127.0.0.1",
        "127.0.0.1:x",
        "127.0.0.1:65536",
        "10.0.0.1:80",
        "example.org:80",
        "[::]:80",
    ],
)
def test_other_addresses(text: str) -> None:
    with pytest.raises(AddressError):
        parse(text)
