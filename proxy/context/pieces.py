"""Extraction of pieces from a user message: statements, decisions and requests in the user's own words, each
understandable alone.

A piece is a whole sentence, or its clauses up to a joint, never cut inside. Greetings, thanks, jokes, code, and
pointers to something unnamed are left out; where the previous sentence names it, the two are one piece.
"""

import re
from dataclasses import dataclass, replace

from proxy.context.cuts import (
    DEPENDENT,
    INTERROGATIVE,
    JOKED,
    LEAD,
    MINE,
    QUOTES_YOU,
    SHORTEST,
    YOURS,
    Kind,
    clauses_before,
    clean,
    concreteness,
    is_casual,
    is_closed,
    is_generic,
    is_passing,
    is_platitude,
    names_thing,
    parts,
    passages,
    sentences,
    speaks_to_you,
    without,
)
from proxy.context.referents import names, points_outside, things
from proxy.language.phrases import expression, phrases
from proxy.language.tables import union
from proxy.language.words import plain
from proxy.memory.signals import folded, spoken_in
from proxy.types.memory import Language

LONGEST = 26  # words of a piece
_LONGEST_ASKED = 30  # of a request, which may need its circumstances
_SHORT = 9  # words of a question that needs the sentence before it
_WAVERING = 4.0  # worth that an unsure statement loses
_PASSING = 4.0  # worth that a statement about today loses
_ASKED = 18  # words of a question that needs a noun before it
_FRAGMENT = 4  # words of a question that may be a fragment
_RULE = 1.5  # worth that a lasting rule adds
_OPENING = 2.0  # worth that the first request of a message adds: it shows the topic
_LEADS = 4.0  # score of the part that opens a request: it shows the topic
_GENERIC = 2.0  # worth that a request without a subject loses ("review my code")
_LEAST = 2  # words of meaning in a piece
_MOST_NAMED = 8  # words of meaning: more add nothing
_ENDS = " ?!.\"'”»)"
_END = 10  # characters that show whether a sentence kept its end

_TABLES = union("notes")
_DECIDES, _WAVERS, _CORRECTS, _RULES = (phrases(_TABLES[name]) for name in ("decides", "wavers", "corrects", "rules"))
_TAKES_BACK = expression(_TABLES, r"\b{takes_back}")
_FRAME = expression(_TABLES, r"(?:{frames}\s+)+")
_ASKS = expression(_TABLES, "{asks}")
_IDLE = expression(_TABLES, "{idle}")
_POINTS = expression(_TABLES, r"{points}\b")
_PRAISES = expression(_TABLES, "{praises}")
_HANDS = expression(_TABLES, r"\b{hands}\b")
_DENIES = expression(_TABLES, " {denies} ")
_BANS = expression(_TABLES, r"{bans}\b")


