"""Reading of one round of an answer whose tools the proxy may run, as a stream of events.

Text and reasoning are let through as they arrive. Of the calls only those are held back that may be answered here,
until it is known whose they are, and those behind them, so that their order stays: by its name, as soon as that is
whole, or, of a tool that the client has too, by its arguments, when the round ends. The client never sees anything of a
call that is answered here; the others close up. The end of a round (its finish reason, usage, [DONE]) is held back if
it may not be the end of the answer.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from proxy.protocol.calls import meant, read_call
from proxy.protocol.merging import call_of, is_index, joined, merge
from proxy.protocol.splicing import Splice, delta_of, first_choice, says_something
from proxy.protocol.sse import DONE_DATA, Event, SseParser
from proxy.protocol.tool_results import Said, said_in
from proxy.types import Json, ToolCall

_Object: TypeAlias = dict[str, Any]

_CALLS = "tool_calls"
_CALLS_FINISH = "tool_calls"  # finish reason of an answer that ends in calls
_decoder = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Whose:
    """Rules by which a call is ours or the client's."""

    may_be_ours: frozenset[str] = frozenset()  # names
    client: frozenset[str] = frozenset()  # names of the client's own tools
    answers: Callable[[ToolCall], bool] = lambda _: False  # of a call that may be ours: is it?

    def may_take(self, name: str) -> bool:
        """Tells whether a call by this name may be ours: it is one of those names, or means one and no tool of the
        client's."""
        if name in self.may_be_ours or name in self.client:
            return name in self.may_be_ours
        return meant(name, self.may_be_ours - self.client) is not None


NOBODYS = Whose()  # of a round that offers none of our tools


@dataclass(slots=True, eq=False)
class _Call:
    """A call so far. `is_ours` is None until that is known."""

    said: _Object
    is_ours: bool | None = None

    @property
    def name(self) -> str:
        """The name so far."""
        return _name_in(self.said)

    @property
    def has_arguments(self) -> bool:
        """True once the arguments have begun, and the name is whole."""
        function = self.said.get("function")
        return isinstance(function, dict) and bool(function.get("arguments"))

    @property
    def read(self) -> ToolCall:
        """The call as it reads so far."""
        return read_call(joined(self.said))


@dataclass(slots=True)
class _Calls:
    """The calls of a round, merged from their fragments as in `accumulate.py`."""

    whose: Whose
    found: list[_Call] = field(default_factory=list)  # in the order in which they began
    _entries: list[Json] = field(default_factory=list)

    def take(self, fragment: Json) -> _Call | None:
        """Adds a fragment; returns its call, None if it is no fragment of any."""
        if not isinstance(fragment, dict):
            return None
        own = msgspec.json.decode(msgspec.json.encode(fragment))  # merged in place, while the fragment may yet be sent
        if (entry := call_of(self._entries, own)) is None:
            for each in self.found:
                self._name_known(each)
            self._entries.append(own)
            call = _Call(own)
            self.found.append(call)
        else:
            merge(entry, own, fragments=True)
            call = next(each for each in self.found if each.said is entry)
        if call.is_ours is None:
            self._look(call)
        return call

    def decide(self) -> None:
        """Decides on all calls: they are whole."""
        for call in self.found:
            if call.is_ours is None:
                call.is_ours = self.whose.may_take(call.name) and self.whose.answers(call.read)

    def client_index(self, index: Json) -> Json:
        """Returns the index by which the client knows the call that the upstream gave this one."""
        if not is_index(index):
            return index
        return index - sum(each.is_ours is True and each.said["index"] < index for each in self.found)

    @property
    def ours(self) -> tuple[int, ...]:
        """Positions of our calls in the message that the round adds up to."""
        ordered = sorted(self.found, key=lambda call: call.said["index"])
        return tuple(at for at, call in enumerate(ordered) if call.is_ours)

    def _look(self, call: _Call) -> None:
        """Looks at the name so far."""
        if call.has_arguments:
            self._name_known(call)
        elif not self.whose.may_be_ours or self._is_clients(call.name):
            call.is_ours = False

    def _is_clients(self, name: str) -> bool:
        """Tells whether a name so far is a tool's of the client, whatever may follow."""
        return name in self.whose.client and not any(each.startswith(name) for each in self.whose.may_be_ours)

    def _name_known(self, call: _Call) -> None:
        if call.is_ours is None and (name := call.name):
            if not self.whose.may_take(name):
                call.is_ours = False
            elif name not in self.whose.client:
                call.is_ours = True


