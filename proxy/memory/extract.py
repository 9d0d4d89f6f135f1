"""Facts that a user message states about its author, and orders to forget. Nothing is inferred.

Only the author's own words are read (`handed`), clause by clause (`clauses`). Which clauses state something lasting, and
what about, was learnt (`learned`); what is asked, imagined, ordered for now or told by the other side is left out,
whatever was learnt, and what the user asks to be remembered counts, whatever was learnt. One statement a fact: clauses go
together only where the later one cannot stand without the earlier.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proxy.memory import forgetting
from proxy.memory import subject_words as tables
from proxy.memory.clauses import Clause
from proxy.memory.handed import Own, own_words
from proxy.memory.handing import HANDING
from proxy.memory.learned import Guess, guess, split
from proxy.memory.signals import SIGNALS, Signals, folded
from proxy.memory.subject import gist
from proxy.memory.terms import STOP
from proxy.memory.values import WORD, key, without_signal
from proxy.reuse.language import language
from proxy.reuse.text import plain
from proxy.reuse.text import words as listed
from proxy.reuse.words import fold
from proxy.types.memory import Confidence, Forgetting, Language, Stance, Statement

LONGEST = 400  # characters of a value; what would make it longer is left to the archive
STATEMENTS = 12  # of one message
_LIKELY = 0.42  # that a clause is a fact: what is kept
_LIKELY_BESIDE = 0.5  # beside handed-over text
_SURE = 0.8  # of what looks like a question, an order or a passing state
_SIGNED = 0.12  # of what carries a sign of its own
_CHANGED = 0.25  # of what says that something was otherwise before
_REASONS = 0.7  # of what gives a reason
_VERY_LIKELY = 0.9
_VAGUE = 0.75  # of what names nothing, behind another clause
_LEAST_WORDS, _ANNOUNCEMENT = 2, 3  # content words of what may stand alone, and of what only announces
_GOES_ON = 0.1  # of what goes on from what is kept
_NEVER = 1.1
_CLEARLY = 2  # words more than the other language has
_COMMON = (
    listed(
        "de la el que en mi me los las un una con es no lo por para se al del uso soy todo sin tengo vivo siempre nada"
    ),
    listed("the of to i my is and in a it for we with no i'm an on are our at please always never use live from"),
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A clause that may be kept."""

    clause: Clause
    guess: Guess
    kept: bool
    doubted: bool  # it is supposed, told by the other side, or of a story
    explicit: bool  # the user asks for it to be remembered
    standing: bool  # it holds for every answer
    decides: bool
    slot: str  # of the tables; "" if none
    domain: str  # of the slot
    changes: bool
    keeps: bool


def extract(text: str) -> tuple[Statement | Forgetting, ...]:
    """What `text`, a user message, states about its author or wants forgotten, in its order."""
    orders = forgetting.orders(text)
    return orders or statements(own_words(text))


def wants_forgetting(text: str) -> bool:
    """Does `text`, a user message, say what shall be forgotten? Then it must be forgotten itself."""
    return bool(forgetting.orders(text))


def statements(own: Own) -> tuple[Statement, ...]:
    """What a message states in its author's own words."""
    found: list[Statement] = []
    for passage in own.passages:
        spoken = spoken_in(passage)
        found += _of_passage(passage, spoken, hands_over=own.hands_over)
    return tuple(found[:STATEMENTS])


def spoken_in(text: str) -> Language:
    """The language of `text`; of what is too short or too mixed to be sure, that of more of the commonest words."""
    if (spoken := language(text)) is not None:
        return spoken
    said = [word.lower() for word in WORD.findall(text)]
    spanish, english = (sum(word in common for word in said) for common in _COMMON)
    return "es" if spanish > english else "en"


def _of_passage(passage: str, spoken: Language, *, hands_over: bool) -> list[Statement]:
    signals = SIGNALS[spoken]
    clauses = split(passage)
    texts = [clause.text for clause in clauses]
    read: list[_Read] = []
    for at, clause in enumerate(clauses):
        if signals.imagine.search(plain(clause.text)) and not signals.remember.search(plain(clause.text)):
            break  # what follows is imagined as well
        read.append(_read(clause, guess(texts, at, spoken), signals, hands_over=hands_over))
    return [_statement(run, signals) for run in _runs(_without_vague(_without_supposed(read)), passage)]


