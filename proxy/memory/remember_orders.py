"""Parser of orders to remember: what is to be kept, in the user's words.

An order is a verb of keeping as an imperative, a request or a wish ("remember that …", "could you note that …", "no te
olvides de que …"), at the head of a sentence or of a clause that goes on from what the user says; and what is to be
kept, behind it, or before it ("I'm vegan, keep that in mind"). Whether that is the user's, `remember_contents` tells.
What stands on a line that nobody typed as a sentence, or belongs to a role, is no order of the user's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from proxy.language.phrases import expression, prefix_tree
from proxy.language.tables import union
from proxy.language.words import plain
from proxy.memory.clauses import sentences
from proxy.memory.forget_orders import says_something
from proxy.memory.remember_contents import Content, Verb, weigh
from proxy.memory.shapes import HANDOVER, is_foreign
from proxy.memory.signals import SIGNALS, folded, tail

LONGEST = 600  # characters of a sentence that may be an order
_REMEMBERED = 512  # texts whose orders are cached


@dataclass(frozen=True, slots=True)
class Parsed:
    """An order to remember in a sentence, by positions in it."""

    content: Content
    at: int = 0  # of the order
    start: int = 0  # of what is to be kept; with `end` no text at all, if that is the sentence before: "Remember that."
    end: int = 0


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order to remember in a text, by positions in it."""

    content: Content
    start: int  # of the order with what is to be kept
    end: int
    what: str = ""  # that is to be kept, verbatim; "" if nothing is

    @property
    def keeps(self) -> bool:
        """Tells whether something is to be kept."""
        return self.content in ("fact", "rule")


_TABLES = union("orders_to_remember")
_find = partial(expression, _TABLES)

_OPENS = " \t\n\u00a1\u00bf(\u2026\u2013\u2014-"  # what may stand before a sentence
_OPENING = rf"[{_OPENS}]*"
_LEAD = _find(rf"{_OPENING}(?:(?:{{lead}})(?:[\s,:;.!\u2026\u2013\u2014-]+\s*|\s+)\u00bf?)*")
_CASE = _find(
    rf"{_OPENING}(?:{{whenever}}) (?:{{whoever}})(?! ?(?:{{speaks}})\b)[^,.;:?!]{{2,80}},\s*(?:(?:{{lead}})[\s,]+)*"
    r"\u00bf?"
)
_VERB = _find(r"(?P<bid>(?:{bids})\s+(?:(?:{please}),?\s+)?)?(?P<verb>(?P<keeps>{keeps})|(?P<notes>{notes}))(?![\w'])")
_ASKS_FOR = _find(r"(?P<bid>{asks_for_doing})\s+(?P<verb>(?P<keeps>{doing})|(?P<notes>(?!)))\b")
_LABEL = _find(rf"{_OPENING}(?:(?:{{lead}})[,:]?\s+)*?(?:{{labels}})\s*(?:[:\u2013\u2014]|\s-\s)\s*")
_DENIED = _find(r"(?:{denied})\s+(?:(?:{keeps})|(?:{notes})|(?:{doing}))(?![\w'])")
# Behind the verb: "this", "in your memory", "for next time", and what leads on to what is kept.
_ASIDES = r"(?:,?\s+(?:{into}|{for_later})(?![\w'])(?=\s|[,:;.!?\u2026\u2013\u2014-]|$))*"
_BEHIND_VERB = _find(
    r"(?:,?\s+(?:{please}),?)?"
    rf"(?:(?:\s+(?P<pointer>{{pointer}})(?=\s*[,:;.!?\u2026\u2013\u2014]|\s*$|\s+-|\s+(?:{{into}}|{{for_later}})\b))?{_ASIDES})"
    r"(?P<mark>\s*[,:\u2026\u2013\u2014]\s*|\s+-+\s+|\s+|$)(?:(?:{please}),?\s+)?(?P<that>(?:{that})\b[,:]?\s*)?"
)
_END = _find(rf"(?:\s+(?P<pointer>{{pointer}}))?{_ASIDES}(?:,?\s+(?P<case>{{in_cases}}))?[\s,]*(?:{{please}})?\W*$")
_ABOUT_ME = _find(r"\b(?:{about_me})\b")
_REASON = _find(r",?\s+(?:{reasons})\b")
# The object of a verb, at its end or inside of it: "anotalo", "no lo olvides", "keep it in mind".
_OBJECT = _find(r"\w{it}\b|\b{it}\b|\b(?:{pointer})\b")
_SLIPS = _find(r"\b{slips}\b")
_DOERS = _find(r",|\b(?:{doers})\b")
_UNFINITE = _find(r"{unfinite}(?!\w)")
_OF = re.compile(r"\b(?:of|de)$")
_PAST = re.compile(r"(?:anot|apunt|guard|grab|registr|record|agend|archiv|memoric|conserv)\u00e9(?!\w)", re.IGNORECASE)
_INNER = _find(
    r"(?:(?:[,;]|\s[\u2013\u2014-]+|[.\u2026])\s+|\s*[(\u2014]\s*)(?:(?:{joins})\b,?\s*)*|\s(?:{joins})\s+(?:(?:{joins})\b,?\s*)*"
)
_OTHERS_WORDS = _find(r"\b(?:{others_words})\b")
_ROLES = _find(r"\b(?:{roles})")
_ASKS_BEHIND = _find(r"[,;.\u2026]\s+(?={asks_behind})")
_KIND_BEHIND = _find(r",\s+(?:{kind})")
_TAGGED = _find(r",\s*\u00bf?\s*(?:{tags})\s*\?\W*\Z")
_CLOSING = "\"'\u201d\u00bb),.; "
_MAY_BE = re.compile(prefix_tree(_TABLES["may_be"]))
_MARKS = " \t\n#/*<!;%-"  # of a comment, before its words
_COMMENT = ("#", "//", "/*", "*", "--", "<!--", ";;", "%")


