"""Messages that are sent shortened: long older answers lose their middle, old tool results become a line each.

A result that is left out stays a message: role, id and every other field are kept, only its content becomes a line that
describes it. Calls, reasoning, system and tools are never touched. Results leave in batches, by the rules of
`economics`: without need once carrying them has cost as much as rewriting what follows them, and within `REGRET` (a
batch alone seldom pays at once, so without an advance none would ever leave). Results that a later one repeats leave
first, and alone where that is enough.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from proxy.context.economics import REGRET, CostSoFar, Rates
from proxy.protocol.message import replaced, rewritten
from proxy.types import Message

MARKER = 60  # tokens of a marker, about
LEAST = 2 * MARKER  # tokens of a result worth leaving out
MOST_ARGUMENTS = 120  # characters of a call's arguments in a marker
MOST_QUOTED = 80  # characters of a result's first line in a marker, some 20 tokens

_CAPPED = "\n… [{} tokens left out] …\n"  # in place of an answer's middle
_HEAD = 2 / 3  # share of the beginning in a capped answer: answers come to the point first
_CLOSE_ENOUGH = 8  # characters: precision of the search for the cut

Size: TypeAlias = Callable[[int], int]  # tokens of the message with this index, as the client sent it
Count: TypeAlias = Callable[[str], int]  # tokens of a text

_canonical = msgspec.json.Encoder(order="deterministic")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Sizes of the prompt as it would be sent with no further result left out, and bounds of what may leave."""

    start: int  # index of the first message behind the memory head
    before: int  # tokens in front of that message
    tokens: int  # of the whole prompt
    repeated: int  # tokens at the beginning that it shares with the previous prompt
    keep: int  # newest results that stay whole
    folded: Collection[int] = ()  # indices of results that are left out already
    edited: Mapping[int, int] = field(default_factory=dict)  # tokens of messages that marks have changed, by index
    limit: int | None = None  # tokens of the prompt
    pressure: int | None = None  # tokens above which a batch need not pay off, only be affordable


@dataclass(frozen=True, slots=True)
class _Result:
    index: int
    tokens: int
    call: bytes  # name and arguments, canonical
    said: str
    carried: int  # requests that repeated it since it left the newest `keep`


def to_fold(messages: Sequence[Message], size: Size, prompt: Prompt, rates: Rates, costs: CostSoFar) -> tuple[int, ...]:
    """Returns the indices of the results to leave out from now on, besides those that already are."""
    old = _old_results(messages, size, prompt)
    if not old:
        return ()
    limit = math.inf if prompt.limit is None else prompt.limit
    pressure = math.inf if prompt.pressure is None else prompt.pressure
    repeated = _repeated(messages, old)
    batches = [batch for batch in (repeated, old) if batch]

    def left(batch: Sequence[_Result]) -> int:
        return prompt.tokens - sum(result.tokens - MARKER for result in batch)

    def cost(batch: Sequence[_Result]) -> float:
        if rates.breakpoints:
            return rates.cost(left(batch), 0)  # no request has ended in front of it since the last such change
        before = range(prompt.start, batch[0].index)
        apart = {*prompt.folded, *prompt.edited}
        stays = sum(size(index) for index in before if index not in apart)
        stays += MARKER * sum(index in before for index in prompt.folded)
        stays += sum(tokens for index, tokens in prompt.edited.items() if index in before)
        return rates.cost(left(batch), min(prompt.repeated, prompt.before + stays))

    def is_affordable(batch: Sequence[_Result]) -> bool:
        return costs.spent + cost(batch) <= (1 + REGRET) * costs.baseline

    def pays(batch: Sequence[_Result]) -> bool:
        carried = rates.cached * sum((result.tokens - MARKER) * result.carried for result in batch)
        return cost(batch) - rates.cost(prompt.tokens, prompt.repeated) <= carried

    chosen: Sequence[_Result] = ()
    if prompt.tokens > limit:
        # With room for what follows: the next call would be above the limit again, and rewrite all once more.
        chosen = next((batch for batch in batches if left(batch) <= min(limit, pressure)), old)
    elif prompt.tokens > pressure:
        chosen = next((batch for batch in batches if left(batch) <= pressure and is_affordable(batch)), ())
    if not chosen:
        chosen = next((batch for batch in reversed(batches) if pays(batch) and is_affordable(batch)), ())
    return tuple(result.index for result in chosen)


def markers(messages: Sequence[Message], folded: Collection[int], size: Size, keep: int) -> dict[int, Message]:
    """Returns the messages that replace the left-out results, by index: the same bytes in every later request."""
    found: dict[int, Message] = {}
    results = list(_results(messages, min(folded, default=len(messages))))
    for at, (index, name, arguments) in enumerate(results):
        if index not in folded:
            continue
        said = messages[index].text
        # Only later results that were there when it was left out: else its marker would change.
        later = results[at + 1 : at + 1 + keep]
        if any(messages[each].text == said for each, _, _ in later):
            described = "identical to the later result"
        else:
            line = next((line for line in map(str.strip, said.splitlines()) if line), "")
            described = f"line 1: {msgspec.json.encode(_cut(line, MOST_QUOTED)).decode()}"
        content = f"[tool result left out: {_described(name, arguments)}, {size(index):,} tokens, {described}]"
        found[index] = replaced(messages[index], content)
    return found