@dataclass(frozen=True, slots=True)
class _Held:
    """Fragments of calls, in the event that they came with."""

    event: Event
    calls: Sequence[_Call | None]  # of each fragment
    is_whole: bool  # nothing of the event has been passed


class RoundReader:
    """Reader of one round. `feed` and `end` return what the client gets of it, `closing` the end of the answer."""

    def __init__(self, splice: Splice, whose: Whose, max_event_bytes: int = 16 * 2**20) -> None:
        self._splice = splice
        self._whose = whose
        self._calls = _Calls(whose)
        self._parser = SseParser(max_event_bytes)
        self._held: deque[_Held] = deque()
        self._finish: _Object | None = None  # chunks that are held back
        self._usage_chunk: _Object | None = None
        self._done = b""
        self._is_first = splice.rounds == 0
        self._has_begun = False  # a delta has come
        self.failed = False  # an event was an error, or no chunk, and was not passed
        self.has_text = False  # a text for the client, reasoning aside

    @property
    def ours(self) -> tuple[int, ...]:
        """Positions of the calls that are answered here, in the message that the round adds up to."""
        return self._calls.ours

    @property
    def has_theirs(self) -> bool:
        """True if there is a call of the client's."""
        return any(call.is_ours is False for call in self._calls.found)

    def said(self, completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none. `completion`: the round as it was read."""
        return said_in(completion, self.ours)

    @property
    def is_untouched(self) -> bool:
        """True if the whole round was passed as it came, its end included."""
        return self._is_first and not self.ours and not self.failed

    def feed(self, chunk: bytes) -> bytes:
        """Returns what may pass now that these bytes have arrived. Raises EventTooLargeError."""
        return b"".join(map(self._take, self._parser.feed(chunk)))

    def end(self) -> bytes:
        """Returns what may pass now that the round has ended, but for its end."""
        rest = b"".join(map(self._take, self._parser.flush()))
        self._calls.decide()
        return rest + self._released()

    def closing(self) -> bytes:
        """Returns the end of the answer: finish reason, usage and [DONE], as far as the upstream has sent them."""
        parts = []
        if (chunk := self._finish) is not None:
            choice = chunk["choices"][0]
            if choice["finish_reason"] == _CALLS_FINISH and not self.has_theirs:
                choice["finish_reason"] = "stop"
            parts.append(self._splice.passed(_NOTHING, chunk, is_changed=True))
        if self._usage_chunk is not None:
            parts.append(self._splice.passed(_NOTHING, self._usage_chunk, is_changed=True))
        return b"".join([*parts, self._done])

    @property
    def _holds_end(self) -> bool:
        return not self._is_first or any(call.is_ours for call in self._calls.found)

    def _take(self, event: Event) -> bytes:
        data = event.data
        if data is None or not data or data.isspace():
            return event.raw  # a comment that keeps the connection alive
        if data.startswith(DONE_DATA):
            self._calls.decide()
            released = self._released()
            if self._holds_end:
                self._done = event.raw
                return released
            return released + event.raw
        try:
            chunk = _decoder.decode(data)
        except (ValueError, RecursionError):
            return self._unusable(event)
        if chunk.get("error"):
            return self._unusable(event)
        choice = first_choice(chunk)
        return self._beside(event, chunk) if choice is None else self._choice(event, chunk, choice)

    def _unusable(self, event: Event) -> bytes:
        """Passes an error, or what is no chunk, unless something is hidden: then another answer is to follow."""
        if self._is_first and not self._held and not self._holds_end:
            return event.raw
        self.failed = True
        return b""

    def _beside(self, event: Event, chunk: _Object) -> bytes:
        """Passes a chunk without a choice: usage, or what an upstream says of the prompt."""
        if isinstance(chunk.get("usage"), dict) and self._holds_end:
            self._usage_chunk = chunk
            return b""
        return self._splice.passed(event, chunk)

    def _choice(self, event: Event, chunk: _Object, choice: _Object) -> bytes:
        is_changed = self._without_repetition(choice)
        delta = delta_of(choice)
        self.has_text |= says_something(delta)
        fragments = listed if isinstance(listed := delta.get(_CALLS), list) else []
        calls = [self._calls.take(fragment) for fragment in fragments]
        finish = choice.get("finish_reason")
        ends = isinstance(finish, str) and bool(finish)
        if ends:
            self._calls.decide()
        released = self._released()
        if ends and self._holds_end:
            self._finish = _ending(chunk, choice)
            choice["finish_reason"] = None
            for values in (chunk, choice):
                values.pop("usage", None)
            is_changed = True
        if self._held or any(call is not None and call.is_ours is None for call in calls):
            speaks = any(value for name, value in delta.items() if name not in (_CALLS, "role"))
            if calls:
                self._held.append(_Held(event, calls, is_whole=not speaks))
            if calls and not speaks:
                self._splice.skipped(delta)
                return released
            is_changed |= bool(calls)
            delta.pop(_CALLS, None)
        elif calls:
            is_changed |= self._let_through(delta, calls)
        return released + self._splice.passed(event, chunk, is_changed=is_changed)

    def _without_repetition(self, choice: _Object) -> bool:
        """Leaves out the message so far, which some upstreams send beside each delta or once more at the end, where it
        could tell of calls that the client does not see."""
        message = choice.get("message")
        is_repeated = choice.get("delta") is not None or self._has_begun
        self._has_begun |= bool(delta_of(choice))
        if not isinstance(message, dict) or not is_repeated:
            return False
        listed = message.get(_CALLS)
        names = {_name_in(call) for call in listed if isinstance(call, dict)} if isinstance(listed, list) else set()
        if self._is_first and not any(map(self._whose.may_take, names)):
            return False
        del choice["message"]
        choice.setdefault("delta", {})
        return True

    def _let_through(self, delta: _Object, calls: Sequence[_Call | None]) -> bool:
        """Leaves the client's calls in a delta, by their own indices. Returns True if that changes it."""
        kept, is_changed = [], False
        for fragment, call in zip(delta[_CALLS], calls, strict=True):
            if call is None:
                kept.append(fragment)
            elif not call.is_ours:
                index = fragment.get("index")
                if (own := self._calls.client_index(index)) != index:
                    fragment["index"], is_changed = own, True
                kept.append(fragment)
        is_changed |= len(kept) < len(calls)
        if kept:
            delta[_CALLS] = kept
        else:
            del delta[_CALLS]
        return is_changed

    def _released(self) -> bytes:
        return b"".join(self._release())

    def _release(self) -> Iterator[bytes]:
        """Passes the held fragments of which it is known whose they are, up to the first of which it is not."""
        while self._held and all(call is None or call.is_ours is not None for call in self._held[0].calls):
            held = self._held.popleft()
            chunk = _decoder.decode(held.event.data or b"{}")
            choice = first_choice(chunk) or {}
            delta = delta_of(choice)
            is_changed = self._let_through(delta, held.calls)
            if not held.is_whole:
                for name in [each for each in delta if each != _CALLS]:
                    del delta[name]
                is_changed = True
            if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"] and self._holds_end:
                choice["finish_reason"] = None
                is_changed = True
            if _CALLS in delta:
                yield self._splice.passed(held.event, chunk, is_changed=is_changed)


_NOTHING = Event(b"", None)


def _name_in(call: _Object) -> str:
    function = call.get("function")
    name = joined(function.get("name")) if isinstance(function, dict) else ""
    return name if isinstance(name, str) else ""


def _ending(chunk: _Object, choice: _Object) -> _Object:
    """Returns the end that is in a chunk: its finish reason and usage, without what it says."""
    without = {name: value for name, value in choice.items() if name not in ("delta", "message", "logprobs")}
    return {**chunk, "choices": [{**without, "delta": {}}]}
