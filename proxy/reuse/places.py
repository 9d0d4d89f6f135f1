"""Places: do two questions with the same words have them in the same phrases?"""

from collections import Counter

from proxy.language.language import Language
from proxy.reuse.question import Question

_LONGEST_PART = 6  # words of what is coordinated, or moves


def reordered(one: list[str], two: list[str], question: Question) -> str:
    """The phrases that stand in only one of two questions with the same words; "" if they have the same ones. A phrase
    may stand anywhere: it begins with a preposition, a conjunction, a question word or behind a comma. Inside of one
    nothing moves, but what is coordinated, adverbs, and what a question word turns round."""
    language = question.language
    if one == two:
        return ""
    one, two = (_listed([word for word in words if not _is_movable(word, language)], language) for words in (one, two))
    if question.numbers and language.comparison.calculates.search(" ".join(one)):
        return f"{' '.join(one)} / {' '.join(two)}"
    phrases, phrases_earlier = (Counter(_phrases(words, language)) for words in (one, two))
    over, over_earlier = [*(phrases - phrases_earlier).elements()], [*(phrases_earlier - phrases).elements()]
    if not over and not over_earlier:
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
    if len(one) != len(two):
        return False
    infinitive = language.comparison.infinitive
    joins = (at for at, word in enumerate(one) if word in language.lexicon.joins)
    return any(
        [*one[: at - before], *one[at + 1 : at + after], one[at], *one[at - before : at], *one[at + after :]] == two
        for at in joins
        for before in range(1, min(at, _LONGEST_PART) + 1)
        for after in range(2, min(len(one) - at, _LONGEST_PART + 1) + 1)
        if not (infinitive and infinitive.search(one[at + 1]) and infinitive.search(one[at - before]))  # first, then
    )
