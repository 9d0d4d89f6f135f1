import io
import logging
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.observe.logs import MAX_LINE, Lines, Style, setup
from proxy.observe.sampling import Sampler
from proxy.observe.tracing import CURRENT, Tracing
from proxy.tasks import Attempts
from tests.examples import examples

KEY = "sk-0123456789abcdef"
NAMED_AFTER_A_KEY: dict[str, Any] = {f"field {KEY}": 1}


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Where the logs go; the root logger is as before afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield io.StringIO()
    root.handlers[:] = handlers
    root.setLevel(level)


def record(message: object, *args: object, error: BaseException | None = None, **extra: object) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__) if error else None
    made = logging.LogRecord("proxy.test", logging.INFO, __file__, 1, message, args, exc_info)
    vars(made).update(extra)
    made.created = 1_700_000_000.5
    return made


def as_json(made: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.json.decode(Lines("json").format(made))
    return fields


def test_a_json_line_has_utc_time_level_logger_message_and_the_extra_fields() -> None:
    line = Lines("json").format(record("served %s", "x", request="r1", status=200, seconds={"plan": 0.25}, model=None))
    assert list(msgspec.json.decode(line).items()) == [
        ("time", "2023-11-14T22:13:20.500Z"),
        ("level", "info"),
        ("logger", "proxy.test"),
        ("message", "served x"),
        ("request", "r1"),
        ("status", 200),
        ("seconds", {"plan": 0.25}),
        ("model", None),
    ]


def test_a_text_line_says_the_same() -> None:
    line = Lines("text").format(record("served", request="r1", status=200))
    assert line == "2023-11-14T22:13:20.500Z info     proxy.test served request=r1 status=200"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("style", "out", "environ", "begins"),
    [
        ("auto", Screen, {}, "\x1b[2m20"),
        ("auto", Screen, {"NO_COLOR": "1"}, "20"),
        ("auto", Screen, {"NO_COLOR": ""}, "\x1b[2m20"),  # as its site says: an empty one is none
        ("auto", Screen, {"TERM": "dumb"}, "20"),
        ("auto", io.StringIO, {}, "{"),
        ("json", Screen, {}, "{"),
        ("text", io.StringIO, {}, "20"),
        ("text", Screen, {}, "\x1b[2m20"),
    ],
)
def test_a_terminal_gets_text_with_colours_and_all_else_json(
    style: Style, out: type[io.StringIO], environ: dict[str, str], begins: str, stream: io.StringIO
) -> None:
    screen = out()
    setup("info", style, screen, environ)
    logging.getLogger("proxy").warning("said", extra={"field": "x"})
    setup("info", "json", stream)
    assert screen.getvalue().startswith(begins)


def test_colours_change_nothing_of_what_a_line_says() -> None:
    made = record("served\x1b[31m", error=failure("the reason"), request="r1")
    coloured, plain = (Lines("text", coloured=each).format(made) for each in (True, False))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert coloured.count("\x1b") == 8


def test_a_message_cannot_pretend_to_be_another_line() -> None:
    newline: dict[str, Any] = {"na\nme": 1}
    assert "\n" not in Lines("text").format(record("one\ntwo\x1b[31m", field="a\nb", **newline))


def test_an_extra_field_does_not_replace_one_of_ours() -> None:
    fields = as_json(record("kept", level="fake", time="fake", logger="fake"))
    assert (fields["message"], fields["level"], fields["logger"]) == ("kept", "info", "proxy.test")


def failure(text: str) -> Exception:
    try:
        raise ValueError(text)  # noqa: TRY301 (only a raised exception has a traceback)
    except ValueError as error:
        return error


@pytest.mark.parametrize("formatter", [Lines("json"), Lines("text")])
def test_an_exception_is_told_with_its_traceback(formatter: logging.Formatter) -> None:
    line = formatter.format(record("failed", error=failure("the reason")))
    assert "Traceback" in line
    assert "ValueError: the reason" in line


@pytest.mark.note("1.3/5")
@pytest.mark.parametrize("formatter", [Lines("json"), Lines("text")])
@pytest.mark.parametrize(
    "made",
    [
        record(f"key {KEY}"),
        record("key %s", KEY),
        record("%s %s", "one", KEY.encode()),
        record("%(key)s", {"key": KEY}),
        record("%d", KEY),
        record(KEY + "%s"),
        record("x", field=KEY),
        record("x", headers={"Authorization": "0123456789abcdef"}),
        record("x", headers=[("authorization", f"Bearer {KEY}")]),
        record("x", nested={"a": {"b": KEY}}),
        record("x", api_key="0123456789abcdef", cookie="0123456789abcdef"),
        record("x", **NAMED_AFTER_A_KEY),
        record("failed", error=failure(f"refused {KEY}")),
        record(f"{KEY} " * 900 + "x" * 200 + KEY),
        record("failed", error=failure(KEY + "x" * 16_000)),
    ],
)
def test_no_key_leaves_in_messages_arguments_fields_or_tracebacks(formatter: logging.Formatter, made: Any) -> None:
    assert "0123456789abcdef" not in formatter.format(made)