def _without_supposed(read: Sequence[_Read]) -> list[_Read]:
    """Nothing of a sentence is kept that is supposed, told by the other side or of a story, as a whole."""
    doubted = {each.clause.sentence for each in read if each.doubted}
    return [
        replace(
            each,
            kept=each.kept and (each.explicit or each.standing and not each.doubted or each.guess.fact > _VERY_LIKELY),
        )
        if each.clause.sentence in doubted
        else each
        for each in read
    ]


def _read(clause: Clause, guessed: Guess, signals: Signals, *, hands_over: bool) -> _Read:
    whole = plain(clause.text)
    value = without_signal(clause.text, signals)
    explicit = signals.remember.search(whole) is not None
    standing = bool(signals.standing.search(whole) or signals.standing_opens.match(plain(value)))
    slot = next((slot for slot in signals.slots if slot.table.search(whole)), None)
    signed = explicit or standing or (slot is not None and tables_first_person(whole))
    least = _LIKELY_BESIDE if hands_over else _LIKELY
    said = gist(clause.text)
    if (said.changes or said.ends) and tables_first_person(whole):
        least = min(least, _CHANGED)
    if signed:
        least = _SIGNED
    if _is_no_statement(clause, whole, value, signals, standing=standing or explicit):
        least = _SURE if not signed else least
    opens = plain(value)
    doubted = not explicit and bool(
        signals.hypothetical.search(whole)
        or signals.hypothetical_opens.match(opens)
        or signals.reported.search(whole)
        or (signals.others.match(opens) and not said.names)
    )
    if explicit and _points_back(whole, opens, signals):
        least = _NEVER
    if _REASON.match(folded(clause.text)):
        least = max(least, _REASONS)
    if doubted and not standing:
        least = _VERY_LIKELY
    if clause.asked:
        least = max(least, _SURE)
    words = [word for word in WORD.findall(value) if fold(word) not in STOP]
    if not words:
        least = _NEVER
    return _Read(
        clause,
        guessed,
        kept=guessed.fact > least,
        doubted=doubted,
        explicit=explicit,
        standing=standing or guessed.about == "instruction",
        decides=(signals.decides.search(whole) or signals.decides_opens.match(whole)) is not None,
        slot=slot.key if slot else "",
        domain=slot.domain if slot else "",
        changes=gist(clause.text).changes,
        keeps=signals.keeps.search(whole) is not None,
    )


_REASON = re.compile(r"^\W*(?:because|cos|cuz|since|so that|so|porque|pq|ya que|asi que|para que|por si|in case)\b")
_BACK = re.compile(
    r"\b(?:anota|apunta|guarda|recorda|recuerda|acorda|acuerda|tene|ten|agenda|apunto|guarde|anote)(?:te|me)?l[oa]s?\b|\blo (?:apunto|digo|aclaro)\b"
    r"|\b(?:keep|bear|have|remember|save|store|note) (?:(?:it|this|them|those)\b|that(?: one)? (?:in mind|handy|for|when|,|\.))|\bacu[eé]rdate de (?:la|el|eso|esto)\b"
)


def _points_back(whole: str, opens: str, signals: Signals) -> bool:
    """Is it about what stands before it? "Keep that in mind"."""
    besides = signals.remember.sub(" ", whole).split()
    return sum(word[0].isalnum() and word not in STOP for word in besides) <= 1 or _BACK.search(whole) is not None


def tables_first_person(whole: str) -> bool:
    return _FIRST.search(whole) is not None


_FIRST = re.compile(
    r" (?:i|i'm|i've|im|ive|my|we|we're|we've|our|mi|mis|yo|soy|tengo|vivo|trabajo|me|somos|tenemos|vivimos|hablo|uso|nuestr[oa]s?) "
)


def _is_no_statement(clause: Clause, whole: str, value: str, signals: Signals, *, standing: bool) -> bool:
    if standing:
        return False
    core = plain(value)
    if signals.asks.match(core) or signals.task.match(core) or signals.hypothetical_opens.match(core):
        return True
    return HANDING.orders.match(folded(value)) is not None


# --- what goes together ----------------------------------------------------------------------------------------------

