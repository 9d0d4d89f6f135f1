"""The comparison of two questions: do they ask the same?

They do only if every word of both is accounted for: it stands in both, or a licence says why it may differ. What is
left over is a difference, be it a preposition, a modal, a quantifier or a name; so no table has to know that `better`
is not `worse`. Where every word is accounted for, they must stand in the same phrases. Then a low cosine is enough: it
says little that the words don't.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.language.detect import language as spoken_in
from proxy.language.language import Language
from proxy.language.words import is_known, lemma
from proxy.reuse.licences import LICENCES
from proxy.reuse.pairing import Pairing, Said, accounted
from proxy.reuse.question import Question, analyse

REASONS = frozenset(
    {"hit", "language", "long", "cosine", "particles", "person", "order", "wording", "numbers", "operators"}
)

_MOST_APART = 8  # words of content that only one of both has
_MANY_LEFT = 5  # words, of which no frame is the reason
_LONGEST_PART = 6  # words of what is coordinated, or moves
_LAST_ACCENT = re.compile(r"[áéíóú][ns]$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision whether an answer may be reused, with its reason."""

    reused: bool
    reason: str  # one of REASONS
    detail: str = ""  # what differs, for the reuse log


def judge(asked: Question, earlier: Question, cosine: float, *, min_cosine: float) -> Verdict:
    """Decides whether the answer to `earlier` may be given to `asked`. Both of one language; doubt is a no."""
    if asked.language != earlier.language:
        return Verdict(False, "language", f"{asked.language.code} / {earlier.language.code}")
    if asked.original == earlier.original:
        return Verdict(True, "hit")
    if asked.is_long or earlier.is_long:
        return Verdict(False, "long")
    if cosine < min_cosine:
        return Verdict(False, "cosine", f"{cosine:.2f}")
    reason, detail = difference(asked, earlier)
    return Verdict(not reason, reason or "hit", detail)


def agree(asked: str, earlier: str, language: Language) -> bool:
    """Tells whether two messages say the same, whatever their cosine."""
    if asked == earlier:
        return True
    if spoken_in(asked) != language.code or spoken_in(earlier) != language.code:
        return False
    return judge(analyse(asked, language), analyse(earlier, language), 1.0, min_cosine=0.0).reused


def contexts_agree(asked: Sequence[str], earlier: Sequence[str], language: Language) -> bool:
    """The user's part of two conversations. The assistant's is the same already where partitions are."""
    return len(asked) == len(earlier) and all(agree(*pair, language) for pair in zip(asked, earlier, strict=True))


def difference(asked: Question, earlier: Question) -> tuple[str, str]:
    """The first thing about two questions that no licence accounts for, as a reason and its detail; ("", "") if they
    are the same."""
    said, said_earlier = accounted(asked), accounted(earlier)
    if said.signs != said_earlier.signs:
        return "particles", f"signs: {' '.join(said.signs)} / {' '.join(said_earlier.signs)}"
    if said.mentioned != said_earlier.mentioned:
        return "particles", f"mentioned: {' '.join(said.mentioned)} / {' '.join(said_earlier.mentioned)}"
    if len(said.content ^ said_earlier.content) > _MOST_APART:
        return "wording", "most words"
    if (apart := _asked_apart(said, said_earlier))[0]:
        return apart
    if detail := _spelt_apart(said, said_earlier):
        return "wording", detail
    pairing = Pairing(said, said_earlier)
    if pairing.is_hopeless:
        return "wording", pairing.over()
    reason, detail = _unaccounted(pairing)
    is_framed_alike = asked.text == asked.folded and earlier.text == earlier.folded
    if not reason or is_framed_alike or pairing.left() > _MANY_LEFT:
        return reason, detail
    # Once more with all words, where a frame of one is not recognised.
    pairing = Pairing(accounted(asked, True), accounted(earlier, True))
    return ("wording", pairing.over()) if pairing.is_hopeless else _unaccounted(pairing)


