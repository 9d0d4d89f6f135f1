"""One sentence of a user message: may it be kept, and as what?"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from proxy.memory.prose import Sentence
from proxy.memory.signals import Signals, Slot, folded
from proxy.memory.terms import STOP
from proxy.reuse.text import plain
from proxy.reuse.words import fold
from proxy.types.memory import Confidence, Language, Stance

Kind: TypeAlias = Literal["standing", "decision", "preference", "slot", "remember", "declared"]

WORD = re.compile(r"[^\W_]+(?:[-_/.][^\W_]+)*")
DETAIL = re.compile(
    r"\d|(?<=[^.!?:\s] )[\"“«'(]?[A-ZÁÉÍÓÚÑ][\w.-]+|\b\w+[-_/.]\w+\b"
    r"|\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|se[pt]tiembre|octubre|noviembre|diciembre|lunes|martes"
    r"|mi[eé]rcoles|jueves|viernes|s[aá]bados?|domingos?)\b"
)
_FIRST_ES = re.compile(
    r" [.?](?: ,| ya| yo| no| nunca| siempre| me| tambien| aca)* (?P<verb>[a-z]{2,}o|soy|tengo|voy|doy|estoy|hago)(?= )"
)
_PLURAL_ES = re.compile(
    r" [.?](?: ,| ya| no| siempre| nos)*(?: (?:en|con|para)(?: [a-z]+){1,3})? (?:somos|tenemos|"
    r"[a-z]{2,}(?:amos|emos|imos))(?= )"
)
_PAST_ES = re.compile(r" (?:me [a-z]+(?:aron|ieron)|(?:tuve|empece|naci|hice|compre|adopte|estudie) )")
_FIRST_EN = re.compile(
    r" [.?](?: ,| and| also| so| honestly)* (?:i(?:'m|'ve| am| have| also| only| mostly| usually| currently)*|"
    r"we(?:'re|'ve| have)*)"
    r" (?P<verb>[a-z][a-z'-]+)(?= )"
)
_FIRST_PERSON = {"es": _FIRST_ES, "en": _FIRST_EN}
_SUBJECT = {
    "es": re.compile(
        r" [.?](?: ,| y| pero| tambien)* (?:el|la|los|las|mis?|nuestr[oa]s?|hay|se|es|son|esta|al?|para|con|en|un|una|"
        r"entre|desde)(?= )"
    ),
    "en": re.compile(
        r" [.?](?: ,| and| but)* (?:the|my|our|there|it's|it|for|at|in|a|an|all|both|each|every|since|on)(?= )"
    ),
}
_POSSESSED = {
    "es": re.compile(r" [.?](?: ,| y| pero)* (?:mis?|nuestr[oa]s?)(?= )"),
    "en": re.compile(r" [.?](?: ,| and| but)* (?:my|our)(?= )"),
}
_YOU = {
    "es": re.compile(r" (?:vos|tu|te|tus|usted|contigo|sos|eres)(?= )"),
    "en": re.compile(r" (?:you|your|you're|yours)(?= )"),
}
_BACK = re.compile(
    r" [.] (?:de )?(?:that|this|it|the date|eso|esto|esa fecha|ese dato|la fecha|el dato"
    r"|(?:anota|apunta|guarda|recorda|recuerda|tene|ten|agenda)(?:te)?l[oa]s?)(?= )"
)
# "Mandá", "transferile": orders that are told by their ending; neither "está" nor the future.
_ORDER_ES = re.compile(r"(?!est\u00e1\b)\w*(?:[^\Wr]\u00e1|[aei]le)\b", re.IGNORECASE)
_DECIDED = re.compile(r" (?:decidi|decidimos|decided|signed|firme|firmamos)(?= )")
_FLATLY = re.compile(r"(?<! que)(?<! porque) (?:siempre|nunca|jamas|regla|always|never|rule)(?= )")
_BINDING = re.compile(r" (?:tiene[n]? que|debe[n]?|has to|have to|must|can't|cannot|no puede[n]?)(?= )")
_OF_PROJECTS = ("budget-", "goal-")
_OWN = re.compile(rf"(?:{_FIRST_ES.pattern.replace('?P<verb>', '?:')}| [.?] (?:mis?|my|i|i'm|i've) )")
_ENOUGH = 3  # words of a declarative that carries no other sign


@dataclass(frozen=True, slots=True)
class Read:
    """A sentence that may be kept."""

    value: str
    said: str  # plain
    kind: Kind | None  # None: no sign of its own; it may go on from the one before
    key: str
    domain: str
    stance: Stance
    confidence: Confidence
    explicit: bool
    refers: bool  # it goes on from the sentence before
    follows: bool = False  # it comes right after the one before


@dataclass(frozen=True, slots=True)
class _Heard:
    """A sentence and the signs in it that others depend on."""

    value: str
    whole: str  # plain
    core: str  # plain, without what introduces it
    words: tuple[str, ...]  # that are about something
    explicit: bool
    standing: bool
    decides: bool
    stance: Stance
    slot: Slot | None


def read(sentence: Sentence, signals: Signals, spoken: Language) -> Read | None:
    """What `sentence` is a sign of; None if it is no statement of its author's. Without a value it is about the
    sentence before it."""
    if sentence.asked:
        return None
    heard = _heard(sentence.text, signals)
    if sentence.quotes and not heard.explicit:
        return None
    if heard.explicit and _points_back(heard.whole, heard.core, signals):
        return Read("", heard.core, "remember", "", "", "states", "high", explicit=True, refers=True)
    if not heard.words or _is_no_statement(heard, signals):
        return None
    kind = _kind(heard, signals, spoken)
    key, of_slot = (heard.slot.key, heard.slot.domain) if heard.slot else ("", "")
    sure = heard.explicit or kind in ("standing", "decision") or (key and not key.endswith("-"))
    return Read(
        heard.value,
        heard.core,
        kind,
        key,
        _domain(kind, of_slot, key, heard.core, signals),
        heard.stance,
        "high" if sure else "medium",
        explicit=heard.explicit,
        refers=signals.refers.match(heard.core) is not None,
    )


def _heard(text: str, signals: Signals) -> _Heard:
    value, whole = without_signal(text, signals), plain(text)
    core = plain(value)
    opens = signals.standing_opens.match(core) or signals.standing_opens.match(whole)
    changes = signals.changes.search(whole) is not None
    return _Heard(
        value,
        whole,
        core,
        tuple(word for word in WORD.findall(value) if fold(word) not in STOP),
        explicit=signals.remember.search(whole) is not None,
        standing=opens is not None or signals.standing.search(whole) is not None,
        decides=(signals.decides.search(whole) or signals.decides_opens.match(whole)) is not None,
        stance="keeps" if signals.keeps.search(whole) else "changes" if changes else "states",
        slot=next((slot for slot in signals.slots if slot.table.search(whole)), None),
    )


def _is_no_statement(heard: _Heard, signals: Signals) -> bool:
    """Is it an unmarked question, in doubt, a job for now, somebody else's business, small talk, or over soon?"""
    whole, core = heard.whole, heard.core
    if signals.asks.match(core) and not signals.standing_opens.match(core):
        return True
    if signals.hypothetical.search(whole):
        return not heard.explicit
    if heard.explicit or heard.standing:
        return False
    if (
        _ORDER_ES.match(heard.value)
        or signals.hypothetical_opens.match(core)
        or signals.task.match(core)
        or signals.others.match(core)
    ):
        return True
    if signals.casual.search(whole) and not (heard.decides and DETAIL.search(heard.value)):
        return True
    lasts = heard.decides and (signals.changes.search(whole) or _DECIDED.search(whole))
    return signals.passing.search(whole) is not None and not lasts


