"""Merging of the values of streamed chunks, as the table in `accumulate.py` says; and of neighbouring chunks that
differ in a fragment of text alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

from proxy.types import Json

_Object: TypeAlias = dict[str, Any]
_Find: TypeAlias = Callable[[list[Any], _Object], _Object | None]

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
# What may come as a list of parts, and the types of parts that come in fragments.
_IN_PARTS = frozenset({"content", "thinking"})
_FRAGMENTS = frozenset({"text", "thinking"})


class MisfitError(ValueError):
    """A value that cannot be merged with the one before: an object after a string, say."""


def merge_delta(message: _Object, delta: Json) -> int:
    """Merges a delta into the message so far; returns the size of what was added (characters, 8 for a number)."""
    if not isinstance(delta, dict):
        raise MisfitError("a delta that is no object")
    if not isinstance(calls := delta.get("tool_calls"), list):
        return merge(message, delta, fragments=True)
    if not isinstance(known := message.get("tool_calls") or [], list):
        raise MisfitError("tool calls after something else")
    del delta["tool_calls"]
    message["tool_calls"] = known
    return _merge_array(known, calls, call_of, fragments=True) + merge(message, delta, fragments=True)


def merge(into: _Object, new: _Object, *, fragments: bool) -> int:
    """Merges `new` into `into`, as that table says; `fragments`: in a delta. Returns the size of the addition."""
    size = 0
    for key, value in new.items():
        old = into.get(key)
        if fragments and key in _IN_PARTS and (isinstance(value, list) or isinstance(old, list)):
            size += _merge_content(into, key, value)
        elif value is None:
            into.setdefault(key, None)
        elif isinstance(value, str):
            _merge_string(into, key, value, fragments=fragments)
            size += len(value)
        elif old is None:
            into[key] = value
            size += _size(value)
        elif isinstance(value, dict) and isinstance(old, dict):
            size += merge(old, value, fragments=fragments)
        elif isinstance(value, list) and isinstance(old, list):
            size += _merge_array(old, value, _entry_of, fragments=fragments)
        elif isinstance(old, _SCALARS) and isinstance(value, _SCALARS):
            into[key] = value
        else:
            raise MisfitError(f"{key}: {type(value).__name__} after {type(old).__name__}")
    return size


def _merge_content(into: _Object, key: str, value: Json) -> int:
    """Merges a content that is a list of parts, or becomes one: Mistral's models think in parts, and answer in strings.
    A part goes on from one of its type before it, as fragments of a string do."""
    size, parts = 0, _as_parts(into.get(key))
    into[key] = parts
    for part in _as_parts(value):
        last = parts[-1] if parts else {}
        if not isinstance(part, dict) or not isinstance(last, dict):
            raise MisfitError("a part that is no object")
        kind = part.get("type")
        if isinstance(kind, str) and kind in _FRAGMENTS and part.keys() == {"type", kind} and last.get("type") == kind:
            size += merge(last, {kind: part[kind]}, fragments=True)
        else:
            parts.append(part)
            size += _size(part)
    return size


def _as_parts(content: Json) -> list[Any]:
    if isinstance(content, list):
        return content
    content = joined(content)
    if content is None or content == "":
        return []
    if not isinstance(content, str):
        raise MisfitError(f"{type(content).__name__} among parts")
    return [{"type": "text", "text": content}]


def _merge_string(into: _Object, key: str, value: str, *, fragments: bool) -> None:
    old = into.get(key)
    if isinstance(old, bytearray):
        if key != "name" or old != value.encode():
            old += value.encode()
    elif old is None:
        into[key] = value
    elif not isinstance(old, str):
        raise MisfitError(f"{key}: a string after {type(old).__name__}")
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
            size += merge(own, item, fragments=fragments)
    return size


def _entry_of(entries: list[Json], fragment: _Object) -> _Object | None:
    """Finds the entry that a fragment continues: the latest of its `index`, unless of another type (OpenRouter numbers
    all `reasoning_details` 0). Without an index it is an entry of its own."""
    index = fragment.get("index")
    if not is_index(index):
        return None
    own = _latest(entries, "index", index)
    same_type = own and own.get("type") in (None, fragment.get("type", own.get("type")))
    return own if same_type else None


def call_of(calls: list[Json], fragment: _Object) -> _Object | None:
    """Finds the tool call that a fragment continues, and gives the fragment an `index` if it has none.

    Some upstreams number every call 0: another id together with a name begins another call. Gemini sends no index: an
    id says which call, without one a name begins the next, and anything else belongs to the last.
    """
    index, call_id = fragment.get("index"), fragment.get("id")
    function = fragment.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if is_index(index):
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


def joined(value: Json) -> Json:
    """Returns the merged value with its collected text fragments as strings."""
    if isinstance(value, bytearray):
        return value.decode()
    if isinstance(value, dict):
        return dict(zip(value, map(joined, value.values()), strict=True))
    if isinstance(value, list):
        return list(map(joined, value))
    return value


def _size(value: Json) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return sum(map(_size, value))
    return _SCALAR_BYTES


def is_index(value: Json) -> bool:
    """True for an integer that is no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def joined_texts(chunks: Iterable[_Object]) -> Iterator[_Object]:
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
