"""Decision whether two remembered statements about a user are one and the same fact, said in other words.

Every word that says something must be accounted for: it stands in both, a notion has both, one is made from the other
("traducir", "traducción"), or one is the other misspelt. What is left over is a difference, be it a condition, a
frequency or a name; so no table has to know that "sometimes" is not "always". Where all words agree, the same must hold
for who it is about and who does it, for what is denied, and for the tense.

A nomination is cheap and decides nothing.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from proxy.language.detect import language
from proxy.language.words import fold
from proxy.memory.agreeing import Pairs, agreeing
from proxy.memory.claim_order import turned
from proxy.memory.claim_terms import Term
from proxy.memory.claim_words import Wording, spoken_in_claims, wording
from proxy.memory.claims import Claim, claim
from proxy.types.memory import Language

_ALIKE_IN_LETTERS, _ALIKE_IN_MEANING = 0.8, 0.6  # least ratio and cosine that nominate
_SHARED = 0.5  # least share of the shorter one's words that nominates
_WORD = re.compile(r"[^\W_]+")
_AGED = frozenset({"year", "old", "age", "year old", "ano", "edad", "anos edad"})
_MONEY = frozenset({"dollar", "dolar", "euro", "pound"})
_AS = frozenset({"as", "de", "como"})


def nominated(one: str, other: str, cosine: float | None = None) -> bool:
    """Tells whether two statements may be one fact, so that `same_fact` is worth asking. `cosine`: of their
    embeddings, if there are any."""
    if cosine is not None and cosine > _ALIKE_IN_MEANING:
        return True
    first, second = _claims(one, other)
    roots, others = ({key for term in each.terms for key in (term.root, *term.notions)} for each in (first, second))
    least = min(len(first.terms), len(second.terms))
    if len(roots & others) >= max(1, _SHARED * least):
        return True
    matcher = SequenceMatcher(None, one.lower(), other.lower(), autojunk=False)
    return matcher.real_quick_ratio() > _ALIKE_IN_LETTERS < matcher.ratio()


def same_fact(one: str, other: str) -> bool:
    """Tells whether two statements about one user say the same: in the first or the third person, in Spanish or
    English."""
    return not difference(one, other)


def writes_alike(one: str, other: str) -> bool:
    """Tells whether each name of one statement is written in the other as well: "Oskar" for "Oscar" is a correction."""
    return all(_claims(here, there)[0].names <= words_of(there) for here, there in ((one, other), (other, one)))


def words_of(text: str) -> frozenset[str]:
    """Returns the words of a text, folded, among which names are looked for."""
    return frozenset(map(fold, _WORD.findall(text)))


def states_something(text: str) -> bool:
    """Tells whether a text says something by itself: a name or a number alone means what its key says."""
    kinds = [term.kind for term in claim(text).terms]
    return len(kinds) > 1 and not {"name", "number"}.issuperset(kinds)


def difference(one: str, other: str) -> str:
    """Returns the reason why two statements are two facts, "" if they are one."""
    first, second = _claims(one, other)
    if first.language != second.language:
        return "language"
    if first.is_denied != second.is_denied:
        return "polarity"
    if not tenses_agree(first.tense, second.tense):
        return "tense"
    pairs, left, over = _paired(first, second)
    left, over = _without_work(left, first, second), _without_work(over, second, first)
    left, over = _without_initials(left, over)
    left, over = _without_first_names(left, over, first, pairs), _without_first_names(over, left, second, pairs)
    reason = _left_over(pairs, left, over, wording(first.language), is_led=first.leads_own != second.leads_own)
    return reason or turned(first, second, pairs)


def tenses_agree(one: str, other: str) -> bool:
    """Tells whether statements in these tenses may say the same."""
    return one == other or {one, other} == {"past", "perfect"}


def _claims(one: str, other: str) -> tuple[Claim, Claim]:
    code = _spoken(one, other)
    return claim(one, code), claim(other, code)


@lru_cache(4_096)
def _spoken(one: str, other: str) -> Language:
    said = f"{one}. {other}"
    return language(said) or spoken_in_claims(said)


def _paired(first: Claim, second: Claim) -> tuple[Pairs, list[Term], list[Term]]:
    """Pairs the terms of two claims; returns the pairs and the terms that are left over in each."""
    table = wording(first.language)
    left, over = list(first.terms), list(second.terms)
    pairs: Pairs = []
    for how in ("root", "notion", "form", "spelling"):
        for term in list(left):
            found = next((each for each in over if agreeing(term, each, how, table.endings)), None)
            if found is not None:
                pairs.append((term, found, how))
                left.remove(term)
                over.remove(found)
    return pairs, left, over


def _without_work(left: Sequence[Term], said: Claim, other: Claim) -> list[Term]:
    """Returns the terms that are left over without "works as", for which the other may say "is"."""
    frames = {id(one) for one, after in pairwise(said.terms) if after.behind in _AS and one.kind == "doing"}
    return [term for term in left if id(term) not in frames or not other.is_copular]


def _without_initials(left: list[Term], over: list[Term]) -> tuple[list[Term], list[Term]]:
    """Returns the terms that are left over without a name in one and the words in the other whose initials it is:
    "RAF", "Royal Air Force"."""
    for some, others in ((left, over), (over, left)):
        names = [term for term in others if term.kind == "name"]
        if (found := "".join(term.said[0] for term in names)) and len(names) > 1:
            short = [term for term in some if term.kind == "name" and term.said == found]
            if short:
                gone = {id(term) for term in (*short, *names)}
                return [t for t in left if id(t) not in gone], [t for t in over if id(t) not in gone]
    return left, over


def _without_first_names(left: list[Term], over: Sequence[Term], said: Claim, pairs: Pairs) -> list[Term]:
    """Returns the terms that are left over without the names that only one gives of somebody whom both name: "Dr. Rosa
    Paz", "Paz"; and of a club that both support: "River Plate", "River"."""
    if any(term.kind == "name" for term in over):
        return left
    table = wording(said.language)
    is_somebody = (said.is_copular and said.leads_noun) or any(term.notions & table.supporting for term in said.terms)
    paired = {id(one) for pair in pairs for one in pair[:2] if isinstance(one, Term) and one.kind == "name"}
    names = [
        id(term)
        for before, after in pairwise(said.terms)
        for term, beside in ((before, after), (after, before))
        if term.kind == "name" and id(beside) in paired
    ]
    return [term for term in left if not is_somebody or id(term) not in names]