# A place that is only pointed at, at the beginning of a sentence ("en ese caso, …").
_POINTING = re.compile(
    r"^(?:en|para|con|in|for|at|with)\s(?:es[ea]|est[ea]|es[oa]s|est[oa]s|that|this|those|these)\s\w+,?\s",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, or a part of one, that can be understood alone."""

    text: str
    kind: Kind
    worth: float  # weight among the pieces of a segment
    corrects: bool = False  # it takes back what was said before
    language: Language = "en"


def pieces_of(message: str) -> tuple[Piece, ...]:
    """Returns the pieces of a user message, in order."""
    found: dict[str, Piece] = {}
    for passage in passages(message):
        for piece in _pieces(passage):
            found.setdefault(piece.text, piece)
    return tuple(found.values())


def pointing_question(message: str) -> str:
    """Returns the first question of a message that points to something unnamed, and would be a piece otherwise; "" if
    there is none."""
    for passage in passages(message):
        language = spoken_in(passage)
        for sentence in sentences(passage):
            text, said = clean(sentence), plain(sentence)
            if "?" not in sentence and not _ASKS.match(folded(text)):
                continue
            is_idle = _IDLE.search(folded(text)) or is_casual(said, language, sentence) or QUOTES_YOU.search(said)
            is_told = SHORTEST < len(text.split()) <= _ASKED and names(text) and things(text, language)
            if is_told and not is_idle and is_closed(text) and points_outside(text, language):
                return f"{text}?" if "?" in sentence else text
    return ""


def takes_back(message: str) -> bool:
    """True if the message takes back what the user said in the turn before."""
    return _TAKES_BACK.search(folded(message)) is not None


def _pieces(passage: str) -> list[Piece]:
    language = spoken_in(passage)
    found: list[Piece] = []
    before, is_idle = "", False  # the previous sentence; it was left out
    for sentence in sentences(passage):
        said = plain(sentence)
        if is_idle and "?" in sentence:  # a question about an omitted sentence
            is_idle = False
            continue
        denied = QUOTES_YOU.search(said) is not None
        if denied and _DENIES.search(said) and (piece := _denial(sentence, language)):
            found.append(piece)
            continue
        if is_casual(said, language, sentence) or (is_idle := denied):
            found = found[:-1] if JOKED.search(said) else found
            before = ""
            continue
        piece = _ban(sentence, language) or _piece(sentence, said, language)
        last = found[-1] if found and before and before.startswith(found[-1].text) else None
        if piece and before.endswith("?") and not last and len(before.split()) <= SHORTEST and piece.kind == "request":
            piece = replace(piece, text=f"{before} {piece.text}")
        # A short request belongs to the piece before it.
        elif piece is None or (
            last and last.kind != "decision" and piece.kind == "request" and len(piece.text.split()) < _SHORT
        ):
            piece = _joined(before, last, sentence, language) or piece
            if piece and last and piece.text.startswith(last.text):
                found.pop()
        if piece:
            found.append(piece if found or piece.kind != "request" else replace(piece, worth=piece.worth + _OPENING))
        before = piece.text if piece else clean(sentence) or _named(sentence)
        before = before if before.endswith("?") else f"{before}." if before else ""
    return found


def _ban(sentence: str, language: Language) -> Piece | None:
    """Returns the piece of a prohibition ("no more emojis"), which needs no more than a name; None if the sentence is
    none."""
    text = clean(sentence)
    if "?" in sentence or not _BANS.match(folded(text)) or len(text.split()) > LONGEST:
        return None
    is_whole = names(text) and is_closed(text) and not points_outside(without(_BANS, text).strip(), language)
    return Piece(text, "decision", _worth(text, "decision", language), language=language) if is_whole else None


def _denial(sentence: str, language: Language) -> Piece | None:
    """Returns the piece of a correction of the assistant, denial included; None if it does not say enough."""
    text = clean(sentence)
    is_whole = len(names(text)) >= _LEAST and things(text, language) and is_closed(text)
    return (
        Piece(text, "statement", _worth(text, "statement", language), language=language)
        if is_whole and len(text.split()) <= LONGEST
        else None
    )


def _named(sentence: str) -> str:
    """Returns a question that consists of a name ("And the gels?"), without its opening; "" if it does not."""
    text = without(LEAD, sentence).strip(" ,;:.!¿?")
    is_name = "?" in sentence and len(text.split()) <= SHORTEST and len(names(text)) == 1
    return f"{text}?" if is_name else ""


def _joined(before: str, last: Piece | None, sentence: str, language: Language) -> Piece | None:
    """Returns one piece of a sentence and the one before it; None if they cannot be understood together."""
    text, asks = clean(sentence), "?" in sentence
    if (
        not before
        or _is_handing(before)
        or len(names(text)) < _LEAST - asks
        or (not asks and len(names(text)) == _LEAST and not concreteness(text))
    ):
        return None
    if not before.endswith("?") and not _states(before.rstrip("."), language) and not concreteness(before):
        return None
    both = f"{before} {text[:1].upper()}{text[1:]}" + ("?" if asks else "")
    if (
        len(both.split()) > LONGEST
        or not _whole(both, language)
        or not (asks or (_states(text, language) and _states(both, language)))
    ):
        return None
    kind: Kind = "decision" if last and last.kind == "decision" else "request" if asks else "statement"
    worth = max(_worth(both, kind, language), last.worth if last else 0.0)
    return Piece(both, kind, worth, last.corrects if last else False, language)


def _piece(sentence: str, said: str, language: Language) -> Piece | None:
    text, asks = _POINTING.sub("", clean(sentence)), "?" in sentence
    if sentence.rstrip().endswith(":") and sentence.rstrip(" :").endswith(text[-_END:]):
        text = clauses_before(text, len(text))  # the text behind the colon is missing
    is_decision = not asks and _decides(said)
    is_request = asks or (not is_decision and _ASKS.match(folded(text)) is not None)
    if is_request and (idle := _IDLE.search(folded(text))):
        text, asks = clauses_before(text, idle.start()), False
    # A fragment is the end of an earlier question.
    is_fragment = len(text.split()) <= _FRAGMENT and not _interrogates(text) and not _ASKS.match(folded(text))
    if not text or (is_request and is_fragment):
        return None
    best = _best(text, language, is_request=is_request, is_decision=is_decision)
    if not best or not (is_request or is_decision or _states(best, language)):
        return None
    corrects = not asks and _CORRECTS.search(said) is not None
    wavers = _WAVERS.search(said) is not None
    changes = is_decision or (corrects and not wavers)
    kind: Kind = "request" if is_request else "decision" if changes else "statement"
    worth = _worth(best, kind, language)
    if kind == "statement":
        worth -= _WAVERING if wavers else _PASSING if is_passing(said, language) else 0.0
    is_question = asks and best != _unframed(text) and (_interrogates(best) or sentence.rstrip(_ENDS).endswith(best))
    return Piece(f"{best}?" if is_question else best, kind, worth, corrects, language)


def _best(text: str, language: Language, *, is_request: bool, is_decision: bool) -> str:
    """Returns the part of a sentence that can be understood alone: all of it, else the run of clauses that says most;
    "" if none can."""
    longest = _LONGEST_ASKED if is_request else LONGEST
    for runs in ([text] if len(text.split()) <= longest else [], parts(text, longest)):
        tried = [bare for part in runs for bare in ((_unframed(part), part) if is_request else (part,)) if bare]
        found = [part for part in tried if _whole(part, language) and (not is_decision or decides(part))]
        if found:
            return max(found, key=lambda part: (_tells(part, text, is_request=is_request), -len(part)))
    return ""


def _tells(part: str, text: str, *, is_request: bool) -> float:
    """Returns a score of how much a part of a sentence says: its names, whether it opens the sentence, whether it
    asks."""
    bare = _unframed(text) if is_request else ""
    opens = text.startswith(part) or (bare and bare.startswith(part))
    asks = is_request and (part == bare or _interrogates(part))
    leads = (_LEADS if is_request else 2.0) * bool(opens)
    return min(len(names(part)), _MOST_NAMED) + min(concreteness(part), 2) + leads + 2.0 * asks


def _interrogates(text: str) -> bool:
    return INTERROGATIVE.match(folded(text)) is not None


def _unframed(text: str) -> str:
    """Returns the object of a request, without the words of asking; "" if there are none."""
    bare = without(_FRAME, text).strip(" ,;:¿?")
    return bare if bare != text and not DEPENDENT.match(folded(bare)) else ""


def _whole(text: str, language: Language) -> str:
    """Returns `text` if it can be understood alone, else ""."""
    telling = len(text.split()) >= SHORTEST and len(names(text)) >= _LEAST and names_thing(text, language)
    return text if telling and is_closed(text) and not points_outside(text, language) else ""


def _states(text: str, language: Language) -> bool:
    """True if the text states something, and does not merely address the reader."""
    said = plain(text)
    if MINE.search(said) is None and (
        YOURS.search(said) or (_PRAISES.match(folded(text)) and not concreteness(text) > 1)
    ):
        return False
    if _POINTS.match(folded(text)) or _is_handing(text) or is_platitude(text, language):
        return False
    return concreteness(text) > 0 or len(names(text)) > _LEAST or _RULES.search(said) is not None


def _is_handing(text: str) -> bool:
    return _HANDS.search(folded(text)) is not None


def decides(text: str) -> bool:
    """True if the text tells of a decision."""
    return _decides(plain(text))


def _decides(said: str) -> bool:
    return _DECIDES.search(said) is not None and not _WAVERS.search(said)


def _worth(text: str, kind: Kind, language: Language) -> float:
    base = {"decision": 6.0, "request": 2.5 if speaks_to_you(text) else 3.5, "statement": 2.0}[kind]
    mine = kind == "statement" and MINE.search(plain(text)) is not None
    rule = _RULE * (kind != "request" and _RULES.search(plain(text)) is not None)
    generic = _GENERIC * (kind == "request" and is_generic(text, language))
    return base + mine + rule - generic + min(concreteness(text), 4) * 0.4 + min(len(things(text, language)), 6) * 0.3
