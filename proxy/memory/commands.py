"""Commands to forget: recognised by the words of one user message, of which only its author's own short text counts.

A single command ("forget that …") may stand beside something else. One that wipes all memory is obeyed only if it is
the whole message: as a line of a text that is handed over, it is somebody else's.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proxy.memory.block import without_ours
from proxy.memory.clauses import sentences
from proxy.memory.handed import own_words
from proxy.memory.signals import SIGNALS, Signals, folded
from proxy.memory.terms import STOP
from proxy.memory.values import WORD, lead, tail
from proxy.reuse.words import fold
from proxy.types.memory import Forgetting
from proxy.wire.content import text, texts

LONGEST = 2_000  # characters of an own text that may be a command; what is longer was pasted
MOST_ADDED = 64 * 2**10  # characters with the blocks that we have added, which are looked for only below that

# A command has one of these words; whether it is one, its sentence says.
_MAY_BE = re.compile(
    r"olv[ií]d|b[oó]rr|elim[ií]n|qu[ií]t|s[aá]ca|recuerd|acuerd|guard|sepas|tengas|memoric|forget|erase"
    r"|delete|remove|remember|wipe|clear|drop|take",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:hi|hello|hey|hola|buenas|buen[oa]s? (?:d[ií]as?|tardes|noches)|good (?:morning|afternoon|evening)|please"
    r"|por favor|thanks?(?: you)?(?: very much)?|(?:muchas )?gracias|che|ok(?:ay)?|bueno|listo)"
    r"(?:[ ,]+(?:there|again|please|por favor|everyone|todos))*",
    re.IGNORECASE,
)
_WORDS_ALONE = re.compile(r"[^\W_].*[^\W_]|[^\W_]", re.DOTALL)
_HANDED_OVER = re.compile(r"[\"“”«»\u2018`<>|]|^\W*[-*•#]|\n\s*[-*•#]")  # quoted, tagged, or a line of a list
# "The thing about the car, forget it."
_BEHIND = re.compile(
    r",?\s(?:por favor,? )?"
    r"(?:olvid[ae](?:te)?l[oa]s?|borral[oa]s?|(?:please )?forget (?:it|that|them)(?: please)?)[\s.!]*$"
)

# An order in the form of a question.
_BIDS = re.compile(
    r"\W*(?:please,? |por favor,? )?(?:can|could|would|will) you\b|\W*(?:por favor,? )?(?:podes|podrias"
    r"|puedes|podria|puede)\b"
)
# A question that only asks for consent: "…, ok?"
_TAGGED = re.compile(
    r",\s*(?:ok(?:ay)?|right|please|thanks|yes|will you|would you|can you|dale|si|eh|por favor|porfa|vale"
    r"|puede ser)\s*\?\W*\Z"
)
# The whole message: "Delete my phone number."
_MINE = re.compile(
    r"\W*(?:please,? |por favor,? |now,? |ahora,? |(?:i|we)(?:'d| would)? (?:want|like|need) you to "
    r"|(?:necesito|quiero|quisiera|me gustaria) que )*(?:delete|erase|remove|borra|elimina|quita|borres"
    r"|elimines|quites)\s(?=(?:my|mi|mis|nuestr[oa]s?|our)\s)"
)
# What says where from, or why: "… from your memory", "…, I don't want it stored".
_BESIDES = re.compile(
    r"\s(?:from|out of|de) (?:your |tu |la )?(?:memory|notes|memoria|what you (?:know|remember|have)\b.*)\W*$"
    r"|[,.;:]\s(?:no quiero|no lo|ya no|porque|asi no|i don't|i do not|i'd rather|it's|because|thanks|gracias)\b.*$"
)


def commands(message: Mapping[str, Any]) -> tuple[Forgetting, ...]:
    """The orders to forget in a user message, as it came in its request. `Forgetting("")` is everything. Takes a few
    milliseconds at most."""
    said = text(message)
    if len(said) > MOST_ADDED:
        return ()
    own = without_ours(said).strip()
    if len(own) > LONGEST or _MAY_BE.search(own) is None:
        return ()
    parts = [without_ours(part) for part in texts(message)]
    if _has_one_text(parts) and _is_whole(own):
        return tuple(_orders(own))
    if _has_one_text(parts) and len(list(sentences(own))) == 1 and (mine := _MINE.match(folded(own))) is not None:
        return (Forgetting(own[mine.end() :].strip(" .!")),)
    found = (order for passage in own_words(*parts).passages for order in _orders(passage))
    return tuple(order for order in found if order.what != "")


def is_command(said: str) -> bool:
    """Whether `said`, the text of a user message, orders to forget something: then it must be forgotten itself."""
    return bool(commands({"role": "user", "content": said}))


def _has_one_text(parts: list[str]) -> bool:
    return sum(bool(part.strip()) for part in parts) == 1


def _is_whole(own: str) -> bool:
    """Is nothing in it but commands, greetings and thanks?"""
    if _HANDED_OVER.search(own):
        return False
    return all(_is_courtesy(own[start:end]) or _order(own[start:end]) is not None for start, end in _said(own))


def _said(own: str) -> Iterator[tuple[int, int]]:
    """The sentences of a message, and what stands between two: a number alone is no sentence, and no command."""
    before = 0
    for start, end in sentences(own):
        if before < start:
            yield before, start
        yield start, end
        before = end
    if before < len(own):
        yield before, len(own)


def _is_courtesy(said: str) -> bool:
    words = _WORDS_ALONE.search(said)
    return words is None or _COURTESY.fullmatch(words.group()) is not None


def _orders(passage: str) -> Iterator[Forgetting]:
    for start, end in sentences(passage):
        if (order := _order(passage[start:end])) is not None:
            yield from (Forgetting(each) for each in _objects(order.what))


def _objects(what: str) -> list[str]:
    """What an order names, one by one: "both my job and my address"."""
    return [part.strip() for part in _COORDINATED.split(_BOTH.sub("", what)) if part.strip(" ,")] or [what]


_BOTH = re.compile(r"^(?:both|tanto|either)\s+", re.IGNORECASE)
# Between two objects that each begin as one: a possessive, "that I …", "where I …".
_COORDINATED = re.compile(
    r"\s*(?:,|,?\s(?:and|or|y|e|o|nor|ni|como)(?:\s(?:de|del|about))?)\s+"
    r"(?=(?:my|our|that (?:i|my|we)|where i|how (?:much|old) i|what i|mis?|nuestr[oa]s?|que (?:soy|tengo"
    r"|vivo|mi|trabajo)"
    r"|d[oó]nde|cu[aá]nto)\b)",
    re.IGNORECASE,
)


def _order(sentence: str) -> Forgetting | None:
    said = sentence.strip()
    asks = said.startswith("¿") or said.rstrip("\"'\u201d»),.; ").endswith("?")
    if asks and _TAGGED.search(folded(said)) is not None:
        asks, said = False, said.rstrip("\"'\u201d»),.;? ")
    if asks and _BIDS.match(folded(said)) is None:
        return None
    said = said.strip("¿? ") if asks else said
    return next(filter(None, (_in_language(said, signals) for signals in SIGNALS.values())), None)


def _in_language(sentence: str, signals: Signals) -> Forgetting | None:
    plainly = folded(sentence)
    start = lead(plainly, signals)
    command = signals.forget.match(plainly, start)
    if command is None:
        behind = _BEHIND.search(plainly)
        what = sentence[start : behind.start()].strip(" ,;:") if behind else ""
        return Forgetting(what) if _says_something(what) else None
    besides = _BESIDES.search(plainly, command.end())
    end = tail(plainly[: besides.start()] if besides else plainly, signals)
    what = sentence[command.end() : max(end, command.end())].strip()
    wanted = fold(what)
    if signals.everything.fullmatch(wanted) or (not what and signals.everything.search(plainly, start)):
        return Forgetting("")
    if not what or signals.never_mind.fullmatch(wanted) or not _says_something(what):
        return None
    return Forgetting(what)


def _says_something(what: str) -> bool:
    return any(fold(word) not in STOP for word in WORD.findall(what))
