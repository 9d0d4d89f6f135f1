"""What a request and its answer say that is new, step by step: a history may be long, and others wait for the thread
that reads it. Pure, but for the shelf, whose index takes the new turns.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proxy.memory import facts
from proxy.memory.commands import commands, is_command
from proxy.memory.extract import extract
from proxy.memory.handed import Voice
from proxy.memory.turns import archived, complete
from proxy.storage.shelf import Shelf
from proxy.types import ArchivedTurn, Fact, Message, Passage
from proxy.wire.content import texts

T = TypeVar("T")
Steps = Generator[None, None, T]


@dataclass(frozen=True, slots=True)
class Read:
    """What a request and its answer say that is new."""

    turns: tuple[ArchivedTurn, ...]
    facts: tuple[Fact, ...]


def read(
    passage: Passage,
    messages: Sequence[Message],
    chain: Sequence[bytes],
    shelf: Shelf,
    is_known: Callable[[bytes], bool] | None,
    again: frozenset[bytes],
    *,
    keeps_facts: bool,
) -> Steps[Read]:
    """`is_known`: is this the link of a turn that was read before? None: those of earlier requests, and none is
    indexed yet."""
    identity, at = passage.identity, passage.incoming.received_at
    turns = complete(messages)
    new = []
    # Newest first, as far back as nothing is known.
    for number in range(len(turns), 0, -1):
        start, stop = turns[number - 1]
        if stop <= identity.known if is_known is None else is_known(chain[stop - 1]):
            break
        turn = archived(messages, chain, start, stop, number=number, session=identity.session, at=at)
        if not _is_command(turn) and shelf.may_keep(turn):
            new.append(turn)
        yield
    new.reverse()
    if is_known is not None:
        for turn in new:
            shelf.put(turn, None)
            yield
    stated = (yield from _stated(passage, messages, chain, shelf, again)) if keeps_facts else ()
    return Read(tuple(new), stated)


def _is_command(turn: ArchivedTurn) -> bool:
    return any(said.role == "user" and is_command(said.text) for said in turn.utterances)


def _stated(
    passage: Passage, messages: Sequence[Message], chain: Sequence[bytes], shelf: Shelf, again: frozenset[bytes]
) -> Steps[tuple[Fact, ...]]:
    """Facts that are new, confirmed or superseded by what no request had said before; and by the newest message, though
    its words may have been said before: then they hold again."""
    known = dict(shelf.facts)
    changed: dict[str, Fact] = {}
    asked = passage.request.messages
    newest = len(asked) - 1 if asked and asked[-1].role == "user" else -1
    turn, voice = 0, Voice()
    for index, said in enumerate(messages):
        if said.role != "user":
            continue
        turn += 1
        yield
        said_by, voice = voice, voice.after(*texts(said.data))
        if not said_by.is_own:
            continue
        is_known = index < passage.identity.known and chain[index] not in again
        returns = index == newest and _was_superseded(known.values(), chain[index])
        if (is_known and not returns) or chain[index] in shelf.forgotten or commands(said.data):
            continue
        changes = facts.learn(
            tuple(known.values()),
            extract(*texts(said.data)),
            session=passage.identity.session,
            turn=turn,
            link=chain[index],
            now=passage.incoming.received_at,
            again=returns,
        )
        for fact in (*changes.new, *changes.confirmed, *changes.superseded):
            known[fact.id] = changed[fact.id] = fact
    return tuple(changed.values())


def _was_superseded(known: Iterable[Fact], link: bytes) -> bool:
    """Did the message of this link say something that was ended, or may have been, by a later one?"""
    return any(link in fact.links and (fact.superseded_by or fact.doubted_by) is not None for fact in known)
