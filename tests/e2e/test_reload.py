"""The process reloads its configuration while pods are being scheduled: on SIGHUP, and when the file becomes another."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scheduler.client.resources import STORAGE_CLASSES
from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import (
    DEADLINE,
    SchedulerProcess,
    decode,
    eventually,
    eventually_bound,
    node,
    node_of,
    pod,
    run,
    scheduler,
)
from tests.scheduling.extenders.servers import ExtenderServer, answer

Document = dict[str, Any]


def configuration(*profiles: Document, **fields: Any) -> str:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps(
        {**head, "leaderElection": {"leaderElect": False}, "profiles": list(profiles), **fields}
    )


def only_on(kind: str, name: str = "default-scheduler") -> Document:
    """A profile whose pods run on nodes of one kind."""
    term = {"matchExpressions": [{"key": "kind", "operator": "In", "values": [kind]}]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {
        "schedulerName": name,
        "pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": affinity}}],
    }


class Reloading:
    """A scheduler whose configuration the test rewrites."""

    def __init__(self, process: SchedulerProcess, sandbox: Sandbox, file: Path) -> None:
        self.process = process
        self.sandbox = sandbox
        self.file = file

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def hang_up(self) -> None:
        self.process.process.send_signal(signal.SIGHUP)

    def reloads(self, result: str) -> int:
        """How many ended so, by the metric."""
        text = self.process.get("/metrics")[1]
        found = re.search(
            rf'^wharfinger_config_reloads_total\{{result="{result}"\}} (\d+)', text, re.MULTILINE
        )
        return int(found[1]) if found else 0

    def reload(self, text: str) -> None:
        """Write, send SIGHUP, and wait until it is in force."""
        before = self.reloads("success")
        self.write(text)
        self.hang_up()
        eventually(lambda: self.reloads("success") > before, "a reload")

    def log(self) -> str:
        return self.process.log.read_text()


@contextmanager
def reloading(tmp_path: Path, text: str, *flags: str, file: Path | None = None) -> Iterator[Reloading]:
    file = file or tmp_path / "config.yaml"
    file.write_text(text)
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, f"--config={file}", *flags) as process:
        sandbox.load([node("a", kind="a"), node("b", kind="b")])
        process.wait_until_ready()
        yield Reloading(process, sandbox, file)
        assert process.terminate() == 0
        assert "Traceback" not in process.log.read_text()


def test_sighup_changes_profiles_while_pods_arrive_and_loses_none(tmp_path: Path) -> None:
    with reloading(tmp_path, configuration(only_on("a"))) as made:
        names = [f"p{number}" for number in range(60)]
        for position, name in enumerate(names):
            made.sandbox.create(pod(name))
            if position == 10:
                eventually_bound(made.sandbox, "p0")
            if position % 20 == 10:
                made.reload(configuration(only_on("b" if position // 20 % 2 == 0 else "a")))
        places = {name: eventually_bound(made.sandbox, name) for name in names}
        assert set(places.values()) == {"a", "b"}
        assert made.process.process.poll() is None
        assert made.reloads("success") == 3


def test_a_bad_configuration_leaves_the_old_one_in_force_and_tells_every_fault(tmp_path: Path) -> None:
    with reloading(tmp_path, configuration(only_on("a"))) as made:
        bad = configuration({"schedulerName": "x", "plugns": {}}, parallelism="many")
        made.write(bad)
        made.hang_up()
        eventually(lambda: made.reloads("error") == 1, "the reload to fail")
        faults = [line.split("] ", 1)[1] for line in made.log().splitlines() if line.startswith("E")]
        (tmp_path / "bad.yaml").write_text(bad)
        printed = run("--config=bad.yaml", "--secure-port=0", cwd=tmp_path).stderr.splitlines()
        at_start = [line for line in printed if line.startswith("bad.yaml")]
        told = [line.replace(str(made.file), "bad.yaml") for line in faults[:-1]]
        assert told == at_start
        assert len(told) > 1
        assert faults[-1] == "The configuration was not reloaded: the one before stays in force"
        made.sandbox.create(pod("one"))
        assert eventually_bound(made.sandbox, "one") == "a"


def test_profiles_come_and_go_with_their_pods(tmp_path: Path) -> None:
    with reloading(tmp_path, configuration(only_on("a"))) as made:
        made.sandbox.create(pod("early", schedulerName="second"))
        made.reload(configuration(only_on("a"), only_on("b", "second")))
        assert eventually_bound(made.sandbox, "early") == "b"
        made.reload(configuration(only_on("b")))
        made.sandbox.load([pod("left", schedulerName="second"), pod("ours")])
        assert eventually_bound(made.sandbox, "ours") == "b"
        assert node_of(made.sandbox, "left") == ""


def test_what_cannot_change_is_named_and_stays(tmp_path: Path) -> None:
    with reloading(tmp_path, configuration(only_on("a"))) as made:
        made.reload(configuration(only_on("b"), clientConnection={"qps": 7}, enableContentionProfiling=False))
        shown = decode(made.process.get("/configz")[1])
        component = next(iter(shown.values()))
        assert component["clientConnection"]["qps"] == 50
        assert component["enableContentionProfiling"] is True
        told = re.findall(r"\] (\S+) cannot change while the process runs", made.log())
        assert told == ["clientConnection.qps", "enableContentionProfiling"]
        made.sandbox.create(pod("one"))
        assert eventually_bound(made.sandbox, "one") == "b"


def test_a_newly_enabled_plugin_has_what_it_reads_before_it_decides(tmp_path: Path) -> None:
    """Without volume plugins no storage class is watched; with them a claim is judged by its class."""
    volumes = ["VolumeBinding", "VolumeRestrictions", "VolumeZone", "NodeVolumeLimits"]
    without = {"plugins": {"multiPoint": {"disabled": [{"name": name} for name in volumes]}}}
    with reloading(tmp_path, configuration({"schedulerName": "default-scheduler", **without})) as made:
        refused = made.sandbox.faults.add(path=f"^{STORAGE_CLASSES.collection()}", status=403)
        made.write(configuration(only_on("a")))
        made.hang_up()
        eventually(lambda: refused.hits, "classes to be asked for")
        made.sandbox.create(pod("meanwhile"))
        eventually_bound(made.sandbox, "meanwhile")
        assert made.reloads("success") == 0
        made.sandbox.faults.remove(refused)
        eventually(lambda: made.reloads("success") == 1, "the reload")
        claim = {"name": "v", "persistentVolumeClaim": {"claimName": "none"}}
        made.sandbox.create(pod("claims", volumes=[claim]))
        eventually(
            lambda: 'persistentvolumeclaim "none" not found' in str(events(made.sandbox)), "the refusal"
        )


def events(sandbox: Sandbox) -> list[str]:
    return [each.get("note", each.get("message", "")) for each in sandbox.store.objects("events")]


def test_extenders_come_and_go(tmp_path: Path) -> None:
    with reloading(tmp_path, configuration({"schedulerName": "default-scheduler"}), "--reload") as made:
        extender = ExtenderServer()
        extender.answers["/filter"] = lambda asked: answer({"NodeNames": ["b"]})
        entry = {"urlPrefix": extender.url, "filterVerb": "filter", "nodeCacheCapable": True}
        made.reload(configuration({"schedulerName": "default-scheduler"}, extenders=[entry]))
        made.sandbox.create(pod("with"))
        assert eventually_bound(made.sandbox, "with") == "b"
        (asked,) = extender.asked
        assert asked.document["Pod"]["spec"]["containers"][0]["image"] == "busybox"
        made.reload(configuration(only_on("a")))
        assert extender.ended.acquire(timeout=DEADLINE)
        made.sandbox.create(pod("without"))
        assert eventually_bound(made.sandbox, "without") == "a"
        assert extender.paths() == ["/filter"]
        extender.close()


def test_an_extender_that_needs_more_of_nodes_than_is_kept_is_refused(tmp_path: Path) -> None:
    with reloading(tmp_path, configuration(only_on("a"))) as made:
        entry = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "nodeCacheCapable": False}
        made.write(configuration(only_on("b"), extenders=[entry]))
        made.hang_up()
        eventually(lambda: made.reloads("error") == 1, "the reload to fail")
        assert "which are kept only from a start on: restart" in made.log()
        made.sandbox.create(pod("one"))
        assert eventually_bound(made.sandbox, "one") == "a"


def test_a_config_map_that_is_exchanged_is_reloaded(tmp_path: Path) -> None:
    mount = tmp_path / "mount"
    (mount / "..one").mkdir(parents=True)
    (mount / "..data").symlink_to("..one")
    (mount / "config.yaml").symlink_to("..data/config.yaml")
    with reloading(tmp_path, configuration(only_on("a")), "--reload", file=mount / "config.yaml") as made:
        made.sandbox.create(pod("before"))
        assert eventually_bound(made.sandbox, "before") == "a"
        (mount / "..two").mkdir()
        (mount / "..two" / "config.yaml").write_text(configuration(only_on("b")))
        (mount / "..new").symlink_to("..two")
        os.replace(mount / "..new", mount / "..data")  # noqa: PTH105  # what the kubelet calls
        eventually(lambda: made.reloads("success") == 1, "the reload")
        made.sandbox.create(pod("after"))
        assert eventually_bound(made.sandbox, "after") == "b"
        assert "nothing in it is new" not in made.log()


def test_looking_at_no_file_is_refused(tmp_path: Path) -> None:
    done = run("--reload", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "--reload needs --config: there is no file to look at\n")
