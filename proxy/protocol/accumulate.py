"""Accumulates a streamed answer into the `chat.completion` that it would have been without streaming.

Of a chunk's own values the last non-empty wins, but `id`, `created` and `model`: the first, as in the SDKs. Values of
choices and deltas are merged into those so far:

| where | string | object | array | number, bool |
|---|---|---|---|---|
| choice | last non-empty wins | key by key | appended, or by `index` | last wins |
| delta | appended; `WHOLE` keys: last non-empty wins | key by key | appended, or by `index` | last wins |

null never replaces anything. Upstreams repeat whole values in every chunk (Perplexity's `citations`, Azure's content
filter results), so only a delta's strings are fragments. `usage` is the last one seen, wherever it stood: Kimi sends it
in `choices[0].usage` and in a trailing chunk, others count on in every chunk; it is never summed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from proxy.protocol.answers import parse_usage
from proxy.protocol.sse import DONE_DATA
from proxy.types import Json, Usage

_Object: TypeAlias = dict[str, Any]
_Find: TypeAlias = Callable[[list[Any], _Object], _Object | None]

_FIRST_WINS = frozenset({"id", "created", "model"})
# `obfuscation` is random padding that OpenAI adds to chunks, against guessing tokens from their length.
_NOT_OF_THE_ANSWER = frozenset({"choices", "usage", "object", "obfuscation"})
# Finish reasons of an incomplete answer: OpenRouter's for a failure, DeepSeek's for a lack of capacity.
_BROKE_OFF = frozenset({"error", "insufficient_system_resource"})
# Strings of a delta that arrive whole, and again in later deltas. (`name` comes in one piece, in several (Gemini), or
# whole in every chunk (MiniMax): a repetition of it is dropped, anything else appended.)
WHOLE = frozenset({"id", "type", "role", "object", "model", "status", "format", "signature", "thought_signature"})
# Entries of an array that are searched for the one that a fragment continues; most upstreams allow 128 tools.
_LOOK_BACK = 128
_SCALAR_BYTES = 8
_SCALARS = (bool, int, float)
_MERGED = (str, dict, list)

# Texts of a delta, whose fragments may be joined before they are merged.
_TEXTS = frozenset({"content", "reasoning_content", "reasoning"})

_decoder = msgspec.json.Decoder(dict[str, Any])


class Accumulator:
    """Adds up the events of a stream to one completion. Never raises, whatever it is fed.

    Past `max_bytes` of kept text (characters, 8 for a number) the text is dropped; usage and finish reasons are still
    followed, and the answer is never called complete.
    """

    def __init__(self, max_bytes: int = 16 * 2**20) -> None:
        self.usage: Usage | None = None
        self.error: Json = None  # the `error` of an event that had one
        self.garbage = 0  # number of events that were no chunk, or contradicted an earlier one
        self.done = False  # [DONE] was seen
        self.overflowed = False
        self._max_bytes = max_bytes
        self._kept = 0
        self._head: _Object = {}
        self._choices: dict[int, _Object] = {}
        self._raw_usage: Mapping[str, Json] | None = None

    @property
    def model(self) -> str | None:
        """The model's name as the upstream gives it; None before it is known."""
        model = self._head.get("model")
        return model if isinstance(model, str) and model else None

    @property
    def started(self) -> bool:
        """True once a choice was seen: the stream is one of completion chunks."""
        return bool(self._choices)

    @property
    def finished(self) -> bool:
        """True if every choice that was seen has a finish reason."""
        return self.started and all(choice.get("finish_reason") for choice in self._choices.values())

    @property
    def complete(self) -> bool:
        """True for a whole answer: at least one choice, a finish reason for each, no error, and every event understood
        and kept. [DONE] is neither needed (some upstreams omit it) nor enough (some send it after an answer that
        broke off)."""
        reasons = [choice.get("finish_reason") for choice in self._choices.values()]
        return (
            bool(reasons)
            and all(isinstance(reason, str) and reason and reason not in _BROKE_OFF for reason in reasons)
            and self.error is None
            and not self.garbage
            and not self.overflowed
        )

    def feed(self, data: bytes) -> bool:
        """Adds one event's data. Returns True for the chunk that carries nothing but the usage, which a client gets
        only if it asked for `include_usage`. Empty data and whatever follows [DONE] are ignored, as SDKs do."""
        if self.done or not data or data.isspace():
            return False
        if data.startswith(DONE_DATA):
            self.done = True
            return False
        try:
            return self._take(_decoder.decode(data))
        except (ValueError, RecursionError):  # not a JSON object, not UTF-8, a misfit; nested beyond reason
            self.garbage += 1
            return False

    def feed_all(self, datas: Sequence[bytes]) -> bool:
        """Adds the data of several events, as `feed` does one by one. Returns what `feed` would for the last."""
        *chunks, last = datas or (b"",)
        if not last.startswith(DONE_DATA):
            chunks.append(last)
        lines, gaps = b"\n".join(chunks), len(chunks) - 1
        is_objects = lines[:1] == b"{" and lines[-1:] == b"}" and lines.count(b"\n") == lines.count(b"}\n{") == gaps
        try:
            decoded = _decoder.decode_lines(lines) if is_objects and not self.done else []
        except (ValueError, RecursionError):
            decoded = []
        if len(decoded) != len(chunks):  # something stands among them that is no object on a line of its own
            return [self.feed(data) for data in datas][-1:] == [True]
        has_usage_alone = False
        for chunk in _joined_texts(decoded):
            try:
                has_usage_alone = self._take(chunk)
            except (ValueError, RecursionError):
                self.garbage += 1
                has_usage_alone = False
        if len(chunks) < len(datas):
            self.done = True
            return False
        return has_usage_alone

    def completion(self) -> _Object:
        """The `chat.completion` so far; the property `complete` says if that is all of it."""
        choices = [_finished(choice) for _, choice in sorted(self._choices.items())]
        completion = {**self._head, "object": "chat.completion", "choices": choices}
        if self._raw_usage is not None:
            completion["usage"] = self._raw_usage
        return completion

    def _take(self, chunk: _Object) -> bool:
        if chunk.get("error"):
            self.error = chunk["error"]
        head = self._head
        for key, value in chunk.items():
            if key in _NOT_OF_THE_ANSWER or (key in _FIRST_WINS and head.get(key)):
                continue
            if key not in head or (value is not None and value != ""):
                head[key] = value
        has_usage = self._take_usage(chunk.get("usage"))
        choices = chunk.get("choices") or []
        if not isinstance(choices, list):
            raise _MisfitError("choices that are no array")
        for position, choice in enumerate(choices):
            self._take_choice(choice, position)
        return has_usage and not choices

    def _take_usage(self, usage: Json) -> bool:
        if not isinstance(usage, dict):
            return False
        parsed = parse_usage(usage)
        if parsed is not None or self._raw_usage is None:
            self.usage, self._raw_usage = parsed, usage
        return True

    def _take_choice(self, choice: Json, position: int) -> None:
        if not isinstance(choice, dict):
            raise _MisfitError("a choice that is no object")
        index = choice.pop("index", None)
        index = index if _is_index(index) else position
        known = self._choices.get(index)
        if known is None:
            known = self._choices[index] = {"index": index, "message": {}}
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:  # here too, since it is followed after an overflow
            known["finish_reason"] = reason
        self._take_usage(choice.pop("usage", None))
        delta = choice.pop("delta", None)
        message = choice.pop("message", None)
        if delta is None and not known["message"]:
            delta = message  # an upstream that streams in form only: the whole message in one chunk
        if not self.overflowed:
            size = _merge(known, choice, fragments=False)
            self._keep(size + (_merge_delta(known["message"], delta) if delta else 0))

    def _keep(self, size: int) -> None:
        self._kept += size
        if self._kept > self._max_bytes:
            self.overflowed = True
            for index, choice in self._choices.items():
                self._choices[index] = {"index": index, "message": {}, "finish_reason": choice.get("finish_reason")}


