"""A client that names its conversation may send only what is new."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from proxy.memory.turns import archived, complete
from proxy.stages.resume import resume
from proxy.storage.archive import MemoryArchive
from proxy.types import ChatRequest, Identity
from proxy.wire import turns
from tests.builders import (
    NOW,
    Executor,
    Said,
    assistant,
    calling,
    chat,
    identity,
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


def archive_of(*said: Said, session: str = "s", scope: str | None = None) -> MemoryArchive:
    """What is remembered of a conversation."""
    request = chat(*said)
    whose = scope or identity(request).memory
    archive = MemoryArchive(1e12)
    given, chain = messages(*said), links(identity(request).scope.id, said)
    for number, (start, stop) in enumerate(complete(given), 1):
        turn = archived(given, chain, start, stop, number=number, session=session, at=NOW)
        archive.add(whose, turn, None)
    return archive


async def resumed(
    request: ChatRequest, archive: MemoryArchive, executor: Executor, who: Identity | None = None
) -> tuple[ChatRequest, Identity]:
    given = who or identity(request)

    async def settled(_: Identity) -> None:
        pass

    return await resume(
        request, given, archive=archive, settled=settled, chains=turns.Chains(), offload=inline(executor)
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
    archive, late = MemoryArchive(1e12), archive_of(*SAID)

    async def settled(who: Identity) -> None:
        changes = await late.turns(who.memory, 0, 0.0)
        for turn, vectors in changes.entries:
            archive.add(who.memory, turn, vectors)

    found, _ = await resume(
        request,
        identity(request),
        archive=archive,
        settled=settled,
        chains=turns.Chains(),
        offload=inline(executor),
    )
    assert [each.data for each in found.messages] == [*SAID, user("three")]
