"""The comparison of two questions: do they ask the same?

They do only if every word of both is accounted for: it stands in both, or a licence says why it may differ. What is
left over is a difference, be it a preposition, a modal, a quantifier or a name; so no table has to know that `better`
is not `worse`. Where every word is accounted for, they must stand in the same phrases. Then a low cosine is enough: it
says little that the words don't.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.language.detect import language as spoken_in
from proxy.language.language import Language
from proxy.language.words import is_known, lemma
from proxy.reuse.licences import LICENCES
from proxy.reuse.pairing import Pairing, Said, accounted, reordered
from proxy.reuse.question import Question, analyse

REASONS = frozenset(
    {"hit", "language", "long", "cosine", "particles", "person", "order", "wording", "numbers", "operators"}
)

_MOST_APART = 8  # words of content that only one of both has
_MANY_LEFT = 5  # words, of which no frame is the reason
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
    language, licences = asked.language, asked.language.licences
    said, said_earlier = accounted(asked), accounted(earlier)
    if said.signs != said_earlier.signs:
        return "particles", f"signs: {' '.join(said.signs)} / {' '.join(said_earlier.signs)}"
    if said.mentioned != said_earlier.mentioned:
        return "particles", f"mentioned: {' '.join(said.mentioned)} / {' '.join(said_earlier.mentioned)}"
    if len(said.content ^ said_earlier.content) > _MOST_APART:
        return "wording", "most words"
    pointing = licences.pointing
    if "pointing-counts" in language.traits and pointing.findall(asked.folded) != pointing.findall(earlier.folded):
        return "particles", "the preposition of the question word"
    if said.is_of_somebody != said_earlier.is_of_somebody:
        return "person", "who does it"
    if bool(licences.measured_from.search(asked.folded)) != bool(licences.measured_from.search(earlier.folded)):
        return "order", "how long before, how long"
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


def _unaccounted(pairing: Pairing) -> tuple[str, str]:
    for licence in LICENCES:
        if not pairing.left():
            break
        licence(pairing)
    if pairing.left():
        return pairing.reason(), pairing.over()
    one, two = ([label for label in side.labels if label] for side in pairing.sides)
    detail = reordered(one, two, pairing.language)
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
