"""Options as kube-scheduler took the same command lines, and what it had no answer for."""

import difflib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scheduler.apis import config as configuration
from scheduler.app.flags.version import version_text
from scheduler.app.options import Options

DATA = Path(__file__).parent / "data"
ANSWERS: list[dict[str, Any]] = json.loads((DATA / "answers.json").read_text())
NEEDS_A_CLUSTER = ("invalid configuration: no configuration", "stat missing.kubeconfig", "open /nonexistent")
ORDER_OF_NAMES_IS_RANDOM = "--feature-gates=AllAlpha=true"
DECIDED = [answer for answer in ANSWERS if not str(answer.get("error") or "").startswith(NEEDS_A_CLUSTER)]


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory in which the command lines were recorded."""
    shutil.copy(DATA / "le.yaml", tmp_path)
    (tmp_path / "dummy").write_text("apiVersion: v1\nkind: Config\n")
    monkeypatch.chdir(tmp_path)


def options(*arguments: str) -> Options:
    found, errors = Options.parse(arguments)
    assert errors == ()
    return found


def outcome(arguments: list[str]) -> tuple[tuple[str, ...], Options, Any]:
    """Errors in the order in which kube-scheduler would stop, the options, and the configuration."""
    found, errors = Options.parse(arguments, program="kube-scheduler")
    if errors or found.request.help or found.request.version in ("true", "raw"):
        return errors, found, None
    errors = found.validate()
    if errors:
        return errors, found, None
    loaded = found.configuration()
    return loaded.errors, found, loaded.config


@pytest.mark.parametrize("answer", DECIDED, ids=lambda answer: " ".join(answer["args"][2:]) or "none")
def test_answers_are_kube_schedulers(answer: dict[str, Any]) -> None:
    errors, found, config = outcome(answer["args"])
    assert bool(errors) == bool(answer["exit"])
    if answer.get("error"):
        text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        assert text == answer["error"].removeprefix("Error: ")
    if "changes" in answer:
        assert changes(config) == sorted(answer["changes"])
    if not errors and ORDER_OF_NAMES_IS_RANDOM not in answer["args"]:
        assert {*map(sorted_names, answer.get("warnings", []))} <= {*map(sorted_names, found.warnings())}


def changes(config: Any) -> list[str]:
    """The lines in which a written configuration differs from the default one."""
    base = configuration.dump(configuration.default(options().features)).splitlines()
    lines = difflib.ndiff(base, configuration.dump(config).splitlines())
    return sorted(line[0] + line[2:] for line in lines if line[0] in "+-")


def sorted_names(warning: str) -> str:
    """A warning with its list of features in order: kube-scheduler's is random."""
    text, bracket, names = warning.partition("features=[")
    return text + bracket + " ".join(sorted(names.rstrip("]").split()))


def test_version_prints_kubernetes_line_first() -> None:
    recorded = next(answer for answer in ANSWERS if answer["args"][0] == "--version")
    assert version_text("true").splitlines()[0] == recorded["stdout"]
    assert version_text("true").splitlines()[1].startswith("Wharfinger ")


@pytest.mark.parametrize(
    ("arguments", "errors"),
    [
        (["--secure-port=70000"], ["--secure-port 70000 must be between 0 and 65535"]),
        (["--tls-private-key-file=x"], ["missing filename for serving cert"]),
        (["--tls-cipher-suites=NULL,X"], ["Cipher suite NULL not", "Cipher suite X not"]),
        (["--tls-curve-preferences=0"], ["curve preference 0 is out of range (must be 1-65535)"]),
        (["--tls-curve-preferences=29,23,29"], ["duplicate curve preference 29"]),
        (["--tls-curve-preferences=7,29"], ["curve preference 7 is not supported"]),
        (["--requestheader-allowed-names= "], ['empty value in "requestheader-allowed-names"']),
        (["--requestheader-uid-headers=x-uid"], ["--requestheader-uid-headers is set without specifying"]),
        (
            ["--requestheader-uid-headers=x-remote-uid", "--feature-gates=RemoteRequestHeaderUID=false"],
            ['--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature'],
        ),
        (
            ["--show-hidden-metrics-for-version=1.30"],
            ['metrics.showHiddenMetricsForVersion: Invalid value: "1.30": must be omitted or have the value'],
        ),
        (["--extender-max-body-bytes=0"], ["--extender-max-body-bytes 0 must be at least 1"]),
        (["--serving-threads=-1"], ["--serving-threads -1 must be at least 1"]),
        (["--plugin=nothing"], ['--plugin "nothing" must have the form MODULE:CLASS']),
        (
            ["--secure-port=-1", "--logging-format=xml", "--feature-gates=X"],
            ["missing bool value for X", "format: Invalid value", "--secure-port -1 must be"],
        ),
    ],
    ids=lambda value: " ".join(value) if value and value[0].startswith("--") else "",
)
def test_everything_wrong_is_told_at_once(arguments: list[str], errors: list[str]) -> None:
    found = options(*arguments).validate()
    assert len(found) == len(errors)
    assert [error for error, start in zip(found, errors, strict=True) if not error.startswith(start)] == []


@pytest.mark.parametrize("flag", ["--tls-min-version=old", "--client-ca-file=missing"])
def test_nothing_about_serving_matters_when_nothing_is_served(flag: str) -> None:
    assert options(flag, "--secure-port=0").validate() == ()
    assert options(flag).validate() != ()


@pytest.mark.parametrize(
    ("flag", "warning"),
    [
        ("--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA", "Use of insecure cipher 'TLS_RSA_WITH"),
        ("--requestheader-group-headers=x-group", "--requestheader-group-headers is set without specifying"),
        ("--extender-anonymous", "--extender-anonymous: whoever reaches the serving port may call"),
    ],
)
def test_what_works_and_is_not_wise_is_told(flag: str, warning: str) -> None:
    assert [each for each in options(flag).warnings() if each.startswith(warning)]


def test_in_a_pod_the_service_account_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [each for each in options().warnings() if "kubeconfig provided" in each]
    for part in ("HOST", "PORT"):
        monkeypatch.setenv(f"KUBERNETES_SERVICE_{part}", "1")
    assert [each for each in options().warnings() if "kubeconfig provided" in each] == []


def test_plugins_can_be_given_several_times() -> None:
    assert options("--plugin=a.b:C", "--plugin=d:E").wharfinger.plugin == ("a.b:C", "d:E")


def test_applying_leaves_the_given_configuration_alone() -> None:
    config = configuration.default(options().features)
    changed = options("--leader-elect=false", "--kube-api-qps=7").apply_to(config)
    assert (changed.leader_election.leader_elect, changed.client_connection.qps) == (False, 7)
    assert (config.leader_election.leader_elect, config.client_connection.qps) == (True, 50)


def test_a_file_that_is_missing_is_named() -> None:
    assert options("--config=no.yaml").configuration().errors == ("open no.yaml: no such file or directory",)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    errors = options("--config=binary.yaml").configuration().errors
    assert len(errors) == 1
    assert errors[0].startswith("binary.yaml: ")


def test_leader_election_flags_over_a_file_are_validated() -> None:
    found = options("--config=le.yaml", "--leader-elect-lease-duration=1s").configuration()
    assert any("leaderElection" in error for error in found.errors)


def test_flags_over_the_defaults_are_validated_unless_they_are_only_written() -> None:
    short = "--leader-elect-lease-duration=5s"
    assert options(short).configuration().errors != ()
    assert options(short, "--write-config-to=out").configuration().errors == ()
