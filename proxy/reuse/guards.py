"""Guards: differences between two questions with nearly the same words, as a table of small pure functions.

Each says in a few words what differs, or "" if it sees nothing. `QUESTION_GUARDS` look at the two questions, the
cheapest first; `DOUBTS` are what may be a way of speaking. What the places of words tell is in `roles`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

from proxy.language.language import Language
from proxy.language.text import fold
from proxy.language.words import lemma
from proxy.reuse.question import Question

QuestionGuard = Callable[[Question, Question], str]
Reader = Callable[[Question], tuple[str, ...]]

_NEAR_TENSES = ({"present", "future"}, {"past", "perfect"})
_NEGATIONS = frozenset({"not", "no"})  # the names of operators
_SAME_KIND = ({"none", "what"}, {"none", "yesno"})
_SHORTEST = 4  # letters before a prefix is taken for one
_SIGNS = re.compile(r"&&|\|\||[|@#\[\]{}¥₹€£^~<>=]|(?<![\w)])-(?=\d)")


def numbers(asked: Question, earlier: Question) -> str:
    """Tells the numbers that only one question has; those that a comparison lists may come in any order."""
    if asked.numbers == earlier.numbers or are_only_listed(asked, earlier):
        return ""
    return differing(asked.numbers, earlier.numbers)


def negation(asked: Question, earlier: Question) -> str:
    """Tells the negations that only one question has."""
    if asked.operators == earlier.operators:
        return ""
    said, said_earlier = ([word for word in q.operators if word in _NEGATIONS] for q in (asked, earlier))
    return differing(said, said_earlier) if said != said_earlier else ""


def operators(asked: Question, earlier: Question) -> str:
    """Tells the small words that change the answer and that only one question has; one word of emphasis is forgiven."""
    if asked.operators == earlier.operators:  # both are sorted
        return ""
    more, more_earlier = Counter(asked.operators), Counter(earlier.operators)
    extra = [*(more - more_earlier), *(more_earlier - more)]
    if len(extra) == 1 and extra[0] in asked.language.comparison.emphasis:
        return ""
    return differing(asked.operators, earlier.operators)


def emphasis(asked: Question, earlier: Question) -> str:
    """Tells the operators that only one question has, words of emphasis included."""
    return differing(asked.operators, earlier.operators) if asked.operators != earlier.operators else ""


def opposites(asked: Question, earlier: Question) -> str:
    """Among all words, also those that count for little: give and take, up and down."""
    # "suegra" has the lemma "suegro".
    for said, said_earlier in ((asked.forms, earlier.forms), (asked.words, earlier.words)):
        for word, other in product(said - said_earlier, said_earlier - said):
            if are_opposite(word, other, asked.language):
                return f"{word} / {other}"
    return ""


def kind(asked: Question, earlier: Question) -> str:
    """Tells what the questions ask for (how, why, when, …) where that differs."""
    if asked.asks != earlier.asks and {asked.asks, earlier.asks} not in _SAME_KIND:
        return f"{asked.asks} / {earlier.asks}"
    like = asked.language.comparison.what_it_is_like
    if (like.search(asked.text) is None) != (like.search(earlier.text) is None):
        return "what it is like"
    return "what it does / what it is" if asked.asks_what_it_does != earlier.asks_what_it_does else ""


def tense(asked: Question, earlier: Question) -> str:
    """Tells the times that the questions ask about where they differ; neighbouring ones count as one."""
    if asked.tense == earlier.tense or {asked.tense, earlier.tense} in _NEAR_TENSES:
        return ""
    return f"{asked.tense} / {earlier.tense}"


def near_tense(asked: Question, earlier: Question) -> str:
    """Tells the times that the questions ask about where they differ at all."""
    return f"{asked.tense} / {earlier.tense}" if asked.tense != earlier.tense else ""


def person(asked: Question, earlier: Question) -> str:
    """Tells the persons that the questions are about where they differ."""
    if asked.pronouns != earlier.pronouns:
        them, them_earlier = ([word for word in q.pronouns if word != "they"] for q in (asked, earlier))
        if them != them_earlier:
            return differing(them, them_earlier)
    if asked.about_somebody != earlier.about_somebody:
        return "somebody"
    for one, other in ((asked.clitics, earlier.clitics), (earlier.clitics, asked.clitics)):
        if one == {"me"} and other and "me" not in other:
            return f"me / {' '.join(sorted(other))}"
    return ""


def they(asked: Question, earlier: Question) -> str:
    """Tells the persons apart, but for "they": it is mostly said in the question itself who they are."""
    return differing(asked.pronouns, earlier.pronouns) if asked.pronouns != earlier.pronouns else ""


def quoted(asked: Question, earlier: Question) -> str:
    """Tells what is quoted where both questions quote something else."""
    if asked.quoted and earlier.quoted and asked.quoted != earlier.quoted:
        return differing(asked.quoted, earlier.quoted)
    return ""


def joins(asked: Question, earlier: Question) -> str:
    """Tells how many things are compared, or by which word they are joined, where that differs."""
    if (things := things_told_apart(asked)) and (others := things_told_apart(earlier)) and things != others:
        return f"{things} things / {others}"
    if asked.joins and earlier.joins and asked.joins != earlier.joins:
        return differing(sorted(asked.joins), sorted(earlier.joins))
    return ""


def are_opposite(one: str, other: str, language: Language) -> bool:
    """Tells whether two lemmas are near each other to an embedding and opposite to a reader."""
    lexicon = language.lexicon
    if other in lexicon.opposites.get(one, ()):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(shorter) >= _SHORTEST and longer.endswith(shorter) and longer[: -len(shorter)] in lexicon.reversing


# --- enumerations -----------------------------------------------------------------------------------------------------


def are_only_listed(asked: Question, earlier: Question) -> bool:
    """The same numbers, with nothing but "and" or "or" between them: such have no order, but for what is calculated."""
    words = asked.language.comparison
    return sorted(asked.numbers) == sorted(earlier.numbers) and all(
        words.listed.search(q.text) and not words.calculates.search(fold(q.original)) for q in (asked, earlier)
    )


def things_told_apart(question: Question) -> int:
    """Returns the number of things that the question wants told apart; 0 if it doesn't."""
    words = question.language.comparison
    _, between, things = question.text.partition(words.difference)
    return len(words.between_things.findall(things)) + 1 if between else 0