def _asked_apart(said: Said, said_earlier: Said) -> tuple[str, str]:
    """The difference that the way of asking tells: of whom, in which direction, from when on; ("", "") if none."""
    asked, earlier = said.question, said_earlier.question
    language, licences = asked.language, asked.language.licences
    pointing = licences.pointing
    if "pointing-counts" in language.traits and pointing.findall(asked.folded) != pointing.findall(earlier.folded):
        return "particles", "the preposition of the question word"
    if said.is_of_somebody != said_earlier.is_of_somebody:
        return "person", "who does it"
    verb, verb_earlier = (licences.by_itself.match(question.folded) for question in (asked, earlier))
    if verb and verb_earlier and verb[2] == verb_earlier[2] and verb[1] != verb_earlier[1]:
        return "person", f"{verb[0]} / {verb_earlier[0]}"
    if bool(licences.measured_from.search(asked.folded)) != bool(licences.measured_from.search(earlier.folded)):
        return "order", "how long before, how long"
    return "", ""


def _unaccounted(pairing: Pairing) -> tuple[str, str]:
    for licence in LICENCES:
        if not pairing.left():
            break
        licence(pairing)
    if pairing.left():
        return pairing.reason(), pairing.over()
    one, two = ([label for label in side.labels if label] for side in pairing.sides)
    detail = _reordered(one, two, pairing.language)
    return ("order", detail) if detail else ("", "")


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
    infinitive = language.licences.infinitive
    if infinitive is None or len(bare) <= 3 or any("ñ" in form for form in forms):
        return True
    return not infinitive.search(lemma(bare, language)) and not any(_LAST_ACCENT.search(form) for form in forms)


def _opens(said: Said, word: str) -> bool:
    found = re.search(rf"(?:^|[.?!:,]\s+|[¿¡])[\"'(]?{re.escape(word)}\b", said.question.original)
    return found is not None


# --- places -----------------------------------------------------------------------------------------------------------


def _reordered(one: list[str], two: list[str], language: Language) -> str:
    """The phrases that stand in only one of two questions with the same words; "" if they have the same ones. A phrase
    may stand anywhere: it begins with a preposition, a conjunction, a question word or behind a comma. Inside of one
    nothing moves, but what is coordinated, adverbs, and what a question word turns round."""
    if one == two:
        return ""
    one, two = (_listed([word for word in words if not _is_movable(word, language)], language) for words in (one, two))
    if any(word[0].isdigit() for word in one) and language.licences.calculates.search(" ".join(one)):
        return f"{' '.join(one)} / {' '.join(two)}"
    said, said_earlier = (_phrases(words, language) for words in (one, two))
    phrases, phrases_earlier = Counter(said), Counter(said_earlier)
    over, over_earlier = [*(phrases - phrases_earlier).elements()], [*(phrases_earlier - phrases).elements()]
    if not over and not over_earlier:
        # Two phrases of one preposition do not change places: "in Tokyo at noon in London".
        for first in {phrase[0] for phrase in said}:
            in_order, in_order_earlier = (
                [each for each in those if each[0] == first] for those in (said, said_earlier)
            )
            if in_order != in_order_earlier:
                return f"{' '.join(one)} / {' '.join(two)}"
        return ""
    plain, plain_earlier = ([word for word in words if word != ","] for words in (one, two))
    if (
        _moved(plain, plain_earlier, language)
        or _moved(plain_earlier, plain, language)
        or _turned(plain, plain_earlier, language)
        or _turned(plain_earlier, plain, language)
        or _coordinated(plain, plain_earlier, language)
        or (len(over) == len(over_earlier) == 1 and _coordinated([*over[0]], [*over_earlier[0]], language))
    ):
        return ""
    return " | ".join(" ".join(phrase) for phrase in (*over, "/", *over_earlier) if phrase)


def _is_movable(word: str, language: Language) -> bool:
    return word in language.licences.movable or language.licences.adverb.search(word) is not None


