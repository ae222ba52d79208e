"""Log lines, and which of them are written."""

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from scheduler.app import logs
from scheduler.app.flags import parse
from scheduler.app.flags.sections import Logs
from scheduler.features import Features
from scheduler.verbosity import V2

TEXT_LINE = re.compile(r"([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\] (.*)\n")
log = logging.getLogger(__name__)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The root logger as it was."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    logging.captureWarnings(capture=False)


def flags(*arguments: str) -> Logs:
    values = parse(arguments).values
    return Logs(**{flag.field: values[flag.name] for flag in Logs.flags()})


def written(*arguments: str) -> io.StringIO:
    stream = io.StringIO()
    logs.setup(flags(*arguments), errors=stream)
    return stream


@pytest.mark.parametrize(
    ("level", "letter"),
    [(logging.INFO, "I"), (logging.WARNING, "W"), (logging.ERROR, "E"), (logging.CRITICAL, "F")],
)
def test_text_lines_have_klogs_header(level: int, letter: str) -> None:
    stream = written()
    log.log(level, "pod %s is bound", "default/a")
    match = TEXT_LINE.fullmatch(stream.getvalue())
    assert match is not None
    assert match.groups() == (letter, "pod default/a is bound")


def test_json_lines_are_objects() -> None:
    stream = written("--logging-format=json")
    log.info('said "hi"\nthere')
    entry = json.loads(stream.getvalue())
    assert (entry["msg"], entry["v"]) == ('said "hi"\nthere', 0)
    assert re.fullmatch(r"app/test_logs\.py:\d+", entry["caller"])
    assert stream.getvalue().count("\n") == 1


@pytest.mark.parametrize("form", logs.FORMATS)
def test_errors_carry_their_traceback(form: str) -> None:
    stream = written(f"--logging-format={form}")
    try:
        {"found": 1}["lost"]
    except KeyError:
        log.exception("cannot go on")
    assert "cannot go on" in stream.getvalue()
    assert "KeyError: 'lost'" in stream.getvalue()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], False),
        (["-v=3"], False),
        (["-v=4"], True),
        (["--vmodule=test_l*=5"], True),
        (["--vmodule=other=5"], False),
        (["-v=4", "--vmodule=test_logs=0"], False),
    ],
    ids=str,
)
def test_debug_lines_depend_on_the_level_of_their_file(arguments: list[str], shown: bool) -> None:
    stream = written(*arguments)
    log.debug("details")
    assert ("details" in stream.getvalue()) == shown


@pytest.mark.parametrize(
    ("arguments", "shown"), [([], False), (["-v=1"], False), (["-v=2"], True), (["-v=4"], True)], ids=str
)
def test_lines_about_every_pod_are_written_from_2_on(arguments: list[str], shown: bool) -> None:
    stream = written(*arguments)
    log.log(V2, "bound")
    assert ("bound" in stream.getvalue()) == shown


def test_the_level_can_change_while_running() -> None:
    stream = io.StringIO()
    verbosity = logs.setup(flags(), errors=stream)
    verbosity.set(4)
    log.debug("now")
    verbosity.set(0)
    log.debug("not any more")
    assert "now" in stream.getvalue()
    assert "not any more" not in stream.getvalue()


def test_libraries_stay_quiet() -> None:
    stream = written("-v=10")
    logging.getLogger("urllib3.connectionpool").debug("Authorization: secret")
    assert stream.getvalue() == ""


def test_split_streams_keep_errors_apart() -> None:
    errors, info = io.StringIO(), io.StringIO()
    logs.setup(flags("--log-text-split-stream"), errors=errors, info=info)
    log.info("fine")
    log.error("broken")
    assert ("fine" in info.getvalue(), "fine" in errors.getvalue()) == (True, False)
    assert ("broken" in info.getvalue(), "broken" in errors.getvalue()) == (False, True)


def test_setting_up_again_replaces_handlers() -> None:
    first = written()
    second = written()
    log.info("once")
    assert first.getvalue() == ""
    assert second.getvalue().count("once") == 1


@pytest.mark.parametrize(
    ("arguments", "errors"),
    [
        ([], []),
        (["--logging-format=xml"], ['format: Invalid value: "xml": Unsupported log format']),
        (
            ["--log-flush-frequency=-1s"],
            ['flushFrequency: Invalid value: "-1s": Must be greater than zero'],
        ),
        (
            ["--vmodule=a=1", "--logging-format=json"],
            ["vmodule: Forbidden: Only supported for text log format"],
        ),
        (["-v=2147483648"], ["verbosity: Invalid value: 2147483648: Must be <= 2147483647"]),
        (
            ["--log-json-split-stream", "--log-text-info-buffer-size=1Ki"],
            [
                "options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled",
                "options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled",
            ],
        ),
    ],
    ids=lambda value: " ".join(value) if value and value[0].startswith("-") else "",
)
def test_wrong_flags_are_named(arguments: list[str], errors: list[str]) -> None:
    assert [str(error) for error in logs.validate(flags(*arguments), Features.default())] == errors


def test_alpha_options_need_their_gate() -> None:
    features = Features.default().with_gates(LoggingAlphaOptions=True)
    assert logs.validate(flags("--log-json-split-stream"), features) == []
