"""What small words and signs tell apart: whom a question is about, which way it points, what is mentioned in it.

They count for little when two questions are aligned, and most questions would be the same without them. Here they are
looked at one kind at a time: each reader takes from a question what two of the same kind must have in common.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from proxy.language.text import fold
from proxy.reuse.lexicon import Language, words
from proxy.reuse.question import Question
from proxy.reuse.words import lemma

Reader = Callable[[Question], tuple[str, ...]]

_SIGNS = re.compile(r"&&|\|\||[|@#\[\]{}¥₹€£^~<>=]|(?<![\w)])-(?=\d)")
_OWNERS: Mapping[Language, Mapping[str, str]] = {
    "en": {"my": "1", "mine": "1", "our": "1", "your": "2", "yours": "2"},
    "es": {"mi": "1", "mis": "1", "nuestro": "1", "nuestra": "1", "tu": "2", "tus": "2"},
}
_ACTS: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:how|what|which) (?:\w+ )??(?:(?:do|does|can|could|should|would|must|am|are) )?(?:(i|we)|(?:you|u))\b"
    ),
    "es": re.compile(
        r"\b(?:como|que) (?:\w+ )??(?:(puedo|podemos|debo|podria|hago|hacemos|tengo que)"
        r"|(?:puedes|podes|haces|debes|tenes que|tienes que))\b"
    ),
}
_IMPERSONAL_ES = re.compile(r"\bcomo (?:no )?\w+[aei]r(?:me|te|se|l[aeo]s?)*\b")
_MODALS: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:(can|could|may)|(should)|(must|have to|has to|need to))\b"),
    "es": re.compile(r"\b(?:(pued[oe]|podria|podes|puedes)|(deberia)|(debo|debe|tengo que|tiene que|hay que))\b"),
}
_MENTIONED: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(\w+) (?:loop|statement|clause|request|operator|keyword)s?\b"
        r"|\b(?:vitamin|hepatitis|type|plan|grade|group|class|letter) (\w)\b"
        r"|\b(?:in|of) (may)\b"
        r"|\b(?:tense of|synonyms? (?:of|for)|antonyms? (?:of|for)|the (?:verb|word)) (\w+)|\bsay (\w+) in\b"
    ),
    "es": re.compile(
        r"\b(?:vitamina|hepatitis|tipo|plan|grado|grupo|clase|letra) (\w)\b"
        r"|\b(?:verbo|palabra|sinonimos? de|antonimos? de|se dice|como digo) (\w+)"
    ),
}
_POINTING: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(r"\b(for|with|from|to|at|against|about)$"),
    "es": re.compile(r"\b(a|desde|hasta|para|con|contra|de|sobre) (?:quien|quienes|donde|cuando)\b"),
}
_DOING: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(r"^how to (\w+)"),
    "es": re.compile(r"\bcomo (\w+)\b(?! (?:para|que)\b)"),
}
_DOES: Mapping[Language, frozenset[str]] = {
    "en": words("make use get take have go come give keep put do be"),
    "es": words("hacer usar tener ir poner dar sacar llevar traer"),
}


def signs(question: Question) -> tuple[str, ...]:
    """Of code, currencies, and a number's minus."""
    return tuple(sorted(_SIGNS.findall(question.original)))


def owner(question: Question) -> tuple[str, ...]:
    """First or second person, if it is one of them: `my password`, `your password`."""
    owners = _OWNERS[question.language]
    return tuple(sorted({owners[word] for word in question.text.split() if word in owners}))


def _own(*questions: Question) -> bool:
    """Does each ask how one does something with what is one's own? "How do I change my …", "how do you change your …"
    and "the best way to change your …" are one."""
    return all(
        question.asks == "how" and len(owners := owner(question)) == 1 and _actor(question) in ("", *owners)
        for question in questions
    )


def _actor(question: Question) -> str:
    if question.language == "es" and not _IMPERSONAL_ES.search(question.text):
        return "the verb's"
    found = _ACTS[question.language].search(fold(question.original))
    return "" if found is None else "1" if found[1] else "2"


def modality(question: Question) -> tuple[str, ...]:
    """Whether one can, should or must: where that is the question."""
    if question.asks not in ("yesno", "none"):
        return ()
    found = _MODALS[question.language].search(question.text)
    return (str(found.lastindex),) if found else ()


def mentioned(question: Question) -> tuple[str, ...]:
    """Words that are spoken of: a for loop, vitamin d, the verb "ser"."""
    found = _MENTIONED[question.language].findall(fold(question.original))
    return tuple(sorted("".join(groups) for groups in found))


def pointing(question: Question) -> tuple[str, ...]:
    """The preposition that belongs to the question word: `a quién`, `who … for`."""
    return tuple(sorted(_POINTING[question.language].findall(question.text.rstrip(" ,"))))


def doing(question: Question) -> tuple[str, ...]:
    """What is to be done, if that is a word that counts for little: make soap, use soap."""
    # Of the Spanish question as it was asked: "como hago" counts for "como" elsewhere.
    said = question.text if question.language == "en" else fold(question.original)
    found = _DOING[question.language].search(said)
    verb = "usar" if found and found[1] == "uso" else lemma(found[1], question.language) if found else ""
    return (verb,) if verb in _DOES[question.language] else ()


# Of some, a question may say nothing, and be the same as one that does.
OPTIONAL: Final[Mapping[str, Reader]] = {"owner": owner, "modality": modality, "pointing": pointing, "doing": doing}
REQUIRED: Final[Mapping[str, Reader]] = {"signs": signs, "mentioned": mentioned}


def particles(asked: Question, earlier: Question) -> str:
    """What the small words and signs of two questions disagree about."""
    for readers, is_needed in ((REQUIRED, True), (OPTIONAL, False)):
        for name, read in readers.items():
            one, two = read(asked), read(earlier)
            # A Spanish "a" says who wins and who loses: "¿quién venció a …?", "¿a quién venció …?".
            needed = is_needed or (name == "pointing" and asked.language == "es")
            if one != two and (needed or (one and two)) and not (name == "owner" and _own(asked, earlier)):
                return f"{name}: {' '.join(one)} / {' '.join(two)}"
    return ""