@lru_cache(_REMEMBERED)
def orders(text: str) -> tuple[Ordered, ...]:
    """Finds the orders to remember in a text, in their order; those of which nothing is to be kept too."""
    if not may_order(text):
        return ()
    spans = list(sentences(text))
    asking: list[bool] = []  # by sentence, once an order is found: most texts have none
    found = []
    for at, (start, end) in enumerate(spans):
        sentence = text[start:end]
        if not may_order(sentence):
            continue
        line = _line(text, start)
        is_comment = line.startswith(_COMMENT)
        said = sentence.lstrip(_MARKS) if is_comment else sentence
        parsed = parse(said)
        if parsed is not None:
            asking = asking or [asks_for_work(text[slice(*span)]) for span in spans]
            if any(asking[:at]) or any(asking[at + 1 :]):
                parsed = parse(said, has_task=True)
        if parsed is None:
            continue
        if is_comment:
            found.append(Ordered("nothing", start, end))
        elif not is_foreign(line, alone="\n" not in text.strip() and not line.startswith("-")):
            found.append(_placed(text, parsed, spans, at))
    return tuple(found)


def may_order(text: str) -> bool:
    """Tells whether a text has a word that orders to remember have: most others need not be parsed."""
    return _MAY_BE.search(folded(text)) is not None


def asks_for_work(sentence: str) -> bool:
    """Tells whether a sentence asks for something."""
    if sentence.rstrip(_CLOSING).endswith("?"):
        return True
    plainly, said = folded(sentence).lstrip(), plain(sentence)
    return any(HANDOVER[name].match(plainly) for name in ("works", "makes", "orders")) or any(
        signals.asks.match(said) or signals.task.match(said) for signals in SIGNALS.values()
    )


