"""Check that a user's own words, quoted from a message of theirs, state the value that somebody proposes to remember.

Whoever proposes may err in every way: take a question, a wish or a condition for a fact, the sister's trade for the
user's, what was for what is, once for always, a mail that was pasted for the user's words. The check looks for what
speaks against it, in the quotation and in the sentence around it; what nothing speaks against, and what has a word in
common with the quotation, is believed. Each refusal has a reason of `REASONS`.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from proxy.language.detect import language
from proxy.language.phrases import expression
from proxy.language.tables import tables
from proxy.language.words import fold
from proxy.memory.claim_terms import Term
from proxy.memory.claim_words import Wording, root, spoken_in_claims, wording
from proxy.memory.claims import Claim, claim
from proxy.memory.own_words import attributed, own_words, speaks_of_text
from proxy.memory.same_fact import agreeing, sounding
from proxy.memory.shapes import TAKEN, opens_play, without_enclosed
from proxy.memory.signals import folded
from proxy.types.memory import Language

REASONS = (
    "quote",  # the message has no such words
    "handed-over",  # they are somebody else's
    "question",
    "irony",
    "task",  # an order for what is at hand
    "condition",
    "wish",
    "holder",  # they are about somebody else
    "general",  # they are about nobody
    "details",  # a number, a name or a word that they do not have
    "polarity",
    "tense",
    "often",  # once is not always
    "passing",
    "unrelated",
)
_ENDS = re.compile(r"(?<=[.!?\u2026])[\"'\u201d»)]*\s+|\n+|(?=\u00bf)")
_CLAUSE = re.compile(
    r"[,;:\u2014()]\s*|\s(?=(?:and|but|y|e|pero|aunque|although|though|because|porque|while|mientras)\s)"
)
_SPACE, _WORD = re.compile(r"\s+"), re.compile(r"[\w']+")
_NAME_WORDS = 3  # of a quotation that is a title in quotation marks
_LEAD, _TAIL = 40, 12  # characters around a quotation that say how it is meant
_GOES_ON = re.compile(r"\A[\s,;:.\u2026-]*(?:(?:and|but|pero|y)\s)?")
_NAMED_WORDS = 6  # of a quotation that names something
_FEW = 5  # up to so many things may be counted that nobody counted
_NOTHING = frozenset("nothing none nobody nada nadie ninguno ninguna".split())  # noqa: SIM905
_AT_ITS_BEGINNING = frozenset({"asks", "tasks", "clitic", "general"})
_AS_WORDS = frozenset({"likes", "dislikes", "stops", "wanting", "opposites"})


def supports(quote: str, value: str, message: str) -> str:
    """Returns "" if the user's own words in `quote`, which stands in `message`, state `value`; else the reason why
    not, one of `REASONS`. `value`: a statement about the user in the third person."""
    quote, value, text = (_SPACE.sub(" ", each).strip() for each in (quote, value, message))
    at = text.find(quote)
    if at < 0 or not any(map(str.isalnum, quote)) or not any(map(str.isalnum, value)):
        return "quote"
    if not _is_own(quote, message):
        return "handed-over"
    return _Check(
        _in_sentence(text, at, at + len(quote)), value, language(text) or spoken_in_claims(f"{text} {value}")
    ).reason()


# --- whose words ------------------------------------------------------------------------------------------------------


def _is_own(quote: str, message: str) -> bool:
    """Tells whether the author says it, not a text that they handed over."""
    enclosed = without_enclosed(message, TAKEN)
    if quote not in _SPACE.sub(" ", enclosed) and len(quote.split()) > _NAME_WORDS:
        return False
    passages = (_SPACE.sub(" ", each) for each in own_words(message).passages)
    return any(quote in each for each in passages) or _is_plain(quote, message, enclosed)


def _is_plain(quote: str, message: str, outside: str) -> bool:
    """Tells whether a message of one line encloses nothing, and nobody else is said to say the quotation."""
    if TAKEN in outside or "\n" in message.strip() or opens_play(outside) is not None:
        return False
    at = message.find(quote)
    if at < 0 or (":" in message[:at] and speaks_of_text(outside)):
        return False
    return not any(each.start < at + len(quote) and at < each.end for each in attributed(outside))


@dataclass(frozen=True, slots=True)
class _Said:
    """A quotation in its message."""

    quote: str
    sentence: str  # the sentences that it stands in
    before: str  # of these, what stands before it
    behind: str


def _in_sentence(text: str, start: int, end: int) -> _Said:
    cuts = [0, *(found.end() for found in _ENDS.finditer(text)), len(text)]
    begin = max(cut for cut in cuts if cut <= start)
    until = min(cut for cut in cuts if cut >= end)
    return _Said(text[start:end], text[begin:until], text[begin:start], text[end:until])


# --- what speaks against it -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """The tables of a language."""

    patterns: dict[str, re.Pattern[str]]  # of folded text
    roots: dict[str, frozenset[str]]  # of words in any form
    opposites: tuple[frozenset[str], ...]  # folded roots of which one excludes the others

    def has(self, name: str, text: str) -> bool:
        """Tells whether folded text has an entry of a table."""
        return self.patterns[name].search(text) is not None


@cache
def _marks(code: Language) -> _Marks:
    found = tables(code, "support")
    patterns = {}
    for name in found.keys() - _AS_WORDS:
        opening = r"\A\W*(?:{leads}\W+)*" if name in {"asks", "tasks"} else r"\A\W*"
        anchor = (
            r"(?:,|\s)\s*(?=\w+[\s?!.]*\Z)"
            if name == "tags"
            else opening
            if name in _AT_ITS_BEGINNING
            else r"(?<![\w'])"
        )
        patterns[name] = expression(found, rf"{anchor}(?:{{{name}}})(?!\w)")
    roots = {name: _rooted(found[name].split("|"), code) for name in _AS_WORDS - {"opposites"}}
    return _Marks(patterns, roots, tuple(_rooted(line.split("|"), code) for line in found["opposites"].splitlines()))


def _rooted(entries: Iterable[str], code: Language) -> frozenset[str]:
    keep = wording(code).keep
    return frozenset(
        " ".join(each if each in keep else root(each, code) for each in entry.split()) for entry in entries
    )


class _Check:
    """A quotation and a value, compared step by step."""

    def __init__(self, said: _Said, value: str, code: Language) -> None:
        self._said, self._code = said, code
        self._marks, self._table = _marks(code), wording(code)
        self._quote, self._before, self._behind, self._low = map(folded, (said.quote, said.before, said.behind, value))
        self._value = value
        self._wanted = claim(value, code)
        self._instructs = self._marks.patterns["instructs"].match(self._low) is not None
        self._wishes = self._marks.has("wished", self._low)
        # The clause of the quotation that has most in common with the value.
        clauses = [each for each in _CLAUSE.split(said.quote) if any(map(str.isalnum, each))]
        self._passage = max(clauses, key=lambda each: len(_shared(self._wanted, claim(each, code))))
        self._clause = claim(self._passage, code)
        self._shared = _shared(self._wanted, self._clause)
        self._is_first = self._is_author(self._passage)

    def reason(self) -> str:
        """Returns the first reason that speaks against it, "" if none does."""
        return (
            self._no_statement()
            or self._if_only()
            or self._of_another()
            or self._other_details()
            or self._denied()
            or self._in_time()
            or self._unrelated()
        )

    def _is_author(self, text: str) -> bool:
        """Tells whether the author does something. Accents count: "compré" is of the author, "compre" is not."""
        return self._marks.has("author", text.lower())

    # --- how it is said

    def _no_statement(self) -> str:
        marks = self._marks
        if marks.has("addressed", self._quote):
            return "handed-over"
        if self._is_asked():
            return "question"
        if marks.has("ironies", self._before[-_LEAD:] + self._quote):
            return "irony"
        if marks.has("tasks", self._quote) and not marks.has("standing", self._before + self._quote):
            # "Sign it as Ann, that is what my passport says": the author is named behind the order.
            is_named = marks.has("first", " ".join(self._quote.split()[2:])) or self._wanted.names
            if self._instructs or not (is_named or any(map(str.isdigit, self._value))):
                return "task"
        return "handed-over" if marks.has("fiction", self._before) else ""

    def _is_asked(self) -> bool:
        """Tells whether it is a question, or its beginning; one that a statement stands before is not."""
        marks, said = self._marks, self._said
        if self._takes_for_granted():
            return False
        if "?" in self._quote or "\u00bf" in self._quote or marks.has("asks", self._quote):
            return True
        if any(map(str.isalnum, said.before)) or not said.sentence.rstrip().endswith("?"):
            return False
        if marks.has("tags", folded(said.sentence)):
            return False
        parts = re.split(r"[,;:]\s+(?:so |and |but |y |pero )?", self._behind)[1:]
        return not any(marks.has("asks", part.strip()) for part in parts)

    def _takes_for_granted(self) -> bool:
        """Tells whether it names something of the author's and no more, which holds whatever is asked: "my cat Pip"."""
        is_short = len(self._quote.split()) <= _NAMED_WORDS
        return is_short and claim(self._said.quote, self._code).leads_own and "?" not in self._quote

    def _if_only(self) -> str:
        """Returns "condition" or "wish" if it holds only then, or not yet."""
        marks, behind = self._marks, _GOES_ON.sub("", self._behind)
        if self._instructs or self._takes_for_granted():
            return ""
        if any(marks.has("conditions", each) for each in (self._quote, self._before, behind[:_TAIL])):
            return "condition"
        is_limited = marks.has("limits", self._quote) or marks.has("limits", behind[:_TAIL])
        if is_limited and not marks.has("limits", self._low) and not marks.has("restricts", self._low):
            return "condition"
        if self._wishes:
            return ""
        if marks.has("maybes", self._quote) or marks.has("nearly", self._quote):
            return "condition"
        return "wish" if marks.has("wishes", self._before[-_LEAD:] + self._quote) or self._is_wanted() else ""

    def _is_wanted(self) -> bool:
        """Tells whether what the value says is only wanted or tried: "quiero aprender alemán"."""
        if self._marks.has("planned", self._low) or self._has(self._wanted, "wanting"):
            return False
        said = {id(other) for _, other in self._shared}
        wanting = self._marks.roots["wanting"]
        terms = [term for term in self._clause.terms if term.root in wanting or not _is_infinitive(term, said)]
        return any(one.root in wanting and id(other) in said for one, other in pairwise(terms))

    # --- of whom

    def _of_another(self) -> str:
        """Returns "holder" or "general" if it is about somebody else than the value is."""
        told = [term for term in _people(self._wanted) if term.root in self._wanted.holder]
        somebody = [*_people(claim(self._said.before, self._code)), *_people(claim(self._said.quote, self._code))]
        if told:
            named = self._wanted.names & {fold(each) for each in _WORD.findall(self._said.quote)}
            if not named and not _any_are_one(told, somebody):
                return "holder"
            is_here = _any_are_one(told, _people(self._clause))
            return "holder" if self._is_first and not is_here and self._shared else ""
        mentioned = _people(self._wanted)
        if mentioned:
            return "holder" if somebody and not _any_are_one(mentioned, somebody) else ""
        if not self._is_first and self._is_led_by_another():
            return "holder"
        is_general = self._marks.has("anybody", self._quote[:_LEAD]) or self._is_of_a_kind()
        return "general" if is_general and not self._is_author(self._said.quote) else ""

    def _is_led_by_another(self) -> bool:
        """Tells whether somebody else, or something of the author's, is the subject of the clause, or of what stands
        before it."""
        clause, said = self._clause, {id(one) for one, _ in self._shared}
        if clause.holder or self._marks.has("others", self._passage.lower()):
            return True
        verb, of_verb = self._wanted.terms[:1], {id(other) for _, other in self._shared}
        is_verb_shared = bool(verb) and id(verb[0]) in said
        is_led = clause.leads_noun or any(term.kind == "name" for term in clause.terms[:1])
        if is_led and is_verb_shared and id(clause.terms[0]) not in of_verb:
            return True
        last = _CLAUSE.split(self._said.before)[-1]
        is_begun = self._passage and self._said.quote.startswith(self._passage)
        return bool(is_begun and last.strip() and _people(claim(last, self._code)) and not self._is_author(last))

    def _is_of_a_kind(self) -> bool:
        return not any(map(str.isalnum, self._said.before)) and self._marks.has("general", self._quote)

    # --- of what

    def _other_details(self) -> str:
        """Returns "details" if the value has a number, a name or another word in the place of one of the quotation."""
        quote, around = claim(self._said.quote, self._code), claim(self._said.sentence, self._code)
        spoken = {fold(each) for each in _WORD.findall(self._said.sentence)}
        missing = [each for each in self._wanted.numbers if each not in around.numbers and each not in spoken]
        if missing and (quote.numbers or not all(each.isdigit() and int(each) <= _FEW for each in missing)):
            return "details"
        heard = {sounding(each) for each in spoken}
        if any(name not in spoken and sounding(name) not in heard for name in self._wanted.names):
            return "details"
        has, other = ({term.root for term in each.terms} for each in (self._wanted, around))
        if any(has & each and other & each and not has & other & each for each in self._marks.opposites):
            return "details"
        is_loose = self._instructs or self._wishes
        return "details" if not is_loose and _is_in_place(self._wanted, quote) else ""

    def _denied(self) -> str:
        """Returns "polarity" if one denies what the other says, or says that it is over."""
        marks, table = self._marks, self._table
        likes, dislikes = (_of(table, marks.roots[name]) for name in ("likes", "dislikes"))
        if not self._wanted.is_denied:
            for mine, theirs in ((likes, dislikes), (dislikes, likes)) if self._shared else ():
                if self._wanted.attribute & mine - theirs and self._clause.attribute & theirs - mine:
                    return "polarity"
        if self._instructs:
            return ""
        denials = sum(each in table.negations for each in _WORD.findall(_plainly(self._passage)))
        denies = bool(denials) if self._code == "es" else denials % 2 == 1
        says_no = any(each in table.negations for each in _WORD.findall(_plainly(self._value)))
        if says_no and denials and not denies:
            return "polarity"
        is_over = marks.has("ended", self._low)
        # "No me gusta" is "no le gusta": what is denied there is that it is liked.
        dislikes_it = self._wanted.attribute & dislikes - likes and self._clause.attribute & (likes | dislikes)
        if denies and not says_no and not is_over and not dislikes_it and self._is_denied_in_clause():
            return "polarity"
        stops = self._has(self._clause, "stops")
        if stops and self._shared and not (says_no or is_over or self._marks.has("planned", self._low)):
            return "" if any(other in stops for _, other in self._shared) else "polarity"
        is_flat = any(one.is_denied and not other.is_denied for one, other in self._shared)
        return "polarity" if is_flat and not denials and not stops else ""

    def _has(self, said: Claim, name: str) -> list[Term]:
        """Returns the terms of a claim that a table of words has."""
        roots = self._marks.roots[name]
        return [term for term in said.terms if term.root in roots]

    def _is_denied_in_clause(self) -> bool:
        """Tells whether a word of the value stands behind a negation, or before "nothing"."""
        plain = _plainly(self._passage)
        at = next((each.start() for each in _WORD.finditer(plain) if each.group() in self._table.negations), None)
        if at is None:
            return False
        behind = claim(plain[at:], self._code)
        if _shared(self._wanted, behind) or _any_are_one(_people(self._wanted), _people(behind)):
            return True
        return not _NOTHING.isdisjoint(_WORD.findall(plain)) and bool(self._shared)

    # --- since when, how often

    def _in_time(self) -> str:
        """Returns the reason why it does not hold now, or not always."""
        marks, low, quote = self._marks, self._low, self._quote
        is_present = self._wanted.tense == "present"
        ended, planned = not is_present or marks.has("ended", low), marks.has("planned", low)
        prefers = self._instructs or bool(self._wanted.attribute & _of(self._table, marks.roots["likes"]))
        if not ended and (marks.has("over", quote) or self._is_said_in("past", "perfect")):
            return "tense"
        if not ended and not planned and not prefers and (marks.has("coming", quote) or self._is_said_in("future")):
            return "tense"
        if marks.has("often", low) and not self._is_said_often():
            return "often"
        if marks.has("once", quote) and not ended and not planned:
            return "often"
        stopped = marks.has("stopped", low)
        is_free = stopped or planned or prefers or self._wanted.holder
        return "passing" if not is_free and marks.has("passing", quote) else ""

    def _is_said_in(self, *tenses: str) -> bool:
        """Tells whether the verb of the value, which is in the present, is said in another tense."""
        if self._clause.tense not in tenses or not self._wanted.terms:
            return False
        if self._clause.tense == "perfect":
            return False
        if self._wanted.is_copular:
            return self._clause.is_copular and bool(self._shared)
        return any(one is self._wanted.terms[0] for one, _ in self._shared)

    def _is_said_often(self) -> bool:
        marks = self._marks
        if marks.has("restricts", self._quote) and not marks.has("restricts", self._low):
            return False
        is_order = self._instructs and marks.has("standing", self._before + self._quote)
        return is_order or marks.has("often", self._quote)

    def _unrelated(self) -> str:
        """Returns "unrelated" if the value has no word in common with the sentences of the quotation."""
        quote, around = claim(self._said.quote, self._code), claim(self._said.sentence, self._code)
        if _any_are_one(_people(self._wanted), _people(around)):
            return ""
        near = [one for one, _ in _shared(self._wanted, quote)]
        verb = self._wanted.terms[: not self._wanted.is_copular]
        near += [one for one, _ in _shared(self._wanted, around) if one not in verb]
        return "" if near else "unrelated"


