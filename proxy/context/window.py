"""The window of recent turns that a fold keeps: their number, and the length of their older answers.

Sizes are those of the profile's `Window`: 6 turns, 8 while the talk is continuous, 4 while it jumps, within a number of
tokens; the newest turn is always whole.
"""

from collections.abc import Callable, Sequence

from proxy.config.profiles import Window
from proxy.protocol.message import rewritten
from proxy.types import Message, TurnDigest

Count = Callable[[str], int]  # tokens of a text

_MARKER = "\n… [{} tokens left out] …\n"
_HEAD = 2 / 3  # share of the beginning in a capped answer: answers come to the point first
_CLOSE_ENOUGH = 8  # characters: precision of the search for the cut


def window_turns(digests: Sequence[TurnDigest], numbers: Window) -> int:
    """Returns how many turns the window should have after `digests`, oldest first."""
    last = [digest.continuity for digest in digests[-numbers.continuity_turns :]]
    known = [near for near in last if near is not None]
    if len(known) < numbers.continuity_turns:
        return numbers.turns
    if min(known) > numbers.high_continuity:
        return numbers.max_turns
    if max(known) < numbers.low_continuity:
        return numbers.min_turns
    return numbers.turns


def kept(digests: Sequence[TurnDigest], tokens_limit: int, turns_limit: int) -> int:
    """Returns how many of the newest `digests` (oldest first) a fold keeps: the newest one always, older ones up to
    `turns_limit` turns and `tokens_limit` tokens together."""
    if not digests:
        return 0
    turns, tokens = 1, digests[-1].tokens
    for digest in reversed(digests[:-1]):
        tokens += digest.tokens
        if turns >= turns_limit or tokens > tokens_limit:
            break
        turns += 1
    return turns


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
    return head.rstrip() + _MARKER.format(max(1, total - count(head) - count(tail))) + tail.lstrip()


def _beginning(text: str, max_tokens: int, count: Count) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip()
