"""Licences: the few steps that may lead from the words of one question to those of another.

Each is a function on the pairing of two questions, which takes out the places of words that it accounts for. Those that
allow one word for another stand in `substitutes`; here are several words for one, words that may be missing, and
`LICENCES`, all of them in the order in which they are tried.
"""

from collections.abc import Callable
from typing import Final

from proxy.language.language import Language
from proxy.language.words import lemma
from proxy.reuse import substitutes
from proxy.reuse.pairing import Pairing, Side, Test

_SHORT = 5  # letters of what is written together
_SHORTEST_ACRONYM = 3  # letters whose words are told by their initials; of fewer, by the tables
_PREFIXES = frozenset({"re", "un", "co", "pre", "de", "non", "anti", "in"})  # which make another word: "re-cover"
_TELEGRAPHIC = 2  # words of content at least


# --- several words for one --------------------------------------------------------------------------------------------


def written_together(pairing: Pairing) -> None:
    """Words that are written as one in the other question."""
    one, two = ("".join(side.words[at] for at in side.left) for side in pairing.sides)
    lexicon = pairing.language.lexicon
    apart = {side.words[at] for side in pairing.sides for at in side.left}
    if one != two or not apart.isdisjoint(_PREFIXES | lexicon.function | lexicon.operators | lexicon.markers):
        return  # "si no" is no "sino"
    if len(one) >= _SHORT and min(len(side.left) for side in pairing.sides) == 1:
        for side in pairing.sides:
            first = side.left[0]
            for at in [*side.left]:
                side.account(at, one if at == first else "")


def abbreviation(pairing: Pairing) -> None:
    """An abbreviation, a unit or an acronym, and the words that it stands for."""
    for side, other in pairing.ways:
        for at in [*side.left]:
            if run := _spelt_out(side, at, other, pairing.language):
                side.left.remove(at)
                for place in run:
                    other.account(place, side.labels[at] if place == run[0] else "")


def _spelt_out(side: Side, at: int, other: Side, language: Language) -> list[int]:
    """The places of the words that the word stands for, among those that are left."""
    word, small = side.words[at], language.lexicon.function
    longs = _longs(word, language)
    is_acronym = (
        len(word) >= _SHORTEST_ACRONYM
        and side.said.written.get(word, "").isupper()
        and not side.said.question.original.isupper()
    )
    if not longs and not is_acronym:
        return []
    for start in other.left:
        run: list[int] = []
        for place in range(start, min(start + 8, len(other.words))):
            if place not in other.left and other.words[place] not in small:
                break
            run.append(place)
            if place not in other.left:
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


def _longs(word: str, language: Language) -> frozenset[tuple[str, ...]]:
    lexicon = language.lexicon
    longs = language.licences.abbreviations.get(word, frozenset())
    return longs | {(lexicon.units[word],)} if word in lexicon.units else longs


# --- words that may be missing ----------------------------------------------------------------------------------------


def fillers(pairing: Pairing) -> None:
    """Words that say nothing in any question but one of words."""
    if not pairing.is_of_words:
        pairing.drop(lambda side, at: side.words[at] in pairing.language.licences.fillers)


def articles(pairing: Pairing) -> None:
    """An article that only one has, but where it tells two things apart: a definition, a word that is spoken of."""
    if pairing.is_of_words:
        return
    licences = pairing.language.licences
    asks_the_way = all(side.said.question.text.startswith(licences.opens_how_to) for side in pairing.sides)
    if asks_the_way or pairing.has_plural:
        pairing.pair(
            lambda both, at, other: any(
                {both.asked.words[at], both.earlier.words[other]} <= gender for gender in licences.article_genders
            )
        )
    pairing.pair(_follows_its_noun)
    gone = [{side.words[at] for at in side.left} & licences.articles for side in pairing.sides]
    if all(gone) and not pairing.has_plural:
        return
    is_bare = any(licences.copulas.isdisjoint(side.said.question.folded.split()) for side in pairing.sides)

    def may_be_missing(side: Side, at: int) -> bool:
        word, before, following = side.words[at], side.before(at), side.words[at + 1 : at + 2]
        if word not in licences.articles or not licences.needs_article.isdisjoint(following):
            return False
        # "In office" and "in the office", "be doctor" and "be the doctor"; a name: "how big is the Amazon".
        is_name = any(side.said.written.get(each, "")[:1].isupper() for each in following)
        if before in licences.article_tells or (is_name and before not in pairing.language.lexicon.markers):
            return False
        # The article of what is defined, and of that alone, tells: "what is a moat", "what is the moat".
        defines = side.said.is_definition and at > 0 and before in licences.copulas
        return is_bare or not defines or at + 2 < len(side.words)

    pairing.drop(may_be_missing)


def _follows_its_noun(pairing: Pairing, at: int, other: int) -> bool:
    """An article of another gender, before another word for the same."""
    asked, earlier = pairing.sides
    if {asked.words[at], earlier.words[other]} <= pairing.language.licences.articles:
        alike = asked.labels[at + 1 : at + 2] == earlier.labels[other + 1 : other + 2]
        return alike and asked.words[at + 1 : at + 2] != earlier.words[other + 1 : other + 2]
    return False


def auxiliaries(pairing: Pairing) -> None:
    """The auxiliary of a direct question, beside the verb as the indirect one has it: "how does it work", "how it
    works"; "when did it fall", "when it fell"."""
    language = pairing.language
    for side, other in pairing.ways:
        does = [at for at in side.left if side.words[at] in language.licences.asking_verbs]
        if len(does) != 1:
            continue
        verb = side.words[does[0]]
        if verb in ("do", "does") and len(side.left) == 1 and not other.left:
            side.account(does[0])
            return
        for at in side.left:
            for place in other.left:
                form = other.words[place]
                if lemma(form, language) == side.words[at] and (
                    (verb == "does" and form.endswith("s")) or (verb == "did" and form[-1] not in "sg")
                ):
                    side.left.remove(at)
                    other.account(place, side.labels[at])
                    side.account(does[0])
                    return


def keywords(pairing: Pairing) -> None:
    """The bare frame of a question that is written in keywords. What stands behind "of" or "in" may stand in front, as
    in a compound: "the side effects of metformin", "metformin side effects"."""
    licences, lexicon = pairing.language.licences, pairing.language.lexicon
    asking = lexicon.asking | licences.articles | licences.copulas | licences.opens_clause
    for side, other in pairing.ways:
        is_telegraphic = len(side.words) >= _TELEGRAPHIC and asking.isdisjoint(side.words)
        if not is_telegraphic or side.left or not all(other.words[at] in licences.keyword_frame for at in other.left):
            continue
        links = [at for at in other.left if other.words[at] in licences.compounding]
        for at in [*other.left]:
            other.account(at)
        if len(links) == 1:
            head, tail = (other.labels[: links[0]], other.labels[links[0] :])
            if [*filter(None, tail), *filter(None, head)] == [*filter(None, side.labels)]:
                other.labels[:] = [*tail, *head]
        return


def _paired(test: Test) -> Callable[[Pairing], None]:
    return lambda pairing: pairing.pair(test)


LICENCES: Final[tuple[Callable[[Pairing], None], ...]] = (
    _paired(substitutes.spelling),
    written_together,
    abbreviation,
    _paired(substitutes.verb),
    _paired(substitutes.register),
    _paired(substitutes.plural),
    _paired(substitutes.agreement),
    _paired(substitutes.synonym),
    _paired(substitutes.adjective),
    _paired(substitutes.tool),
    fillers,
    articles,
    auxiliaries,
    keywords,
)
