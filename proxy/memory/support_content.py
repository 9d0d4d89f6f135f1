"""The content of a quotation beside that of a value: the same names and numbers, no denial in one of them alone, the
same time, as often, and of the same thing at all."""

import re

from proxy.memory.agreeing import sounding
from proxy.memory.claim_terms import Term
from proxy.memory.clauses import split
from proxy.memory.predictions import guess
from proxy.memory.roots import root
from proxy.memory.signals import folded, spoken_in
from proxy.memory.support_quoted import Quoted, any_are_one, paired, people, spoken

_FEW = 5  # up to so many things may be counted that nobody counted
_ALIKE, _STEM = 4, 5  # letters at the beginning of two words that are about one thing, of one word in any form
_LIKELY = 0.5  # least probability of stating a fact, where the value is about the sentence around alone
_NOTHING = frozenset({"nothing", "none", "nobody", "nada", "nadie", "ninguno", "ninguna"})
_BEHIND = r"\b{} (?:(?:de|del|of|en|in|on|a|al) )?{}\W*(?:\Z|[,.;:]|\b(?:in|en|at|de|with|con|for|para|y|and)\b)"


# --- names and numbers ------------------------------------------------------------------------------------------------


def other_details(quoted: Quoted) -> str:
    """Returns "details" if the value has a number, a name or another word that was not said, or in the place of one
    that was; "" if not."""
    is_other = _has_other_numbers(quoted) or _has_other_names(quoted) or _has_opposite(quoted)
    is_loose = quoted.instructs or quoted.wishes
    return "details" if is_other or (not is_loose and _is_in_place(quoted)) else ""


def _has_other_numbers(quoted: Quoted) -> bool:
    wanted, said = quoted.wanted.numbers, quoted.all.numbers
    missing = set(wanted) - set(quoted.around.numbers) - set(spoken(quoted.said.sentence))
    if set(said) <= set(wanted):
        everything = quoted.said.everything
        missing -= {*quoted.claim(everything).numbers, *spoken(everything), *quoted.table.units.values()}
    is_counted = not said and all(each.isdigit() and int(each) <= _FEW for each in missing)
    return bool(missing) and not is_counted


def _has_other_names(quoted: Quoted) -> bool:
    wanted = {sounding(each) for each in quoted.wanted.names}
    if not wanted <= _heard(quoted.said.everything):
        return True
    others = {sounding(each) for each in quoted.all.names} - _heard(quoted.low)
    return bool(wanted and others) and wanted.isdisjoint(_heard(quoted.said.quote))


def _heard(text: str) -> set[str]:
    words = spoken(text)
    return {sounding(each) for each in (*words, *(word.removesuffix("'s") for word in words))}


def _has_opposite(quoted: Quoted) -> bool:
    code = quoted.table.code
    has, other = (
        {key for word in spoken(text) for key in (word, root(word, code))}
        for text in (quoted.low, quoted.said.sentence)
    )
    return any(has & each and other & each and not has & other & each for each in quoted.marks.opposites)


