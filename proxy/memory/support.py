"""Check that a user's own words, quoted from a message of theirs, state the value that somebody proposes to remember.

Whoever proposes may err in every way: take a question, a wish or a condition for a fact, the sister's trade for the
user's, what was for what is, once for always, a mail that was pasted for the user's words. The check looks for what
speaks against it, in the quotation and in the sentence around it; what nothing speaks against, and what has a word in
common with the quotation, is believed. Each refusal has a reason of `REASONS`.
"""

import math
import re
from collections.abc import Iterable
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
from proxy.memory.clauses import split
from proxy.memory.predictions import guess
from proxy.memory.signals import folded, spoken_in
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
from collections import Counter
C = Counter()
_OF_OTHERS = {
    "en": (r"\b(?:(?!it|that|what|there|here|who|let|one)\w+'s|\w+s'|their|his|her) (?:\w+ )?{}\b",),
    "es": (r"\b(?:el|la|los|las) {} de (?:mi|mis) \w+", r"\b{} (?:del|de la|de los) vecin"),
}
_STEM = 5
_ASKS = re.compile(r"(?:que|como|cual|when|what|how) \w+")
_ALIKE = 4
_FEW = 5  # up to so many things may be counted that nobody counted
_NOTHING = frozenset("nothing none nobody nada nadie ninguno ninguna".split())  # noqa: SIM905
_AT_ITS_BEGINNING = frozenset({"asks", "tasks", "clitic", "general", "general_one", "presumed"})
_YES = re.compile(r"\bsí\b|(?:\A|(?<=[.!?,;] ))si(?=\s*[,.!;])|,\s*si(?=\W*\Z)", re.IGNORECASE)
_THEREFORE = re.compile(r"\W*(?:asi que|por eso|entonces|porque|because|so|otherwise|sino)\b")
_NO_DENIAL = re.compile(r"\b(?:nada mas|no mas de|no more than|no fewer than|no less than|not only|no solo|nothing but)\b")
_JOIN = r"\A\W*(?:(?:y|e|and|but|pero|que|porque|because|so|since|as|cuando|when|while|mientras|aunque|although|though)\s+)?"
_AS_WORDS = frozenset({"likes", "dislikes", "stops", "wanting", "opposites"})


def supports(quote: str, value: str, message: str, others: str = "") -> str:
    """Returns "" if the user's own words in `quote`, which stands in `message`, state `value`; else the reason why
    not, one of `REASONS`. `value`: a statement about the user in the third person."""
    quote, value, text = (_SPACE.sub(" ", each).strip() for each in (quote, value, message))
    at = text.find(quote)
    if at < 0 or not any(map(str.isalnum, quote)) or not any(map(str.isalnum, value)):
        return "quote"
    if not _is_own(quote, message):
        return "handed-over"
    return _check(quote, value, message, others, text, at).reason()


def _check(quote, value, message, others, text, at):
    return _Check(
        _in_sentence(text, at, at + len(quote)),
        value,
        language(text) or spoken_in_claims(f"{text} {value}"),
        f"{text} {others}",
        _fact(text, at, at + len(quote)),
    )