_CONJUNCTION = re.compile(
    r"^\W*(?:(?:and|but|so|because|since|plus|also|cos|y|e|pero|porque|pq|ademas|tambien|aunque|mientras)\b\W*)+"
)
# What a clause that says something by itself begins with, behind a conjunction.
_ALONE = re.compile(
    r"\b(?:i|i'm|i've|im|ive|i'd|i'll|we|we're|we've|my|our|the|it|it's|its|there|this|that|from|always|never|please|call|answer|"
    r"yo|soy|tengo|vivo|trabajo|mi|mis|nuestr[oa]s?|el|la|los|las|es|son|esta|somos|tenemos|hay|me|nos|se|siempre|nunca|"
    r"\w{2,}(?:amos|emos|imos)|\w{3,}o)\b"
)
_OF_ANOTHER = re.compile(
    r"(?:he|she|they|he's|she's|they're|hes|shes|theyre|his|her|their|ella|ellos|ellas|su|sus|le|les|lo|la)\b"
)
_IT = re.compile(r"(?:it|it's|its|that's|thats|eso es|ahora es)\b")
_LABEL = re.compile(r"\s*([^:.!?\n]{2,40}):\s")
_MINE = re.compile(
    r"(?:i|we)(?:'ve| have| have got|'ve got| got|'m|'re| am| are)?\b|tengo\b|tenemos\b|hay\b|uso\b|usamos\b|soy\b|somos\b"
)


@dataclass(frozen=True, slots=True)
class _Run:
    """The clauses that make one statement."""

    clauses: tuple[_Read, ...]
    lead: str = ""  # whom or what it is about, where its own words do not say so

    @property
    def text(self) -> str:
        said = " ".join(each.clause.text for each in self.clauses)
        return f"{self.lead} \u2026 {_CONNECTED.sub('', said)}" if self.lead else said


_CONNECTED = re.compile(r"^\W*(?:(?:and|but|y|e|pero)\b\s*)", re.IGNORECASE)


def _without_vague(read: Sequence[_Read]) -> list[_Read]:
    """A clause that names nothing counts only where it is surer than its neighbours: "it drives me mad"."""
    found = list(read)
    for at, each in enumerate(read):
        if not each.kept or not _is_vague(each):
            continue
        sentence = each.clause.sentence
        follows = at > 0 and found[at - 1].kept and found[at - 1].clause.sentence == sentence
        if (follows and each.guess.fact < _VAGUE) or (
            len(_content(each.clause.text)) < _LEAST_WORDS and each.guess.fact < _VERY_LIKELY
        ):
            found[at] = replace(each, kept=False)
    return found


def _is_vague(each: _Read) -> bool:
    said = gist(each.clause.text)
    return not (said.values or said.names or said.holder or each.explicit or each.standing)


def _content(text: str) -> list[str]:
    return [word for word in WORD.findall(text) if fold(word) not in STOP]


def _runs(read: Sequence[_Read], passage: str) -> list[_Run]:
    """The clauses that make one statement each."""
    runs: list[_Run] = []
    announced: _Read | None = None  # "We've decided:", said right before what was
    for at, each in enumerate(read):
        before = read[at - 1] if at and read[at - 1].clause.sentence == each.clause.sentence else None
        if not each.kept:
            goes_on = runs and before is not None and before is runs[-1].clauses[-1] and each.guess.fact > _GOES_ON
            if goes_on and not each.clause.asked and not each.doubted and not _stands_alone(each):
                runs[-1] = replace(runs[-1], clauses=(*runs[-1].clauses, each))
            continue
        begins = folded(each.clause.text)
        joined = _CONJUNCTION.match(begins)
        begins = begins[joined.end() :] if joined else begins.lstrip(" ,;(-\u2013\u2014")
        after = read[at + 1] if at + 1 < len(read) else None
        goes_on = after is not None and after.kept and after.clause.sentence == each.clause.sentence
        if announced is not None and announced is before:
            runs.append(_Run((announced, each)))
            announced = None
            continue
        if goes_on and _is_vague(each) and len(_content(each.clause.text)) <= _ANNOUNCEMENT:
            announced = each
            continue
        if _IT.match(begins) and at and not read[at - 1].clause.asked and not read[at - 1].kept:
            runs.append(_Run((read[at - 1], each)))
        elif _OF_ANOTHER.match(begins):
            runs.append(_Run((each,), _last_named(passage[: each.clause.start])))
        elif before is None or _ALONE.match(begins):
            runs.append(_Run((each,)))
        elif (lead := _lead(read, at, passage, listed=joined is not None)) is not None:
            runs.append(_Run((each,), lead))
        elif before.kept and runs and len(runs[-1].text) + len(each.clause.text) <= LONGEST:
            runs[-1] = replace(runs[-1], clauses=(*runs[-1].clauses, each))
        else:
            runs.append(_Run((each,)))
    return runs


