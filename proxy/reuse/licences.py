"""Licences: the few steps that may lead from the words of one question to those of another.

Two questions are the same only if every word of both is accounted for: it stands in both, or a licence says why it may
differ. What is left over is a difference, be it a preposition, a modal, a quantifier or a name; so no table has to know
that `better` is not `worse`. Where every word is accounted for, `places` says whether they stand where they did.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from rapidfuzz.distance import OSA

from proxy.language.language import Language
from proxy.language.text import fold
from proxy.language.words import is_form_of, is_known, lemma, sound
from proxy.reuse.places import reordered
from proxy.reuse.question import Question
from proxy.reuse.said import Said, accounted, is_done_by_somebody

_LAST_ACCENT = re.compile(r"[áéíóú][ns]$")
_DIGIT = re.compile(r"\d")
_ENDING = 2  # letters: what differs in them alone may be a form of the word
_NEAR = 2  # letters that may differ at all
_SHORT, _LONG = 5, 7  # letters of a word in which one letter may be wrong; two, or one where no dictionary has it
_SHORTEST_ACRONYM = 3  # letters whose words are told by their initials; of fewer, by the tables
_PREFIXES = frozenset({"re", "un", "co", "pre", "de", "non", "anti", "in"})  # which make another word: "re-cover"
_MOST_LEFT, _FEW_LEFT = 8, 5  # words of content that are not the same, of both questions; where none is
_TELEGRAPHIC = 2  # words of content at least


class Pairing:
    """Two questions and the places of the words that are not accounted for. A licence takes places out, and gives the
    words of a pair one label."""

    def __init__(self, asked: Said, earlier: Said) -> None:
        self.asked, self.earlier = asked, earlier
        self.language = asked.question.language
        self.labels, self.labels_earlier = [*asked.words], [*earlier.words]
        self.left, self.left_earlier = _left(asked.words, earlier.words), _left(earlier.words, asked.words)
        self.has_plural = False

    @property
    def is_done(self) -> bool:
        """Tells whether every word is accounted for."""
        return not self.left and not self.left_earlier

    @property
    def is_hopeless(self) -> bool:
        """So many words of content are left that no licence is worth its time."""
        small = self.language.lexicon.function
        sides = [[said.words[at] for at in left if said.words[at] not in small] for said, left, _ in self.sides()]
        left = sum(map(len, sides))
        matched = sum(word not in small for word in self.asked.words) - len(sides[0])
        return left > min(_MOST_LEFT, _FEW_LEFT + matched)

    def pair(self, test: Callable[["Pairing", int, int], bool]) -> None:
        """Pairs each word that is left with the nearest of the other question that passes the test."""
        for at in [*self.left]:
            near = sorted(self.left_earlier, key=lambda other: abs(other - at))
            other = next((other for other in near if test(self, at, other)), None)
            if other is not None:
                self.left.remove(at)
                self.left_earlier.remove(other)
                self.labels_earlier[other] = self.labels[at]

    def drop(self, test: Callable[[Said, int], bool]) -> None:
        """Takes out the places that pass the test."""
        for said, left, labels in self.sides():
            for at in [*left]:
                if test(said, at):
                    left.remove(at)
                    labels[at] = ""

    def sides(self) -> tuple[tuple[Said, list[int], list[str]], ...]:
        """Returns both questions with the places that are left, and their labels."""
        return (self.asked, self.left, self.labels), (self.earlier, self.left_earlier, self.labels_earlier)

    def reason(self) -> str:
        """Returns the reason of the comparison that the words that are left amount to."""
        left = {said.words[at] for said, places, _ in self.sides() for at in places}
        if any(word[:1].isdigit() or word in self.language.lexicon.numbers for word in left):
            return "numbers"
        return "wording" if left.isdisjoint(self.language.lexicon.operators) else "operators"

    def over(self) -> str:
        """Returns the words that are left, as `these / those`."""
        return " / ".join(" ".join(said.words[at] for at in left) for said, left, _ in self.sides())


def difference(asked: Question, earlier: Question) -> tuple[str, str]:
    """The first thing about two questions that no licence accounts for, as a reason and its detail; ("", "") if they
    are the same."""
    if len((asked.words ^ earlier.words) - asked.language.lexicon.function) > _MOST_LEFT:
        return "wording", "most words"
    pointing = asked.language.comparison.pointing
    if "pointing-counts" in asked.language.traits and pointing.findall(asked.folded) != pointing.findall(
        earlier.folded
    ):
        return "particles", "the preposition of the question word"
    if is_done_by_somebody(accounted(asked)) != is_done_by_somebody(accounted(earlier)):
        return "person", "who does it"
    measured = asked.language.licences.measured_from
    if bool(measured.search(asked.folded)) != bool(measured.search(earlier.folded)):
        return "order", "how long before, how long"
    if detail := _spelt_apart(accounted(asked), accounted(earlier)):
        return "wording", detail
    reason = detail = ""
    for is_framed in (False, True):  # without frames; or with all words, where one is not recognised
        pairing = Pairing(accounted(asked, is_framed), accounted(earlier, is_framed))
        if pairing.is_hopeless:
            return "wording", pairing.over()
        reason, detail = _unaccounted(pairing)
        is_framed_alike = asked.text == asked.folded and earlier.text == earlier.folded
        if not reason or is_framed_alike or len(pairing.left) + len(pairing.left_earlier) > _FEW_LEFT:
            break
    return reason, detail


def _unaccounted(pairing: Pairing) -> tuple[str, str]:
    for licence in LICENCES.values():
        if pairing.is_done:
            break
        licence(pairing)
    if not pairing.is_done:
        return pairing.reason(), pairing.over()
    one, two = ([word for word in labels if word] for _, _, labels in pairing.sides())
    detail = reordered(one, two, pairing.asked.question)
    return ("order", detail) if detail else ("", "")


def _left(words: tuple[str, ...], others: tuple[str, ...]) -> list[int]:
    more = Counter(words) - Counter(others)
    left = []
    for at in range(len(words) - 1, -1, -1):
        if words[at] == ",":
            continue
        if more[words[at]] > 0:
            more[words[at]] -= 1
            left.append(at)
    return left[::-1]


def _spelt_apart(one: Said, two: Said) -> str:
    """A word of both that its accents or its capitals make another: `año` and `ano`, `Polish` and `polish`. Whoever
    writes no accents, or no capitals, leaves them out anywhere."""
    language = one.question.language
    for word in one.written.keys() & two.written.keys():
        forms = {*one.accented[word]} ^ {*two.accented[word]}
        if forms and (one.is_of_words or not all(map(language.licences.second_person.search, forms))):
            is_careful = all(side.has_accents for side in (one, two)) or any("ñ" in form for form in forms)
            if is_careful and (one.is_of_words or _are_two_words(forms, word, language)):
                return " / ".join(sorted(forms))
        first, second = one.written[word], two.written[word]
        if forms or first == second:
            continue
        is_careful = one.is_careful and two.is_careful and not _opens(one, first) and not _opens(two, second)
        is_symbol = len(word) <= 4 and (word not in (first, second) or word in language.lexicon.function)
        if is_careful and (len(word) <= 2 or is_symbol or word in language.licences.capitals):
            return f"{first} / {second}"
    return ""


def _are_two_words(forms: set[str], bare: str, language: Language) -> bool:
    """Tells whether forms that differ in their accents are two words. Not if the bare one is a verb's ("musica"), or
    could be no other but for the accent of its last syllable ("aleman")."""
    if not all(is_known(form, language) for form in (*forms, bare)):
        return False
    infinitive = language.comparison.infinitive
    if infinitive is None or len(bare) <= 3 or any("ñ" in form for form in forms):
        return True
    return not infinitive.search(lemma(bare, language)) and not any(_LAST_ACCENT.search(form) for form in forms)


def _opens(said: Said, word: str) -> bool:
    found = re.search(rf"(?:^|[.?!:,]\s+|[¿¡])[\"'(]?{re.escape(word)}\b", said.question.original)
    return found is not None


# --- one word for another ---------------------------------------------------------------------------------------------


def _spelling(pairing: Pairing, at: int, other: int) -> bool:
    """A word spelt or typed otherwise, by somebody who means the same one: never if the dictionary has both."""
    language = pairing.language
    one, two = pairing.asked.words[at], pairing.earlier.words[other]
    if _DIGIT.search(one) or _DIGIT.search(two) or not (one + two).replace("'", "").isalpha():
        return one.replace("'", "") == two.replace("'", "")
    if one.replace("'", "") == two.replace("'", ""):
        return True
    distance = OSA.distance(one, two, score_cutoff=_NEAR)
    if distance > _NEAR and not _respelt_alike(one, two, language):
        return False
    known, known_too = (
        is_known(word, language) or is_known(said.written.get(word, word).lower(), language)
        for word, said in ((one, pairing.asked), (two, pairing.earlier))
    )
    if known and known_too:
        return _respelt_alike(one, two, language) and _respelt_alike(
            lemma(one, language), lemma(two, language), language
        )
    if not known and not known_too and pairing.asked.is_of_words:
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
    for written, meant in language.comparison.spellings:
        word = written.sub(meant, word)
    return word


def _verb(pairing: Pairing, at: int, other: int) -> bool:
    """Forms of one verb that say nothing about who does what: behind "how to", in any form that one asks in."""
    licences, language = pairing.language.licences, pairing.language
    if "verb-tells-who" in language.traits and not (pairing.asked.is_how_to and pairing.earlier.is_how_to):
        return False
    forms = []
    for said, place in ((pairing.asked, at), (pairing.earlier, other)):
        word, before = said.words[place], said.words[max(place - 1, 0)]
        if before not in licences.before_verb or licences.no_verb_form.search(said.written.get(word, word).lower()):
            return False
        if licences.of_somebody.search(word) and not licences.impersonal.search(said.question.folded):
            return False
        forms.append(_verb_of(said.written.get(word, word).lower(), language))
    return bool(forms[0] & forms[1])


def _register(pairing: Pairing, at: int, other: int) -> bool:
    """A verb said to whom one calls `tú`, and to whom one calls `vos`: "puedes", "podés"."""
    language, sides = pairing.language, ((pairing.asked, at), (pairing.earlier, other))
    said = [each.written.get(each.words[place], each.words[place]).lower() for each, place in sides]
    infinitive = language.comparison.infinitive
    if infinitive is None or not all(map(language.licences.second_person.search, said)):
        return False
    return any(infinitive.search(verb) for verb in _verb_of(said[0], language) & _verb_of(said[1], language))


@lru_cache(20_000)
def _verb_of(word: str, language: Language) -> frozenset[str]:
    """The infinitives that a word may be a form of."""
    base = lemma(word, language)
    regular, infinitive = language.comparison.regular, language.comparison.infinitive
    if not regular or not infinitive:
        return frozenset((base,))
    folded = fold(word)
    stem = re.sub(r"(?:o|as?|es?|amos|emos|imos|an|en|ais|eis|[aei]r)$", "", folded)
    return frozenset((base,)) | {
        verb for ending in ("ar", "er", "ir") if is_form_of(folded, verb := stem + ending, regular, infinitive)
    }


def _plural(pairing: Pairing, at: int, other: int) -> bool:
    """Any one of a kind for all of them: "a hedgehog", "hedgehogs". Not in a definition, nor of a certain one."""
    language, licences = pairing.language, pairing.language.licences
    if pairing.asked.is_of_words or pairing.earlier.is_of_words:
        return False
    for said, place in ((pairing.asked, at), (pairing.earlier, other)):
        # A definition is of one or of the kind; what is done, to one or to many: "rename a column", "rename columns".
        is_object = said.question.text.startswith(licences.opens_how_to) and not is_done_by_somebody(said)
        if (said.is_definition or is_object) and language.lexicon.markers.isdisjoint(said.words[2:place]):
            return False
    one, two = pairing.asked.words[at], pairing.earlier.words[other]
    if _plural_of(one, two):
        plural, single = (pairing.asked, at), (pairing.earlier, other)
    elif _plural_of(two, one):
        plural, single = (pairing.earlier, other), (pairing.asked, at)
    else:
        return False
    named, named_plural = ({*said.words[max(place - 2, 0) : place]} for said, place in (single, plural))
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


def _agreement(pairing: Pairing, at: int, other: int) -> bool:
    """The verb of a noun that is generic in both numbers."""
    if not pairing.has_plural:
        return False
    one, two = pairing.asked.words[at], pairing.earlier.words[other]
    licences, language = pairing.language.licences, pairing.language
    if frozenset((one, two)) in licences.agreeing:
        return True
    endings = licences.agreeing_endings
    return any(
        longer.endswith(ending) and longer[: -len(ending)] + instead == shorter
        for longer, shorter in ((one, two), (two, one))
        for ending, instead in endings
    ) and bool(_verb_of(one, language) & _verb_of(two, language))


def _synonym(pairing: Pairing, at: int, other: int) -> bool:
    """Words that are one in the sense that questions use them in."""
    if pairing.asked.is_of_words or pairing.earlier.is_of_words:
        return False
    language = pairing.language
    one, two = (said.words[place] for said, place in ((pairing.asked, at), (pairing.earlier, other)))
    if not _meanings(one, language) & _meanings(two, language):
        return False
    if (one[-1] == "s") == (two[-1] == "s") or _verb_like(pairing, at, other):
        return True
    return (one == lemma(one, language)) == (two == lemma(two, language))


@lru_cache(20_000)
def _meanings(word: str, language: Language) -> frozenset[str]:
    """The groups of synonyms that the word is in, in any form of it."""
    synonyms = language.licences.synonyms
    return frozenset(name for form in _forms(word, language) for name in synonyms.get(form, ()))


def _forms(word: str, language: Language) -> set[str]:
    return {word, *_verb_of(word, language), *((word[:-1], word[:-2]) if word.endswith("s") else ())}


def _verb_like(pairing: Pairing, at: int, other: int) -> bool:
    before = pairing.language.licences.before_verb
    return all(
        said.words[max(place - 1, 0)] in before for said, place in ((pairing.asked, at), (pairing.earlier, other))
    )


def _tool(pairing: Pairing, at: int, other: int) -> bool:
    """The preposition before what it is done in or with, in a question how it is done: "on Linux", "in Linux"."""
    tools = pairing.language.licences.tool_prepositions
    sides = ((pairing.asked, at), (pairing.earlier, other))
    if not (pairing.asked.is_how_to and pairing.earlier.is_how_to):
        return False
    nexts = {said.words[place + 1] if place + 1 < len(said.words) else "" for said, place in sides}
    if len(nexts) != 1 or not all(said.words[place] in tools for said, place in sides):
        return False
    name = nexts.pop()
    return any(said.written.get(name, "")[:1].isupper() for said, _ in sides)


# --- several words for one --------------------------------------------------------------------------------------------


def _written_together(pairing: Pairing) -> None:
    one, two = ("".join(said.words[at] for at in left) for said, left, _ in pairing.sides())
    lexicon = pairing.language.lexicon
    apart = {said.words[at] for said, left, _ in pairing.sides() for at in left}
    if one != two or not apart.isdisjoint(_PREFIXES | lexicon.function | lexicon.operators.keys() | lexicon.markers):
        return  # "si no" is no "sino"
    if len(one) >= _SHORT and min(len(pairing.left), len(pairing.left_earlier)) == 1:
        for _, left, labels in pairing.sides():
            for at in left:
                labels[at] = ""
            labels[left[0]] = one
            left.clear()


def _abbreviation(pairing: Pairing) -> None:
    for here, there in (pairing.sides(), pairing.sides()[::-1]):
        said, left, labels = here
        for at in [*left]:
            if run := _spelt_out(said, at, *there):
                left.remove(at)
                for place in run:
                    if place in there[1]:
                        there[1].remove(place)
                    there[2][place] = ""
                there[2][run[0]] = labels[at]


def _spelt_out(said: Said, at: int, other: Said, left: list[int], _labels: list[str]) -> list[int]:
    """The places of the words that the word stands for, among those that are left."""
    word, language = said.words[at], other.question.language
    small = language.lexicon.function
    longs = _longs(word, language)
    written = said.written.get(word, "")
    is_acronym = len(word) >= _SHORTEST_ACRONYM and written.isupper() and not said.question.original.isupper()
    if not longs and not is_acronym:
        return []
    for start in left:
        run: list[int] = []
        for place in range(start, min(start + 8, len(other.words))):
            if place not in left and other.words[place] not in small:
                break
            run.append(place)
            if place not in left:
                continue
            content = [other.words[each] for each in run if other.words[each] not in small]
            if any(_are_forms(content, long, language) for long in longs):
                return run
            if is_acronym and len(content) > 1 and "".join(each[0] for each in content) == word:
                return run
    return []


def _are_forms(words: list[str], long: tuple[str, ...], language: Language) -> bool:
    return len(words) == len(long) and all(
        word == meant or lemma(word, language) == lemma(meant, language)
        for word, meant in zip(words, long, strict=True)
    )


def _longs(word: str, language: Language) -> list[tuple[str, ...]]:
    lexicon = language.lexicon
    longs = [*language.licences.abbreviations.get(word, ())]
    if word in lexicon.short:
        longs.append(lexicon.short[word])
    if word in lexicon.units:
        longs.append((lexicon.units[word],))
    return longs


# --- words that may be missing ----------------------------------------------------------------------------------------


def _articles(pairing: Pairing) -> None:
    """An article that only one has, but where it tells two things apart: a definition, a word that is spoken of."""
    if pairing.asked.is_of_words or pairing.earlier.is_of_words:
        return
    licences = pairing.language.licences
    is_how_to = pairing.asked.is_how_to and pairing.earlier.is_how_to
    if is_how_to or pairing.has_plural:
        pairing.pair(
            lambda both, at, other: any(
                {both.asked.words[at], both.earlier.words[other]} <= gender for gender in licences.article_genders
            )
        )
    pairing.pair(_follows_its_noun)
    gone = [{said.words[at] for at in left} & licences.articles for said, left, _ in pairing.sides()]
    if all(gone) and not pairing.has_plural:
        return
    is_bare = any(
        licences.copulas.isdisjoint(each.question.folded.split()) for each in (pairing.asked, pairing.earlier)
    )
    pairing.drop(
        lambda said, at: (
            said.words[at] in licences.articles
            and licences.needs_article.isdisjoint(said.words[at + 1 : at + 2])
            and (is_bare or not _defines(said, at))
        )
    )


def _follows_its_noun(pairing: Pairing, at: int, other: int) -> bool:
    """An article of another gender, before another word for the same."""
    articles = pairing.language.licences.articles
    if {pairing.asked.words[at], pairing.earlier.words[other]} <= articles:
        nouns = pairing.labels[at + 1 : at + 2], pairing.labels_earlier[other + 1 : other + 2]
        return nouns[0] == nouns[1] and pairing.asked.words[at + 1 :][:1] != pairing.earlier.words[other + 1 :][:1]
    return False


def _defines(said: Said, at: int) -> bool:
    """Tells whether it is the article of what is defined, and of that alone."""
    return (
        said.is_definition
        and at > 0
        and said.words[at - 1] in said.question.language.licences.copulas
        and (at + 2 >= len(said.words))
    )


def _adjective(pairing: Pairing, at: int, other: int) -> bool:
    """An adjective in the gender of another word for the same, before it."""
    one, two = pairing.asked.words[at], pairing.earlier.words[other]
    if "verb-tells-who" not in pairing.language.traits or one[:-1] != two[:-1] or {one[-1], two[-1]} != {"o", "a"}:
        return False
    before, before_too = pairing.asked.words[at - 1], pairing.earlier.words[other - 1]
    return at > 0 and other > 0 and before != before_too and pairing.labels[at - 1] == pairing.labels_earlier[other - 1]


def _auxiliaries(pairing: Pairing) -> None:
    """The auxiliary of a direct question, beside the verb as the indirect one has it: "how does it work", "how it
    works"; "when did it fall", "when it fell"."""
    language, licences = pairing.language, pairing.language.licences
    for here, there in (pairing.sides(), pairing.sides()[::-1]):
        said, left, labels = here
        does = [at for at in left if said.words[at] in licences.asking_verbs]
        if len(does) != 1:
            continue
        verb = said.words[does[0]]
        if verb in ("do", "does") and len(left) == 1 and not there[1]:
            left.remove(does[0])
            labels[does[0]] = ""
            return
        for at in [*left]:
            for place in [*there[1]]:
                form, base = there[0].words[place], said.words[at]
                if lemma(form, language) == base and (
                    (verb == "does" and form.endswith("s")) or (verb == "did" and form[-1] not in "sg")
                ):
                    left.remove(at)
                    there[1].remove(place)
                    there[2][place] = labels[at]
                    left.remove(does[0])
                    labels[does[0]] = ""
                    return