def _joined_texts(chunks: Iterable[_Object]) -> Iterator[_Object]:
    """Yields the chunks; of neighbours that differ in a fragment of text alone, one with the whole text."""
    before: _Object | None = None
    fragments: list[str] = []
    for chunk in chunks:
        fragment = _cut_out(chunk)
        if fragment is not None and chunk == before:
            fragments.append(fragment)
            continue
        if before is not None:
            yield _put_back(before, fragments)
        before, fragments = chunk, [] if fragment is None else [fragment]
    if before is not None:
        yield _put_back(before, fragments)


def _cut_out(chunk: _Object) -> str | None:
    """Takes the text out of a chunk that would say nothing twice: one choice, a delta of one text, and else no value
    that is merged. Returns it; None for any other chunk, left as it is."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    delta = choice.get("delta") if isinstance(choice, dict) else None
    if choice is None or not isinstance(delta, dict) or len(delta) != 1:
        return None
    ((key, text),) = delta.items()
    if key not in _TEXTS or not isinstance(text, str):
        return None
    for value in choice.values():
        if value is not delta and isinstance(value, _MERGED):
            return None
    chunk.pop("obfuscation", None)
    delta[key] = ""
    return text


def _put_back(chunk: _Object, fragments: Sequence[str]) -> _Object:
    if fragments:
        delta = chunk["choices"][0]["delta"]
        delta[next(iter(delta))] = "".join(fragments)
    return chunk


def _finished(choice: _Object) -> _Object:
    finished: _Object = {"index": choice["index"], "message": None, "finish_reason": None, **_joined(choice)}
    message = finished["message"] = {"role": "assistant", **finished["message"]}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and all(isinstance(call, dict) for call in calls):
        # The index only numbers fragments; answers that are not streamed go by position.
        calls.sort(key=lambda call: call["index"])
        for call in calls:
            del call["index"]
    return finished


class _MisfitError(ValueError):
    """A value that cannot be merged with the one before: an object after a string, say."""


def _merge_delta(message: _Object, delta: Json) -> int:
    """Merges a delta into the message so far; returns the size of what was added (characters, 8 for a number)."""
    if not isinstance(delta, dict):
        raise _MisfitError("a delta that is no object")
    if not isinstance(calls := delta.get("tool_calls"), list):
        return _merge(message, delta, fragments=True)
    if not isinstance(known := message.get("tool_calls") or [], list):
        raise _MisfitError("tool calls after something else")
    del delta["tool_calls"]
    message["tool_calls"] = known
    return _merge_array(known, calls, _call_of, fragments=True) + _merge(message, delta, fragments=True)


def _merge(into: _Object, new: _Object, *, fragments: bool) -> int:
    """Merges `new` into `into`, as the table above says; `fragments`: in a delta. Returns the size of the addition."""
    size = 0
    for key, value in new.items():
        old = into.get(key)
        if value is None:
            into.setdefault(key, None)
        elif isinstance(value, str):
            _merge_string(into, key, value, fragments=fragments)
            size += len(value)
        elif old is None:
            into[key] = value
            size += _size(value)
        elif isinstance(value, dict) and isinstance(old, dict):
            size += _merge(old, value, fragments=fragments)
        elif isinstance(value, list) and isinstance(old, list):
            size += _merge_array(old, value, _entry_of, fragments=fragments)
        elif isinstance(old, _SCALARS) and isinstance(value, _SCALARS):
            into[key] = value
        else:
            raise _MisfitError(f"{key}: {type(value).__name__} after {type(old).__name__}")
    return size


def _merge_string(into: _Object, key: str, value: str, *, fragments: bool) -> None:
    old = into.get(key)
    if isinstance(old, bytearray):
        if key != "name" or old != value.encode():
            old += value.encode()
    elif old is None:
        into[key] = value
    elif not isinstance(old, str):
        raise _MisfitError(f"{key}: a string after {type(old).__name__}")
    elif not fragments or key in WHOLE:
        into[key] = value or old
    elif key != "name" or old != value:
        # Text that grows is kept as UTF-8: a list of its pieces would take 60 bytes more for every token.
        into[key] = bytearray(old.encode() + value.encode())


def _merge_array(into: list[Json], new: list[Json], find: _Find, *, fragments: bool) -> int:
    size = 0
    for item in new:
        own = find(into, item) if isinstance(item, dict) else None
        if own is None:
            into.append(item)
            size += _size(item)
        else:
            size += _merge(own, item, fragments=fragments)
    return size


def _entry_of(entries: list[Json], fragment: _Object) -> _Object | None:
    """Finds the entry that a fragment continues: the latest of its `index`, unless of another type (OpenRouter numbers
    all `reasoning_details` 0). Without an index it is an entry of its own."""
    index = fragment.get("index")
    if not _is_index(index):
        return None
    own = _latest(entries, "index", index)
    same_type = own and own.get("type") in (None, fragment.get("type", own.get("type")))
    return own if same_type else None


def _call_of(calls: list[Json], fragment: _Object) -> _Object | None:
    """Finds the tool call that a fragment continues, and gives the fragment an `index` if it has none.

    Some upstreams number every call 0: another id together with a name begins another call. Gemini sends no index: an
    id says which call, without one a name begins the next, and anything else belongs to the last.
    """
    index, call_id = fragment.get("index"), fragment.get("id")
    function = fragment.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if _is_index(index):
        own = _latest(calls, "index", index)
        begins_another = own is not None and call_id and name and own.get("id") and own["id"] != call_id
        return None if begins_another else own
    last = calls[-1] if calls and isinstance(calls[-1], dict) else None
    own = _latest(calls, "id", call_id) if call_id else None if name else last
    fragment["index"] = own["index"] if own else last["index"] + 1 if last else len(calls)
    return own


def _latest(entries: list[Json], key: str, value: Json) -> _Object | None:
    for entry in islice(reversed(entries), _LOOK_BACK):
        if isinstance(entry, dict) and entry.get(key) == value:
            return entry
    return None


def _joined(value: Json) -> Json:
    """Returns the merged value with its collected text fragments as strings."""
    if isinstance(value, bytearray):
        return value.decode()
    if isinstance(value, dict):
        return dict(zip(value, map(_joined, value.values()), strict=True))
    if isinstance(value, list):
        return list(map(_joined, value))
    return value


def _size(value: Json) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return sum(map(_size, value))
    return _SCALAR_BYTES


def _is_index(value: Json) -> bool:
    """True for an integer that is no bool."""
    return isinstance(value, int) and not isinstance(value, bool)
