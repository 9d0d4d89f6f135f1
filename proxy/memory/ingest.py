"""Reading of a request and its answer for what is new: turns to archive, statements to learn.

Generators, a step at a time: a history may be long, and other requests wait for the thread that reads it. Pure, but for
the shelf, whose index takes the new turns.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proxy.conversation.progress import archived, complete
from proxy.memory import facts
from proxy.memory.commands import Ordered, Said, commands, is_command, mark, meant, outlived
from proxy.memory.extract import extract
from proxy.memory.own_words import Voice
from proxy.memory.shelf import Shelf
from proxy.types import ArchivedTurn, Exchange, Fact, Forgetting, Message, Statement

T = TypeVar("T")
Steps = Generator[None, None, T]


@dataclass(frozen=True, slots=True)
class Ingested:
    """The new turns and facts of a request and its answer."""

    turns: tuple[ArchivedTurn, ...]
    facts: tuple[Fact, ...]
    again: tuple[bytes, ...] = ()  # marks (`commands.mark`) of forgotten values that are stated anew


@dataclass(frozen=True, slots=True)
class _Statements:
    """The statements of the user's own messages, without those that are to be forgotten."""

    # By the index of their message, with the number of its turn.
    statements: Mapping[int, tuple[int, Sequence[Statement]]]
    unsaid: frozenset[int]  # indices of messages whose turns are not kept: they state what is to be forgotten
    newest: int  # index of the last message if it is the user's, else -1
    again: tuple[bytes, ...] = ()  # marks (`commands.mark`) of forgotten values that are stated anew


def read(
    exchange: Exchange,
    messages: Sequence[Message],
    chain: Sequence[bytes],
    shelf: Shelf,
    is_known: Callable[[bytes], bool] | None,
    again: frozenset[bytes],
    *,
    keeps_facts: bool,
    since: Sequence[Forgetting] = (),
) -> Steps[Ingested]:
    """Reads what is new in a request and its answer. `is_known` tells whether a turn with this link was read before;
    None: the turns of earlier requests were, and the index is not used. `since`: commands to forget that were given
    while the request was under way."""
    identity, at = exchange.identity, exchange.incoming.received_at
    found = yield from _statements(exchange, messages, chain, shelf, again, since)
    turns = complete(messages)
    new = []
    # From the newest turn back to the first that is known.
    for number in range(len(turns), 0, -1):
        start, stop = turns[number - 1]
        if stop <= identity.known if is_known is None else is_known(chain[stop - 1]):
            break
        turn = archived(messages, chain, start, stop, number=number, session=identity.session, at=at)
        if not _is_command(turn) and shelf.may_keep(turn) and found.unsaid.isdisjoint(range(start, stop)):
            new.append(turn)
        yield
    new.reverse()
    if is_known is not None:
        for turn in new:
            shelf.put(turn, None)
            yield
    stated = (yield from _changed_facts(exchange, chain, shelf, found)) if keeps_facts else ()
    return Ingested(tuple(new), stated, found.again)


def _is_command(turn: ArchivedTurn) -> bool:
    return any(said.role == "user" and is_command(said.text) for said in turn.utterances)


def _changed_facts(
    exchange: Exchange, chain: Sequence[bytes], shelf: Shelf, found: _Statements
) -> Steps[tuple[Fact, ...]]:
    """Applies the statements to the known facts; returns those that are new, confirmed or superseded. The newest
    message counts even if its words were read before: then they hold again."""
    known = dict(shelf.facts)
    changed: dict[str, Fact] = {}
    for index, (turn, statements) in found.statements.items():
        yield
        changes = facts.learn(
            tuple(known.values()),
            statements,
            session=exchange.identity.session,
            turn=turn,
            link=chain[index],
            now=exchange.incoming.received_at,
            again=index == found.newest and _was_superseded(known.values(), chain[index]),
        )
        for fact in (*changes.new, *changes.confirmed, *changes.superseded):
            known[fact.id] = changed[fact.id] = fact
    return tuple(changed.values())


def _statements(
    exchange: Exchange,
    messages: Sequence[Message],
    chain: Sequence[bytes],
    shelf: Shelf,
    again: frozenset[bytes],
    since: Sequence[Forgetting],
) -> Steps[_Statements]:
    """Extracts the statements that are to be learnt. `since`: commands given while this request was under way."""
    asked, before = exchange.request.messages, tuple(shelf.facts.values())
    newest = len(asked) - 1 if asked and asked[-1].role == "user" else -1
    turn, voice, previous = 0, Voice(), ""
    said: list[Said] = []
    turns: dict[int, int] = {}
    orders: list[Ordered] = []
    for index, each in enumerate(messages):
        if each.role != "user":
            continue
        turn += 1
        yield
        said_by, voice = voice, voice.after(*each.texts)
        text_before, previous = previous, each.text
        if not said_by.is_own:
            continue
        if ordered := commands(each.texts, text_before):
            orders += (Ordered(index, what) for what in ordered)
            continue
        is_known = index < exchange.identity.known and chain[index] not in again
        returns = index == newest and _was_superseded(before, chain[index])
        if (is_known and not returns) or chain[index] in shelf.forgotten:
            continue
        turns[index] = turn
        said += (Said(index, statement) for statement in extract(*each.texts))
    orders += (Ordered(len(messages), what) for what in since)
    gone = meant(said, orders)
    kept: dict[int, list[Statement]] = {}
    unsaid, anew = set(), []
    for place, one in enumerate(said):
        name = mark(one.statement.value)
        is_anew = one.at == newest and shelf.since.get(name, 0.0) <= exchange.incoming.received_at
        if place in gone or (name in shelf.forgotten and not is_anew):
            unsaid.add(one.at)
        elif is_anew or not outlived(one.statement, before):
            kept.setdefault(one.at, []).append(one.statement)
            anew += [name] if name in shelf.forgotten else []
    statements = {index: (turns[index], tuple(found)) for index, found in kept.items()}
    wiped = max((order.at for order in orders if not order.what.what.strip()), default=0)
    return _Statements(statements, frozenset(unsaid) | frozenset(range(wiped)), newest, tuple(anew))


def _was_superseded(known: Iterable[Fact], link: bytes) -> bool:
    """Tells whether a fact stated by the message `link` was ended, or may have been, by a later one."""
    return any(link in fact.links and (fact.superseded_by or fact.doubted_by) is not None for fact in known)
