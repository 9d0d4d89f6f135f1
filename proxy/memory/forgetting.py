"""Orders to forget: one thing, in the user's words, or everything.

"Forget everything" counts only as the whole message, and no order counts that stands in text that the user hands over.
"""

import re

from proxy.memory.clauses import sentences
from proxy.memory.handed import own_words
from proxy.memory.signals import SIGNALS, Signals, folded
from proxy.memory.terms import STOP
from proxy.memory.values import WORD, lead, tail
from proxy.reuse.words import fold
from proxy.types.memory import Forgetting

LONGEST = 1_000  # characters of a message that gives an order
# An order has one of these; whether it is one, its sentence says.
_ORDER = re.compile(r"olv[ií]d|borr|elimin|forget|erase|delete|remove|remember|recuerd|acuerd", re.IGNORECASE)


def orders(text: str) -> tuple[Forgetting, ...]:
    """What `text`, a user message, wants forgotten; everything is Forgetting("")."""
    if len(text) > LONGEST and not _ORDER.search(text[:LONGEST]):
        return ()
    if _ORDER.search(text) is None:
        return ()
    own = own_words(text)
    found: list[Forgetting] = []
    for passage in own.passages:
        for start, end in sentences(passage):
            said = passage[start:end].strip()
            if "?" in said or said.startswith("¿"):
                continue
            for signals in SIGNALS.values():
                order = _order(said, signals)
                if order is not None:
                    found.append(order)
                    break
    if any(not order.what for order in found):
        return (Forgetting(""),) if _is_whole(text) else tuple(order for order in found if order.what)
    return tuple(found)


def _is_whole(text: str) -> bool:
    """Does the message say nothing but that everything shall be forgotten?"""
    said = [text[start:end] for start, end in sentences(text)]
    orders = [any((found := _order(each, signals)) and not found.what for signals in SIGNALS.values()) for each in said]
    others = [each for each, is_order in zip(said, orders, strict=True) if not is_order]
    return "\n" not in text.strip() and all(
        lead(folded(each) + ".", SIGNALS["es"]) >= len(each) or lead(folded(each) + ".", SIGNALS["en"]) >= len(each)
        for each in others
    )


def _order(sentence: str, signals: Signals) -> Forgetting | None:
    plainly = folded(sentence)
    start = lead(plainly, signals)
    command = signals.forget.match(plainly, start)
    if command is None:
        behind = _BEHIND.search(plainly)
        what = sentence[start : behind.start()].strip(" ,;:") if behind else ""
        return Forgetting(what) if what and _says_something(what) else None
    end = tail(plainly, signals)
    what = sentence[command.end() : max(end, command.end())].strip()
    wanted = fold(what)
    if signals.everything.fullmatch(wanted) or (not what and signals.everything.search(plainly, start)):
        return Forgetting("")
    if not what or signals.never_mind.fullmatch(wanted) or not _says_something(what):
        return None
    return Forgetting(what)


# "Lo de las cuotas, olvidalo."
_BEHIND = re.compile(
    r",?\s(?:por favor,? )?(?:olvid[ae](?:te)?l[oa]s?|olvidal[oa]s?|borral[oa]s?|please forget (?:it|that|them)|forget (?:it|that|them) please)[\s.!]*$"
)


def _says_something(what: str) -> bool:
    return any(fold(word) not in STOP for word in WORD.findall(what))