def _is_in_place(quoted: Quoted) -> bool:
    """Tells whether the value has another word right behind one that both have: "medalla de bronce", "medalla de
    oro"."""
    shared = paired(quoted.wanted, quoted.all)
    mine, theirs = quoted.wanted.terms, quoted.all.terms
    if len({id(one) for one, _ in shared}) < max(2, len(mine) // 2):
        return False
    known = {id(term) for pair in shared for term in pair}
    for one, other in shared:
        at, place = mine.index(one) + 1, theirs.index(other) + 1
        if one.kind in {"light", "number"} or at == len(mine) or place == len(theirs):
            continue
        next_mine, next_theirs = mine[at], theirs[place]
        is_free = id(next_mine) not in known and id(next_theirs) not in known
        if (
            is_free
            and next_mine.kind == next_theirs.kind == "word"
            and next_mine.behind == next_theirs.behind
            and _stands_behind(one, next_mine, quoted.low)
            and _stands_behind(other, next_theirs, quoted.quote)
        ):
            return True
    return False


def _stands_behind(one: Term, other: Term, text: str) -> bool:
    """Tells whether two words stand together, but for a preposition, at the end of their phrase."""
    return re.search(_BEHIND.format(re.escape(one.said), re.escape(other.said)), text) is not None


# --- denials ----------------------------------------------------------------------------------------------------------


def denied(quoted: Quoted) -> str:
    """Returns "polarity" if one denies what the other says, or says that it is over; "" if not."""
    if quoted.shared and not quoted.wanted.is_denied and _is_liked_by_one(quoted):
        return "polarity"
    return "polarity" if not quoted.instructs and _is_denied_by_one(quoted) else ""


def _is_liked_by_one(quoted: Quoted) -> bool:
    likes, dislikes = quoted.notions("likes"), quoted.notions("dislikes")
    return any(
        quoted.wanted.attribute & mine - theirs and quoted.clause.attribute & theirs - mine
        for mine, theirs in ((likes, dislikes), (dislikes, likes))
    )


def _is_denied_by_one(quoted: Quoted) -> bool:
    marks = quoted.marks
    denials = quoted.counts(quoted.passage) + marks.has("denies", quoted.here)
    denies = bool(denials) if quoted.table.code == "es" else denials % 2 == 1
    says_no, is_over = quoted.counts(quoted.value) > 0, marks.has("ended", quoted.low)
    if marks.has("not_so", quoted.here) or (says_no and marks.has("not_so", quoted.quote)):
        return True
    if not says_no and re.search(rf"{marks.patterns['not_so'].pattern}\W*\Z", quoted.before):
        return True
    if says_no and denials and not denies:
        return True
    if denies and not says_no and not is_over and not _has_other_no(quoted) and _is_behind_denial(quoted):
        return True
    stops = quoted.having(quoted.clause, "stops")
    if stops and quoted.shared and not (says_no or is_over or marks.has("planned", quoted.low)):
        return not any(other in stops for _, other in quoted.shared)
    return not denials and not stops and any(one.is_denied and not other.is_denied for one, other in quoted.shared)


def _has_other_no(quoted: Quoted) -> bool:
    """Tells whether the value denies by a word that the quotation does not have: "dislikes", "is allergic to"."""
    if quoted.wanted.attribute & quoted.notions("dislikes") - quoted.notions("likes"):
        return True
    found = quoted.marks.patterns["must_not"].search(quoted.low)
    return found is not None and found[0][:_STEM] not in quoted.quote


def _is_behind_denial(quoted: Quoted) -> bool:
    """Tells whether a word of the value stands behind a negation, or before "nothing"."""
    plain = quoted.marks.plainly(quoted.passage)
    words = [(found.start(), found[0]) for found in re.finditer(r"[\w']+", plain)]
    denies = quoted.marks.patterns["denies"].search(plain)
    found = next((at for at, word in words if word in quoted.table.negations), denies.start() if denies else None)
    if found is None:
        return False
    behind = quoted.claim(plain[found:])
    if paired(quoted.wanted, behind) or any_are_one(people(quoted.wanted), people(behind)):
        return True
    return bool(quoted.shared) and any(word in _NOTHING for _, word in words)


# --- when, how often --------------------------------------------------------------------------------------------------


def in_time(quoted: Quoted) -> str:
    """Returns the reason why it does not hold now, or not always; "" if there is none."""
    marks, low, here = quoted.marks, quoted.low, quoted.here
    likes = quoted.wanted.attribute & (quoted.notions("likes") | quoted.notions("dislikes"))
    prefers, is_ahead = quoted.instructs or bool(likes), quoted.is_planned
    if not quoted.has_ended and _was(quoted, is_free=is_ahead or prefers):
        return "tense"
    if not (quoted.has_ended or is_ahead or prefers) and (marks.has("coming", here) or _is_said_in("future", quoted)):
        return "tense"
    if marks.has("often", low) and not _is_said_often(quoted):
        return "often"
    if marks.has("once", quoted.quote) and not quoted.has_ended and not is_ahead:
        return "often"
    is_free = is_ahead or prefers or bool(quoted.wanted.holder) or marks.has("stopped", low)
    return "passing" if not is_free and _passes(quoted) else ""


def _was(quoted: Quoted, *, is_free: bool) -> bool:
    """Tells whether it was, and is over. `is_free`: the value is a plan or a preference, which may begin anywhere."""
    marks, here = quoted.marks, quoted.here
    if marks.has("over", here) or (_is_said_in("past", quoted) and not marks.has("lasts", here)):
        return True
    if quoted.clause.tense == "past" and marks.has("over", quoted.before):
        return True
    return not is_free and marks.has("were", here)


def _passes(quoted: Quoted) -> bool:
    """Tells whether it holds for the moment alone."""
    marks, here = quoted.marks, quoted.here
    if marks.has("passing", here) and not marks.has("lasts", here):
        return True
    if not quoted.is_first and marks.has("passing", quoted.before):
        return True
    return not quoted.wanted.numbers and marks.has("until", here)


def _is_said_in(tense: str, quoted: Quoted) -> bool:
    """Tells whether the verb of the value, which is in the present, is said in another tense."""
    if quoted.clause.tense != tense or not quoted.wanted.terms:
        return False
    if quoted.wanted.is_copular:
        return quoted.clause.is_copular and bool(quoted.shared)
    return quoted.is_verb_shared


def _is_said_often(quoted: Quoted) -> bool:
    marks, quote = quoted.marks, quoted.quote
    if marks.has("restricts", quote) and not marks.has("restricts", quoted.low):
        return False
    return marks.has("often", quote) or (quoted.instructs and marks.has("standing", quoted.before + quote))


# --- of the same thing ------------------------------------------------------------------------------------------------


def unrelated(quoted: Quoted) -> str:
    """Returns "unrelated" if the value has nothing in common with the quotation, or with its sentence alone, and the
    quotation is unlikely to state anything; "" if it has."""
    wanted = quoted.wanted
    if any_are_one(people(wanted), people(quoted.around)) or paired(wanted, quoted.all):
        return ""
    verb = wanted.terms[: not wanted.is_copular]
    if any(one not in verb for one, _ in paired(wanted, quoted.around)):
        return "" if quoted.instructs or _is_likely(quoted) else "unrelated"
    if quoted.instructs and quoted.marks.has("standing", quoted.quote):
        return ""
    said = spoken(quoted.said.quote)
    words = (word for term in wanted.terms for word in term.said.split() if len(word) >= _ALIKE)
    return "" if any(each[:_ALIKE] == word[:_ALIKE] for word in words for each in said) else "unrelated"


def _is_likely(quoted: Quoted) -> bool:
    """Tells whether a clause of the quotation is likely to state a fact, as learnt."""
    sentence, at = quoted.said.sentence, len(quoted.said.before)
    found, code = split(sentence), spoken_in(folded(sentence))
    texts, end = [each.text for each in found], at + len(quoted.said.quote)
    over = [each for each, one in enumerate(found) if one.start < end and at < one.start + len(one.text)]
    return any(guess(texts, each, code).fact > _LIKELY for each in over)
