"""Log lines, and which of them are written."""

import io
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator

import pytest

from scheduler.app import logs
from scheduler.app.flags import parse
from scheduler.app.flags.sections import Logs
from scheduler.features import Features
from scheduler.logkeys import about, keys, ref
from scheduler.verbosity import V2, level_of

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


class Noted(io.StringIO):
    """A stream that tells when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.noted = threading.Event()

    def write(self, text: str) -> int:
        count = super().write(text)
        self.noted.set()
        return count


Split = Callable[..., tuple[Noted, threading.Event]]


@pytest.fixture
def split() -> Iterator[Split]:
    """Log to a split info stream; handlers are closed at the end."""

    def start(*arguments: str, form: str = "text") -> tuple[Noted, threading.Event]:
        info = Noted()
        split_stream = (f"--logging-format={form}", f"--log-{form}-split-stream")
        logs.setup(flags(*split_stream, *arguments), errors=io.StringIO(), info=info)
        return info, info.noted

    yield start
    for handler in logging.getLogger().handlers:
        handler.close()


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


def test_keys_follow_the_message() -> None:
    stream = written()
    log.info("Bound", extra=keys(pod=ref("shop/a"), node="n1", nodes=3, done=True, why='no "fit"'))
    assert stream.getvalue().endswith(
        '] "Bound" pod="shop/a" node="n1" nodes=3 done=true why="no \\"fit\\""\n'
    )


def test_keys_are_fields_of_the_object() -> None:
    stream = written("--logging-format=json")
    log.warning("Bound", extra=keys(pod=ref("shop/a"), node=ref("n1"), nodes=3, msg="not the message"))
    entry = json.loads(stream.getvalue())
    assert (entry["pod"], entry["node"], entry["nodes"]) == (
        {"name": "a", "namespace": "shop"},
        {"name": "n1"},
        3,
    )
    assert entry["msg"] == "Bound"
    assert "v" not in entry


def test_lines_tell_what_their_thread_is_about() -> None:
    stream = written()
    with about(pod=ref("shop/a")):
        with about(node="n1"):
            log.info("inside", extra=keys(pod="another"))
        log.info("between")
    log.info("outside")
    told = [line.partition("] ")[2] for line in stream.getvalue().splitlines()]
    assert told == ['"inside" pod="another" node="n1"', '"between" pod="shop/a"', "outside"]


FOREIGN = "a\nI1130 06:21:55.123456   12345 server.py:70] forged\r\x1b[31m\u2028\x00"


@pytest.mark.parametrize("form", logs.FORMATS)
def test_nobody_can_write_a_line_by_way_of_a_message(form: str) -> None:
    stream = written(f"--logging-format={form}")
    log.info("path %s", FOREIGN)
    log.info("path", extra=keys(path=FOREIGN))
    log.error("failed", exc_info=ValueError(FOREIGN))
    for line in stream.getvalue().splitlines():
        assert not line.startswith("I1130 06:21:55.123456")
        assert "\x1b" not in line
        assert "\r" not in line


def test_long_values_have_lines_of_their_own_behind_a_tab() -> None:
    stream = written()
    log.info("Dump", extra=keys(nodes="one\ntwo", count=2))
    assert stream.getvalue().endswith('] "Dump" nodes=<\n\tone\n\ttwo\n > count=2\n')


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
        (["--vmodule=tests/app/test_logs=4"], True),
        (["--vmodule=tests.*.test_logs=4"], True),
        (["--vmodule=tests/*=4"], False),
        (["--vmodule=*/test_logs=4"], False),
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


@pytest.mark.parametrize("verbosity", range(11))
def test_every_verbosity_has_a_level(verbosity: int) -> None:
    stream = written("--logging-format=json", f"-v={verbosity}")
    for each in range(11):
        log.log(level_of(each), "level %d", each)
    assert [json.loads(line)["v"] for line in stream.getvalue().splitlines()] == list(range(verbosity + 1))


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


@pytest.mark.parametrize(("form", "size"), [("text", 150), ("json", 200)])
def test_a_buffered_stream_is_written_when_it_is_full(split: Split, form: str, size: int) -> None:
    info, _ = split(f"--log-{form}-info-buffer-size={size}", "--log-flush-frequency=1h", form=form)
    log.info("first")
    assert info.getvalue() == ""
    log.info("second")
    log.info("third")
    assert re.findall("first|second|third", info.getvalue()) == ["first", "second", "third"]


def test_a_buffered_stream_is_written_when_its_time_has_come(split: Split) -> None:
    info, written = split("--log-text-info-buffer-size=1Mi", "--log-flush-frequency=1ms")
    log.info("only")
    assert written.wait(10)
    assert "only" in info.getvalue()


def test_a_buffered_stream_is_written_at_the_end(split: Split) -> None:
    info, _ = split("--log-text-info-buffer-size=1Mi", "--log-flush-frequency=1h")
    log.info("last")
    logging.shutdown()
    assert "last" in info.getvalue()


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
