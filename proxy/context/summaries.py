"""Summaries of turns that left the window: key-value records of a few dozen tokens, extracted verbatim and written
once.

A record is filled with whole pieces of the user's messages, the most telling first and something of every turn:
decisions, names, numbers, questions. Decisions that change later in the same turns are left out. Text that needs its
context is no piece, so a record may have few fields or none; a question that points to a noun of the message before
goes with that noun; turns without a piece get a topic: the things that both sides name repeatedly, in the user's words.
Claims of the assistant are never included, so the outcome stays empty.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.context.cuts import EVALUATES, FENCE, GENERIC, is_earnest, is_slight, sentences
from proxy.context.filling import PlacedPiece, filled, fitted, render, weighed
from proxy.context.nouns import MEASURES, names_something, noun_phrases
from proxy.context.pieces import Piece, pieces_of, pointing_question, takes_back
from proxy.context.referents import names, points_outside, things
from proxy.context.shortening import Count
from proxy.memory.signals import folded, spoken_in
from proxy.types import Summary, TurnDigest
from proxy.types.memory import Language

_MOST_READ = 2_000  # characters of a message: the rest is seldom worth a note
_HEARD = 700  # characters of an answer: it takes up the question at its beginning
_RESOLVED = 3.0  # worth of a question with the noun that it points to
_SHARED = 2  # words that two pieces about the same thing share

# Topics.
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

# Questions that point to a noun of the message before.
_CONTRACTED = re.compile(r"\s\w+['\u2019](?:d|ll|re|ve|m)\b.*")  # begins a clause
_POINTED = re.compile(r"\b(th(?:is|at|ese|ose)|est[ae]|es[ae]|est[oa]s|es[oa]s|ese|este)\s(\w{3,})", re.IGNORECASE)
_STEM_MEANT = 4  # letters: the singular is the plural
_READ_ANSWER = 500  # characters of the answer
_MOST_READ_ABOUT = 500  # characters of the message before: a longer one has too many candidates
_LONGEST_MEANT = 5  # words of the phrase


@dataclass(frozen=True, slots=True)
class NumberedTurn:
    """The texts of one turn, to be summarised."""

    number: int  # from 1
    user: str
    assistant: str = ""


def summarise(
    turns: Sequence[NumberedTurn], *, before: NumberedTurn | None = None, max_tokens: int = 50, count: Count
) -> Summary | None:
    """Returns the summary of a segment (consecutive turns, at least one), rendered in at most `max_tokens`; None if no
    piece of it is worth a note. `before`: the turn that precedes the segment."""
    turns = [_read(turn) for turn in turns]
    before = _read(before) if before else None
    said = _distinct(_current(turns, list(_said(turns, before))))
    is_open = bool(turns) and not turns[-1].assistant.strip()

    def record(some: Sequence[PlacedPiece]) -> Summary:
        return _record(turns, some, is_open=is_open)

    said = weighed(said, [turn.assistant[:_HEARD] for turn in turns])
    chosen = filled(said, max_tokens, lambda some: count(render(record(some))))
    summary = record(chosen)
    if topic := _topic(turns, before, said, chosen, render(summary)):
        room = max_tokens + count(render(summary)) - count(render(replace(summary, topic=topic)))
        beside = filled(said, room, lambda some: count(render(record(some))))
        titled = replace(record(beside), topic=topic)
        is_whole = {each.turn for each in chosen} <= {each.turn for each in beside}
        summary = titled if is_whole and count(render(titled)) <= max_tokens else summary
    summary = fitted(summary, max_tokens, count)
    return summary if render(summary) != "{}" else None


def segments(digests: Sequence[TurnDigest], segment_turns: int) -> list[range]:
    """Returns the closed segments of `digests`, as ranges of indices: a segment is closed after `segment_turns` turns,
    or by a change of topic. The last turns may still be open, and are left out."""
    found, start = [], 0
    for index, digest in enumerate(digests):
        if digest.shift and index > start:
            found.append(range(start, index))
            start = index
        if index + 1 - start >= segment_turns:
            found.append(range(start, index + 1))
            start = index + 1
    return found


def keep_slots(summaries: Sequence[Summary], slots: int) -> tuple[Summary, ...]:
    """Returns the newest `slots` summaries, oldest first."""
    return tuple(summaries[-slots:]) if slots > 0 else ()


def _topic(
    turns: Sequence[NumberedTurn],
    before: NumberedTurn | None,
    said: Sequence[PlacedPiece],
    chosen: Sequence[PlacedPiece],
    known: str,
) -> str:
    """Returns the topic of the turns that no piece, or only a remark, represents; else a thing named by a piece that
    had no room."""
    shown = {each.turn for each in chosen}
    unsaid = (each.piece for each in said if each.turn not in shown and each.piece.kind != "statement")
    told = {each.turn for each in chosen if not is_slight(each.piece.text, each.piece.kind, each.piece.language)}
    left = [turn for at, turn in enumerate(turns) if at not in told and is_earnest(turn.user)]
    around = [*([before] if before else []), *(turn for at, turn in enumerate(turns) if at in told)]
    found = about(_messages(left), _messages(around), known) if left else ""
    return found or next(filter(None, (named(each.text, each.language, known) for each in unsaid)), "")


def _messages(turns: Sequence[NumberedTurn]) -> list[str]:
    return [text for turn in turns for text in (turn.user, turn.assistant)]


def _read(turn: NumberedTurn) -> NumberedTurn:
    return NumberedTurn(turn.number, turn.user[:_MOST_READ], FENCE.sub("\n", turn.assistant[:_MOST_READ]))


def _said(turns: Sequence[NumberedTurn], before: NumberedTurn | None) -> Iterator[PlacedPiece]:
    at = 0
    for index, turn in enumerate(turns):
        last = turns[index - 1] if index else before
        pieces = pieces_of(turn.user)
        heard = (last.user, last.assistant) if last else ("", "")
        if not pieces and (asked := resolved_question(turn.user, turn.assistant, *heard)):
            pieces = (Piece(asked, "request", _RESOLVED),)
        for piece in pieces:
            yield PlacedPiece(index, at, piece)
            at += 1


def _current(turns: Sequence[NumberedTurn], said: Sequence[PlacedPiece]) -> list[PlacedPiece]:
    """Returns the pieces without those that are taken back or corrected later."""
    taken = {index - 1 for index, turn in enumerate(turns) if index and takes_back(turn.user)}
    left = [each for each in said if each.turn not in taken or each.piece.kind != "decision"]
    changes = [each for each in left if each.piece.corrects]
    return [each for each in left if not any(_is_changed(each, by) for by in changes)]


def _is_changed(each: PlacedPiece, by: PlacedPiece) -> bool:
    return by.turn > each.turn and each.piece.kind != "request" and len(each.says & by.says) >= _SHARED


def _distinct(said: Sequence[PlacedPiece]) -> list[PlacedPiece]:
    """Returns the pieces that add something to those before them."""
    found: list[PlacedPiece] = []
    for each in said:
        if not any(each.says <= before.says for before in found):
            found.append(each)
    return found


def _record(turns: Sequence[NumberedTurn], said: Sequence[PlacedPiece], *, is_open: bool) -> Summary:
    ordered = sorted(said, key=lambda each: each.at)
    asked = [each for each in ordered if is_open and each.piece.kind == "request" and each.turn == len(turns) - 1]
    return Summary(
        topic="",
        discussed=tuple(each.piece.text for each in ordered if each.piece.kind != "decision" and each not in asked),
        outcome="",
        decisions=tuple(each.piece.text for each in ordered if each.piece.kind == "decision"),
        open_questions=tuple(each.piece.text for each in asked),
        first_turn=turns[0].number,
        last_turn=turns[-1].number,
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
    return frozenset(word[:_STEM] for word in things(text, language))


def resolved_question(user: str, answer: str, before: str, heard: str = "") -> str:
    """Returns the question of `user` together with the noun that it points to ("the boat: how long is it?"); "" if the
    question points to nothing, or the noun is uncertain. `before` is the user's last message, `heard` the answer to it,
    `answer` the answer to `user`."""
    question = pointing_question(user)
    if not question:
        return ""
    if _is_known(question, f"{before}\n{heard[:_READ_ANSWER]}"):
        return question
    if len(sentences(user)) > 1 or len(before) > _MOST_READ_ABOUT:
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
    known = frozenset(things(before, spoken_in(before)))
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
