"""Parses entries of logs: the bare body of a chat completion, of a request of the Responses or Messages API, or an
object that has it as `body` or `request`, with what else is known; formats that name it otherwise are in `gateways`.
What they have in common is read, the rest is ignored. Then puts the requests in order, with the answers that they
got."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from proxy.errors import BadRequest
from proxy.protocol import headers as wire_headers
from proxy.protocol.apis import as_chat, completion_in
from proxy.protocol.chains import Chains
from proxy.protocol.message import message
from proxy.protocol.request import parse
from proxy.replay.gateways import NO_BODY, NO_MESSAGES, NO_OBJECT, Unusable, plain, translated, unfolded
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
SESSION = "x-olvido-session"
SECONDS_APART = 1.0  # between requests without a time
_MILLISECONDS = 1e11  # larger numbers are milliseconds: as seconds, this is the year 5138

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Logged:
    """A request of a log: its body, and what the log says of it."""

    body: bytes  # of the chat completion
    line: int = 0  # line number, from 1; 0: not from a file
    at: float | None = None  # unix seconds
    key: str = ""  # identifies the customer: a key, its hash or a name
    headers: Headers = ()
    answer: Message | None = None  # the assistant message that it got
    name: str = ""  # by which its answer, in another entry, names it


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no request, and the reason."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request of another entry."""

    line: int
    name: str
    answer: Message


def read(text: bytes, number: int) -> Iterator[Logged | Skipped | Answered]:
    """Parses the entries of a line or an element: one, unless it is a page or a trace. `number`: its own, from 1."""
    try:
        top = _object.decode(text)
    except (ValueError, RecursionError):
        yield Skipped(number, NO_OBJECT)
        return
    for entry in unfolded(top):
        try:
            answer = _answer_of_another(entry, number)
            yield _logged(entry, number) if answer is None else answer
        except (Unusable, BadRequest) as error:
            yield Skipped(number, str(error))


def _answer_of_another(entry: Mapping[str, msgspec.Raw], number: int) -> Answered | None:
    """The line of a batch's output, whose request is a line of its input."""
    if not (name := _word(plain(entry.get("custom_id")))) or "body" in entry:
        return None
    found = _answer(plain(entry.get("response")))
    return Answered(number, name, message(found[0])) if found else None


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


def _logged(entry: Mapping[str, msgspec.Raw], number: int) -> Logged:
    top = translated(entry)
    wrapped = _first(top, BODIES)
    body = _without_envelope(top) if wrapped is None else _unwrapped(wrapped)
    answer = _answer(_decoded(_first(top, ANSWERS)))
    body = _completed(body, top, answer)
    encoded = as_chat(msgspec.json.encode(body))
    parse(encoded)  # raises BadRequest for what no upstream would have taken
    headers = [*_headers(_decoded(top.get(HEADERS)))]
    names = [(SESSION, SESSIONS)] + ([("x-olvido-user", USERS)] if wrapped is not None else [])
    for header, given in names:
        if (value := _word(_decoded(_first(top, given)))) and wire_headers.get(tuple(headers), header) is None:
            headers.append((header, value))
    return Logged(
        body=encoded,
        line=number,
        at=_time(_decoded(_first(top, TIMES))),
        key=_key(top, headers),
        headers=tuple(headers),
        answer=message(answer[0]) if answer else None,
        name=_word(plain(entry.get("custom_id"))),
    )


def _first(top: Mapping[str, msgspec.Raw], names: Iterable[str]) -> msgspec.Raw | None:
    return next((top[name] for name in names if name in top and bytes(top[name]) != b"null"), None)


def _decoded(raw: msgspec.Raw | None) -> Any:
    try:
        return None if raw is None else msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        raise Unusable(NO_OBJECT) from None


def _parts(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    return _object.decode(_unquoted(raw))


def _unquoted(raw: msgspec.Raw) -> msgspec.Raw:
    """Returns a value that may be written as a string of JSON."""
    return msgspec.Raw(str(_decoded(raw)).encode()) if bytes(raw).startswith(b'"') else raw


def _unwrapped(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    try:
        parts = _parts(raw)
        return parts if "messages" in parts or "body" not in parts else _parts(parts["body"])
    except (ValueError, RecursionError):
        raise Unusable(NO_BODY) from None


def _without_envelope(top: Mapping[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    if "messages" not in top and "input" not in top:
        raise Unusable(NO_MESSAGES)
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
        whole["messages"] = _unquoted(whole["messages"])
    return whole


def _answer(given: Any) -> tuple[Mapping[str, Any], str] | None:
    """The assistant message, and the model that is named beside it. None if there is none, or several."""
    match completion_in(given) if isinstance(given, dict) else given:
        case str(said) if said.strip():
            inner = plain(msgspec.Raw(said.encode(errors="replace"))) if said.startswith("{") else None
            return (_answer(inner) if inner is not None else None) or ({"role": "assistant", "content": said}, "")
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
