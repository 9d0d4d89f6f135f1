"""Licences for one word in the place of another: spelt otherwise, another form, a synonym, the preposition of a tool.

Each is asked of two places that are not accounted for, of either question, and tells whether their words may stand for
each other there.
"""

import re
from functools import lru_cache

from rapidfuzz.distance import OSA

from proxy.language.language import Language
from proxy.language.words import fold, is_form_of, is_known, lemma, sound
from proxy.reuse.pairing import Pairing

_DIGIT = re.compile(r"\d")
_ENDING = 2  # letters: what differs in them alone may be a form of the word
_NEAR = 2  # letters that may differ at all
_SHORT, _LONG = 5, 7  # letters of a word in which one letter may be wrong; two, or one where no dictionary has it


# --- spelling ---------------------------------------------------------------------------------------------------------


def spelling(pairing: Pairing, at: int, other: int) -> bool:
    """A word spelt or typed otherwise, by somebody who means the same one: never if the dictionary has both."""
    language = pairing.language
    one, two = pairing.asked.words[at], pairing.earlier.words[other]
    if one.replace("'", "") == two.replace("'", ""):
        return True
    if _DIGIT.search(one) or _DIGIT.search(two) or not (one + two).replace("'", "").isalpha():
        return False
    distance = OSA.distance(one, two, score_cutoff=_NEAR)
    if distance > _NEAR and not _respelt_alike(one, two, language):
        return False
    known, known_too = (
        is_known(side.words[place], language) or is_known(side.said.spelling(place).lower(), language)
        for side, place in pairing.at(at, other)
    )
    if known and known_too:
        return _respelt_alike(one, two, language) and _respelt_alike(
            lemma(one, language), lemma(two, language), language
        )
    if not known and not known_too and pairing.asked.said.is_of_words:
        return False
    shorter = min(len(one), len(two))
    sounds_alike = sound(one, language) == sound(two, language)
    if known != known_too and sounds_alike and shorter >= _SHORT - 2 and distance <= _NEAR:
        return not _is_form(one, two) or one[-1] == two[-1]
    if _is_form(one, two):
        return False
    if not known and not known_too:
        is_swap = sorted(one) == sorted(two) and one[0] == two[0] and shorter >= _SHORT
        return distance <= 1 and (shorter >= _LONG or is_swap)
    if sorted(one) == sorted(two):
        return distance <= 2 and shorter >= _SHORT - 1
    is_short_of_one = len(one) != len(two) and shorter >= _SHORT - 1 and (one[0], one[-1]) == (two[0], two[-1])
    return (distance <= 1 and (shorter >= _SHORT or is_short_of_one)) or (distance <= 2 and shorter >= _LONG)


def _is_form(one: str, other: str) -> bool:
    """Tells whether they differ in the ending alone, or by a prefix."""
    if sorted(one) == sorted(other):
        return False
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if longer in {f"{shorter}e", f"{shorter}{shorter[-1]}"} or (longer == f"{shorter}g" and shorter.endswith("in")):
        return False
    if longer.endswith(shorter):
        return longer != f"h{shorter}"
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return same >= max(len(one), len(other)) - _ENDING and longer != shorter and longer[-1] != shorter[-1]


def _respelt_alike(one: str, two: str, language: Language) -> bool:
    return one[0] == two[0] and _respelt(one, language) == _respelt(two, language)


@lru_cache(20_000)
def _respelt(word: str, language: Language) -> str:
    for written, meant in language.licences.spellings:
        word = written.sub(meant, word)
    return word


# --- verbs ------------------------------------------------------------------------------------------------------------


def verb(pairing: Pairing, at: int, other: int) -> bool:
    """Forms of one verb that say nothing about who does what: behind "how to", in any form that one asks in."""
    licences, language = pairing.language.licences, pairing.language
    if "verb-tells-who" in language.traits and not pairing.is_how_to:
        return False
    forms = []
    for side, place in pairing.at(at, other):
        written = side.said.spelling(place).lower()
        if side.before(place) not in licences.before_verb or licences.no_verb_form.search(written):
            return False
        if licences.of_somebody.search(side.words[place]) and not licences.impersonal.search(side.said.question.folded):
            return False
        forms.append(_verb_of(written, language))
    return bool(forms[0] & forms[1])


def register(pairing: Pairing, at: int, other: int) -> bool:
    """A verb said to whom one calls `tú`, and to whom one calls `vos`: "puedes", "podés"."""
    language = pairing.language
    said = [side.said.spelling(place).lower() for side, place in pairing.at(at, other)]
    infinitive = language.licences.infinitive
    if infinitive is None or not all(map(language.licences.second_person.search, said)):
        return False
    return any(infinitive.search(verb) for verb in _verb_of(said[0], language) & _verb_of(said[1], language))