def _is_infinitive(term: Term, said: AbstractSet[int]) -> bool:
    """Tells whether it is another verb between "want" and what is wanted: "necesito aprender a nadar"."""
    return id(term) not in said and (term.behind == "to" or term.said.endswith(("ar", "er", "ir")))


# --- two claims -------------------------------------------------------------------------------------------------------


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


def _any_are_one(some: Iterable[Term], others: Iterable[Term]) -> bool:
    there = list(others)
    return any(one.root == other.root or not one.notions.isdisjoint(other.notions) for one in some for other in there)


def _is_in_place(wanted: Claim, quote: Claim) -> bool:
    """Tells whether the value has another word behind one that both have: "medalla de bronce", "medalla de oro"."""
    shared = _shared(wanted, quote)
    if len({id(one) for one, _ in shared}) < max(2, len(wanted.terms) // 2):
        return False
    known, said = ({id(term) for term in terms} for terms in zip(*shared, strict=True))
    for one, other in shared:
        at, place = wanted.terms.index(one) + 1, quote.terms.index(other) + 1
        if one.kind not in {"light", "number"} and at < len(wanted.terms) and place < len(quote.terms):
            mine, theirs = wanted.terms[at], quote.terms[place]
            is_free = id(mine) not in known and id(theirs) not in said and not _any_are_one([mine], [theirs])
            are_alike = {mine.kind, theirs.kind} <= {"word", "person"} and mine.behind == theirs.behind
            if is_free and are_alike:
                return True
    return False


def _of(table: Wording, roots: frozenset[str]) -> frozenset[str]:
    """Returns the notions of some roots."""
    return frozenset().union(*(table.notions.get(each, frozenset()) for each in roots))


def _plainly(text: str) -> str:
    """Returns folded text with "not" for "n't"."""
    return re.sub(r"(?:n't|n\u2019t)\b", " not", folded(text))
