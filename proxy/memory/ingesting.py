"""The reading of an answered request for what is new to a scope: turns to archive, statements to learn.

It is done by generators, a step at a time: a history may be long, and other requests wait for the thread that reads it.
It changes nothing but the shelf's index, which takes the new turns.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proxy.conversation.turns import archived, complete
from proxy.language.values import normal
from proxy.memory import facts
from proxy.memory.commands import LONGEST, commands, is_command, mark, meant, outlived
from proxy.memory.extract import extract
from proxy.memory.shapes import Voice
from proxy.memory.shelf import Heard, Shelf
from proxy.types import ArchivedTurn, Exchange, Fact, Forgetting, Message, Statement

T = TypeVar("T")
Steps = Generator[None, None, T]
REVISED = 3  # newest user messages of a history that may be revised: it is read on from the one before


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that is learnt from, with its answer."""

    exchange: Exchange
    messages: tuple[Message, ...]  # of the request, and of the answer if there is one
    chain: tuple[bytes, ...]  # links of `messages`

    @property
    def newest(self) -> int:
        """Index of the last message of the request if it is the user's, else -1."""
        asked = self.exchange.request.messages
        return len(asked) - 1 if asked and asked[-1].role == "user" else -1

    def unheard(self, start: int) -> int:
        """Returns the characters of the user messages from `start` on."""
        return sum(len(said.text) for said in self.messages[start:] if said.role == "user")


@dataclass(frozen=True, slots=True)
class Ingested:
    """The new turns and facts of a request and its answer."""

    turns: tuple[ArchivedTurn, ...]
    facts: tuple[Fact, ...]
    again: tuple[bytes, ...] = ()  # marks (`commands.mark`) of forgotten values that are stated anew
    said: "_Statements | None" = None  # of which the facts were made


@dataclass(frozen=True, slots=True)
class _Statements:
    """The statements of the user's own messages, without those that are to be forgotten."""

    # By the index of their message, with the number of its turn.
    statements: Mapping[int, tuple[int, Sequence[Statement]]]
    unsaid: frozenset[int]  # indices of messages whose turns are not kept: they state what is to be forgotten
    newest: int  # index of the last message if it is the user's, else -1
    again: tuple[bytes, ...] = ()  # marks (`commands.mark`) of forgotten values that are stated anew