def _keywords(pairing: Pairing) -> None:
    """The bare frame of a question that is written in keywords."""
    licences, lexicon = pairing.language.licences, pairing.language.lexicon
    for here, there in (pairing.sides(), pairing.sides()[::-1]):
        said, left, _ = here
        asking = lexicon.asking | licences.articles | licences.copulas | licences.opens_clause
        if left or len(said.words) < _TELEGRAPHIC or not asking.isdisjoint(said.words):
            continue
        other, over, labels = there
        if all(other.words[at] in licences.keyword_frame for at in over):
            for at in over:
                labels[at] = ""
            over.clear()


def _fillers(pairing: Pairing) -> None:
    if not pairing.asked.is_of_words and not pairing.earlier.is_of_words:
        pairing.drop(lambda said, at: said.words[at] in said.question.language.licences.fillers)


def _paired(test: Callable[[Pairing, int, int], bool]) -> Callable[[Pairing], None]:
    return lambda pairing: pairing.pair(test)


LICENCES: Final[Mapping[str, Callable[[Pairing], None]]] = {
    "spelling": _paired(_spelling),
    "written together": _written_together,
    "abbreviation": _abbreviation,
    "verb": _paired(_verb),
    "register": _paired(_register),
    "plural": _paired(_plural),
    "agreement": _paired(_agreement),
    "synonym": _paired(_synonym),
    "adjective": _paired(_adjective),
    "tool": _paired(_tool),
    "fillers": _fillers,
    "articles": _articles,
    "auxiliaries": _auxiliaries,
    "keywords": _keywords,
}
