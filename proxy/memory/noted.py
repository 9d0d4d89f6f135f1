"""What of a turn is worth a note: what its user decided, stated and asked for, in the user's own words.

Every piece is whole: a clause, or the clauses of a sentence up to one of its joints, never cut inside. What greets,
thanks or jokes, what is code, and what says nothing without its context is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.memory import noted_words as tables
from proxy.memory.clauses import Clause
from proxy.memory.extract import extract
from proxy.memory.handed import own_words
from proxy.memory.learned import split
from proxy.memory.nouns import content, names_something, noun_phrases
from proxy.memory.signals import SIGNALS, folded
from proxy.memory.spoken import spoken_in
from proxy.reuse.text import plain
from proxy.types.memory import Language

LONGEST = 18  # words of a clause
_ASKED = 16  # words of a question
_SHORTEST = 3  # words of a clause: less says nothing
_LEAST = 2  # words of meaning in a piece
_TELLING = 2.0  # how concrete a sentence must be that states nothing lasting

_SENTENCE = re.compile(r"(?<=[.!?…;])\s+|\n+|(?=¿)")
# Code, formulas, addresses and marks of layout.
_CODE = re.compile(
    r"[{}<>|\\=^_]{2}|[=^\u221a\u2211\u00b2\u00b3\u00d7\u00f7`]|\w\(\w*\)?|::|->|=>|https?:|www\.|\*\*|\$\w+\$|\$\$"
    r"|^\s*(?:#|\*|[-\u2022]\s|\d+[.)]\s|import\b|def\b|const\b|return\b)"
)
# Whom a clause speaks to.
_ADDRESS = re.compile(r"^(?:[A-Z]\w+(?:!\s+|,\s+(?=(?:I|we|my|it|that)\b)))+")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"^[A-ZÁÉÍÓÚÑ]|[A-Z]{2}|[a-z][A-Z]|\w[_/]\w")


@dataclass(frozen=True, slots=True)
class Noted:
    """What a user message has for a note, each in its order."""

    decisions: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()  # noun phrases


def noted(message: str) -> Noted:
    """What is worth a note in a user message."""
    passages = [passage for passage in own_words(message).passages if passage.strip()]
    said = [sentence for passage in passages for sentence in sentences(passage)]
    decisions = _distinct(clause for sentence in said for clause in _decisions(sentence))
    stated = _distinct(_statements(said, [statement.value for statement in extract(message)]))
    requests = _distinct(asked for passage in passages for asked in _requests(passage))
    told = [sentence for sentence in said if _is_told_of(sentence, (*decisions, *stated, *requests))]
    return Noted(
        decisions=decisions,
        statements=tuple(clause for clause in stated if not _is_in(clause, decisions)),
        requests=requests,
        phrases=tuple(
            phrase
            for sentence in told
            if not _CODE.search(sentence)
            for phrase in noun_phrases(_without(tables.LEAD, sentence), spoken_in(sentence))
        ),
    )


def _is_told_of(sentence: str, pieces: Sequence[str]) -> bool:
    """Is one of `pieces` from this sentence?"""
    known = set(plain(sentence).split())
    return any(set(plain(piece).split()) <= known for piece in pieces)


def _statements(said: Sequence[str], values: Sequence[str]) -> Iterator[str]:
    """The sentences that hold what is stated, or what is stated alone where a sentence is long; and those that name a
    number besides."""
    for sentence in said:
        if "?" in sentence or _is_casual(sentence):
            continue
        known = set(plain(sentence).split())
        held = [value for value in values if set(plain(value.replace("\u2026", " ")).split()) <= known]
        if not held and (concreteness(sentence) < _TELLING or tables.WAVERS.search(plain(sentence))):
            continue
        whole = "" if tables.OPENS.match(folded(_bare(sentence))) else clean(sentence)
        alone = [clean(value) for value in held if "\u2026" not in value]
        rest = [
            value
            for value in alone
            if value and not tables.OPENS.match(folded(_bare(value))) and not _is_in(value, [whole])
        ]
        yield from (piece for piece in (whole, *rest) if piece and _stands_alone(piece))


def _stands_alone(clause: str) -> bool:
    said = plain(clause)
    if tables.DEICTIC.match(folded(clause)) or (tables.YOURS.search(said) and not tables.MINE.search(said)):
        return False
    return concreteness(clause) > 0 or content(clause, spoken_in(clause)) > _LEAST


def is_praise(clause: str) -> bool:
    """Does an answer speak of whoever asks, and not of what was asked?"""
    return bool(tables.PRAISES.match(folded(clause)) or tables.YOURS.search(plain(clause)))


def _is_casual(sentence: str) -> bool:
    signals, said = SIGNALS[spoken_in(sentence)], plain(sentence)
    return bool(tables.LAUGHS.search(said) or signals.imagine.search(said))


def sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


def clean(clause: str, most: int = LONGEST) -> str:
    """`clause` without what it opens with by habit, and up to the last joint within `most` words; "" if what is left
    says nothing, or is code."""
    clause = _ADDRESS.sub("", _without(tables.LEAD, " ".join(clause.split()))).strip(" ,;:.!…\"'“”«»¡-\u2013\u2014")
    tail = tables.TAIL.search(folded(clause))
    clause = _finished(shortened(clause[: tail.start()] if tail else clause, most))
    if _CODE.search(clause) or len(clause.split()) < _SHORTEST or content(clause, spoken_in(clause)) < _LEAST:
        return ""
    return clause if _is_closed(clause) else ""


def shortened(clause: str, most: int, *, hard: bool = False) -> str:
    """The longest beginning of `clause` that ends at a joint and has at most `most` words, `hard` at a mark or a
    conjunction; "" if none says anything."""
    if len(clause.split()) <= most:
        return clause
    for joints in (tables.JOINT,) if hard else (tables.JOINT, tables.SOFT_JOINT):
        for joint in reversed(list(joints.finditer(folded(clause)))):
            part = clause[: joint.start()].rstrip(" ,;:.(")
            if joints is tables.SOFT_JOINT and tables.SUBORDINATE.search(folded(part)):
                break
            if _SHORTEST <= len(part.split()) <= most and part.split()[-1].lower() not in tables.UNFINISHED:
                return part if content(part, spoken_in(part)) >= _LEAST else ""
    return ""


def _without(opening: re.Pattern[str], text: str) -> str:
    found = opening.match(folded(text))
    return text[found.end() :] if found else text


def _finished(clause: str) -> str:
    """`clause`, up to its last joint where it breaks off."""
    if not clause or clause.rsplit(maxsplit=1)[-1].lower().strip("\"'“”") not in tables.UNFINISHED:
        return clause
    return shortened(clause, len(clause.split()) - 1)


def concreteness(text: str) -> float:
    """Numbers, and names that do not just begin the sentence."""
    said = text.split()
    numbers = sum(bool(_NUMBER.search(word)) for word in said)
    names = sum(
        bool(_NAME.search(word.strip("¿¡\"'(“"))) and word not in ("I", "I'm", "I've", "I'd", "I'll")
        for word in said[1:]
    )
    return 2.0 * numbers + names


def _is_closed(clause: str) -> bool:
    """Is every bracket and quotation mark in it closed?"""
    return (
        clause.count("(") == clause.count(")") and clause.count('"') % 2 == 0 and clause.count("“") == clause.count("”")
    )


def _distinct(clauses: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clauses))


def _is_in(clause: str, others: Sequence[str]) -> bool:
    """Does one of `others` say most of it?"""
    said = set(plain(clause).split())
    return any(
        len(said & set(plain(other).split())) > 0.6 * min(len(said), len(plain(other).split())) for other in others
    )


def _decides(said: str) -> bool:
    return bool(tables.DECIDES.search(said)) and not tables.WAVERS.search(said)


def _decisions(sentence: str) -> Iterator[str]:
    if "?" not in sentence and _decides(plain(sentence)):
        clause = clean(_from_signal(sentence))
        if clause and _decides(plain(clause)):
            yield clause


def _from_signal(sentence: str) -> str:
    """Without the clauses before the one that decides, if what is left says something by itself."""
    parts = re.split(r"(?<=[,:])\s+", sentence)
    for at, part in enumerate(parts):
        if _decides(plain(part)):
            rest = " ".join(parts[at:])
            return rest if len(rest.split()) > _SHORTEST and concreteness(rest) else sentence
    return sentence


def _requests(passage: str) -> Iterator[str]:
    language = spoken_in(passage)
    for clauses in _by_sentence(split(passage)):
        if _is_casual(" ".join(clause.text for clause in clauses)):
            continue
        begun = _where_asked(clauses)
        if begun is None:
            continue
        opens = bool(begun) and tables.OPENS.match(folded(_bare(clauses[0].text))) is not None
        for first in (0, begun) if opens else (begun,):
            last = begun if first < begun else len(clauses)
            request = _request(" ".join(clause.text for clause in clauses[first:last]), language)
            if request:
                yield request


def _where_asked(clauses: Sequence[Clause]) -> int | None:
    """The clause of a sentence that its question or request begins with; None if it asks for nothing."""
    bare = [folded(_bare(clause.text)) for clause in clauses]
    if any(clause.asked for clause in clauses):
        opened = [at for at, text in enumerate(bare) if (tables.ASKS_LATER if at else tables.INTERROGATIVE).match(text)]
        asked = next(at for at, clause in enumerate(clauses) if clause.asked)
        return min([asked, *opened])
    return next(
        (at for at, text in enumerate(bare) if tables.OPENS.match(text) or (at == 0 and tables.ORDERS.match(text))),
        None,
    )


def _by_sentence(clauses: Sequence[Clause]) -> list[list[Clause]]:
    found: dict[int, list[Clause]] = {}
    for clause in clauses:
        found.setdefault(clause.sentence, []).append(clause)
    return list(found.values())


def _bare(text: str) -> str:
    return _without(tables.LEAD, text).lstrip("¿ ")


def _request(asked: str, language: Language) -> str:
    """What is asked for, as short as it can be told whole; "" if it says nothing."""
    bare = _bare(" ".join(asked.split())).rstrip(" ?.!…")
    if tables.IDLE.search(folded(bare)) or _CODE.search(bare):
        return ""
    bare = _without(tables.FRAME, bare).strip(" ,;:¿?")
    whole = re.sub(r"\s(?:for|with|of|about|to|on)\s(?:it|that|this|them)$", "", _finished(shortened(bare, _ASKED)))
    if (
        whole
        and not tables.DEPENDENT.match(folded(whole))
        and _is_closed(whole)
        and _meaning(whole, language) >= _LEAST
    ):
        return _lowered(whole)
    named = noun_phrases(f"a {bare}", language)
    best = max(named, key=lambda phrase: content(phrase, language), default="")
    return best if content(best, language) > _LEAST and names_something(best) else ""


def _meaning(text: str, language: Language) -> int:
    return content(" ".join(word for word in text.split() if word.lower().strip(",.;") not in tables.LIGHT), language)


def _lowered(text: str) -> str:
    first = text.split(maxsplit=1)[0]
    is_word = first[1:].islower() if len(first) > 1 else first != "I"
    is_word = is_word and not first.startswith(("I'", "I\u2019"))
    return text[:1].lower() + text[1:] if is_word and not _NUMBER.search(first) else text
