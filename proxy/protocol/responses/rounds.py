"""A response out of several rounds, as a stream: for its events, what `splicing.py` and `rounds.py` of the parent
package do for the chunks of a completion.

Items pass by indices that go on from round to round (`by_index.py`), and all events by numbers that do. Of all rounds
the client gets one response: the first one's beginning, id and time, the last one's end, the items of all that it has
been told, the sum of all usages. Of what a response repeats of its request it gets its own (`echoed.py`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from proxy.protocol.by_index import IndexedRound
from proxy.protocol.origin import elements
from proxy.protocol.responses import item_events, spoken
from proxy.protocol.responses.echoed import NOTHING, Echo, Values
from proxy.protocol.responses.item_events import OpenItem
from proxy.protocol.responses.output import completion_of
from proxy.protocol.responses.reading import ResponseReader
from proxy.protocol.rounds import Whose
from proxy.protocol.splicing import added
from proxy.protocol.sse import Event
from proxy.protocol.tool_results import Said
from proxy.types import Json, ToolCall

HEAD = ("id", "created_at", "model")  # of a response, by which SDKs tell that it is the same

_ENDS = ("response.completed", "response.incomplete")
_TEXTS = ("response.output_text.delta", "response.refusal.delta")
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


class _Answer(ResponseReader):
    """The response as the client got it so far."""

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[int, spoken.Item] = {}  # that have ended, by index
        self.open: dict[int, OpenItem] = {}  # that are being told

    def completion(self) -> dict[str, Any]:
        """Returns the completion so far."""
        if self._last is not None:
            return self._last
        told = {at: item for at, (item, _) in self.items.items()} | {at: each.so_far for at, each in self.open.items()}
        made = completion_of({"model": self.model, "output": [told[at] for at in sorted(told)]})
        made["choices"][0]["finish_reason"] = None
        return made if self.started else {**made, "choices": []}

    @property
    def ended(self) -> list[spoken.Item]:
        """The items that have ended, in their order."""
        return [self.items[at] for at in sorted(self.items)]


class ResponseSplice:
    """One streamed response on its way to the client, round after round: the state that outlasts a round."""

    def __init__(self, echo: Echo = NOTHING) -> None:
        self.rounds = 0  # that have ended
        self.has_said = False  # a text has been passed, reasoning aside
        self.has_calls = False  # an item that is neither text nor reasoning has been passed
        self.usage: Mapping[str, Json] | None = None  # sum of the rounds that have ended, as a completion's
        self.answer = _Answer()  # as the client got it so far
        self.number = 0  # of the next event
        self._echo = echo
        self._told: Mapping[str, Json] | None = None  # the same sum, as a response's
        self._head: Values = {}
        self._next = 0  # index of the next item

    def end_round(self, usage: Mapping[str, Json] | None) -> None:
        """Ends a round that has not ended the answer. `usage`: as that of a completion."""
        self.rounds += 1
        self.usage = added(self.usage, usage)

    def next_index(self) -> int:
        """Returns the index of one more item."""
        self._next += 1
        return self._next - 1

    def left_open(self) -> bytes:
        """Returns the end of items that a round which was cut off has left open."""
        parts = []
        for each in list(self.answer.open.values()):
            for told in each.closing():
                data = _encode({"type": told["type"], "sequence_number": self.number, **told})
                self.number += 1
                self._note(told, data)
                parts.append(_written(told["type"], data))
        return b"".join(parts)

    def told(self, given: Event, told: dict[str, Any], *, index: int | None = None) -> bytes:
        """Returns an event as the client gets it, by its number and the `index` of its item; both are noted."""
        changes: dict[str, Any] = {}
        if index is not None and told.get("output_index") != index:
            changes["output_index"] = index
        changes |= self._numbered(told)
        data = given.data or b""
        raw = given.raw
        if changes:
            data = _encode({**_fields(data), **changes})
            raw = _written(told.get("type"), data)
        self._note({**told, **changes}, data)
        return raw

    def lifecycle(self, given: Event, told: dict[str, Any], ours: frozenset[str], more: Values | None = None) -> bytes:
        """Returns an event that holds the whole response as the client gets it. `ours`: names of our tools. `more`:
        values of the response that are others."""
        values = _fields(given.data or b"")
        response = _fields(values["response"])
        for name in HEAD:
            if name in response:
                self._head.setdefault(name, response[name])
        head = {name: value for name, value in self._head.items() if name in response and response[name] != value}
        changed = {**head, **self._echo.unsaid(response, ours), **(more or {})}
        numbered = self._numbered(told)
        data, raw = given.data or b"", given.raw
        if changed or numbered:
            data = _encode({**values, **numbered, "response": {**response, **changed}})
            raw = _written(told.get("type"), data)
        self.answer.feed_all([data])
        return raw

    def ended(self, given: Event, told: dict[str, Any], ours: frozenset[str]) -> bytes:
        """Returns the event that ends the response, with all items and the sum of all usages."""
        more = {"output": msgspec.Raw(b"[%b]" % b",".join([raw for _, raw in self.answer.ended]))}
        if self._told is not None:
            more["usage"] = msgspec.Raw(_encode(self._told))
        return self.lifecycle(given, told, ours, more)

    def add(self, usage: Json) -> None:
        """Adds the usage of a round, as a response tells it."""
        self._told = added(self._told, usage if isinstance(usage, dict) else None)

    def _numbered(self, told: Mapping[str, Json]) -> dict[str, Any]:
        number = told.get("sequence_number")
        if not isinstance(number, int):
            return {}
        own, self.number = self.number, self.number + 1
        return {} if own == number else {"sequence_number": own}

    def _note(self, told: Mapping[str, Json], data: bytes) -> None:
        """Notes an event of an item as the client gets it."""
        index, item, opened = told.get("output_index"), told.get("item"), self.answer.open
        if not isinstance(index, int):
            return
        if not isinstance(item, dict):
            if index in opened:
                opened[index].take(told)
            return
        self.has_calls |= item.get("type") not in ("message", "reasoning")
        if told.get("type") == _ADDED:
            opened[index] = OpenItem(item, index)
        elif told.get("type") == _DONE:
            opened.pop(index, None)
            self.answer.items[index] = item, bytes(_fields(data)["item"])


class ResponseRound(IndexedRound):
    """Reader of one round; `closing` returns the end of the response."""

    def __init__(self, splice: ResponseSplice, whose: Whose, max_event_bytes: int = 16 * 2**20) -> None:
        super().__init__(whose, index="output_index", is_first=splice.rounds == 0, max_event_bytes=max_event_bytes)
        self._splice = splice
        self._names = whose.may_be_ours - whose.client
        self._items: dict[int, spoken.Item] = {}  # as far as they are known, by the upstream's index
        self._whole: set[int] = set()  # indices of items that have ended
        self._index: dict[int, int] = {}  # by which the client knows an item
        self._end: tuple[Event, dict[str, Any]] | None = None  # the event that ends it, held back
        self._asks = False  # an item that is no call of a function has to be answered by the client

    @property
    def has_theirs(self) -> bool:
        """True if there is something for the client to answer."""
        return self._asks or super().has_theirs

    def said(self, _completion: Mapping[str, Json]) -> Said | None:
        """Returns the model's message of the round; None if there is none."""
        return spoken.said_in([self._items[at] for at in sorted(self._items)], self.ours)

    def closing(self) -> bytes:
        """Returns the end of the response."""
        if self._end is None:
            return b""
        given, told = self._end
        return self._splice.left_open() + self._splice.ended(given, told, self._names) + self._done

    # --- one event ---

    def _event(self, given: Event, told: dict[str, Any], data: bytes) -> bytes:
        has_begun = self._is_first or self._index
        open_ = b"" if has_begun else self._splice.left_open()
        if told.get("type") == "response.failed" and (self._held or self._hides):
            return open_ + self._unusable(given)
        if isinstance(response := told.get("response"), dict):
            return open_ + self._lifecycle(given, told, response)
        if isinstance(told.get("output_index"), int):
            return open_ + self._item(given, told, data)
        return open_ + self._splice.told(given, told)

    def _lifecycle(self, given: Event, told: dict[str, Any], response: Mapping[str, Json]) -> bytes:
        if told.get("type") not in _ENDS:
            return self._splice.lifecycle(given, told, self._names) if self._is_first else b""
        untold = b"".join(self._untold(given, response)) + self._decided()
        if self._hides:
            self._end = given, told
            self._splice.add(response.get("usage"))
            return untold
        return untold + self._splice.lifecycle(given, told, self._names)

    def _untold(self, given: Event, response: Mapping[str, Json]) -> Iterator[bytes]:
        """Yields what passes of items that stand in the whole response and were not told, or not to their end."""
        output = response.get("output")
        raws = elements(_fields(_fields(given.data or b"")["response"])["output"]) if isinstance(output, list) else ()
        for at, (item, raw) in enumerate(zip(output or (), raws, strict=False)):
            if at in self._whole or not isinstance(item, dict):
                continue
            is_new = at not in self._items
            for each in item_events.told(item, at):
                if is_new or each["type"] == _DONE:
                    whole = {"type": each["type"], "sequence_number": -1, **each}
                    if each["type"] == _DONE:
                        whole["item"] = msgspec.Raw(raw)
                    data = _encode(whole)
                    yield self._item(Event(_written(each["type"], data), data), _decode(data), data)

    def _item(self, given: Event, told: dict[str, Any], data: bytes) -> bytes:
        index, item = told["output_index"], told.get("item")
        if isinstance(item, dict):
            self._items[index] = item, bytes(_fields(data)["item"])
            if told.get("type") == _ADDED:
                self._begin(index, item)
            elif told.get("type") == _DONE:
                self._whole.add(index)
                if index in self._calls:
                    self._decide(index)
        return self._hold(given, told)

    def _begin(self, index: int, item: Mapping[str, Json]) -> None:
        if item.get("type") in spoken.CALLS:
            self._begin_call(index, spoken.name_of(item))
        else:
            self._asks |= spoken.asks(item)

    def _call_at(self, index: int) -> ToolCall:
        return spoken.call_of(self._items[index][0])

    def _decide(self, index: int) -> None:
        if self._is_ours[index] is None and index not in self._whole:
            self._is_ours[index] = True  # it was cut off, and so is the round: nobody is to answer it
        super()._decide(index)

    def _passed(self, given: Event, told: dict[str, Any]) -> bytes:
        own = told["output_index"]
        if own not in self._index:
            self._index[own] = self._splice.next_index()
        text, item = told.get("delta") if told.get("type") in _TEXTS else None, told.get("item")
        if (isinstance(text, str) and text.strip()) or (isinstance(item, dict) and spoken.says(item)):
            self.has_text = self._splice.has_said = True
        return self._splice.told(given, told, index=self._index[own])


def _written(kind: Json, data: bytes) -> bytes:
    """Returns an event by its type, if it has one."""
    name = b"event: %b\n" % kind.encode() if isinstance(kind, str) else b""
    return b"%bdata: %b\n\n" % (name, data)