def _fact(text: str, start: int, end: int) -> float:
    """Returns the log-odds that the clauses of a passage state a fact, by the likeliest."""
    found = split(text)
    said, code = [each.text for each in found], spoken_in(text)
    over = [at for at, each in enumerate(found) if each.start < end and start < each.start + len(each.text)]
    likely = max((guess(said, at, code).fact for at in over), default=0.5)
    likely = min(max(likely, 0.01), 0.99)
    return math.log(likely / (1 - likely))



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
        if name == "pronouns":
            patterns[name] = expression(found, rf"{_JOIN}(?:{{pronouns}})(?!\w)")
            continue
        if name == "known":
            patterns[name] = expression(found, r"(?<![\w'])(?:{known}) (?:si|if|whether)(?!\w)")
            continue
        if name == "believed":
            patterns[name] = expression(found, r"(?<![\w'])(?:{believed})\W*(?:\Z|\b(?=(?:i|i'm|i've|my|we|yo|soy|tengo|me|mi|no|estoy|vivo)\b))")
            continue
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

    def __init__(self, said: _Said, value: str, code: Language, everything: str, fact: float) -> None:
        self._fact = fact
        self._all = everything
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
            or self._unlikely()
        )

    def _unlikely(self) -> str:
        found = self.signs()
        for name, reason in (
            ("irony", "irony"),
            ("holder", "holder"),
            ("general", "general"),
            ("kind", "general"),
            ("tense", "tense"),
            ("were", "tense"),
            ("over before", "tense"),
            ("coming", "tense"),
            ("often", "often"),
            ("once", "often"),
            ("until", "passing"),
            ("passing", "passing"),
            ("passing before", "passing"),
            ("details", "details"),
            ("unrelated", "unrelated"),
            ("elsewhere", "unrelated"),
        ):
            if found[name]:
                C[name] += 1
                return reason
        return ""

    def _is_author(self, text: str) -> bool:
        """Tells whether the author does something. Accents count: "compré" is of the author, "compre" is not."""
        return self._marks.has("author", text.lower())

    # --- how it is said

    def _no_statement(self) -> str:
        marks = self._marks
        if marks.has("addressed", self._quote) or marks.has("believed", self._before + self._quote):
            return "handed-over"
        if self._is_asked():
            return "question"
        if self._instructs and marks.has("at_hand", self._quote) and not marks.has("often", self._quote):
            return "task"
        if (marks.has("tasks", self._quote) or (self._instructs and marks.has("tasks", self._last_before()))) and not marks.has("standing", self._before + self._quote):
            is_named = marks.has("first", self._quote) or marks.has("clitic", self._quote)
            if self._instructs or not (is_named or any(map(str.isdigit, self._value))):
                return "task"
        return ""

    def _is_asked(self) -> bool:
        """Tells whether it is a question, or its beginning; one that a statement stands before is not."""
        marks, said = self._marks, self._said
        if "?" in self._quote or "\u00bf" in self._quote or marks.has("asks", self._quote):
            return True
        if not said.sentence.rstrip("\"')\u00bb ").endswith("?") or marks.has("tags", folded(said.sentence)):
            return False
        if any(map(str.isalnum, said.before)):
            return marks.has("asks", self._last_before()) and not marks.has("presumed", self._quote)
        parts = re.split(r"[,;:]\s+(?:so |and |but |y |pero )?", self._behind)[1:]
        return not any(marks.has("asks", part.strip()) or _ASKS.match(part.strip()) for part in parts)

    def _if_only(self) -> str:
        """Returns "condition" or "wish" if it holds only then, or not yet."""
        marks, behind = self._marks, _GOES_ON.sub("", self._behind)
        if self._instructs:
            return ""
        following = next((each for each in _CLAUSE.split(behind) if any(map(str.isalnum, each))), "")
        said = [self._sure(self._said.quote), self._sure(self._said.before)]
        if any(marks.has("conditions", each) for each in said) or self._is_restricted_behind(following):
            return "condition"
        is_limited = marks.has("limits", self._quote) or marks.has("limits", behind[:_TAIL])
        if is_limited and not marks.has("limits", self._low) and not marks.has("restricts", self._low):
            return "condition"
        if self._wishes:
            return ""
        here = folded(self._passage)
        if marks.has("maybes", self._last_before() + self._quote) or marks.has("almost", self._last_before() + here):
            return "condition"
        return "wish" if marks.has("wishes", self._before[-_LEAD:] + self._quote + self._same_behind()) or self._is_wanted() else ""

    def _is_restricted_behind(self, following: str) -> bool:
        """Tells whether the clause behind the quotation is a condition, or has one if it is still the same clause."""
        if _THEREFORE.match(following):
            return False
        if self._marks.patterns["conditions"].match(_GOES_ON.sub("", self._sure(self._said.behind))):
            return True
        found = self._marks.patterns["conditions"].search(self._sure(following))
        is_same = not re.match(r"\s*[,;:.\u2026)]", self._said.behind)
        return found is not None and (is_same or not any(map(str.isalnum, self._sure(following)[: found.start()])))

    def _sure(self, text: str) -> str:
        """Returns folded text without "sí" and "es si", which are no conditions."""
        return self._marks.patterns["known"].sub(" ", folded(_YES.sub(" ", text) if self._code == "es" else text))

    def _same_behind(self) -> str:
        """Returns what stands behind the quotation in the same clause."""
        return "" if re.match(r"\s*[,;:.]", self._behind) else _CLAUSE.split(self._behind)[0]

    def _last_before(self) -> str:
        """Returns what stands before the quotation in the same clause."""
        return _CLAUSE.split(self._before)[-1]

    def _is_wanted(self) -> bool:
        """Tells whether what the value says is only wanted or tried: "quiero aprender alemán"."""
        if self._marks.has("planned", self._low) or self._has(self._wanted, "wanting"):
            return False
        last = claim(_CLAUSE.split(self._said.before)[-1], self._code).terms[-1:]
        terms = (*last, *self._clause.terms) if self._said.quote.startswith(self._passage) else self._clause.terms
        said = {id(other) for _, other in self._shared}
        return any(one.root in self._marks.roots["wanting"] and id(other) in said for one, other in pairwise(terms))

    # --- of whom

    def _of_another(self) -> str:
        """Returns "holder" or "general" if it is about somebody else than the value is."""
        told = [term for term in _people(self._wanted) if term.root in self._wanted.holder]
        somebody = [*_people(claim(self._said.before, self._code)), *_people(claim(self._said.quote, self._code))]
        if told:
            if self._has_pronoun():
                somebody = _people(claim(self._all, self._code))
            named = self._wanted.names & {fold(each) for each in _WORD.findall(self._said.quote)}
            if not named and not _any_are_one(told, somebody):
                return "holder"
            is_here = _any_are_one(told, _people(self._clause))
            return "holder" if self._is_first and not is_here and self._shared else ""
        mentioned = _people(self._wanted)
        if mentioned:
            near = _people(claim(self._said.quote, self._code)) or (() if self._is_first else somebody)
            return "holder" if near and not _any_are_one(mentioned, somebody) else ""
        if self._is_in_third_person() or self._is_possessed_by_another():
            return "holder"
        return "holder" if self._has_pronoun() and not self._is_named_first() and not self._is_of_own() else ""

    def _is_in_third_person(self) -> bool:
        """Tells whether the quotation has the verb of the value in the same person: its user would say "I work"."""
        first = _WORD.match(self._value)
        verb = first[0].lower() if first else ""
        if not self._marks.patterns["thirds"].fullmatch(verb):
            return False
        at = re.search(rf"(?<![\w']){re.escape(verb)}\b", self._passage.lower())
        return at is not None and not self._marks.has("own_things", self._passage.lower()[: at.start()])

    def _is_possessed_by_another(self) -> bool:
        """Tells whether the value says that the user has what in the quotation is somebody else's."""
        if not self._marks.patterns["having"].match(self._low):
            return False
        nouns = {other.said for _, other in self._shared if other.kind == "word"}
        return any(
            re.search(written.format(re.escape(noun)), self._quote) for noun in nouns for written in _OF_OTHERS[self._code]
        )

    def _is_named_first(self) -> bool:
        """Tells whether the value begins with a name: one that the messages have inside of a sentence."""
        first = _WORD.match(self._value)
        return first is not None and re.search(rf"(?<=[\w,] ){re.escape(first[0])}\b", self._all) is not None

    def _is_of_own(self) -> bool:
        """Tells whether the value says that the user has what the clause is about: "he's a greyhound"."""
        has = bool(self._wanted.terms) and self._wanted.terms[0].kind == "light" and not self._wanted.is_copular
        is_one = re.search(r"\b(?:is|es|'s|are|son) (?:an?|una?)\b", self._passage.lower()) is not None
        return has and is_one and bool(self._shared)

    def _has_pronoun(self) -> bool:
        """Tells whether a pronoun of somebody else is the subject of the clause."""
        is_of_author = self._is_first or self._marks.has("first", folded(self._passage))
        return not is_of_author and self._marks.has("pronouns", self._passage.lower())

    def _is_led_by_another(self) -> bool:
        """Tells whether somebody else, or something of the author's, is the subject of the clause, or of what stands
        before it."""
        marks, clause, said = self._marks, self._clause, {id(one) for one, _ in self._shared}
        if clause.holder:
            return True
        verb, of_verb = self._wanted.terms[:1], {id(other) for _, other in self._shared}
        is_verb_shared = bool(verb) and id(verb[0]) in said
        is_led = clause.leads_noun or any(term.kind == "name" for term in clause.terms[:1])
        if is_led and is_verb_shared and id(clause.terms[0]) not in of_verb:
            return True
        if re.search(r"\b(?:el|la|los|las) que\W*\Z|\bquien\W*\Z|\bones? (?:who|that|with)\W*\Z", self._before):
            return True
        last = _CLAUSE.split(self._said.before)[-1]
        is_begun = self._passage and self._said.quote.startswith(self._passage)
        first = _WORD.search(self._quote)
        is_third = first is not None and marks.patterns["thirds"].fullmatch(first[0]) is not None
        if is_begun and is_third and _people(claim(self._said.before, self._code)) and not self._is_author(last):
            return True
        if is_begun and last.strip() and claim(last, self._code).leads_noun and is_verb_shared and not self._is_author(last):
            return True
        return bool(is_begun and last.strip() and _people(claim(last, self._code)) and not self._is_author(last))

    def _is_of_a_kind(self) -> bool:
        return not any(map(str.isalnum, self._said.before)) and self._marks.has("general", self._quote)

    # --- of what

    def _other_details(self) -> str:
        """Returns "details" if the value has a number, a name or another word in the place of one of the quotation."""
        quote, around = claim(self._said.quote, self._code), claim(self._said.sentence, self._code)
        spoken = {fold(each) for each in _WORD.findall(self._said.sentence)}
        elsewhere = claim(self._all, self._code)
        every = {fold(each) for each in _WORD.findall(self._all)}
        missing = [each for each in self._wanted.numbers if each not in around.numbers and each not in spoken]
        is_displaced = any(each not in self._wanted.numbers for each in quote.numbers)
        if not is_displaced:
            missing = [each for each in missing if each not in elsewhere.numbers and each not in every]
            missing = [each for each in missing if each not in self._table.units.values()]
        if missing and (quote.numbers or not all(each.isdigit() and int(each) <= _FEW for each in missing)):
            return "details"
        spoken |= every | {each.removesuffix("'s") for each in every}
        heard = {sounding(each) for each in spoken}
        if any(name not in spoken and sounding(name) not in heard for name in self._wanted.names):
            return "details"
        here = {sounding(fold(each)) for each in _WORD.findall(self._said.quote)}
        here |= {each.removesuffix("'s") for each in here}
        ours = {sounding(each) for each in self._wanted.names}
        theirs = {sounding(each) for each in quote.names} - {sounding(word) for word in _WORD.findall(self._low)}
        if ours and theirs and ours.isdisjoint(here):
            return "details"
        has, other = (
            {key for word in _WORD.findall(text) for key in (word, root(word, self._code))}
            for text in (self._low, folded(self._said.sentence))
        )
        if any(has & each and other & each and not has & other & each for each in self._marks.opposites):
            return "details"
        return ""

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
        denials += marks.has("denies", folded(self._passage))
        denies = bool(denials) if self._code == "es" else denials % 2 == 1
        says_no = any(each in table.negations for each in _WORD.findall(_plainly(self._value)))
        if marks.has("not_so", folded(self._passage)) or (says_no and marks.has("not_so", self._quote)):
            return "polarity"
        if not says_no and re.search(self._marks.patterns["not_so"].pattern + r"\W*\Z", self._before):
            return "polarity"
        if says_no and denials and not denies:
            return "polarity"
        is_over = marks.has("ended", self._low)
        dislikes_it = self._wanted.attribute & dislikes - likes
        if denies and not says_no and not is_over and not self._has_other_no() and not dislikes_it and self._is_denied_in_clause():
            return "polarity"
        stops = self._has(self._clause, "stops")
        if stops and self._shared and not (says_no or is_over or self._marks.has("planned", self._low)):
            return "" if any(other in stops for _, other in self._shared) else "polarity"
        is_flat = any(one.is_denied and not other.is_denied for one, other in self._shared)
        return "polarity" if is_flat and not denials and not stops else ""

    def _has_other_no(self) -> bool:
        """Tells whether the value denies by a word that the quotation does not have: "is allergic to"."""
        found = self._marks.patterns["must_not"].search(self._low)
        return found is not None and found[0][:_STEM] not in self._quote

    def _has(self, said: Claim, name: str) -> list[Term]:
        """Returns the terms of a claim that a table of words has."""
        roots = self._marks.roots[name]
        return [term for term in said.terms if term.root in roots]

    def _is_denied_in_clause(self) -> bool:
        """Tells whether a word of the value stands behind a negation, or before "nothing"."""
        plain = _plainly(self._passage)
        denied = self._marks.patterns["denies"].search(plain)
        at = next((each.start() for each in _WORD.finditer(plain) if each.group() in self._table.negations), None)
        at = denied.start() if at is None and denied else at
        if at is None:
            return False
        behind = claim(plain[at:], self._code)
        if _shared(self._wanted, behind) or _any_are_one(_people(self._wanted), _people(behind)):
            return True
        return not _NOTHING.isdisjoint(_WORD.findall(plain)) and bool(self._shared)

    # --- since when, how often

    # --- what makes it unlikely

    def signs(self) -> dict[str, float]:
        """Returns what makes it more or less likely, by name: most are 0 or 1. The reasons are names too."""
        marks, low, quote, value = self._marks, self._low, self._quote, self._wanted
        said, here = claim(self._said.quote, self._code), folded(self._passage)
        is_present = value.tense == "present"
        ended, planned = self._has_ended(), self._is_planned()
        likes = bool(value.attribute & _of(self._table, marks.roots["likes"] | marks.roots["dislikes"]))
        prefers = self._instructs or likes
        is_free = marks.has("stopped", low) or planned or prefers or bool(value.holder)
        is_often = marks.has("often", low)
        of_quote, of_sentence = (
            {id(one) for one, _ in _shared(value, claim(text, self._code))} for text in (self._said.quote, self._said.sentence)
        )
        people_near = _any_are_one(_people(value), _people(claim(self._said.sentence, self._code)))
        content = [term for term in value.terms if term.kind not in {"light", "doing", "operator"}] or list(value.terms)
        verb = value.terms[: not value.is_copular]
        near = [one for one in value.terms if id(one) in of_quote] or [
            one for one in value.terms if id(one) in of_sentence and one not in verb
        ]
        is_author = self._is_author(self._said.quote)
        is_first = is_author or marks.has("first", quote)
        own_before = self._is_author(self._said.before) or marks.has("first", self._before)
        share = sum(id(term) in of_quote for term in content) / max(1, len(content))
        names = [term for term in value.terms if term.kind in {"name", "number"}]
        return {
            "fact": self._fact,
            "share": share,
            "exact": float(bool(names) and all(id(term) in of_quote for term in names)),
            "first": float(is_first),
            "first around": float(own_before),
            "nobody": float(not is_first and not own_before),
            "nobody full": float(not is_first and not value.holder and self._is_full()),
            "instructs": float(self._instructs),
            "likes": float(likes),
            "planned": float(planned),
            "ended": float(ended),
            "relative": float(bool(_people(value))),
            "irony": float(marks.has("ironies", self._before[-_LEAD:] + quote)),
            "holder": float(not is_author and not value.holder and not _people(value) and self._is_led_by_another()),
            "kind": float(not is_first and not own_before and not value.holder and not _people(value) and marks.has("general_one", self._quote if not self._before.strip() else "") and not marks.has("first", self._behind) and bool(value.terms) and not any(term.kind == "number" and id(term) in of_quote for term in value.terms) and not any(one is value.terms[0] for one, _ in _shared(value, said))),
            "general": float(not self._instructs and (marks.has("anybody", self._last_before() + quote[:_LEAD]) or self._is_of_a_kind()) and not is_first),
            "details": float(not (self._instructs or self._wishes) and _is_in_place(value, said, low, quote)),
            "tense": float(not ended and (marks.has("over", here) or (self._is_said_in("past", "perfect") and not marks.has("lasts", here)))),
            "past": float(not ended and self._clause.tense == "past"),
            "were": float(
                not ended and not planned and not prefers and marks.has("were", folded(self._passage))
            ),
            "over before": float(not ended and self._clause.tense == "past" and marks.has("over", self._before)),
            "coming": float(
                not ended and not planned and not prefers and (marks.has("coming", here) or self._is_said_in("future"))
            ),
            "often": float(is_often and not self._is_said_often()),
            "once": float(marks.has("once", quote) and not ended and not planned),
            "passing": float(not is_free and marks.has("passing", here) and not marks.has("lasts", here)),
            "passing before": float(not is_free and not is_first and marks.has("passing", self._before)),
            "until": float(not is_free and not value.numbers and marks.has("until", here)),
            "unsaid no": float(
                value.is_denied and not said.is_denied and not self._has(said, "stops") and not marks.has("denies", quote)
            ),
            "unrelated": float(
                not near and not people_near and not (self._instructs and marks.has("standing", quote)) and not self._begins_alike()
            ),
            "elsewhere": float(not of_quote and bool(near) and self._fact < 0 and not self._instructs),
        }

    def _begins_alike(self) -> bool:
        """Tells whether a word of the value and one of the quotation begin alike: "firefighter", "firehouse"."""
        said = {fold(each) for each in _WORD.findall(self._said.quote)}
        return any(_begin_alike(word, each) for term in self._wanted.terms for word in term.said.split() for each in said)

    def _has_ended(self) -> bool:
        return self._wanted.is_denied or self._wanted.tense in {"past", "perfect"} or self._marks.has("ended", self._value.lower())

    def _is_planned(self) -> bool:
        return self._wanted.tense == "future" or self._marks.has("planned", self._low)

    def _is_full(self) -> bool:
        """Tells whether the quotation begins with a subject: a plural or a name, and not the author's things."""
        return self._is_of_a_kind() or self._clause.leads_noun

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