def _stands_alone(each: _Read) -> bool:
    begins = folded(each.clause.text)
    joined = _CONJUNCTION.match(begins)
    begins = begins[joined.end() :] if joined else begins.lstrip(" ,;(-\u2013\u2014")
    return bool(_ALONE.match(begins) or _OF_ANOTHER.match(begins) or _REASON.match(folded(each.clause.text)))


def _last_named(before: str) -> str:
    """Who was last spoken of, in the user's words ("my sister Carla"); "" if nobody."""
    found = [each for each in tables.KIN.finditer(folded(before)) if each["kin"] in tables.KIN_NAMES]
    if not found:
        return ""
    start, end = found[-1].span()
    named = _NAMED.match(before, end)
    return before[start : named.end() if named else end].strip()


_NAMED = re.compile(r",?\s[A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1]\w+")


def _lead(read: Sequence[_Read], at: int, passage: str, *, listed: bool) -> str | None:
    """What a clause without a subject of its own goes on from; None if it goes on from the whole clause before it."""
    clause = read[at].clause
    first = next(each for each in read if each.clause.sentence == clause.sentence).clause
    label = _LABEL.match(first.text)
    if label is not None and not gist(label[1]).changes and not read[at].decides:
        return label[1].strip()
    if not listed:
        return None
    said = first.text
    plainly = folded(said)
    kin = tables.KIN.search(plainly)
    if kin is not None and (tables.SELF.search(plainly, 0, kin.start()) is None):
        named = _NAMED.match(said, kin.end())
        return said[kin.start() : named.end() if named else kin.end()].strip()
    mine = _MINE.search(plainly)
    return said[mine.start() : mine.end()] if mine is not None else None


def _statement(run: _Run, signals: Signals) -> Statement:
    text = run.text
    value = without_signal(_LEADING.sub("", text), signals) or text
    head = run.clauses[0]
    about = next((each for each in run.clauses if each.slot), head)
    said = gist(value)
    stance: Stance = "ends" if said.ends else "changes" if said.changes else "states"
    if any(each.keeps for each in run.clauses):
        stance = "keeps"
    standing = any(each.standing for each in run.clauses)
    decides = any(each.decides for each in run.clauses)
    sure = (
        standing
        or decides
        or any(each.explicit for each in run.clauses)
        or (about.slot and not about.slot.endswith("-"))
    )
    likely = max(each.guess.fact for each in run.clauses)
    confidence: Confidence = "high" if sure or likely > _VERY_LIKELY else "medium"
    return Statement(
        domain=_domain(head, about, standing=standing, decides=decides),
        key=key(said, about.slot, head.guess.about, value, standing=standing),
        value=value[: 2 * LONGEST],
        confidence=confidence,
        pinned=standing,
        stance=stance,
    )


_LEADING = re.compile(
    r"^\W*(?:(?:and|but|so|because|since|also|plus|cos|y|e|pero|porque|pq|que|ademas|además|as|given that|ya que)\b[\s,]*)+(?=\w)",
    re.IGNORECASE,
)
_DOMAINS = {
    **dict.fromkeys(("work", "schedule"), "work"),
    **dict.fromkeys(("project", "date", "money", "study"), "projects"),
    "decision": "decisions",
    **dict.fromkeys(("preference", "instruction"), "preferences"),
}


def _domain(head: _Read, about: _Read, *, standing: bool, decides: bool) -> str:
    if standing:
        return "preferences"
    if decides and about.domain != "work":
        return "decisions"
    return about.domain or _DOMAINS.get(head.guess.about, "personal")
