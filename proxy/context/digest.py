"""A conversation as its archive has it, made ready for whoever builds a prompt himself: the newest turns in full, those
before them as summaries, the items of the lists that the assistant gave, and what all of it costs.

The levels and their sizes are the profile's: its window is the short term, its summaries are the long one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from proxy.config.profiles import Profile
from proxy.context.draft import FRAMING
from proxy.context.filling import render
from proxy.context.shortening import Count
from proxy.context.summaries import NumberedTurn, summarise
from proxy.conversation.lists import listed
from proxy.types import ArchivedTurn, Language, Utterance

MOST_ENTITIES = 100  # the newest ones
SPEAKERS = {"es": {"user": "Usuario", "assistant": "Asistente"}, "en": {"user": "User", "assistant": "Assistant"}}


@dataclass(frozen=True, slots=True)
class Entity:
    """An item of a list that the assistant gave."""

    name: str
    position: int  # in its list, from 1
    turn: int  # number of the turn that gave it, from 1


@dataclass(frozen=True, slots=True)
class Digest:
    """The parts of a conversation that are told."""

    history: tuple[Utterance, ...] = ()  # of the newest turns, oldest first
    summary: str = ""  # of the turns before those: a line for each segment; "" if there are none
    entities: tuple[Entity, ...] = ()  # oldest first
    tokens: int = 0  # of history, summary, and what else was counted


def turns_read(profile: Profile) -> int:
    """Returns the number of newest turns that a digest is made of."""
    return profile.window.turns + profile.summaries.slots * profile.summaries.segment_turns


def digest(
    path: Sequence[ArchivedTurn],
    profile: Profile,
    *,
    limit: int | None,
    others: int,
    count: Count,
    history: bool = True,
) -> Digest:
    """Returns the digest of the newest turns of a conversation, oldest first. `limit`: tokens of a whole prompt, None
    if there is none; `others`: tokens of it that are spoken for. The newest turn is whole even above the limit, older
    ones leave first. `history`: False for entities alone."""
    path = path[-turns_read(profile) :]
    entities = tuple(_entities(path))[-MOST_ENTITIES:]
    if not history:
        return Digest(entities=entities, tokens=others)
    size = _sizes(count)
    recent = list(path[-profile.window.turns :])
    older = path[: len(path) - len(recent)]
    summaries = list(_summaries(older, profile, count))
    held = others + sum(map(size, recent)) + sum(count(each) for each in summaries)
    most = float("inf") if limit is None else limit
    while summaries and held > most:
        held -= count(summaries.pop(0))
    while len(recent) > 1 and held > most:
        held -= size(recent.pop(0))
    said = tuple(each for turn in recent for each in turn.utterances)
    return Digest(said, "\n".join(summaries), entities, held)


def _sizes(count: Count) -> Callable[[ArchivedTurn], int]:
    """Returns the tokens of a turn's messages, each turn counted once."""
    known: dict[bytes, int] = {}

    def size(turn: ArchivedTurn) -> int:
        if turn.link not in known:
            known[turn.link] = sum(count(said.text) + FRAMING for said in turn.utterances)
        return known[turn.link]

    return size


def transcript(history: Sequence[Utterance], language: Language) -> str:
    """Returns messages as lines that name their speakers."""
    return "\n".join(f"{SPEAKERS[language][said.role]}: {said.text}" for said in history)


def _entities(path: Sequence[ArchivedTurn]) -> Iterator[Entity]:
    for turn in path:
        for said in turn.utterances:
            if said.role == "assistant":
                yield from (Entity(item.name, item.position, turn.number) for item in listed(said.text))


def _summaries(turns: Sequence[ArchivedTurn], profile: Profile, count: Count) -> Iterator[str]:
    """Yields a rendered summary of each segment that has one. Segments are counted from the first turn of the
    conversation, so one stays as it is while the conversation goes on."""
    length = profile.summaries.segment_turns
    segments: dict[int, list[ArchivedTurn]] = {}
    for turn in turns:
        segments.setdefault((turn.number - 1) // length, []).append(turn)
    for segment in list(segments.values())[-profile.summaries.slots :] if profile.summaries.slots else ():
        written = summarise([_texts(turn) for turn in segment], max_tokens=profile.summaries.tokens, count=count)
        if written is not None:
            yield render(written)


def _texts(turn: ArchivedTurn) -> NumberedTurn:
    user, assistant = ("\n".join(said.text for said in turn.utterances if said.role == role) for role in SPEAKERS["en"])
    return NumberedTurn(turn.number, user, assistant)