def _phrases(words: list[str], language: Language) -> list[tuple[str, ...]]:
    found: list[list[str]] = [[]]
    for word in words:
        if word == ",":
            found.append([])
        elif _opens_phrase(word, language) and not all(each in language.lexicon.markers for each in found[-1]):
            found.append([word])
        else:
            found[-1].append(word)
    return [tuple(phrase) for phrase in found if phrase]


def _opens_phrase(word: str, language: Language) -> bool:
    return word in language.lexicon.markers or word in language.lexicon.asking or word in language.licences.opens_clause


def _listed(words: list[str], language: Language) -> list[str]:
    """A list of three and more single words is put in the order of the alphabet."""
    for at in range(3, len(words) - 1):
        if words[at] in language.lexicon.joins and words[at - 2] == ",":
            places = [at + 1, at - 1]
            while places[-1] >= 2 and words[places[-1] - 1] == ",":
                places.append(places[-1] - 2)
            listed = sorted(words[place] for place in places)
            words = [*words]
            for place, word in zip(sorted(places), listed, strict=True):
                words[place] = word
    return words


def _moved(one: list[str], two: list[str], language: Language) -> bool:
    """Tells whether they differ in a phrase that opens or closes one, and stands elsewhere in the other."""
    for length in range(2, min(len(one) - 1, _LONGEST_PART) + 1):
        for phrase, rest in ((one[-length:], one[:-length]), (one[:length], one[length:])):
            if not _opens_phrase(phrase[0], language) or phrase[0] in language.lexicon.asking:
                continue
            for at in range(len(rest) + 1):
                if two[at : at + length] == phrase and two[:at] + two[at + length :] == rest:
                    return True
    return False


def _turned(one: list[str], two: list[str], language: Language) -> bool:
    """Tells whether they differ in the place of the question word and its auxiliary, or in what is said before."""
    licences, asking = language.licences, language.lexicon.asking
    light = asking | licences.copulas | licences.inverted
    if [word for word in one if word not in light] == [word for word in two if word not in light]:
        return sum(word in asking for word in one) <= 1 and not (
            "not" in one and any(word in licences.quantifiers for word in one)
        )
    opening = next((at for at, word in enumerate(one) if word in asking), 0)
    if opening and one[opening - 1] in language.lexicon.markers:
        opening -= 1
    if "verb-tells-who" in language.traits and _has_subject_behind(one, two, licences.articles):
        return True
    topic, rest = one[:opening], one[opening:]
    return bool(topic) and any(
        two[at : at + opening] == topic and two[:at] + two[at + opening :] == rest
        for at in range(1, len(two) - opening + 1)
    )


def _has_subject_behind(one: list[str], two: list[str], articles: frozenset[str]) -> bool:
    """Tells whether they differ in that the subject stands before its verb in one: "por qué los gatos ronronean"?"""
    start = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
    return (
        one[start : start + 1] != []
        and one[start] in articles
        and any(
            two[start:stop] == [one[stop - 1], *one[start : stop - 1]] and one[stop:] == two[stop:]
            for stop in range(start + 3, min(start + 6, len(one)) + 1)
        )
    )


def _coordinated(one: list[str], two: list[str], language: Language) -> bool:
    """Tells whether they differ in that what stands before "and" or "or" in one stands behind it in the other."""
    if len(one) != len(two) or not language.licences.in_order.isdisjoint(one):
        return False
    infinitive = language.licences.infinitive
    joins = (at for at, word in enumerate(one) if word in language.lexicon.joins)
    return any(
        [*one[: at - before], *one[at + 1 : at + after], one[at], *one[at - before : at], *one[at + after :]] == two
        for at in joins
        for before in range(1, min(at, _LONGEST_PART) + 1)
        for after in range(2, min(len(one) - at, _LONGEST_PART + 1) + 1)
        if not (infinitive and infinitive.search(one[at + 1]) and infinitive.search(one[at - before]))  # first, then
    )