def parse(sentence: str, *, has_task: bool = False) -> Parsed | None:
    """Parses a sentence as an order to remember; None if it is none. `has_task`: the message also asks for something
    else, to which an instruction may belong."""
    if len(sentence) > LONGEST:
        return None
    plainly = folded(sentence)
    if _is_denied(plainly):
        return Parsed("nothing")
    end = _end(sentence, plainly)
    if end is None:
        verb = _VERB.match(plainly, len(plainly) - len(plainly.lstrip(_OPENS)))
        return Parsed("nothing") if verb and verb["keeps"] else None
    label = _LABEL.match(plainly)
    if label is not None and label.end() < end:
        found = _content(sentence, (0, label.end(), end), verb="labels", has_that=True, has_task=has_task)
        if found.content != "nothing":  # it may be a heading of anything
            return found
    parsed = (_at(sentence, plainly, (cut, start, end), has_task=has_task) for cut, start in _starts(plainly, end))
    return next((found for found in parsed if found is not None), None)


def _line(text: str, start: int) -> str:
    """Returns the line that a sentence begins on."""
    start += len(text[start:]) - len(text[start:].lstrip())
    return text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0].lstrip()


def _placed(text: str, parsed: Parsed, spans: Sequence[tuple[int, int]], at: int) -> Ordered:
    """Returns an order by its positions in the text; one that points back with the sentence that it points at."""
    start, end = spans[at]
    content = parsed.content
    if content in ("fact", "rule") and _ROLES.search(folded(text[:start])):
        content = "nothing"
    if parsed.start < parsed.end:
        what = text[start + parsed.start : start + parsed.end]
        return Ordered(content, start + min(parsed.at, parsed.start), end, what)
    if content == "nothing" or not at:
        return Ordered("nothing", start + parsed.at, end)
    before, stop = spans[at - 1]
    what = text[before:stop].strip()
    if asks_for_work(what) or parse(what) is not None:
        return Ordered("nothing", start, end)
    content = weigh(what, verb="told", has_that=True, has_task=True)
    return Ordered(content if content in ("fact", "rule") else "open", before, end, what)


def _end(sentence: str, plainly: str) -> int | None:
    """Returns the position at which what is kept ends at the latest; None if the sentence only asks."""
    if not sentence.rstrip(_CLOSING).endswith("?"):
        kind = _KIND_BEHIND.search(plainly)
        return kind.start() if kind else len(plainly)
    if (tagged := _TAGGED.search(plainly)) is not None:
        return tagged.start()
    if behind := list(_ASKS_BEHIND.finditer(plainly)):
        return behind[-1].start()
    bids = (_verb(plainly, start) for _, start in _starts(plainly, len(plainly)))
    return len(plainly) if any(verb is not None and verb["bid"] for verb in bids) else None


def _is_denied(plainly: str) -> bool:
    """Tells whether a sentence says that something need not be kept."""
    lead = _LEAD.match(plainly)
    for at in dict.fromkeys((len(plainly) - len(plainly.lstrip(_OPENS)), lead.end() if lead else 0)):
        verb = _VERB.match(plainly, at)
        if _DENIED.match(plainly, at) and (verb is None or verb["bid"]):
            return True
    return False


def _starts(plainly: str, end: int) -> Iterator[tuple[int, int]]:
    """Yields the positions at which an order may begin: at the head of the sentence, behind its greetings, and behind
    what it goes on from. Each comes behind the end of that, which is 0 for the head."""
    heads = {found.end() for found in (_LEAD.match(plainly), _CASE.match(plainly)) if found}
    yield from ((0, at) for at in sorted({*heads, len(plainly) - len(plainly.lstrip(_OPENS))}, reverse=True))
    for found in _INNER.finditer(plainly, 0, end):
        if found.start() > 0 and _OTHERS_WORDS.search(plainly, 0, found.start()) is None:
            yield found.start(), found.end()


def _verb(plainly: str, start: int) -> re.Match[str] | None:
    return _ASKS_FOR.match(plainly, start) or _VERB.match(plainly, start)


