"""Parses logs of requests, a JSON object a line: the bare body of a chat completion, or an object that has it as `body`
or `request`, with what else is known. Gateways write many such formats; what they have in common is read, the rest
is ignored. Then puts the requests in order, with the answers that they got."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from proxy.errors import BadRequest
from proxy.protocol import headers as wire_headers
from proxy.protocol.chat import Chains
from proxy.protocol.message import message
from proxy.protocol.request import parse
from proxy.types import Headers, Message

# Names of the fields in logs: ours, LiteLLM's, others'; the first that is present counts.
BODIES = ("body", "request")
TIMES = ("at", "time", "timestamp", "ts", "startTime", "start_time", "created_at", "created")
SESSIONS = ("session", "session_id", "conversation_id", "thread_id", "chat_id")
USERS = ("user", "end_user", "user_id")
KEYS = ("key", "api_key", "api_key_hash", "user_api_key_hash")
ANSWERS = ("response", "answer")
SETTINGS = ("model_parameters", "optional_params")  # the body's other fields, in logs that take it apart
HEADERS = "headers"

# A body at top level is the line without these; `user` is a field of the body itself.
_OURS = frozenset((*BODIES, *TIMES, *SESSIONS, *KEYS, *ANSWERS, *SETTINGS, HEADERS, "end_user", "user_id"))
SECONDS_APART = 1.0  # between requests without a time
_MILLISECONDS = 1e11  # larger numbers are milliseconds: as seconds, this is the year 5138

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Unusable(ValueError):
    """The reason for which a line is skipped."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A request of a log: its body, and what the log says of it."""

    body: bytes  # of the chat completion
    line: int = 0  # line number, from 1; 0: not from a file
    at: float | None = None  # unix seconds
    key: str = ""  # identifies the customer: a key, its hash or a name
    headers: Headers = ()
    answer: Message | None = None  # the assistant message that it got


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no request, and the reason."""

    line: int
    why: str


def read(lines: Iterable[bytes]) -> Iterator[Logged | Skipped]:
    """Parses each line; empty ones are ignored."""
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not text:
            continue
        try:
            yield _logged(text, number)
        except (Unusable, BadRequest) as error:
            yield Skipped(number, str(error))


def in_order(requests: Sequence[Logged], now: float) -> tuple[Logged, ...]:
    """Sorts requests by time. A request without one was made when the one before it was; if none has a time, the first
    was made at `now`, the others `SECONDS_APART` later each."""
    at = next((each.at for each in requests if each.at is not None), None)
    if at is None:
        return tuple(replace(each, at=now + number * SECONDS_APART) for number, each in enumerate(requests))
    timed = []
    for each in requests:
        at = at if each.at is None else each.at
        timed.append(replace(each, at=at))
    return tuple(sorted(timed, key=lambda each: each.at or 0.0))


def answered(requests: Sequence[Logged]) -> tuple[Logged, ...]:
    """Fills in answers that the log does not tell from the histories of later requests. `requests` are in order."""
    chains = Chains()
    waiting: dict[bytes, int] = {}  # last link of the history → index of a request without an answer
    answers: dict[int, Message] = {}
    for number, each in enumerate(requests):
        messages = parse(each.body).messages
        chain = chains.of(f"{each.key}/{_user(each.headers)}", messages)
        for index, said in enumerate(messages[1:], 1):
            if said.role == "assistant" and (asked := waiting.pop(chain[index - 1], None)) is not None:
                answers[asked] = said
        if each.answer is None:
            waiting[chain[-1]] = number
    return tuple(
        replace(each, answer=answers[number]) if number in answers else each for number, each in enumerate(requests)
    )


def _user(headers: Headers) -> str:
    return wire_headers.get(headers, "x-olvido-user") or ""


def _logged(line: bytes, number: int) -> Logged:
    try:
        top = _object.decode(line)
    except (ValueError, RecursionError):
        raise Unusable("it is not a JSON object") from None
    wrapped = _first(top, BODIES)
    body = _without_envelope(top) if wrapped is None else _unwrapped(wrapped)
    answer = _answer(_decoded(_first(top, ANSWERS)))
    body = _completed(body, top, answer)
    raw = msgspec.json.encode(body)
    parse(raw)  # raises BadRequest for what no upstream would have taken
    headers = [*_headers(_decoded(top.get(HEADERS)))]
    names = [("x-olvido-session", SESSIONS)] + ([("x-olvido-user", USERS)] if wrapped is not None else [])
    for header, given in names:
        if (value := _word(_decoded(_first(top, given)))) and wire_headers.get(tuple(headers), header) is None:
            headers.append((header, value))
    return Logged(
        body=raw,
        line=number,
        at=_time(_decoded(_first(top, TIMES))),
        key=_key(top, headers),
        headers=tuple(headers),
        answer=message(answer[0]) if answer else None,
    )


def _first(top: Mapping[str, msgspec.Raw], names: Iterable[str]) -> msgspec.Raw | None:
    return next((top[name] for name in names if name in top and bytes(top[name]) != b"null"), None)


def _decoded(raw: msgspec.Raw | None) -> Any:
    try:
        return None if raw is None else msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        raise Unusable("it is not a JSON object") from None


def _parts(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    return _object.decode(_plain(raw))


def _plain(raw: msgspec.Raw) -> msgspec.Raw:
    """Returns a value that may be written as a string of JSON."""
    return msgspec.Raw(str(_decoded(raw)).encode()) if bytes(raw).startswith(b'"') else raw


def _unwrapped(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    try:
        parts = _parts(raw)
        return parts if "messages" in parts or "body" not in parts else _parts(parts["body"])
    except (ValueError, RecursionError):
        raise Unusable("its body is not a JSON object") from None


def _without_envelope(top: Mapping[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    if "messages" not in top:
        raise Unusable("it has neither a body nor messages")
    return {name: raw for name, raw in top.items() if name not in _OURS}


def _completed(
    body: Mapping[str, msgspec.Raw], top: Mapping[str, msgspec.Raw], answer: tuple[Mapping[str, Any], str] | None
) -> dict[str, msgspec.Raw]:
    """Adds what some logs keep beside the body: its settings, its model."""
    settings = _decoded(_first(top, SETTINGS))
    more = settings if isinstance(settings, dict) else {}
    whole = {**{name: msgspec.Raw(msgspec.json.encode(value)) for name, value in more.items()}, **body}
    if "model" not in whole and "model" in top:
        whole["model"] = top["model"]
    if "model" not in whole and answer is not None and answer[1]:
        whole["model"] = msgspec.Raw(msgspec.json.encode(answer[1]))
    if "messages" in whole:
        whole["messages"] = _plain(whole["messages"])
    return whole


def _answer(given: Any) -> tuple[Mapping[str, Any], str] | None:
    """The assistant message, and the model that is named beside it. None if there is none, or several."""
    match given:
        case str(said) if said.strip():
            return {"role": "assistant", "content": said}, ""
        case {"body": dict(body)}:
            return _answer(body)
        case {"choices": [{"message": dict(said)}], **rest}:
            model = rest.get("model")
            return {"role": "assistant", **said}, model if isinstance(model, str) else ""
        case {"role": "assistant"}:
            return given, ""
        case _:
            return None


def _headers(given: Any) -> Iterator[tuple[str, str]]:
    pairs = given.items() if isinstance(given, dict) else given if isinstance(given, list) else ()
    for pair in pairs:
        match pair:
            case (str(name), str(value)) | [str(name), str(value)]:
                yield name.lower(), value


def _key(top: Mapping[str, msgspec.Raw], headers: Iterable[tuple[str, str]]) -> str:
    if named := _word(_decoded(_first(top, KEYS))):
        return named
    metadata = _decoded(top.get("metadata"))
    if isinstance(metadata, dict) and (named := _word(metadata.get("user_api_key_hash"))):
        return named
    return "\n".join(value for name, value in headers if name in wire_headers.KEYS)


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _time(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            value = _number(value)
        else:
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise Unusable("its time is neither seconds since 1970 nor an ISO date")
    return value / 1000 if value > _MILLISECONDS else float(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0
