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

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from proxy.protocol.answers import parse_usage
from proxy.protocol.merging import MisfitError, is_index, joined, joined_texts, merge, merge_delta
from proxy.protocol.sse import DONE_DATA
from proxy.types import Json, Usage

_Object: TypeAlias = dict[str, Any]

_FIRST_WINS = frozenset({"id", "created", "model"})
# `obfuscation` is random padding that OpenAI adds to chunks, against guessing tokens from their length.
_NOT_OF_THE_ANSWER = frozenset({"choices", "usage", "object", "obfuscation"})
# Finish reasons of an incomplete answer: OpenRouter's for a failure, DeepSeek's for a lack of capacity.
BROKE_OFF = frozenset({"error", "insufficient_system_resource"})
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
            and all(isinstance(reason, str) and reason and reason not in BROKE_OFF for reason in reasons)
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
        for chunk in joined_texts(decoded):
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
            raise MisfitError("choices that are no array")
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
            raise MisfitError("a choice that is no object")
        index = choice.pop("index", None)
        index = index if is_index(index) else position
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
            size = merge(known, choice, fragments=False)
            self._keep(size + (merge_delta(known["message"], delta) if delta else 0))

    def _keep(self, size: int) -> None:
        self._kept += size
        if self._kept > self._max_bytes:
            self.overflowed = True
            for index, choice in self._choices.items():
                self._choices[index] = {"index": index, "message": {}, "finish_reason": choice.get("finish_reason")}


def _finished(choice: _Object) -> _Object:
    finished: _Object = {"index": choice["index"], "message": None, "finish_reason": None, **joined(choice)}
    message = finished["message"] = {"role": "assistant", **finished["message"]}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and all(isinstance(call, dict) for call in calls):
        # The index only numbers fragments; answers that are not streamed go by position.
        calls.sort(key=lambda call: call["index"])
        for call in calls:
            del call["index"]
    return finished
