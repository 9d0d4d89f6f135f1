"""A named session whose client sends only what is new: its history, repetitions, and results of calls."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from proxy.conversation import resuming
from proxy.conversation.identify import identify_unseen
from proxy.conversation.names import scope_of
from proxy.conversation.resuming import AGAIN_SECONDS, Histories, apart, resume
from proxy.conversation.turns import archived, complete, open_turn
from proxy.errors import BadRequest
from proxy.protocol.chains import Chains, chain_of
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.headers import read_directives
from proxy.storage.shared.learnt import LocalOpenTurns
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.types import ArchivedTurn, ChatRequest, Headers, Identity, OpenTurn
from tests import stores
from tests.builders import (
    NOW,
    Executor,
    Said,
    assistant,
    calling,
    chat,
    identity,
    incoming,
    inline,
    links,
    messages,
    result,
    system,
    user,
)

S, SAID = system("Be brief."), [user("one"), calling("c"), result("c"), assistant("1"), user("two"), assistant("2")]


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor() as running:
        yield running


def archive_of(*said: Said, session: str = "s", scope: str | None = None) -> SqliteArchive:
    """What is remembered of a conversation."""
    request = chat(*said)
    whose = scope or identity(request).memory
    archive = stores.archive()
    given, chain = messages(*said), links(identity(request).scope.id, said)
    for number, (start, stop) in enumerate(complete(given), 1):
        turn = archived(given, chain, start, stop, number=number, session=session, at=NOW)
        archive.add(whose, turn, None)
    return archive


async def resumed(
    request: ChatRequest,
    archive: SqliteArchive,
    executor: Executor,
    who: Identity | None = None,
    *,
    going_on: Sequence[Said] = (),
    after: float = 60.0,
    headers: Headers = (),
) -> tuple[ChatRequest, Identity]:
    """`going_on`: all that was said when an answer made calls; `after`: seconds."""
    given = who or identity(request)
    held = LocalOpenTurns()
    held.put(given.memory, given.session, open_turn(messages(*going_on), links(given.scope.id, going_on)))

    async def settled(_: Identity) -> None:
        pass

    return await resume(
        incoming(headers=headers, at=NOW + after),
        request,
        given,
        Histories(archive, held, settled),
        Chains(),
        inline(executor),
    )


@pytest.mark.parametrize(
    ("said", "new", "expected"),
    [
        (SAID, [user("three")], [*SAID, user("three")]),
        ([S, *SAID], [user("three")], [S, *SAID, user("three")]),
        ([S, *SAID], [S, user("three")], [S, *SAID, user("three")]),
        ([S, *SAID], [system("Be kind."), user("three")], [system("Be kind."), *SAID, user("three")]),
        (SAID, [S, user("three")], [S, *SAID, user("three")]),
        (SAID, [user("three"), user("and four")], [*SAID, user("three"), user("and four")]),
        ([S, assistant("Hi!"), *SAID], [S, user("3")], [S, assistant("Hi!"), *SAID, user("3")]),
    ],
)
async def test_the_request_goes_on_as_if_all_of_it_had_been_sent(
    said: list[Said], new: list[Said], expected: list[Said], executor: Executor
) -> None:
    request, who = await resumed(chat(*new, temperature=0.5), archive_of(*said), executor)
    assert [each.data for each in request.messages] == expected
    assert msgspec.json.decode(request.raw) == {"model": "m", "messages": expected, "temperature": 0.5}
    assert who.chain == links(who.scope.id, expected)
    assert (who.known, who.continuity) == (len(expected) - sum(each["role"] == "user" for each in new), "continued")


@pytest.mark.parametrize(
    ("new", "differing"),
    [
        ([user("three")], {"session_source": "client"}),
        ([user("three")], {"session_source": "chain"}),
        ([user("three")], {"session": "another"}),
        ([user("three")], {"known": 1}),
        ([user("one"), assistant("1"), user("three")], {}),  # it has a history of its own
        ([user("three"), calling("c"), result("c")], {}),
        ([S], {}),
    ],
)
async def test_anything_else_is_left_as_it_is(new: list[Said], differing: dict[str, Any], executor: Executor) -> None:
    request = chat(*new)
    who = replace(identity(request), **differing)
    assert await resumed(request, archive_of(S, *SAID), executor, who) == (request, who)


async def test_a_conversation_of_another_scope_is_none(executor: Executor) -> None:
    request = chat(user("three"))
    archive = archive_of(*SAID, scope=identity(request, person="eva").memory)
    assert await resumed(request, archive, executor) == (request, identity(request))


async def test_of_several_branches_the_latest_goes_on(executor: Executor) -> None:
    archive = archive_of(*SAID)
    request = chat(user("three"))
    branch = [*SAID[:4], user("or else"), assistant("else")]
    given, chain = messages(*branch), links(identity(request).scope.id, branch)
    archive.add(identity(request).memory, archived(given, chain, 4, 6, number=2, session="s", at=NOW + 1), None)
    found, _ = await resumed(request, archive, executor)
    assert [each.data for each in found.messages] == [*branch, user("three")]


async def test_what_was_just_answered_is_waited_for(executor: Executor) -> None:
    request = chat(user("three"))
    archive, late = stores.archive(), archive_of(*SAID)

    async def settled(who: Identity) -> None:
        changes = await late.changes(who.memory, 0, 0.0)
        for turn, vectors in changes.entries:
            archive.add(who.memory, turn, vectors)

    found, _ = await resume(
        incoming(),
        request,
        identity(request),
        Histories(archive, LocalOpenTurns(), settled),
        Chains(),
        inline(executor),
    )
    assert [each.data for each in found.messages] == [*SAID, user("three")]


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_turn_that_another_process_writes_is_waited_for_and_told_if_it_does_not_come(
    arrives: bool, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resuming, "ARRIVAL_PAUSE", 0.0)
    request = chat(user("three"))
    who, late, looks = identity(request), list[str](), list[bytes]()
    chain, archive = links(who.scope.id, SAID), archive_of(*SAID[:4])
    read = archive.path

    async def path(scope: str, link: bytes, most: int) -> list[ArchivedTurn]:
        looks.append(link)
        if arrives and len(looks) == 3:
            archive.add(scope, archived(messages(*SAID), chain, 4, 6, number=2, session="s", at=NOW), None)
        return await read(scope, link, most)

    class Elsewhere(LocalOpenTurns):
        async def get(self, scope: str, session: str) -> OpenTurn | None:
            return OpenTurn((), chain[-1], is_elsewhere=True)

    async def settled(_: Identity) -> None:
        pass

    monkeypatch.setattr(archive, "path", path)
    found, _ = await resume(
        incoming(),
        request,
        who,
        Histories(archive, Elsewhere(), settled, late=lambda: late.append("late")),
        Chains(),
        inline(executor),
    )
    assert [each.data for each in found.messages] == [*(SAID if arrives else SAID[:4]), user("three")]
    assert late == ([] if arrives else ["late"])


# --- the same again ---------------------------------------------------------------------------------------------------

RETRIED: Headers = (("x-stainless-retry-count", "1"),)
LONGER = user("what did we say about the boat?")


@pytest.mark.parametrize(
    ("last", "new", "after", "headers", "is_again"),
    [
        ([LONGER], [LONGER], 5.0, (), True),
        ([LONGER], [user([{"type": "text", "text": "what did we say about the boat? "}])], 5.0, (), True),
        ([LONGER], [LONGER], AGAIN_SECONDS + 1, (), False),
        ([LONGER], [LONGER], AGAIN_SECONDS + 1, RETRIED, True),
        ([LONGER], [user("what did we say about the car?")], 5.0, RETRIED, False),
        ([user("go on")], [user("go on")], 5.0, (), False),  # and on
        ([user("go on")], [user("go on")], 5.0, (("x-stainless-retry-count", "0"),), False),
        ([user("go on")], [user("go on")], 5.0, RETRIED, True),
        ([user("and"), LONGER], [user("and"), LONGER], 5.0, (), True),
        ([user("and"), LONGER], [LONGER], 5.0, (), True),
        ([LONGER], [user("and"), LONGER], 5.0, (), False),
    ],
)
async def test_a_question_that_is_sent_again_is_not_asked_twice(
    last: list[Said], new: list[Said], after: float, headers: Headers, is_again: bool, executor: Executor
) -> None:
    before = [*SAID, *last, assistant("3")]
    request, who = await resumed(chat(*new), archive_of(*before), executor, after=after, headers=headers)
    expected = [*before[: -1 - len(new)], *new] if is_again else [*before, *new]
    assert [each.data for each in request.messages] == expected
    assert who.continuity == ("regenerated" if is_again else "continued")
    assert who.known == len(expected) - (0 if is_again else len(new))
    assert who.chain == links(who.scope.id, expected)


# --- results of calls -------------------------------------------------------------------------------------------------

BEGUN = [*SAID, user("three"), calling("d", "e")]
D, E = result("d"), result("e")


@pytest.mark.parametrize(
    ("going_on", "new", "expected"),
    [
        (BEGUN, [D, E], [*BEGUN, D, E]),
        (BEGUN, [E, D], [*BEGUN, E, D]),
        (BEGUN, [D, E, user("so?")], [*BEGUN, D, E, user("so?")]),
        (BEGUN, [S, D, E], [S, *BEGUN, D, E]),
        ([*BEGUN, D, E, calling("f")], [result("f")], [*BEGUN, D, E, calling("f"), result("f")]),
        ([*BEGUN, D, E, calling("f")], [D, E], [*BEGUN, D, E]),  # sent again
        ([S, user("one"), calling("d", "e")], [D, E], [S, user("one"), calling("d", "e"), D, E]),
    ],
)
async def test_results_are_sent_behind_the_calls_that_they_answer(
    going_on: list[Said], new: list[Said], expected: list[Said], executor: Executor
) -> None:
    archive = archive_of(*SAID) if going_on[: len(SAID)] == SAID else stores.archive()
    request, who = await resumed(chat(*new), archive, executor, going_on=going_on)
    assert [each.data for each in request.messages] == expected
    assert not violations(request.messages, DIALECTS["openai"])
    assert who.chain == links(who.scope.id, expected)
    assert who.continuity == "continued"


async def test_results_that_are_sent_again_once_the_turn_is_over_take_the_place_of_the_first_ones(
    executor: Executor,
) -> None:
    over = [*BEGUN, D, E, assistant("3")]
    request, who = await resumed(chat(D, E), archive_of(*over), executor)
    assert [each.data for each in request.messages] == [*BEGUN, D, E]
    assert (who.continuity, who.known) == ("regenerated", len(BEGUN) + 2)


@pytest.mark.parametrize("new", [[D], [D, E, E], [result("x")], [D, E, result("x")], [E, user("so?")]])
@pytest.mark.parametrize("going_on", [BEGUN, []])
async def test_results_that_answer_no_calls_or_not_all_of_them_are_refused_with_what_to_do(
    new: list[Said], going_on: list[Said], executor: Executor
) -> None:
    with pytest.raises(BadRequest, match="or the whole conversation"):
        await resumed(chat(*new), archive_of(*SAID), executor, going_on=going_on)


@pytest.mark.parametrize("differing", [{"session_source": "client"}, {"session_source": "chain"}, {"known": 1}])
async def test_results_in_no_named_conversation_are_the_upstreams_to_refuse(
    differing: dict[str, Any], executor: Executor
) -> None:
    request = chat(D, E)
    who = replace(identity(request), **differing)
    assert await resumed(request, archive_of(*SAID), executor, who, going_on=BEGUN) == (request, who)


@pytest.mark.parametrize(
    ("said", "is_named"),
    [
        ((user("And what did I say?"),), False),
        ((user("I have a dog."), assistant("A good one?"), user("What is a dog?")), True),
    ],
)
def test_a_turn_whose_history_was_not_found_is_none_of_the_named_session(said: list[Said], *, is_named: bool) -> None:
    headers = (("x-olvido-session", "mine"),)
    request, arrived = chat(*said), incoming(headers=headers)
    directives = read_directives(headers)
    chain = chain_of(scope_of(arrived, request, directives).id, request.messages)
    unseen = identify_unseen(arrived, request, directives, chain, private=True)
    found = apart(arrived, request, unseen)
    assert (found.session == "mine") is is_named
