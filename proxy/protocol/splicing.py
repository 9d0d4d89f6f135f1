"""Splicing of an answer out of several rounds, as a stream: the state that outlasts a round. Each round is read by a
`RoundReader` (rounds.py); what it lets through goes through `Splice.passed`.

The client gets one answer: one role, `id`, `created` and `model` of the first chunk that it got, one finish reason,
usage as a sum. Two texts from different rounds are a paragraph apart, unless one of them has white space at the joint;
so are two pieces of reasoning. A chunk that needs no change for that keeps its bytes.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from proxy.protocol.accumulate import Accumulator
from proxy.protocol.merging import is_index
from proxy.protocol.sse import Event, encode
from proxy.types import Json

_Object: TypeAlias = dict[str, Any]

JOINT = "\n\n"
# Texts of a message that go on from round to round.
TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
# Values of a chunk by which SDKs tell that it belongs to the same answer.
_HEAD = ("id", "created", "model", "system_fingerprint")
_READ_AT_ONCE = 8 * 1024  # bytes of chunks that were passed

_encoder = msgspec.json.Encoder()


class Splice:
    """One streamed answer on its way to the client, round after round."""

    def __init__(self) -> None:
        self.rounds = 0  # that have ended
        self.has_said = False  # a text has been passed, reasoning aside
        self.has_calls = False  # a call of the client's has been passed
        self.usage: Mapping[str, Json] | None = None  # sum of the rounds that have ended
        self._head: _Object = {}
        self._has_passed = False  # a chunk
        self._is_joint = False  # an earlier round has passed something
        self._has_role = False
        self._role: Json = None  # said in a chunk that was not passed
        self._is_role_moved = False
        self._last: dict[str, str] = {}  # the last character of each text
        self._earlier: dict[str, str] = {}  # the same of the rounds before, where this one has not gone on yet
        self._details = self._offset = 0  # entries of `reasoning_details`; of the rounds before
        self._answer = Accumulator()
        self._unread: list[bytes] = []
        self._unread_bytes = 0

    @property
    def answer(self) -> Accumulator:
        """The answer as the client got it so far."""
        unread, self._unread, self._unread_bytes = self._unread, [], 0
        if unread:
            self._answer.feed_all(unread)
        return self._answer

    def end_round(self, usage: Mapping[str, Json] | None) -> None:
        """Ends a round that has not ended the answer. `usage`: as it was reported."""
        self.rounds += 1
        self.usage = added(self.usage, usage)
        self._is_joint = self._has_passed
        self._role = None
        self._earlier = dict(self._last)
        self._offset = self._details

    def skipped(self, delta: Mapping[str, Json]) -> None:
        """Notes a delta that is not passed."""
        self._role = self._role or delta.get("role")

    def passed(self, event: Event, chunk: _Object, *, is_changed: bool = False) -> bytes:
        """Returns the event of `chunk`, which may be changed in place, as the client gets it; b"" if nothing is left to
        tell. `is_changed`: it is not what the event says any more."""
        choice = first_choice(chunk)
        delta = delta_of(choice)
        is_changed |= self._with_usage(chunk) | (choice is not None and self._with_usage(choice))
        is_changed |= self._with_role(delta)
        if self._is_joint:
            self._fit(chunk, delta)
            is_changed = True
        if is_changed and not _tells_something(chunk, choice, delta):
            self.skipped(delta)
            return b""
        if is_changed and choice is not None and choice.get("delta") is None:
            _as_delta(choice, delta)
        self._note(chunk, delta)
        data = _encoder.encode(chunk) if is_changed else event.data or b""
        self._unread.append(data)
        self._unread_bytes += len(data)
        if self._unread_bytes > _READ_AT_ONCE:
            _ = self.answer
        return encode(data) if is_changed else event.raw

    def _with_usage(self, values: _Object) -> bool:
        usage = values.get("usage")
        if self.usage is None or not isinstance(usage, dict):
            return False
        values["usage"] = added(self.usage, usage)
        return True

    def _with_role(self, delta: _Object) -> bool:
        """Moves a role that was in a chunk not passed to this one; drops one that the client has already, of a chunk
        before."""
        if "role" in delta:
            if self._has_role and (self._is_joint or self._is_role_moved):
                del delta["role"]
                return True
        elif not self._has_role and self._role is not None:
            delta["role"] = self._role
            self._is_role_moved = True
            return True
        return False

    def _fit(self, chunk: _Object, delta: _Object) -> None:
        """Makes a chunk of a later round one of the same answer."""
        chunk.update({name: value for name, value in self._head.items() if name in chunk})
        for name in TEXTS:
            if isinstance(text := delta.get(name), str) and text and (before := self._earlier.pop(name, "")):
                delta[name] = joint(before, text) + text
        for detail in details if isinstance(details := delta.get("reasoning_details"), list) else ():
            if isinstance(detail, dict) and is_index(detail.get("index")):
                detail["index"] += self._offset

    def _note(self, chunk: _Object, delta: _Object) -> None:
        self._has_passed = True
        for name in _HEAD:
            if name not in self._head and chunk.get(name):
                self._head[name] = chunk[name]
        self._has_role |= "role" in delta
        for name in TEXTS:
            if isinstance(text := delta.get(name), str) and text:
                self._last[name] = text[-1]
        self.has_said |= says_something(delta)
        self.has_calls |= bool(delta.get("tool_calls"))
        for detail in details if isinstance(details := delta.get("reasoning_details"), list) else ():
            if isinstance(detail, dict) and is_index(detail.get("index")):
                self._details = max(self._details, detail["index"] + 1)


def joint(before: str, after: str) -> str:
    """Returns what stands between two texts from different rounds."""
    return "" if not before or not after or before[-1].isspace() or after[0].isspace() else JOINT


def added(first: Mapping[str, Json] | None, second: Mapping[str, Json] | None) -> Mapping[str, Json] | None:
    """Returns the sum of two reported usages: numbers are added, key by key; of anything else the later one stays."""
    if first is None or second is None:
        return second if first is None else first
    total = dict(first)
    for name, value in second.items():
        old = total.get(name)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            total[name] = added(old, value)
        elif _is_number(old) and _is_number(value):
            total[name] = old + value
        elif value is not None:
            total[name] = value
    return total


def first_choice(chunk: Mapping[str, Json]) -> _Object | None:
    """Returns the first choice of a chunk or a completion; None if there is none."""
    match chunk.get("choices"):
        case [dict() as choice, *_]:
            return choice
        case _:
            return None


def says_something(said: Mapping[str, Json]) -> bool:
    """Tells whether a message or a delta has a text for the client; reasoning is none."""
    texts = [said.get("content"), said.get("refusal")]
    return any(bool(text.strip()) if isinstance(text, str) else bool(text) for text in texts)


def delta_of(choice: Mapping[str, Json] | None) -> _Object:
    """Returns the delta of a choice; of an upstream that streams in form only, the whole message; {} if it has none."""
    if choice is None:
        return {}
    delta = choice.get("message") if choice.get("delta") is None else choice["delta"]
    return delta if isinstance(delta, dict) else {}


def _as_delta(choice: _Object, message: _Object) -> None:
    """Makes a whole message in a chunk one delta of several."""
    choice.pop("message", None)
    calls = message.get("tool_calls")
    for at, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            call.setdefault("index", at)
    choice["delta"] = message


def _tells_something(chunk: Mapping[str, Json], choice: Mapping[str, Json] | None, delta: Mapping[str, Json]) -> bool:
    if choice is None:
        return isinstance(chunk.get("usage"), dict)
    is_said = any(value for name, value in delta.items() if name != "role")
    return is_said or bool(choice.get("finish_reason") or choice.get("logprobs"))


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