class Mute:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [Mute(), [Mute()], 10**5_000, float("nan"), 2**70, "\ud800", b"\xff", {1: {2: 3}}, {Mute(): 1}],
    ids=["mute", "list", "huge", "nan", "big", "surrogate", "bytes", "nested", "mute key"],
)
def test_no_value_keeps_a_line_from_being_written(value: object) -> None:
    assert as_json(record("still here", field=value))["message"] == "still here"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just("\x00"),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=9), below, max_size=18),
    max_leaves=8,
)
NAMES = st.text(min_size=1, max_size=80).filter(lambda name: name not in vars(record("")))


@settings(max_examples=examples(40), deadline=None)
@given(st.text(), st.dictionaries(NAMES, VALUES, max_size=18), st.sampled_from([1, 1_000, 20_000]))
def test_every_record_is_one_bounded_line(message: str, extra: dict[str, Any], times: int) -> None:
    made = record(message * times)
    vars(made).update({name: value * times if isinstance(value, str) else value for name, value in extra.items()})
    line = Lines("json").format(made)
    assert len(line.encode()) <= MAX_LINE
    assert "\n" not in line
    assert msgspec.json.decode(line)["logger"] == "proxy.test"
    assert len(Lines("text").format(made).encode()) <= MAX_LINE
    assert len(Lines("text", coloured=True).format(made).encode()) <= MAX_LINE


def test_a_long_record_is_cut_but_its_end_is_told() -> None:
    made = record("x" * 100_000, error=failure("y" * 100_000 + " the end"))
    line = Lines("json").format(made)
    assert len(line) <= MAX_LINE
    assert msgspec.json.decode(line)["error"].endswith("the end")


@pytest.mark.note("4/2")
def test_every_logger_is_routed_through_one_handler(stream: io.StringIO) -> None:
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).addHandler(logging.StreamHandler(io.StringIO()))
    setup("info", "json", stream)
    for name in ("proxy.app", "uvicorn.error", "uvicorn.access", "somebody.else"):
        logging.getLogger(name).info("hello from %s", KEY)
    lines = [msgspec.json.decode(line) for line in stream.getvalue().splitlines()]
    assert [line["logger"] for line in lines] == ["proxy.app", "uvicorn.error", "uvicorn.access", "somebody.else"]
    assert {line["message"] for line in lines} == {"hello from sk-***"}


def test_setting_up_again_replaces_the_handler_and_leaves_others(stream: io.StringIO) -> None:
    other = logging.StreamHandler(io.StringIO())
    logging.getLogger().addHandler(other)
    setup("info", "json", io.StringIO())
    setup("warning", "text", stream)
    logging.getLogger("proxy").info("not told")
    logging.getLogger("proxy").warning("told")
    assert stream.getvalue().count("told") == 1
    assert other in logging.getLogger().handlers


def test_http_libraries_do_not_tell_every_request(stream: io.StringIO) -> None:
    setup("debug", "text", stream)
    logging.getLogger("httpx").info("HTTP Request: GET https://api.example/v1")
    assert stream.getvalue() == ""


def test_a_closed_stream_is_no_reason_to_fail(stream: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    setup("info", "json", stream)
    stream.close()
    logging.getLogger("proxy").info("into the void %s", KEY)
    assert capsys.readouterr().err == ""
    setup("info", "json", io.StringIO())


@pytest.mark.parametrize("ratio", [0.0, 1.0])
async def test_a_line_of_a_request_names_its_trace_whether_it_is_in_the_sample_or_not(ratio: float) -> None:
    trace = Tracing(Sampler(ratio, 60), lambda _: None).begin((), "req_1")
    written: list[logging.LogRecord] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(record)

    handler = Keeping()
    logging.getLogger("proxy.tasks").addHandler(handler)

    async def failing() -> None:
        raise ValueError

    def lines() -> list[dict[str, Any]]:
        return [as_json(each) for each in written]

    attempts = Attempts(lambda _stage, _reason: None)
    try:
        mark = CURRENT.set(trace)
        await attempts.run("plan", failing(), fallback=None, deadline=1)
        inside = lines()
        CURRENT.reset(mark)
        outside = lines()
    finally:
        logging.getLogger("proxy.tasks").removeHandler(handler)
    names = (f"{trace.id:032x}", f"{trace.root.id:016x}")
    assert [(line["message"], line["trace_id"], line["span_id"]) for line in inside] == [("fail open", *names)]
    assert "trace_id" not in outside[0]