def _old_results(messages: Sequence[Message], size: Size, prompt: Prompt) -> list[_Result]:
    """Returns the results that may leave, oldest first: the model has seen them, and at least `prompt.keep` newer ones
    follow."""
    results = list(_results(messages, prompt.start))
    answers = [index for index in range(prompt.start, len(messages)) if messages[index].role == "assistant"]
    last = answers[-1] if answers else 0
    old = []
    for at, (index, name, arguments) in enumerate(results[: max(0, len(results) - prompt.keep)]):
        if index in prompt.folded or index > last or size(index) < LEAST or not messages[index].has_only_text:
            continue
        if index in prompt.edited:
            continue
        since = results[at + prompt.keep][0]
        carried = sum(answer > since for answer in answers)
        call = _canonical.encode([name, _decoded(arguments)])
        old.append(_Result(index, size(index), call, messages[index].text, carried))
    return old


def _repeated(messages: Sequence[Message], old: Sequence[_Result]) -> list[_Result]:
    """Returns the results whose call or content occurs again later."""
    calls: dict[bytes, int] = {}
    contents: dict[str, int] = {}
    for index, name, arguments in _results(messages, old[0].index):
        calls[_canonical.encode([name, _decoded(arguments)])] = index
        contents[messages[index].text] = index
    return [result for result in old if max(calls.get(result.call, 0), contents.get(result.said, 0)) > result.index]


def _results(messages: Sequence[Message], start: int) -> Iterator[tuple[int, str, str]]:
    """Yields the index of every tool result from `start` on, with name and arguments of its call."""
    while 0 < start < len(messages) and messages[start].role == "tool":
        start -= 1  # back to the call; further results of it before `start` do no harm
    calls: dict[str, tuple[str, str]] = {}
    for index in range(start, len(messages)):
        said = messages[index]
        if said.role == "tool":
            name, arguments = calls.get(said.tool_call_id, (said.name or "tool", ""))
            yield index, name, arguments
        elif said.role == "assistant":
            for call in said.tool_calls:
                if call.name and call.arguments is not None:
                    calls[call.id] = call.name, call.arguments


def _described(name: str, arguments: str) -> str:
    """Returns a call as one line: `read_file(path="src/a.py")`."""
    decoded = _decoded(arguments)
    if isinstance(decoded, dict):
        arguments = ", ".join(f"{key}={msgspec.json.encode(value).decode()}" for key, value in decoded.items())
    return f"{name}({_cut(arguments, MOST_ARGUMENTS)})"


def _decoded(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments) if arguments else {}
    except ValueError:
        return arguments


def _cut(said: str, most: int) -> str:
    return said if len(said) <= most else f"{said[: most - 1]}…"


def cap(text: str, max_tokens: int, count: Count) -> str:
    """Returns `text`, shortened to at most `max_tokens` by `count`: its beginning, a marker with the number of tokens
    left out, its end. `count` must not fall when a text grows. With no room for a marker it is a mere beginning."""
    total = count(text)
    if total <= max_tokens:
        return text
    low, high, best = 0, len(text), ""
    while high - low > _CLOSE_ENOUGH:
        middle = (low + high) // 2
        shorter = _without_middle(text, middle, total, count)
        if count(shorter) <= max_tokens:
            low, best = middle, shorter
        else:
            high = middle
    return best or _beginning(text, max_tokens, count)


def cap_message(said: Message, max_tokens: int, count: Count) -> Message:
    """Returns the message with its text capped; itself if there is nothing to cap. Messages with tool calls, and parts
    that are no text, are never capped."""
    if said.calls_tools:
        return said
    if said.is_plain:
        return rewritten(said, lambda text: cap(text, max_tokens, count))
    left = max_tokens

    def shorter(text: str) -> str:
        nonlocal left
        capped = cap(text, left, count)
        left = max(0, left - count(capped))
        return capped

    return rewritten(said, shorter)


def _without_middle(text: str, characters: int, total: int, count: Count) -> str:
    head = text[: round(characters * _HEAD)]
    tail = text[len(text) - (characters - len(head)) :]
    # Cut at the end of a word, if one is near.
    head = head.rsplit(None, 1)[0] if " " in head[-24:] else head
    tail = tail.split(None, 1)[-1] if " " in tail[:24].strip() else tail
    return head.rstrip() + _CAPPED.format(max(1, total - count(head) - count(tail))) + tail.lstrip()


def _beginning(text: str, max_tokens: int, count: Count) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip()