def _kind(heard: _Heard, signals: Signals, spoken: Language) -> Kind | None:
    if heard.standing or (heard.explicit and _FLATLY.search(heard.core)):
        return "standing"
    if heard.decides or (heard.explicit and not heard.slot and _BINDING.search(heard.core)):
        return "decision"
    prefers = signals.prefers.search(heard.whole) is not None
    if heard.slot and not (heard.slot.key.endswith("-") and prefers):
        return "slot"
    if prefers:
        return "preference"
    if heard.explicit:
        return "remember"
    updates = heard.stance != "states" and DETAIL.search(heard.value) is not None
    return "declared" if updates or _declares(heard, signals, spoken) else None


def _points_back(whole: str, core: str, signals: Signals) -> bool:
    """Is it about what stands before it? "Keep that one handy"."""
    besides = signals.remember.sub(" ", whole).split()
    if sum(word[0].isalnum() and word not in STOP for word in besides) <= 1:
        return True
    return _BACK.match(core) is not None


def _declares(heard: _Heard, signals: Signals, spoken: Language) -> bool:
    """Is it a plain sentence on what is so: of the user, or of what is the user's?"""
    core, size = heard.core, len(heard.words)
    if size < _ENOUGH - 1 or _YOU[spoken].search(core) or signals.lately.search(core):
        return False
    concrete = DETAIL.search(heard.value) is not None
    first = _FIRST_PERSON[spoken].match(core)
    if first is not None and first["verb"] not in signals.no_fact_verbs:
        return concrete or size >= _ENOUGH
    if concrete and (
        _SUBJECT[spoken].match(core) or (spoken == "es" and (_PLURAL_ES.match(core) or _PAST_ES.search(core)))
    ):
        return True
    has_owner = size >= _ENOUGH and _POSSESSED[spoken].match(core) is not None
    return has_owner and (signals.states.search(core) or signals.family.match(core, 2)) is not None


def _domain(kind: Kind | None, of_slot: str, key: str, core: str, signals: Signals) -> str:
    if kind == "decision" and (not of_slot or (key.endswith("-") and key not in _OF_PROJECTS and of_slot != "work")):
        return "decisions"
    if kind in ("standing", "preference"):
        return "preferences"
    if of_slot and not (key == "name" and signals.work.search(core)):
        return of_slot
    counts = {
        "work": len(set(signals.work.findall(core))),
        "personal": len(set(signals.personal.findall(core))),
        "projects": len(set(signals.projects.findall(core))),
    }
    best = max(counts, key=lambda domain: counts[domain])
    if counts[best]:
        return best
    return "projects" if kind == "declared" and not _OWN.match(core) else "personal"


def without_signal(text: str, signals: Signals) -> str:
    """`text` without what introduces it and what politely ends it."""
    plainly = folded(text)
    start = lead(plainly, signals)
    end = tail(plainly, signals)
    return text[start:end].strip(" ,;:¡!") if end > start else ""


def lead(plainly: str, signals: Signals) -> int:
    """Where `folded` text begins, after greetings and "remember that"."""
    start = 0
    while (introduction := signals.leads.match(plainly, start)) and introduction.end() > start:
        start = introduction.end()
    return start


def tail(plainly: str, signals: Signals) -> int:
    """Where it ends, before "please" and marks."""
    tail = signals.tails.search(plainly)
    return tail.start() if tail else len(plainly)