def read(
    request: Answered,
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
    messages, chain = request.messages, request.chain
    identity, at = request.exchange.identity, request.exchange.incoming.received_at
    found = yield from _statements(request, shelf, again, since)
    turns = complete(messages)
    new = []
    # From the newest turn back to the first that is known.
    for number in range(len(turns), 0, -1):
        start, stop = turns[number - 1]
        if stop <= identity.known if is_known is None else is_known(chain[stop - 1]):
            break
        turn = archived(
            messages, chain, start, stop, number=number, session=identity.session, at=at, root=identity.root
        )
        orders = any(said.role == "user" and is_command(said.text) for said in turn.utterances)
        if not orders and shelf.may_keep(turn) and found.unsaid.isdisjoint(range(start, stop)):
            new.append(turn)
        yield
    new.reverse()
    if is_known is not None:
        for turn in new:
            shelf.put(turn, None)
            yield
    stated = (yield from _changed_facts(request, shelf, found)) if keeps_facts else ()
    return Ingested(tuple(new), stated, found.again, found)


def restated(request: Answered, shelf: Shelf, ingested: Ingested) -> Steps[tuple[Fact, ...]]:
    """Makes the facts of what was read once more, beside those that the shelf has now."""
    return (yield from _changed_facts(request, shelf, ingested.said)) if ingested.said is not None else ()


def _changed_facts(request: Answered, shelf: Shelf, found: _Statements) -> Steps[tuple[Fact, ...]]:
    """Applies the statements to the known facts; returns those that are new, confirmed or superseded. The newest
    message counts even if its words were read before: then they hold again."""
    if not found.statements:
        return ()
    exchange, known = request.exchange, dict(shelf.facts)
    changed: dict[str, Fact] = {}
    yield from shelf.values.refreshed({fact.value for fact in known.values()})
    for index, (turn, statements) in found.statements.items():
        link = request.chain[index]
        again = index == found.newest and _was_superseded(known.values(), link)
        for statement in statements:
            yield  # beside many facts each takes half a millisecond
            changes = facts.learn(
                known.values(),
                (statement,),
                session=exchange.identity.session,
                turn=turn,
                link=link,
                now=exchange.incoming.received_at,
                again=again,
                values=shelf.values,
            )
            for fact in changes:
                known[fact.id] = changed[fact.id] = fact
    return tuple(changed.values())


def _statements(
    request: Answered, shelf: Shelf, again: frozenset[bytes], since: Sequence[Forgetting]
) -> Steps[_Statements]:
    """Extracts the statements that are to be learnt."""
    exchange, messages, chain = request.exchange, request.messages, request.chain
    session, heard, newest = exchange.identity.session, begins(request, shelf), request.newest
    turn, voice, previous = heard.turn, heard.voice, heard.previous
    said: list[tuple[int, Statement]] = []  # with the index of the message
    turns: dict[int, int] = {}
    orders: list[tuple[int, Forgetting]] = []  # the same
    states: deque[tuple[bytes, Heard]] = deque(maxlen=REVISED)
    for index in range(heard.index, len(messages)):
        if (each := messages[index]).role != "user":
            continue
        turn += 1
        yield
        said_by, voice = voice, voice.after(*each.texts)
        text_before, previous = previous, each.text[: LONGEST + 1]
        states.append((chain[index], Heard(index + 1, turn, voice, previous, heard.forgotten)))
        if not said_by.is_own:
            continue
        if ordered := commands(each.texts, text_before):
            orders += ((index, what) for what in ordered)
            continue
        is_known = index < exchange.identity.known and chain[index] not in again
        returns = is_known and index == newest and _was_superseded(tuple(shelf.facts.values()), chain[index])
        if (is_known and not returns) or chain[index] in heard.forgotten:
            continue
        turns[index] = turn
        said += ((index, statement) for statement in extract(*each.texts))
    orders += ((len(messages), what) for what in since)
    gone = meant(said, orders)
    kept: dict[int, list[Statement]] = {}
    unsaid, anew = set(), []
    names = [mark(statement.value) for _, statement in said]
    are_anew = [
        index == newest and shelf.since.get(name, 0.0) <= exchange.incoming.received_at
        for name, (index, _) in zip(names, said, strict=True)
    ]
    old = frozenset() if all(are_anew) else outlived(tuple(shelf.facts.values()))
    for place, (name, is_anew, (index, statement)) in enumerate(zip(names, are_anew, said, strict=True)):
        if place in gone or (name in heard.forgotten and not is_anew):
            unsaid.add(index)
        elif is_anew or normal(statement.value) not in old:
            kept.setdefault(index, []).append(statement)
            anew += [name] if name in heard.forgotten else []
    for link, state in states if not (orders or unsaid or anew) else ():
        shelf.heard.put((session, link), state)
    statements = {index: (turns[index], tuple(found)) for index, found in kept.items()}
    wiped = max((index for index, order in orders if not order.what.strip()), default=0)
    return _Statements(statements, frozenset(unsaid) | frozenset(range(wiped)), newest, tuple(anew))


def begins(request: Answered, shelf: Shelf) -> Heard:
    """Returns the state from which a history is read: after the last user message before the newest that was heard
    here in this session."""
    session, forgotten = request.exchange.identity.session, shelf.forgotten
    for index in range((request.newest if request.newest >= 0 else len(request.messages)) - 1, -1, -1):
        heard = shelf.heard.get((session, request.chain[index])) if request.messages[index].role == "user" else None
        if heard is not None and heard.forgotten is forgotten:
            return heard
    return Heard(0, 0, Voice(), "", forgotten)


def _was_superseded(known: Iterable[Fact], link: bytes) -> bool:
    """Tells whether a fact stated by the message `link` was ended, or may have been, by a later one."""
    return any(link in fact.links and (fact.superseded_by or fact.doubted_by) is not None for fact in known)
