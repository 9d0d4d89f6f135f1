"""The comparison of two questions: do they ask the same?

What is not licensed is a difference: every word of both must be accounted for (`licences`). Then a low cosine is
enough: it says little that they don't.

With `paraphrases` it is turned round: what no guard knows for a difference is none. The cheapest doubt comes first: the
guards on the two questions, the alignment, the guards on the aligned words. A word may be replaced by one of its
synonyms or relatives, which the alignment knows; words may be left over where the cosine is high and the verifier
consents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.language.detect import language as spoken_in
from proxy.language.language import Language
from proxy.reuse.align import Alignment, align
from proxy.reuse.guards import DOUBTS, QUESTION_GUARDS, REQUIRED
from proxy.reuse.licences import difference
from proxy.reuse.question import Question, Token, analyse
from proxy.reuse.roles import ALIGNED_GUARDS
from proxy.reuse.verifier import consents

REASONS = frozenset(
    {
        "hit",
        "language",
        "long",
        "cosine",
        "empty",
        "unmatched",
        "verifier",
        "derived",
        "wording",
        *QUESTION_GUARDS,
        *DOUBTS,
        *ALIGNED_GUARDS,
    }
)
_EASY, _HARD = 12, 60  # content words
_DERIVED = 0.7  # cosine, if a word is only related to its other: "abstraction", "abstract"
_FORGIVING = 0.8  # cosine, if a word is left over that counts for little: "interesting things to know", "to do"
_PRAISED = frozenset({"what", "how", "why", "where", "none"})  # asked for an explanation, not for yes or no
_NEVER = 2.0  # no cosine reaches it: a word that only one of both has is not forgiven


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision whether an answer may be reused, with its reason."""

    reused: bool
    reason: str  # one of REASONS
    detail: str = ""  # what differs, for the reuse log


def judge(
    asked: Question,
    earlier: Question,
    cosine: float,
    *,
    min_cosine: float,
    min_cosine_agreed: float,
    paraphrases: bool,
) -> Verdict:
    """Decides whether the answer to `earlier` may be given to `asked`. Both of one language; doubt is a no.
    `paraphrases`: although a word has been replaced."""
    if asked.language != earlier.language:
        return Verdict(False, "language", f"{asked.language.code} / {earlier.language.code}")
    if asked.original == earlier.original:
        return Verdict(True, "hit")
    if asked.is_long or earlier.is_long:
        return Verdict(False, "long")
    if cosine < min_cosine_agreed:
        return Verdict(False, "cosine", f"{cosine:.2f}")
    return _guarded(asked, earlier, cosine, min_cosine) if paraphrases else _licensed(asked, earlier)


def _guarded(asked: Question, earlier: Question, cosine: float, min_cosine: float) -> Verdict:
    """By guards on what differs: a word may be replaced, or left over."""
    for name, differs in QUESTION_GUARDS.items():
        if detail := differs(asked, earlier):
            return Verdict(False, name, detail)
    if excess := _too_much_to_align(asked, earlier):
        return Verdict(False, excess)
    alignment = align(asked, earlier)
    for name, disagrees in ALIGNED_GUARDS.items():
        if detail := disagrees(alignment):
            return Verdict(False, name, detail)
    return _weighed(alignment, cosine, min_cosine)


def _licensed(asked: Question, earlier: Question) -> Verdict:
    """By licences for what differs: what none allows is a difference."""
    for name, reads in REQUIRED.items():
        if (one := reads(asked)) != (two := reads(earlier)):
            return Verdict(False, "particles", f"{name}: {' '.join(one)} / {' '.join(two)}")
    reason, detail = difference(asked, earlier)
    return Verdict(not reason, reason or "hit", detail)


def _too_much_to_align(asked: Question, earlier: Question) -> str:
    """Every word is compared with every other: that is not spent on long texts that share little."""
    longest = max(len(asked.content), len(earlier.content))
    if longest <= _EASY:
        return ""
    if longest > _HARD:
        return "long"
    words, words_earlier = ({token.lemma for token in question.content} for question in (asked, earlier))
    return "unmatched" if 2 * len(words & words_earlier) < max(len(words), len(words_earlier)) else ""


def _weighed(alignment: Alignment, cosine: float, min_cosine: float) -> Verdict:
    """Weighs what no guard objects to."""
    left, left_earlier = left_over(alignment)
    if not alignment.pairs and alignment.asked.text != alignment.earlier.text:
        return Verdict(False, "empty")
    doubt = detail = ""
    for name, differs in DOUBTS.items():
        if detail := differs(alignment.asked, alignment.earlier):
            doubt = name
            break
    if left or left_earlier:
        doubt, detail = "unmatched", f"{_listed(left)} / {_listed(left_earlier)}"
    if doubt:
        if cosine < min_cosine:
            return Verdict(False, doubt, detail)
        if not consents(alignment, left, left_earlier, cosine):
            return Verdict(False, "verifier", detail)
    elif cosine < _FORGIVING and (alignment.left_asked or alignment.left_earlier):
        return Verdict(False, "cosine", f"{cosine:.2f}")
    elif cosine < _DERIVED and any(pair.is_derived for pair in alignment.pairs):
        return Verdict(False, "derived", f"{cosine:.2f}")
    return Verdict(True, "hit", detail)


def left_over(alignment: Alignment) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """The content words of either question that the other has none for, but those that say little."""
    asked, earlier = alignment.asked, alignment.earlier
    if not alignment.left_asked and not alignment.left_earlier:
        return (), ()
    tables = asked.language.lexicon
    optional = tables.optional
    if asked.asks in _PRAISED and earlier.asks != "yesno":
        optional = optional | tables.praise
    left, left_earlier = (
        tuple(token for token in side if token.lemma not in optional and token.word not in tables.optional)
        for side in (alignment.left_asked, alignment.left_earlier)
    )
    return left, left_earlier


def _listed(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.word for token in tokens)


def agree(asked: str, earlier: str, language: Language, *, paraphrases: bool = True) -> bool:
    """Tells whether two messages say the same. No word that only one of both has is forgiven, and no cosine is asked.
    `paraphrases`: although a word has been replaced by a synonym."""
    if asked == earlier:
        return True
    if spoken_in(asked) != language.code or spoken_in(earlier) != language.code:
        return False
    questions = analyse(asked, language), analyse(earlier, language)
    return judge(*questions, 1.0, min_cosine=_NEVER, min_cosine_agreed=0.0, paraphrases=paraphrases).reused


def contexts_agree(asked: Sequence[str], earlier: Sequence[str], language: Language, *, paraphrases: bool) -> bool:
    """The user's part of two conversations. The assistant's is the same already where partitions are."""
    return len(asked) == len(earlier) and all(
        agree(*pair, language, paraphrases=paraphrases) for pair in zip(asked, earlier, strict=True)
    )