def _at(sentence: str, plainly: str, span: tuple[int, int, int], *, has_task: bool) -> Parsed | None:
    """Parses the order that begins at `span[1]`, behind what ends at `span[0]`; what is kept ends at `span[2]` at the
    latest."""
    cut, start, end = span
    is_first = cut == 0
    verb = _verb(plainly, start)
    if verb is None or verb.end() > end or _PAST.search(sentence, start, verb.end()) is not None:
        return None
    if not (is_first or verb["bid"]) and _UNFINITE.match(verb["verb"]):  # "decidí anotarme en …"
        return None
    if _points_back(plainly, verb):
        return _before(sentence, cut)
    behind = _BEHIND_VERB.match(plainly, verb.end(), end)
    if behind is None:
        return None
    at = behind.end()
    if behind["pointer"] in _TABLES["that"].split() and not behind["mark"].strip():
        at = behind.start("pointer")
    if not sentence[at:end].strip(" .,!"):
        return Parsed("nothing", start) if is_first and verb["keeps"] else None
    asks = sentence.rstrip(_CLOSING).endswith("?")  # "can you remember my taste in films?" tells nothing
    name: Verb = "keeps" if verb["keeps"] and not asks else "notes_of" if _OF.search(verb["verb"]) else "notes"
    if _ABOUT_ME.search(plainly, verb.end(), behind.end()):
        name = "told"
    if name == "keeps" and behind["mark"].strip() and not behind["that"]:
        name = "marked"
    has_that = behind["that"] is not None or behind["mark"].strip() != ""
    return _content(sentence, (start, at, end), verb=name, has_that=has_that, has_task=has_task or not is_first)


def _points_back(plainly: str, verb: re.Match[str]) -> bool:
    """Tells whether what is to be kept stands before the order: "remember that", "guardalo porque lo pierdo"."""
    has_object = _OBJECT.search(verb["verb"]) is not None
    if has_object and _REASON.match(plainly, verb.end()):
        return True
    back = _END.match(plainly, verb.end())
    # "Remember that when I ask for a recipe you …" says what is to be kept.
    if back is None or (back["case"] and len(_DOERS.findall(back["case"])) > 1):
        return False
    return bool(back["pointer"]) or has_object or _SLIPS.search(verb["verb"]) is not None


def _content(sentence: str, span: tuple[int, int, int], *, verb: Verb, has_that: bool, has_task: bool) -> Parsed:
    """Returns the order at `span[0]` to keep what stands from `span[1]` to `span[2]`, without a closing "please"."""
    at, start, end = span
    said = _without_task(sentence[start:end], verb, has_that=has_that)
    stop = min(tail(folded(said), signals) for signals in SIGNALS.values())
    said = said[:stop] if says_something(said[:stop]) else said
    return Parsed(weigh(said, verb=verb, has_that=has_that, has_task=has_task), at, start, start + len(said))


def _without_task(said: str, verb: Verb, *, has_that: bool) -> str:
    """Cuts off work that is asked for behind what is to be kept, where the work alone makes it nothing: "note that the
    plumber is called Otto, and then help me with this letter"."""
    if weigh(said, verb=verb, has_that=has_that, has_task=False) != "nothing":
        return said
    for found in _INNER.finditer(folded(said)):
        if found.start() > 0 and asks_for_work(said[found.end() :]):
            return said[: found.start()]
    return said


def _before(sentence: str, cut: int) -> Parsed:
    """Returns an order that points back: to what its sentence says up to `cut`, else to the sentence before."""
    before = sentence[:cut].rstrip(" ,;\u2013\u2014-.\u2026")
    if not says_something(before):
        return Parsed("fact", len(sentence))
    begins = len(before) - len(before.lstrip())
    content: Content = (
        "open" if before.endswith("?") else weigh(before[begins:], verb="told", has_that=True, has_task=False)
    )
    return Parsed(content, begins, begins, len(before))