@lru_cache(20_000)
def _verb_of(word: str, language: Language) -> frozenset[str]:
    """The infinitives that a word may be a form of."""
    base = lemma(word, language)
    regular, infinitive = language.licences.regular, language.licences.infinitive
    if not regular or not infinitive:
        return frozenset((base,))
    folded = fold(word)
    stem = re.sub(r"(?:o|as?|es?|amos|emos|imos|an|en|ais|eis|[aei]r)$", "", folded)
    return frozenset((base,)) | {
        verb for ending in ("ar", "er", "ir") if is_form_of(folded, verb := stem + ending, regular, infinitive)
    }


# --- number and gender ------------------------------------------------------------------------------------------------


def plural(pairing: Pairing, at: int, other: int) -> bool:
    """Any one of a kind for all of them: "a hedgehog", "hedgehogs". Not in a definition, nor of a certain one."""
    language, licences = pairing.language, pairing.language.licences
    if pairing.is_of_words:
        return False
    places = pairing.at(at, other)
    for side, place in places:
        # A definition is of one or of the kind; what is done, to one or to many: "rename a column", "rename columns".
        said = side.said
        is_object = said.question.text.startswith(licences.opens_how_to) and not said.is_of_somebody
        if (said.is_definition or is_object) and language.lexicon.markers.isdisjoint(said.words[2:place]):
            return False
    one, two = (side.words[place] for side, place in places)
    if _plural_of(two, one):
        places = places[1], places[0]
    elif not _plural_of(one, two):
        return False
    named_plural, named = ({*side.words[max(place - 2, 0) : place]} for side, place in places)
    if named_plural & licences.definite or not (named & licences.indefinite):
        return False
    pairing.has_plural = True
    return True


def _plural_of(plural: str, single: str) -> bool:
    if len(single) < 3 or not plural.endswith("s"):
        return False
    return not single.endswith("s") and plural in {
        f"{single}s",
        f"{single}es",
        f"{single[:-1]}ies" if single.endswith("y") else "",
        f"{single[:-1]}ces" if single.endswith("z") else "",
    }


def agreement(pairing: Pairing, at: int, other: int) -> bool:
    """The verb of a noun that is generic in both numbers."""
    if not pairing.has_plural:
        return False
    licences, language = pairing.language.licences, pairing.language
    words = pairing.asked.words[at], pairing.earlier.words[other]
    return any(
        (one, two) in licences.agreeing
        or any(
            one.endswith(ending)
            and one[: -len(ending)] + instead == two
            and _verb_of(one, language) & _verb_of(two, language)
            for ending, instead in licences.agreeing_endings
        )
        for one, two in (words, words[::-1])
    )


def adjective(pairing: Pairing, at: int, other: int) -> bool:
    """An adjective in the gender of another word for the same, before it."""
    asked, earlier = pairing.sides
    one, two = asked.words[at], earlier.words[other]
    if "verb-tells-who" not in pairing.language.traits or one[:-1] != two[:-1] or {one[-1], two[-1]} != {"o", "a"}:
        return False
    if at == 0 or other == 0 or asked.words[at - 1] == earlier.words[other - 1]:
        return False
    return asked.labels[at - 1] == earlier.labels[other - 1]


# --- meaning ----------------------------------------------------------------------------------------------------------


def synonym(pairing: Pairing, at: int, other: int) -> bool:
    """Words that are one in the sense that questions use them in."""
    if pairing.is_of_words:
        return False
    language, before = pairing.language, pairing.language.licences.before_verb
    one, two = pairing.asked.words[at], pairing.earlier.words[other]
    if not _meanings(one, language) & _meanings(two, language):
        return False
    if (one[-1] == "s") == (two[-1] == "s") or all(
        side.before(place) in before for side, place in pairing.at(at, other)
    ):
        return True
    return (one == lemma(one, language)) == (two == lemma(two, language))


@lru_cache(20_000)
def _meanings(word: str, language: Language) -> frozenset[str]:
    """The groups of synonyms that the word is in, in any form of it."""
    synonyms = language.licences.synonyms
    forms = {word, *_verb_of(word, language), *((word[:-1], word[:-2]) if word.endswith("s") else ())}
    return frozenset(name for form in forms for name in synonyms.get(form, ()))


def tool(pairing: Pairing, at: int, other: int) -> bool:
    """The preposition before what it is done in or with, in a question how it is done: "on Linux", "in Linux"."""
    tools, places = pairing.language.licences.tool_prepositions, pairing.at(at, other)
    said = {side.words[place] for side, place in places}
    if not pairing.is_how_to or not any(said <= alike for alike in tools):
        return False
    nexts = {"".join(side.words[place + 1 : place + 2]) for side, place in places}
    if len(nexts) != 1:
        return False
    name = nexts.pop()
    return any(side.said.written.get(name, "")[:1].isupper() for side, _ in places)