def _begin_alike(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _ALIKE and one[:_ALIKE] == other[:_ALIKE]


def _people(said: Claim) -> list[Term]:
    return [term for term in said.terms if term.kind == "person"]


def _any_are_one(some: Iterable[Term], others: Iterable[Term]) -> bool:
    there = list(others)
    return any(one.root == other.root or not one.notions.isdisjoint(other.notions) for one in some for other in there)


def _is_in_place(wanted: Claim, quote: Claim, value: str, text: str) -> bool:
    """Tells whether the value has another word right behind one that both have: "medalla de bronce", "medalla de
    oro"."""
    shared = _shared(wanted, quote)
    if len({id(one) for one, _ in shared}) < max(2, len(wanted.terms) // 2):
        return False
    known, said = ({id(term) for term in terms} for terms in zip(*shared, strict=True))
    for one, other in shared:
        at, place = wanted.terms.index(one) + 1, quote.terms.index(other) + 1
        if one.kind not in {"light", "number"} and at < len(wanted.terms) and place < len(quote.terms):
            mine, theirs = wanted.terms[at], quote.terms[place]
            is_free = id(mine) not in known and id(theirs) not in said
            if is_free and mine.kind == theirs.kind == "word" and mine.behind == theirs.behind:
                if _is_right_behind(one, mine, value) and _is_right_behind(other, theirs, text):
                    return True
    return False


def _is_right_behind(one: Term, other: Term, text: str) -> bool:
    """Tells whether two words stand together, but for a preposition."""
    return re.search(rf"\b{re.escape(one.said)} (?:(?:de|del|of|en|in|on|a|al) )?{re.escape(other.said)}\W*(?:\Z|[,.;:]|\b(?:in|en|at|de|with|con|for|para|y|and)\b)", text) is not None


def _of(table: Wording, roots: frozenset[str]) -> frozenset[str]:
    """Returns the notions of some roots."""
    return frozenset().union(*(table.notions.get(each, frozenset()) for each in roots))


def _plainly(text: str) -> str:
    """Returns folded text with "not" for "n't"."""
    return _NO_DENIAL.sub(" ", re.sub(r"(?:n't|n\u2019t)\b", " not", folded(text)))
