"""Commands to forget: recognised by the words of one user message, of which only its author's own short text counts.

A single command ("forget that …") may stand beside something else. One that wipes all memory is obeyed only if it is
the whole message: as a line of a text that is handed over, it is somebody else's.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proxy.memory.block import without_ours
from proxy.memory.extract import extract
from proxy.memory.prose import prose, sentences
from proxy.types.memory import Forgetting
from proxy.wire.content import text

LONGEST = 2_000  # characters of an own text that may be a command; what is longer was pasted
MOST_ADDED = 64 * 2**10  # characters with the blocks that we have added, which are looked for only below that

# A command has one of these words; whether it is one, its sentence says.
_MAY_BE = re.compile(r"olv[ií]d|borr|elimin|forget|erase|delete|remove|remember|wipe|clear|drop", re.IGNORECASE)
_COURTESY = re.compile(
    r"(?:hi|hello|hey|hola|buenas|buen[oa]s? (?:d[ií]as?|tardes|noches)|good (?:morning|afternoon|evening)|please"
    r"|por favor|thanks?(?: you)?(?: very much)?|(?:muchas )?gracias|che|ok(?:ay)?|bueno|listo)"
    r"(?:[ ,]+(?:there|again|please|por favor|everyone|todos))*",
    re.IGNORECASE,
)
_WORDS_ALONE = re.compile(r"[^\W_].*[^\W_]|[^\W_]", re.DOTALL)
_HANDED_OVER = re.compile(r"[\"“”«»\u2018`<>|]|^\W*[-*•#]|\n\s*[-*•#]")  # quoted, tagged, or a line of a list


def commands(message: Mapping[str, Any]) -> tuple[Forgetting, ...]:
    """What a user message, as it came in its request, orders to be forgotten; () if nothing. `Forgetting("")` is
    everything. Takes a few milliseconds at most."""
    said = text(message)
    if len(said) > MOST_ADDED:
        return ()
    own = without_ours(said).strip()
    if len(own) > LONGEST or _MAY_BE.search(own) is None:
        return ()
    found = tuple(each for each in extract(own) if isinstance(each, Forgetting))
    if any(each.what == "" for each in found) and not (_has_one_text(message) and _is_whole(own)):
        return tuple(each for each in found if each.what != "")
    return found


def is_command(said: str) -> bool:
    """Does `said`, the text of a user message, say what shall be forgotten? Then it must be forgotten itself."""
    return bool(commands({"role": "user", "content": said}))


def _has_one_text(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return not isinstance(content, list) or sum(bool(text({"content": [part]}).strip()) for part in content) == 1


def _is_whole(own: str) -> bool:
    """Is nothing in it but commands, greetings and thanks?"""
    if prose(own) != own or _HANDED_OVER.search(own):
        return False
    return all(_is_courtesy(said) or any(isinstance(each, Forgetting) for each in extract(said)) for said in _said(own))


def _said(own: str) -> Iterator[str]:
    rest = own
    for sentence in sentences(own):
        rest = rest.replace(sentence.text, "", 1)
        yield sentence.text
    if re.search(r"\w", rest):  # a number alone is no sentence, and no command
        yield rest


def _is_courtesy(said: str) -> bool:
    words = _WORDS_ALONE.search(said)
    return words is None or _COURTESY.fullmatch(words.group()) is not None
