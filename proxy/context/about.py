"""Topics of a few turns, in the user's words: the things that both sides name repeatedly."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from proxy.context.cuts import EVALUATES, GENERIC, sentences
from proxy.context.nouns import MEASURES, names_something, noun_phrases
from proxy.context.pieces import pointing_question
from proxy.context.referents import names, points_outside, things_of
from proxy.memory.signals import folded, spoken_in
from proxy.types.memory import Language

_SAY_LITTLE = EVALUATES | GENERIC
_READ = 400  # characters of a message: its beginning shows its topic
_STEM = 6  # letters
_SIDES = 3  # messages that must name a topic
_AGAIN = 2  # messages that must name each of its words
_LONGEST = 4  # words of a topic
_MOST = 2  # topics
_LEAST = 2  # words of meaning in all topics together: fewer are unclear
_COUNTS = 4  # messages: more count no further

# Phrases that are no names: with an amount, a line end, markup, or a word of selection.
_NO_NAME = re.compile(
    r"^\W*\d|\n|[*#`:]|\b(?:same|other|first|second|third|last|next|new|more|most|one|two|greater|less|mism[oa]s?|otr[oa]s?"
    r"|nuev[oa]s?)\b"
)
_LINKS = re.compile(
    r"\s(?:for|in|with|without|from|about|on|between|at|against|en|con|para|sin|al?|por|contra|entre|sobre)\s"
    r"(?:(?:the|an?|my|our|your|el|la|los|las|mi|mis|tu|tus|un|una)\s)?"
)
# A person addressed at the beginning of a sentence is not its topic.
_ADDRESSED = re.compile(
    r"(?:^|[,.!?]\s+|\b(?:Hey|Hi|Hello|Wow|Thanks|Yeah|Yep|Yup|Cool|Sure|Oh|Aww|Hola|Gracias|[Qq]uerid[oa])\s)"
    r"([A-ZÁÉÍÓÚÑ]\w+)(?=[,!.?])"
)


def about(messages: Sequence[str], around: Sequence[str], known: str) -> str:
    """Returns the things that `messages` name and that recur in them or in `around`, at most two, joined by commas.
    Things that `known` names already are left out; "" if there are none."""
    texts = [text[:_READ] for text in messages if text.strip()]
    here = len(texts)
    texts += [text[:_READ] for text in around if text.strip()]
    addressed = {found.lower()[:_STEM] for text in texts for found in _ADDRESSED.findall(text)}
    said = [(text, spoken_in(text)) for text in texts]
    sides = [_stems(text, language) - addressed for text, language in said] if len(said) > 1 else []
    known_here = Counter(stem for side in sides[:here] for stem in side)
    counts = Counter(stem for side in sides for stem in side if stem in known_here)
    if not any(times >= _AGAIN for times in counts.values()):
        return ""
    phrases = {phrase: language for text, language in said[:here] for phrase in _things(text, language, least=1)}
    ranked = sorted(_ranked(phrases, counts, min(_SIDES, len(said))), reverse=True)
    told, found = _stems(known, spoken_in(known)), []
    seen: set[str] = set()
    for _, _, phrase, stems in ranked:
        if stems.isdisjoint(seen):
            seen |= stems
            found.append((phrase, stems))
        if len(found) == _MOST:
            break
    new = [(phrase, stems) for phrase, stems in found if not stems & told]
    words = sum(len(names(phrase)) for phrase, _ in new)
    return ", ".join(phrase for phrase, _ in new) if words >= _LEAST else ""


def named(piece: str, language: Language, known: str) -> str:
    """Returns the longest thing that `piece` names and `known` does not; "" if there is none."""
    told = _stems(known, language)
    found = (
        phrase
        for phrase in _things(piece, language, least=2)
        if names_something(phrase)
        and not _NO_NAME.search(phrase)
        and _SAY_LITTLE.isdisjoint(folded(phrase).split())
        and not _stems(phrase, language) & told
    )
    return max(found, key=len, default="")


def _things(text: str, language: Language, *, least: int) -> Iterator[str]:
    """Yields the noun phrases of a text, cut before complements of place or purpose (those with of and de stay
    whole)."""
    for phrase in noun_phrases(text, language, least):
        yield from _LINKS.split(phrase)


def _ranked(
    phrases: Mapping[str, Language], counts: Counter[str], least: int
) -> Iterator[tuple[int, int, str, frozenset[str]]]:
    """Yields (mentions, minus length, phrase, stems) of the phrases that are named often enough."""
    for phrase, language in phrases.items():
        if len(phrase.split()) > _LONGEST or _NO_NAME.search(phrase):
            continue
        plainly = folded(phrase).split()
        stems = _stems(phrase, language)
        times = [counts[stem] for stem in stems]
        is_named = names_something(phrase) if " " in phrase else phrase[:1].isupper()
        if not times or not is_named or not _SAY_LITTLE.isdisjoint(plainly):
            continue
        often = max(times) >= least or " " in phrase
        if often and min(times) >= _AGAIN and MEASURES.isdisjoint(plainly):
            yield sum(min(each, _COUNTS) for each in times), -len(phrase), phrase, stems


def _stems(text: str, language: Language) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in things_of(text, language))


_CONTRACTED = re.compile(r"\s\w+['\u2019](?:d|ll|re|ve|m)\b.*")  # begins a clause
_POINTED = re.compile(r"\b(th(?:is|at|ese|ose)|est[ae]|es[ae]|est[oa]s|es[oa]s|ese|este)\s(\w{3,})", re.IGNORECASE)
_STEM_MEANT = 4  # letters: the singular is the plural
_READ_ANSWER = 500  # characters of the answer
_MOST_READ = 500  # characters of the message before: a longer one has too many candidates
_LONGEST_MEANT = 5  # words of the phrase


def resolved_question(user: str, answer: str, before: str, heard: str = "") -> str:
    """Returns the question of `user` together with the noun that it points to ("the boat: how long is it?"); "" if the
    question points to nothing, or the noun is uncertain. `before` is the user's last message, `heard` the answer to it,
    `answer` the answer to `user`."""
    question = pointing_question(user)
    if not question:
        return ""
    if _is_known(question, f"{before}\n{heard[:_READ_ANSWER]}"):
        return question
    if len(sentences(user)) > 1 or len(before) > _MOST_READ:
        return ""
    phrases = _named(before)
    if len(phrases) != 1 or len(phrases[0].split()) > _LONGEST_MEANT:
        return ""
    meant = frozenset(names(phrases[0])) - frozenset(names(question))
    return f"{phrases[0]}: {question}" if meant & frozenset(names(answer[:_READ_ANSWER])) else ""


def _is_known(question: str, before: str) -> bool:
    """True if the question points with nouns only ("those nodes") and `before` names all of them."""
    language = spoken_in(question)
    nouns = {noun for _, noun in _POINTED.findall(question)}
    if not nouns or points_outside(_POINTED.sub(r"\2", question), language):
        return False
    known = frozenset(things_of(before, spoken_in(before)))
    return all(any(each[:_STEM_MEANT] == noun.lower()[:_STEM_MEANT] for each in known) for noun in nouns)


def _named(message: str) -> list[str]:
    """Returns the things that a message names, without repetition."""
    language = spoken_in(message)
    found: dict[frozenset[str], str] = {}
    for sentence in sentences(message):
        for phrase in (_CONTRACTED.sub("", each) for each in noun_phrases(sentence, language)):
            if names_something(phrase):
                found.setdefault(frozenset(names(phrase)), phrase)
    return list(found.values())
