"""The command line's grammar, and that every flag of kube-scheduler is there."""

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler.app.flags import SECTIONS, Flag, Parsed, help_text, parse, usage_line

DATA = Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "help.json").read_text())
FLAGS = {flag.name: flag for section in SECTIONS for flag in section.flags()}


def value(*arguments: str, flag: str) -> Any:
    parsed = parse(arguments)
    assert parsed.errors == ()
    return parsed.values[flag]


@pytest.mark.parametrize("recorded", RECORDED["flags"], ids=lambda recorded: recorded["flag"])
def test_flag_is_kube_schedulers(recorded: dict[str, Any]) -> None:
    flag = FLAGS[recorded["flag"]]
    assert (flag.section, flag.short) == (recorded["section"], recorded.get("short", ""))
    assert flag.deprecated == recorded.get("deprecated", False)
    assert flag.kind.name == recorded["type"].split(" (")[0]
    assert flag.shown_default.strip('"') == (recorded["default"] or "")


def test_wharfinger_adds_only_its_own_section() -> None:
    added = FLAGS.keys() - {recorded["flag"] for recorded in RECORDED["flags"]}
    assert {FLAGS[name].section for name in added} == {"Wharfinger"}


@pytest.mark.parametrize(
    ("arguments", "flag", "expected"),
    [
        (["--secure-port=1"], "secure-port", 1),
        (["--secure-port", "1"], "secure-port", 1),
        (["--secure_port=1"], "secure-port", 1),
        (["--secure-port=0x10"], "secure-port", 16),
        (["--secure-port=010"], "secure-port", 8),
        (["--secure-port=1_000"], "secure-port", None),
        (["--secure-port=0x1_0"], "secure-port", 16),
        (["--secure-port=-1"], "secure-port", -1),
        (["--secure-port", "-1"], "secure-port", -1),
        (["--secure-port=1", "--secure-port=2"], "secure-port", 2),
        (["-v=4"], "v", 4),
        (["-v", "4"], "v", 4),
        (["-v4"], "v", 4),
        (["--v=4"], "v", 4),
        (["-v=-1"], "v", None),
        (["-v=4294967296"], "v", None),
        (["--leader-elect"], "leader-elect", True),
        (["--leader-elect=F"], "leader-elect", False),
        (["--leader-elect=0"], "leader-elect", False),
        (["--leader-elect=yes"], "leader-elect", None),
        (["--leader-elect="], "leader-elect", None),
        (["--leader-elect-retry-period=1m30s"], "leader-elect-retry-period", 90_000_000_000),
        (["--leader-elect-retry-period=5"], "leader-elect-retry-period", None),
        (["--kube-api-qps=1.5"], "kube-api-qps", 1.5),
        (["--kube-api-qps=1e39"], "kube-api-qps", None),
        (["--kube-api-qps=1_0"], "kube-api-qps", None),
        (["--kube-api-burst=2147483647"], "kube-api-burst", 2147483647),
        (["--kube-api-burst=2147483648"], "kube-api-burst", None),
        (["--bind-address=::1"], "bind-address", "::1"),
        (["--bind-address= 10.0.0.1 "], "bind-address", "10.0.0.1"),
        (["--bind-address=localhost"], "bind-address", None),
        (["--bind-address=fe80::1%eth0"], "bind-address", None),
        (["--config="], "config", ""),
        (["--config", "--secure-port=0"], "config", "--secure-port=0"),
        (["--vmodule=queue=4,c*=2"], "vmodule", (("queue", 4), ("c*", 2))),
        (["--vmodule=x"], "vmodule", None),
        (["--log-json-info-buffer-size=1Ki"], "log-json-info-buffer-size", "1Ki"),
        (["--log-json-info-buffer-size=lots"], "log-json-info-buffer-size", None),
        (["--allow-metric-labels=m,l=v1,v2"], "allow-metric-labels", (("m,l", "v1,v2"),)),
        (['--allow-metric-labels="a=1",b=2'], "allow-metric-labels", (("a", "1"), ("b", "2"))),
        (["--allow-metric-labels=x"], "allow-metric-labels", None),
        (["--tls-sni-cert-key=a.crt,a.key:*.x,y"], "tls-sni-cert-key", (("a.crt", "a.key", ("*.x", "y")),)),
        (["--tls-sni-cert-key=a.crt"], "tls-sni-cert-key", None),
        (["--tls-curve-preferences=23,24"], "tls-curve-preferences", (23, 24)),
        (["--version"], "version", "true"),
        (["--version=raw"], "version", "raw"),
        (["--version=v1.36.2-beta.1"], "version", "v1.36.2-beta.1"),
        (["--version=v1.35.0"], "version", None),
        (["--version=v1"], "version", None),
        (["-h"], "help", True),
        (["-hv4"], "v", 4),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_values_have_gos_grammar(arguments: list[str], flag: str, expected: Any) -> None:
    parsed = parse(arguments)
    if expected is None:
        assert [error.split(" for ")[0] for error in parsed.errors] == [
            f'invalid argument "{arguments[-1].split("=", 1)[1]}"'
        ]
    else:
        assert parsed.errors == ()
        assert parsed.values[flag] == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ("x-remote-user",)),
        (["a"], ("a",)),
        (["a,b", "c"], ("a", "b", "c")),
        (['"a,b",c'], ("a,b", "c")),
        ([""], ()),
    ],
    ids=str,
)
def test_a_list_replaces_its_default_and_grows(arguments: list[str], expected: tuple[str, ...]) -> None:
    given = [f"--requestheader-username-headers={argument}" for argument in arguments]
    assert value(*given, flag="requestheader-username-headers") == expected