def differing(said: Sequence[str], said_earlier: Sequence[str]) -> str:
    """Returns the words of either side that the other has not, as `these / those`."""
    one, two = Counter(said), Counter(said_earlier)
    return f"{' '.join((one - two).elements())} / {' '.join((two - one).elements())}"


# --- particles --------------------------------------------------------------------------------------------------------
# Small words and signs count for little when two questions are aligned, and most questions would be the same without
# them. Here they are looked at one kind at a time: each reader takes from a question what two of the same kind must
# have in common.


def signs(question: Question) -> tuple[str, ...]:
    """Of code, currencies, and a number's minus."""
    return tuple(sorted(_SIGNS.findall(question.original)))


def owner(question: Question) -> tuple[str, ...]:
    """First or second person, if it is one of them: `my password`, `your password`."""
    owners = question.language.comparison.owners
    return tuple(sorted({owners[word] for word in question.text.split() if word in owners}))


def _own(*questions: Question) -> bool:
    """Tells whether each asks how one does something with what is one's own. "How do I change my …", "how do you change
    your …" and "the best way to change your …" are one."""
    return all(
        question.asks == "how" and len(owners := owner(question)) == 1 and _actor(question) in ("", *owners)
        for question in questions
    )


def _actor(question: Question) -> str:
    words = question.language.comparison
    if words.impersonal_act is not None and not words.impersonal_act.search(question.text):
        return "the verb's"
    found = words.acts.search(fold(question.original))
    return "" if found is None else "1" if found[1] else "2"


def modality(question: Question) -> tuple[str, ...]:
    """Returns the modal verb (can, should, must) where that is the question."""
    if question.asks not in ("yesno", "none"):
        return ()
    found = question.language.comparison.modals.search(question.text)
    return (str(found.lastindex),) if found else ()


def mentioned(question: Question) -> tuple[str, ...]:
    """Words that are spoken of: a for loop, vitamin d, the verb "ser"."""
    found = question.language.comparison.mentioned.findall(fold(question.original))
    return tuple(sorted("".join(groups) for groups in found))


def pointing(question: Question) -> tuple[str, ...]:
    """The preposition that belongs to the question word: `a quién`, `who … for`."""
    return tuple(sorted(question.language.comparison.pointing.findall(question.text.rstrip(" ,"))))


def doing(question: Question) -> tuple[str, ...]:
    """Returns the verb of what is to be done, if it counts for little: make soap, use soap."""
    language, words = question.language, question.language.comparison
    # Where the verb tells who, of the question as it was asked: "como hago" counts for "como" elsewhere.
    found = words.doing.search(fold(question.original) if "verb-tells-who" in language.traits else question.text)
    verb = (words.does_forms.get(found[1]) or lemma(found[1], language)) if found else ""
    return (verb,) if verb in words.does else ()


# Of some, a question may say nothing, and be the same as one that does.
OPTIONAL: Final[Mapping[str, Reader]] = {"owner": owner, "modality": modality, "pointing": pointing, "doing": doing}
REQUIRED: Final[Mapping[str, Reader]] = {"signs": signs, "mentioned": mentioned}


def particles(asked: Question, earlier: Question) -> str:
    """Tells what the small words and signs of two questions disagree about."""
    said, said_earlier = _read(asked), _read(earlier)
    if said == said_earlier:
        return ""
    for name, one, two in zip((*REQUIRED, *OPTIONAL), said, said_earlier, strict=True):
        # A Spanish "a" says who wins and who loses: "¿quién venció a …?", "¿a quién venció …?".
        needed = name in REQUIRED or (name == "pointing" and "pointing-counts" in asked.language.traits)
        if one != two and (needed or (one and two)) and not (name == "owner" and _own(asked, earlier)):
            return f"{name}: {' '.join(one)} / {' '.join(two)}"
    return ""


@lru_cache(4_096)
def _read(question: Question) -> tuple[tuple[str, ...], ...]:
    """Returns what every reader takes from the question, in their order."""
    return tuple([read(question) for read in (*REQUIRED.values(), *OPTIONAL.values())])


QUESTION_GUARDS: Final[Mapping[str, QuestionGuard]] = {
    "numbers": numbers,
    "negation": negation,
    "operators": operators,
    "kind": kind,
    "opposites": opposites,
    "tense": tense,
    "person": person,
    "quoted": quoted,
    "joins": joins,
    "particles": particles,
}
# What may be a way of speaking: it needs the consent of the verifier.
DOUBTS: Final[Mapping[str, QuestionGuard]] = {
    "emphasis": emphasis,
    "near_tense": near_tense,
    "they": they,
}