def _left_over(pairs: Pairs, left: Sequence[Term], over: Sequence[Term], table: Wording, *, is_led: bool) -> str:
    """Returns the reason why the terms that are left over are a difference, "" if they are none. `is_led`: one of both
    begins with what is the user's: "my knees are bad", "has bad knees"."""
    if not pairs:
        return "words"
    is_counted = any(one.kind == "number" for one, _, _ in pairs)
    rest = [term for term in (*left, *over) if not _is_optional(term, is_counted=is_counted)]
    if not rest:
        return ""
    # "Is afraid of" and "has a fear of"; "plays the trombone" and "is the trombonist".
    remade = [(one.said, other.said) for one, other, how in pairs if _is_remade(one, other, how, table)]
    by_agent = [said for said in remade if any(each.endswith(table.agents) for each in said)]
    kinds = {term.kind for term in rest}
    is_working = any(term.root in table.working for term in rest)
    if kinds == {"doing"} and (remade or not (is_working or (left and over))):
        return ""
    if kinds == {"light"} and (len(remade) > len(by_agent) or (is_led and not (left and over))):
        return ""
    return "words: " + " ".join(term.root for term in left) + " / " + " ".join(term.root for term in over)


def _is_remade(one: Term, other: Term, how: str, table: Wording) -> bool:
    """Tells whether one term is another part of speech than the other."""
    if how in {"notion", "form"}:
        return True
    return one.kind == "word" and one.said.endswith(table.nominals) != other.said.endswith(table.nominals)


def _is_optional(term: Term, *, is_counted: bool) -> bool:
    """Tells whether a term says nothing that the others do not: "one", which is an article, and "years old" behind a
    number. `is_counted`: both have a number."""
    return is_article(term) or (is_counted and counts(term))


def is_article(term: Term) -> bool:
    """Tells whether a term is "one"."""
    return term.kind == "number" and term.said == "1"


def counts(term: Term) -> bool:
    """Tells whether a term is what numbers count, and need not be said."""
    return term.root in _AGED or term.said in _MONEY
