"""Logs: one line a record, JSON or text, UTC, bounded, with anything that looks like a key struck out. Text is for a
person at a terminal, where it has colours; whoever collects logs gets JSON.

No code of ours puts a key or the contents of a message into a log. `redact` is the last net, for what a library or a
traceback says: it is applied to every string of a record on its way out, whichever logger it came from.
"""

import logging
import os
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Literal, TextIO

import msgspec

from proxy.config.redacting import STRUCK, redact
from proxy.observe.tracing import CURRENT

MAX_LINE = 16_384  # bytes; longer records are cut, so that no collector splits a line
_TEXT_LIMITS = (4_000, 1_000, 60)  # characters per string of a record: the first that gives a short enough line
_SCAN_LIMIT = 16_000  # characters of one string that are looked at: a log line may not cost milliseconds
_LONGEST_KEY = 200  # characters; half a key at a cut would not be recognised
_MAX_EXTRAS = 16  # fields of a record, and items of a field that is a mapping
_MAX_NAME = 40

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}

_SECRET_NAME = re.compile(r"(?i)(^|[_-])(authorization|cookie|credential|password|secret|token|api[_-]?key)$")


Style = Literal["auto", "json", "text"]

_DIM, RESET = "\x1b[2m", "\x1b[0m"
_COLOURS = {"debug": _DIM, "info": "\x1b[32m", "warning": "\x1b[33m", "error": "\x1b[1;31m", "critical": "\x1b[1;31m"}


def setup(
    level: str = "info",
    style: Style = "auto",
    stream: TextIO | None = None,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Routes every logger, uvicorn's included, to `stream` (standard error by default). `auto` is text on a terminal
    and JSON elsewhere. Calling it again replaces what it set up before, and leaves handlers of others alone."""
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _Handler)]:
        root.removeHandler(handler)
    out = stream or sys.stderr
    is_text = style == "text" or (style == "auto" and out.isatty())
    handler = _Handler(out)
    handler.setFormatter(Lines("text" if is_text else "json", coloured=is_text and has_colours(out, environ)))
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.NOTSET)
    for name in ("httpx", "httpcore", "aiohttp", "asyncio", "watchfiles"):  # they log URLs, headers, files all the time
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def has_colours(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Returns True for a terminal that shows colours, whose owner wants them (https://no-color.org)."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's own name)
        """Nothing. The library's own would print the record's arguments, unredacted, and a closed standard error is no
        reason to fail a request."""


class Lines(logging.Formatter):
    """Formats a record as a line of bounded length.

    json   `{"time", "level", "logger", "message", "trace_id"?, "span_id"?, "error"?, …extra}`, one object a line
    text   `time level logger message key=value …` for people, a traceback indented below; control characters are
           written as escapes, so that no message can pretend to be another line; `coloured`: by severity
    """

    def __init__(self, style: Literal["json", "text"], *, coloured: bool = False) -> None:
        super().__init__()
        self._render = _as_json if style == "json" else partial(_as_text, coloured=coloured)

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        for limit in _TEXT_LIMITS:
            line = self._render(_fields(record, limit))
            if len(line.encode()) <= MAX_LINE:
                return line
        return self._render(_base(record, _TEXT_LIMITS[-1]))


def _as_json(fields: dict[str, Any]) -> str:
    return msgspec.json.encode(fields).decode()


def _as_text(fields: dict[str, Any], *, coloured: bool) -> str:
    error = fields.pop("error", "")
    at, level, logger, message = (fields.pop(name) for name in ("time", "level", "logger", "message"))
    dim, colour, reset = (_DIM, _COLOURS.get(level, ""), RESET) if coloured else ("", "", "")
    head = f"{dim}{at}{reset} {colour}{level:<8}{reset} {dim}{logger}{reset} {_printable(message)}"
    extras = "".join(f" {dim}{_printable(name)}={reset}{_printable(value)}" for name, value in fields.items())
    return "\n    ".join([head + extras, *(_printable(line) for line in error.splitlines())])


def _base(record: logging.LogRecord, limit: int) -> dict[str, Any]:
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 (a message that does not fit its arguments must not cost the request)
        message = f"{record.msg} (its arguments do not fit)"
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    told = {
        "time": at.replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": _text(record.name, limit),
        "message": _text(message, limit),
    }
    if (trace := CURRENT.get()) is not None:
        told["trace_id"], told["span_id"] = f"{trace.id:032x}", f"{trace.root.id:016x}"
    return told


def _fields(record: logging.LogRecord, limit: int) -> dict[str, Any]:
    """The fields of a record: every string redacted and at most `limit` characters long, a traceback twice that."""
    extras = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    base = _base(record, limit)
    fields = base | _items(extras, limit) | base  # an extra field never takes the name of one of ours
    if record.exc_info and record.exc_info[0] is not None:
        # The end of a traceback says what happened.
        fields["error"] = _text(logging.Formatter().formatException(record.exc_info), 2 * limit, tail=True)
    return fields


def _items(items: Mapping[Any, Any], limit: int) -> dict[str, Any]:
    fields = {}
    for name, value in islice(items.items(), _MAX_EXTRAS):
        shown, is_secret = _name(str(name))
        fields[shown] = STRUCK if is_secret else _value(value, limit)
    return fields


@lru_cache(maxsize=256)
def _name(name: str) -> tuple[str, bool]:
    """A field's name as it is shown, and whether its value must not be."""
    return _text(name, _MAX_NAME), _SECRET_NAME.search(name) is not None


def _value(value: object, limit: int) -> Any:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    try:
        if isinstance(value, Mapping) and not any(isinstance(item, Mapping) for item in value.values()):
            return _items(value, limit)
        return _text(str(value), limit)
    except Exception:  # noqa: BLE001 (an object that cannot say what it is must not cost the request)
        return f"<{type(value).__name__}>"


def _text(text: str, limit: int, *, tail: bool = False) -> str:
    if len(text) <= _SCAN_LIMIT:
        text = redact(text)
    elif tail:
        text = redact(text[-_SCAN_LIMIT:])[_LONGEST_KEY:]
    else:
        text = redact(text[:_SCAN_LIMIT])[:-_LONGEST_KEY]
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be written
    if len(text) <= limit:
        return text
    return f"…{text[-limit + 1 :]}" if tail else f"{text[: limit - 1]}…"


def _printable(value: object) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(value))
