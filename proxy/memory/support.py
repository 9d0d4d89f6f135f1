"""Check that a user's own words, quoted from a message of theirs, state the value that somebody proposes to remember.

Whoever proposes may err in every way: take a question, a wish or a condition for a fact, the sister's trade for the
user's, what was for what is, once for always, a mail that was pasted for the user's words. The check finds what speaks
against it; what nothing speaks against, and what shares its subject with the quotation, is believed. Each refusal has a
reason of `REASONS`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from proxy.language.phrases import expression
from proxy.language.tables import tables
from proxy.language.words import fold
from proxy.memory.claim_words import Wording, wording
from proxy.memory.claims import Claim, Term, claim
from proxy.memory.own_words import attributed, own_words, speaks_of_text
from proxy.memory.same_fact import agreeing, sounding
from proxy.memory.shapes import TAKEN, opens_play, without_enclosed
from proxy.memory.signals import folded, spoken_in
from proxy.types.memory import Language

REASONS = (
    "quote",  # the message has no such words
    "handed-over",  # they are somebody else's
    "question",
    "condition",
    "wish",
    "task",  # an order for what is at hand
    "irony",
    "holder",  # they are about somebody else
    "general",  # they are about nobody
    "polarity",
    "tense",
    "often",  # once is not always
    "passing",
    "details",  # a number, a name or a word that they do not have
    "unrelated",
)
_ENDS = re.compile(r"(?<=[.!?\u2026])[\"'\u201d»)]*\s+|\n+|(?=\u00bf)")
_CLAUSE = re.compile(r"[,;:\u2014()]\s*|\s(?:and|but|y|e|pero|aunque|although|though|because|porque|while|mientras)\s")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class _Said:
    """A quotation in its message."""

    quote: str
    sentence: str  # the sentences that it stands in
    before: str  # of these, what stands before it
    behind: str
    opens: bool  # it opens its sentence


def supports(quote: str, value: str, message: str) -> str:
    """Returns "" if the user's own words in `quote`, which stands in `message`, state `value`; else the reason why
    not, one of `REASONS`. `value`: a statement about the user in the third person."""
    quote, value, text = (_SPACE.sub(" ", each).strip() for each in (quote, value, message))
    at = text.find(quote)
    if not quote or not value or at < 0:
        return "quote"
    if not _is_own(quote, message):
        return "handed-over"
    said = _in_sentence(text, at, at + len(quote))
    code = spoken_in(text)
    return _spoken_otherwise(said, value, code) or _stated_otherwise(said, value, text, code)


def _is_own(quote: str, message: str) -> bool:
    """Tells whether the author says it, not a text that they handed over."""
    own = own_words(message)
    if not any(quote in _SPACE.sub(" ", passage) for passage in own.passages) and not _is_plain(quote, message):
        return False
    outside = _SPACE.sub(" ", without_enclosed(message, TAKEN))
    return quote in outside or (quote[0] in "\"'«\u201c" and len(quote.split()) < 4)


def _is_plain(quote: str, message: str) -> bool:
    """Tells whether a message of one line encloses nothing, and nobody else is said to say the quotation."""
    taken = without_enclosed(message, TAKEN)
    if TAKEN in taken or "\n" in message.strip() or opens_play(taken) is not None:
        return False
    at = message.find(quote)
    if at < 0 or (":" in message[:at] and speaks_of_text(taken)):
        return False
    return not any(each.start < at + len(quote) and at < each.end for each in attributed(taken))


def _in_sentence(text: str, start: int, end: int) -> _Said:
    cuts = [0, *(found.end() for found in _ENDS.finditer(text)), len(text)]
    begin = max(cut for cut in cuts if cut <= start)
    until = min((cut for cut in cuts if cut >= end), default=len(text))
    before = text[begin:start]
    return _Said(text[start:end], text[begin:until], before, text[end:until], not any(map(str.isalnum, before)))


# --- how it is said ---------------------------------------------------------------------------------------------------


class _Marks:
    """The tables of a language, as patterns of folded text."""

    def __init__(self, code: Language) -> None:
        found = tables(code, "support")
        self.liking, self.disliking = (frozenset(found[name].split("|")) for name in ("likes", "dislikes"))
        for name in found.keys() - {"likes", "dislikes"}:
            anchor = r"\A\W*(?:{%s})" if name in {"asks", "tasks", "clitic"} else r"(?<![\w'])(?:{%s})(?!\w)"
            setattr(self, name, expression(found, anchor % name))

    def __getattr__(self, name: str) -> re.Pattern[str]:
        raise AttributeError(name)


@lru_cache(4)
def _marks(code: Language) -> _Marks:
    return _Marks(code)


def _spoken_otherwise(said: _Said, value: str, code: Language) -> str:
    """Returns the reason why it is no statement, "" if it is one."""
    marks, quote, sentence = _marks(code), folded(said.quote), folded(said.sentence)
    before, wanted = folded(said.before), folded(value)
    instructs = marks.instructs.match(wanted) is not None
    if marks.addressed.search(quote):
        return "handed-over"
    if _is_asked(said, marks):
        return "question"
    if marks.ironies.search(before[-40:] + quote):
        return "irony"
    if marks.tasks.match(quote) and not marks.standing.search(before + quote):
        if instructs or not (marks.first.search(quote) or marks.clitic.match(quote) or any(map(str.isdigit, value))):
            return "task"
    if not instructs:
        if (
            marks.conditions.search(quote)
            or marks.conditions.search(before)
            or marks.conditions.match(folded(said.behind).lstrip(" ,;:"))
        ):
            return "condition"
        if marks.wishes.search(before[-30:] + quote) and not marks.wished.search(wanted):
            return "wish"
        if marks.maybes.search(quote) and not marks.wished.search(wanted):
            return "condition"
    return ""


def _is_asked(said: _Said, marks: _Marks) -> bool:
    """Tells whether it is a question, or its beginning; one that stands behind a statement is not."""
    quote, behind = folded(said.quote), folded(said.behind)
    if "?" in quote or "\u00bf" in quote or marks.asks.match(quote):
        return True
    if not said.opens or not said.sentence.rstrip().endswith("?"):
        return False
    return not any(
        marks.asks.match(part.strip()) for part in re.split(r"[,;:]\s+(?:so |and |but |y |pero )?", behind)[1:]
    )


# --- what is said -----------------------------------------------------------------------------------------------------


def _stated_otherwise(said: _Said, value: str, text: str, code: Language) -> str:
    """Returns the reason why it says something else than `value`, "" if nothing speaks against it."""
    wanted = claim(value, code)
    passages = [each for each in _CLAUSE.split(said.quote) if any(map(str.isalnum, each))]
    clauses = [claim(each, code) for each in passages] or [claim(said.quote, code)]
    shares = [len(_shared(wanted, clause)) for clause in clauses]
    best = shares.index(max(shares))
    passage = passages[best] if passages else said.quote
    return (
        _of_another(said, passage, wanted, clauses[best], code)
        or _details(said, value, wanted, claim(said.quote, code), code)
        or _denied(value, wanted, clauses[best], passage, code)
        or _timed(said, value, wanted, clauses[best], code)
        or _unrelated(said, wanted, text, code)
    )


def _shared(one: Claim, other: Claim) -> list[tuple[Term, Term]]:
    """Returns the terms of two claims that say the same, people left out."""
    endings = wording(one.language).endings
    return [
        (term, each)
        for term in one.terms
        for each in other.terms
        if "person" not in (term.kind, each.kind)
        and any(agreeing(term, each, how, endings) for how in ("root", "notion", "form"))
    ]


def _people(said: Claim) -> list[Term]:
    return [term for term in said.terms if term.kind == "person"]


def _are_one(one: Term, other: Term) -> bool:
    return one.root == other.root or not one.notions.isdisjoint(other.notions)


def _of_another(said: _Said, passage: str, wanted: Claim, clause: Claim, code: Language) -> str:
    """Returns "holder" or "general" if the words are about somebody else than the value is."""
    marks = _marks(code)
    told = [term for term in _people(wanted) if term.root in wanted.holder]
    before = claim(said.before, code)
    somebody = [*_people(before), *_people(claim(said.quote, code))]
    is_first = marks.author.search(_spelt(passage)) is not None
    if told:
        named = wanted.names & {fold(each) for each in re.findall(r"\w+", said.quote)}
        if not named and not any(_are_one(one, other) for one in told for other in somebody):
            return "holder"
        here = any(_are_one(one, other) for one in told for other in _people(clause))
        return "holder" if is_first and not here and _shared(wanted, clause) else ""
    mentioned = _people(wanted)
    if not is_first and not mentioned:
        leading = [term for term in _people(clause) if not term.behind]
        if leading:
            return "holder"
        last = claim(_CLAUSE.split(said.before)[-1], code) if said.before.strip() else before
        if _people(last) and not marks.author.search(_spelt(_CLAUSE.split(said.before)[-1])):
            return "holder"
    if (
        said.opens
        and not mentioned
        and marks.general.match(folded(said.quote))
        and not marks.author.search(_spelt(said.quote))
    ):
        return "general"
    if marks.anybody.match(folded(said.quote)) and not marks.author.search(_spelt(said.quote)):
        return "general"
    return ""


def _spelt(text: str) -> str:
    """Returns text in lower case with its accents: "compré" is of the user, "compre" is not."""
    return text.lower()


def _details(said: _Said, value: str, wanted: Claim, quote: Claim, code: Language) -> str:
    """Returns "details" if the value has a number, a name or another word in the place of one of the quotation."""
    around = claim(said.sentence, code)
    spoken = {fold(each) for each in re.findall(r"\w+", said.sentence)}
    if any(number not in around.numbers and number not in spoken for number in wanted.numbers):
        return "details" if quote.numbers or any(len(each) > 1 for each in wanted.numbers) else ""
    heard = {sounding(each) for each in spoken}
    if any(name not in spoken and sounding(name) not in heard for name in wanted.names):
        return "details"
    is_loose = _marks(code).instructs.match(folded(value)) or _marks(code).wished.search(folded(value))
    return "details" if not is_loose and _is_in_place(wanted, quote) else ""


def _is_in_place(wanted: Claim, quote: Claim) -> bool:
    """Tells whether the value has another word behind one that both have: "medalla de bronce", "medalla de oro"."""
    shared = _shared(wanted, quote)
    if len({id(one) for one, _ in shared}) < max(2, len(wanted.terms) // 2):
        return False
    known, said = [one for one, _ in shared], [other for _, other in shared]
    for one, other in shared:
        at, place = wanted.terms.index(one) + 1, quote.terms.index(other) + 1
        if at < len(wanted.terms) and place < len(quote.terms):
            mine, theirs = wanted.terms[at], quote.terms[place]
            free = mine not in known and theirs not in said and mine.kind == theirs.kind == "word"
            if free and mine.behind == theirs.behind and one.kind != "light":
                return True
    return False


def _denied(value: str, wanted: Claim, clause: Claim, passage: str, code: Language) -> str:
    """Returns "polarity" if one denies what the other says."""
    marks, table = _marks(code), wording(code)
    low = folded(value)
    if marks.instructs.match(low):
        return ""
    likes = _of(table, marks.liking), _of(table, marks.disliking)
    for mine, theirs in (likes, likes[::-1]):
        if wanted.attribute & mine - theirs and clause.attribute & theirs - mine and not wanted.is_denied:
            return "polarity"
    denials = sum(each in table.negations for each in re.findall(r"[\w']+", _plainly(passage)))
    denies = bool(denials) if code == "es" else denials % 2 == 1
    says_no = any(each in table.negations for each in re.findall(r"\w+", _plainly(value)))
    is_behind = _is_denied_in(wanted, passage, table)
    if (
        denies
        and not says_no
        and is_behind
        and not marks.ended.search(low)
        and not wanted.attribute & likes[1] - likes[0]
    ):
        return "polarity"
    if says_no and not denies and not marks.over.search(low) and denials:
        return "polarity"
    return ""


def _is_denied_in(wanted: Claim, passage: str, table: Wording) -> bool:
    """Tells whether a word of the value stands behind a negation, or before "nothing"."""
    said = [(found.start(), found.end(), found.group()) for found in re.finditer(r"[\w']+", _plainly(passage))]
    at = next((start for start, _, word in said if word in table.negations), None)
    if at is None:
        return False
    plain = _plainly(passage)
    behind = claim(plain[at:], table.code)
    if _shared(wanted, behind) or any(_are_one(one, other) for one in _people(wanted) for other in _people(behind)):
        return True
    return any(word in _NOTHING for _, _, word in said) and bool(_shared(wanted, claim(plain, table.code)))


_NOTHING = frozenset(["nothing", "none", "nobody", "nada", "nadie", "ninguno", "ninguna"])


def _plainly(text: str) -> str:
    return re.sub(r"(?:n't|\u2019t)\b", " not", folded(text)).replace("can not", "not")


def _of(table: Wording, roots: frozenset[str]) -> frozenset[str]:
    """Returns the notions of some roots."""
    return frozenset().union(*(table.notions.get(each, frozenset()) for each in roots))


def _timed(said: _Said, value: str, wanted: Claim, clause: Claim, code: Language) -> str:
    """Returns the reason why it does not hold now, or not always."""
    marks, low, quote = _marks(code), folded(value), folded(said.quote)
    ended, planned = marks.ended.search(low) or wanted.tense != "present", marks.planned.search(low)
    stopped = marks.stopped.search(low)
    prefers = marks.instructs.match(low) or wanted.attribute & _of(wording(code), marks.liking)
    if marks.over.search(quote) and not ended and wanted.tense == "present":
        return "tense"
    if marks.coming.search(quote) and not planned and not ended and not prefers and wanted.tense == "present":
        return "tense"
    if marks.often.search(low) and marks.restricts.search(quote) and not marks.restricts.search(low):
        return "often"
    if marks.often.search(low) and not marks.often.search(quote) and not marks.standing.search(folded(said.sentence)):
        return "often"
    if marks.once.search(quote) and not ended and not planned and wanted.tense == "present":
        return "often"
    if marks.passing.search(quote) and not stopped and not planned and not prefers and not wanted.holder:
        return "passing"
    return ""


def _unrelated(said: _Said, wanted: Claim, text: str, code: Language) -> str:
    """Returns "unrelated" if the value has no word in common with the sentences of the quotation."""
    around = claim(said.sentence, code)
    if _shared(wanted, around) or any(_are_one(one, other) for one in _people(wanted) for other in _people(around)):
        return ""
    return "unrelated"