def test_a_bare_boolean_never_takes_the_next_word() -> None:
    parsed = parse(["--leader-elect", "false"])
    assert parsed.values["leader-elect"] is True
    assert parsed.positional == ("false",)


def test_two_dashes_end_the_flags() -> None:
    assert parse(["--", "--config", "-v"]).positional == ("--config", "-v")


def test_only_flags_that_were_given_count_as_changed() -> None:
    assert parse(["--leader-elect", "-v=0"]).changed == {"leader-elect", "v"}


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        ("--unknown", "unknown flag: --unknown"),
        ("--unknown=1", "unknown flag: --unknown"),
        ("--conf=x", "unknown flag: --conf"),
        ("--CONFIG=x", "unknown flag: --CONFIG"),
        ("-secure-port=1", "unknown shorthand flag: 's' in -secure-port=1"),
        ("--config", "flag needs an argument: --config"),
        ("-v", "flag needs an argument: 'v' in -v"),
        ("--=x", "bad flag syntax: --=x"),
        ("---v", "bad flag syntax: ---v"),
        (
            "--leader-elect=maybe",
            'invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            "-v=abc",
            'invalid argument "abc" for "-v, --v" flag: strconv.ParseUint: parsing "abc": invalid syntax',
        ),
    ],
)
def test_errors_are_one_clear_line(argument: str, error: str) -> None:
    assert parse([argument]).errors == (error,)


def test_all_errors_are_told_at_once() -> None:
    assert len(parse(["--nope", "--secure-port=x", "-v=y", "--leader-elect=z"]).errors) == 4


def test_no_arguments_give_the_defaults() -> None:
    assert parse([]) == Parsed({flag.name: flag.default for flag in FLAGS.values()})


@pytest.mark.parametrize("flag", FLAGS.values(), ids=lambda flag: flag.name)
def test_shown_values_can_be_read_back(flag: Flag) -> None:
    shown = flag.kind.show(flag.default).strip("[]")
    if shown or flag.kind.name == "string":
        assert flag.kind.parse(shown) == flag.default


def test_help_has_every_section_flag_default_and_gate() -> None:
    printed = help_text("wharfinger", ["kube:SomeGate=true|false (BETA - default=true)"])
    assert all(f"\n{section.title} flags:\n" in printed for section in SECTIONS)
    assert all(f"--{name}" in printed for name in FLAGS)
    assert "(default 10259)" in printed
    assert "kube:SomeGate=true|false" in printed
    assert max(map(len, printed.splitlines())) <= 120


def test_usage_names_the_program() -> None:
    assert usage_line("wharfinger").startswith("Usage:\n  wharfinger [flags]")
