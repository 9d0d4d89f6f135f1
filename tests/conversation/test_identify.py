"""Who asks, and in which conversation: the walls between scopes, and how a history is recognised."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.identify import (
    AGAIN_SECONDS,
    MAX_NAME,
    apart,
    end_user,
    identify,
    identify_unseen,
    is_scope,
    resume,
    scope_of,
)
from proxy.conversation.turns import archived, complete, open_turn
from proxy.errors import BadRequest
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.protocol.chat import SESSION_METADATA, Chains, chain_of, links_after
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.headers import SESSION_HEADERS, read_directives
from proxy.storage.base import SessionStore
from proxy.storage.shared.learnt import LocalOpenTurns
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.types import ChatRequest, Headers, Identity, SessionSource
from tests import stores
from tests.builders import (
    NOW,
    TENANT,
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

EXECUTOR = Executor()  # never used: the work of these tests is small


@dataclass
class Proxy:
    """`identify`, and what is remembered after an answer."""

    private: bool = True
    sessions: SessionStore = field(default_factory=stores.sessions)
    chains: Chains = field(default_factory=Chains)
    requests: int = 0
    answered_before: AnsweredScopes = field(default_factory=lambda: AnsweredScopes(stores.nothing_on_record))

    async def asked(
        self, *said: Said, headers: Headers = (), tenant: str = TENANT, remembers: bool = True, **fields: Any
    ) -> Identity:
        """The identity of a request."""
        self.requests += 1
        return await identify(
            incoming(headers=headers, tenant=tenant, request_id=f"req_{self.requests}"),
            chat(*said, **fields),
            read_directives(headers),
            private=self.private,
            is_answered=self.answered_before.has,
            sessions=self.sessions,
            chains=self.chains,
            offload=inline(EXECUTOR),
        )

    async def answered(self, *said: Said, answer: Said | None = None, **more: Any) -> Identity:
        """The same of a request that is answered, so that it is remembered: with its answer, if there was one."""
        identity = await self.asked(*said, **more)
        links = identity.chain
        if answer is not None:
            links = (*links, *links_after(links[-1], messages(answer)))
        at = NOW + self.requests
        self.answered_before.add(identity.scope.id)
        self.sessions.remember(identity.scope.id, identity.session, links, identity.known, at)
        return identity


@pytest.fixture(params=[True, False], ids=["personal", "shared"])
def proxy(request: pytest.FixtureRequest) -> Proxy:
    return Proxy(private=request.param)


@pytest.fixture
def personal() -> Proxy:
    return Proxy(private=True)


@pytest.fixture
def shared() -> Proxy:
    return Proxy(private=False)


HI, HELLO, MORE, SURE = user("hi"), assistant("hello"), user("tell me more"), assistant("sure")
RULES = system("You are terse.")


# --- explicit ids ---------------------------------------------------------------------------------------------------


async def session_of(proxy: Proxy, headers: Headers = (), **fields: Any) -> tuple[str, SessionSource]:
    identity = await proxy.asked(HI, headers=headers, **fields)
    return identity.session, identity.session_source


async def test_explicit_ids_win_in_their_order(proxy: Proxy) -> None:
    names = ["x-olvido-session", *SESSION_HEADERS]
    key, metadata = "key", {name: name for name in reversed(SESSION_METADATA)}
    for position, name in enumerate(names):
        later_ones_too = tuple((each, each) for each in reversed(names[position:]))
        session = await session_of(proxy, later_ones_too, prompt_cache_key=key, metadata=metadata)
        assert session == (name, "header" if position == 0 else "client")
    assert await session_of(proxy, prompt_cache_key=key, metadata=metadata) == (key, "prompt_cache_key")
    for name in SESSION_METADATA:
        assert await session_of(proxy, metadata=metadata) == (name, "metadata")
        del metadata[name]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"metadata": None},
        {"metadata": "s"},
        {"metadata": {}},
        {"metadata": {"session_id": 7}},
        {"metadata": {"session_id": ""}},
        {"metadata": {"colour": "blue"}},
        {"prompt_cache_key": ""},
        {"prompt_cache_key": ["s"]},
        {"user": "ana"},
        {"safety_identifier": "ana"},
    ],
)
async def test_nothing_else_names_a_conversation(proxy: Proxy, fields: dict[str, Any]) -> None:
    session, source = await session_of(proxy, **fields)
    assert source == "new"
    assert session.startswith("c-")


UNSAFE = ["ñandú", "a b", "a\nb", "<script>", "a;b", "'; drop table", "x" * (MAX_NAME + 1), "\x7f", "%41", "{}"]


@pytest.mark.parametrize("name", ["a", "A-1_b.c:d@e+f/g=", "x" * MAX_NAME, "550e8400-e29b-41d4-a716-446655440000"])
async def test_a_safe_name_is_kept(proxy: Proxy, name: str) -> None:
    headers: Headers = (("x-olvido-session", name), ("x-olvido-user", name))
    identity = await proxy.asked(HI, headers=headers)
    assert (identity.session, identity.scope.user) == (name, name)


@pytest.mark.parametrize("name", UNSAFE)
async def test_an_unsafe_one_is_hashed(proxy: Proxy, name: str) -> None:
    identity = await proxy.asked(HI, user=name, prompt_cache_key=name)
    assert identity.session == identity.scope.user
    assert identity.session.startswith("h-")
    assert len(identity.session) == 34
    assert (await proxy.asked(HI, user=name)).scope == identity.scope


async def test_no_two_unsafe_names_are_one(proxy: Proxy) -> None:
    assert len({(await proxy.asked(HI, user=name)).scope.user for name in UNSAFE}) == len(UNSAFE)


async def test_nobody_is_another_by_calling_himself_by_the_hash_of_a_name(proxy: Proxy) -> None:
    hashed = (await proxy.asked(HI, user="ñandú")).scope.user
    assert (await proxy.asked(HI, user=hashed)).scope.user not in ("", hashed)


async def test_but_a_session_goes_by_the_name_that_the_client_was_told(proxy: Proxy) -> None:
    told = (await proxy.asked(HI, headers=(("x-olvido-session", "ñandú"),))).session
    assert (await proxy.asked(HI, headers=(("x-olvido-session", told),))).session == told


async def test_end_users_that_are_no_strings_are_people_too(proxy: Proxy) -> None:
    odd = ("", 7, 8, 0, 1.5, False, True, ["i"], ["j"], {"a": 1})
    assert len({(await proxy.asked(HI, user=name)).scope.user for name in odd}) == len(odd)


async def test_an_explicit_session_is_continued_from_what_it_had(proxy: Proxy) -> None:
    named: Headers = (("x-olvido-session", "s"),)
    first = await proxy.answered(HI, answer=HELLO, headers=named)
    assert (first.known, first.continuity) == (0, "new")
    then = await proxy.answered(HI, HELLO, MORE, answer=SURE, headers=named)
    assert (then.known, then.continuity) == (2, "continued")


async def test_a_history_of_another_session_is_new_to_an_explicit_one(proxy: Proxy) -> None:
    await proxy.answered(HI, answer=HELLO, headers=(("x-olvido-session", "s"),))
    other = await proxy.answered(HI, HELLO, MORE, headers=(("x-olvido-session", "t"),))
    assert (other.session, other.known, other.continuity) == ("t", 0, "new")


# --- who asks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "fields", "person"),
    [
        ([], {}, ""),
        ([], {"user": "u"}, "u"),
        ([], {"user": "u", "safety_identifier": "i"}, "i"),
        ([("x-openwebui-user-id", "w")], {"user": "u", "safety_identifier": "i"}, "w"),
        ([("x-openwebui-user-id", "w"), ("x-olvido-user", "o")], {"user": "u", "safety_identifier": "i"}, "o"),
        ([], {"user": ""}, ""),
        ([], {"user": 7}, "7"),
        ([], {"user": None, "safety_identifier": False}, "false"),
        ([("x-olvido-session", "s")], {"metadata": {"user": "u"}}, ""),
    ],
)
async def test_the_end_user_is_who_the_client_names_first(
    proxy: Proxy, headers: list[tuple[str, str]], fields: dict[str, Any], person: str
) -> None:
    identity = await proxy.asked(HI, headers=tuple(headers), **fields)
    assert identity.scope.user == person
    assert identity.scope.tenant == TENANT


walls: list[Callable[[int], dict[str, Any]]] = [
    lambda side: {"tenant": ("aa" if side else "bb") * 16},
    lambda side: {"user": "ana" if side else "eva"},
    lambda side: {"user": "ana"} if side else {},
    lambda side: {"headers": (("x-olvido-user", "ana" if side else "eva"),)},
]


@pytest.mark.parametrize("wall", walls)
async def test_nothing_is_recognised_through_a_wall(proxy: Proxy, wall: Callable[[int], dict[str, Any]]) -> None:
    one = await proxy.answered(RULES, HI, answer=HELLO, **wall(0))
    other = await proxy.answered(RULES, HI, HELLO, MORE, **wall(1))
    assert (other.known, other.continuity, other.session_source) == (0, "new", "new")
    assert other.session != one.session
    assert set(other.chain).isdisjoint(one.chain)


# --- recognised by its history --------------------------------------------------------------------------------------


async def test_a_history_that_is_sent_again_continues_its_session(proxy: Proxy) -> None:
    first = await proxy.answered(RULES, HI, answer=HELLO)
    assert (first.session_source, first.known, first.continuity) == ("new", 0, "new")
    then = await proxy.answered(RULES, HI, HELLO, MORE, answer=SURE)
    assert (then.session, then.session_source, then.known) == (first.session, "chain", 3)
    assert then.continuity == "continued"
    last = await proxy.asked(RULES, HI, HELLO, MORE, SURE, user("thanks"))
    assert (last.session, last.known, last.continuity) == (first.session, 5, "continued")


async def test_an_edited_question_branches(personal: Proxy) -> None:
    first = await personal.answered(HI, answer=HELLO)
    await personal.answered(HI, HELLO, MORE, answer=SURE)
    edited = await personal.answered(HI, HELLO, user("something else"), answer=SURE)
    assert (edited.session, edited.known, edited.continuity) == (first.session, 2, "branched")


async def test_the_same_request_again_is_a_regeneration(personal: Proxy) -> None:
    first = await personal.answered(HI, HELLO, MORE, answer=SURE)
    again = await personal.asked(HI, HELLO, MORE)
    assert (again.session, again.known, again.continuity) == (first.session, 3, "regenerated")


async def test_a_loop_of_tools_stays_in_its_session(proxy: Proxy) -> None:
    first = await proxy.answered(RULES, HI, answer=calling("1"))
    then = await proxy.answered(RULES, HI, calling("1"), result("1"), answer=calling("2"))
    last = await proxy.asked(RULES, HI, calling("1"), result("1"), calling("2"), result("2"))
    assert {first.session, then.session, last.session} == {first.session}
    assert (then.known, last.known) == (3, 5)


async def test_a_shared_system_prompt_is_no_conversation(proxy: Proxy) -> None:
    await proxy.answered(RULES, HI, answer=HELLO)
    other = await proxy.asked(RULES, user("another question"))
    assert (other.known, other.continuity, other.session_source) == (0, "new", "new")


async def test_nor_is_a_greeting_before_the_first_question(proxy: Proxy) -> None:
    greeting = assistant("Welcome! How can I help?")
    await proxy.answered(RULES, greeting, HI, answer=HELLO)
    assert (await proxy.asked(RULES, greeting, user("another question"))).continuity == "new"


async def test_a_request_without_a_question_has_an_identity_too(proxy: Proxy) -> None:
    identity = await proxy.answered(RULES, answer=HELLO)
    assert (identity.continuity, len(identity.chain)) == ("new", 1)


async def test_workers_that_do_not_know_each_other_give_a_person_s_conversation_one_name() -> None:
    one, other = Proxy(private=True), Proxy(private=True, requests=50)
    assert (await one.asked(RULES, HI)).session == (await other.asked(RULES, HI, HELLO, MORE)).session


async def test_a_named_end_user_is_recognised_as_well_as_the_owner_of_a_personal_proxy(shared: Proxy) -> None:
    first = await shared.answered(HI, answer=HELLO, user="ana")
    again = await shared.answered(HI, answer=HELLO, user="ana")
    assert (again.session, again.continuity) == (first.session, "regenerated")
    then = await shared.asked(HI, HELLO, MORE, user="ana")
    assert (then.session, then.continuity) == (first.session, "continued")


# --- clients that change what they were given -------------------------------------------------------------------------

GIVEN = assistant("  Hello!\n", refusal=None, annotations=[], reasoning_content="greet back", audio=None)


@pytest.mark.parametrize(
    ("rules", "answer", "rules_later", "sent_back"),
    [
        pytest.param(RULES, GIVEN, RULES, assistant("Hello!"), id="trims the answer, drops what is null"),
        pytest.param(RULES, GIVEN, RULES, {"content": "  Hello!\n", "role": "assistant"}, id="another key order"),
        pytest.param(RULES, GIVEN, RULES, {**GIVEN, "tool_calls": None, "id": "msg_1"}, id="adds null and ids"),
        pytest.param(RULES, GIVEN, RULES, assistant([{"type": "text", "text": "Hello!"}]), id="sends parts"),
        pytest.param(
            system("Now: 2026-11-21 10:00"), GIVEN, system("Now: 2026-11-21 10:07"), GIVEN, id="rewrites the clock"
        ),
        pytest.param(RULES, calling("1"), RULES, calling("1", content=""), id="null to empty"),
    ],
)
async def test_the_conversation_is_still_recognised(
    proxy: Proxy, rules: Said, answer: Said, rules_later: Said, sent_back: Said
) -> None:
    first = await proxy.answered(rules, HI, answer=answer)
    then = await proxy.asked(rules_later, HI, sent_back, MORE)
    assert (then.session, then.known, then.continuity) == (first.session, 3, "continued")


# --- people who share a key, unnamed ----------------------------------------------------------------------------------


async def test_the_same_opening_is_two_conversations(shared: Proxy) -> None:
    one = await shared.answered(RULES, HI, answer=HELLO)
    other = await shared.answered(RULES, HI, answer=HELLO)
    assert one.session != other.session
    third = await shared.asked(RULES, HI, HELLO, MORE)  # whose of the two is it?
    assert third.session not in (one.session, other.session)
    assert third.continuity == "new"


async def test_examples_that_every_request_begins_with_are_no_conversation(shared: Proxy) -> None:
    examples = (RULES, user("2 + 2"), assistant("4"), user("3 + 3"), assistant("6"))
    one = await shared.answered(*examples, user("I am Ana. 4 + 4"), answer=assistant("8"))
    other = await shared.answered(*examples, user("I am Eva. 5 + 5"), answer=assistant("10"))
    assert other.session != one.session
    assert (other.known, other.continuity) == (0, "new")
    then = await shared.asked(*examples, user("I am Ana. 4 + 4"), assistant("8"), user("and 1?"))
    assert (then.session, then.continuity) == (one.session, "continued")


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        pytest.param((RULES, HI, HELLO, MORE), (), id="asked by another too"),
        pytest.param((RULES, HI, HELLO, MORE), (user("and?"),), id="gone on with by another"),
        pytest.param((RULES, HI, assistant("Well,")), (), id="the beginning of an answer prescribed by both"),
    ],
)
async def test_a_question_that_was_never_answered_is_not_taken_up_by_another(
    shared: Proxy, begun: tuple[Said, ...], more: tuple[Said, ...]
) -> None:
    one = await shared.answered(*begun)  # the client left
    assert (await shared.asked(*begun, *more)).session != one.session


people = st.lists(
    st.tuples(st.sampled_from(["ana", "eva"]), st.sampled_from(["hi", "help", "again", "anew"])), max_size=10
)
openings = st.sampled_from([(), (RULES,), (RULES, HI, HELLO), (HI, HELLO, MORE, SURE), (assistant("Welcome!"),)])


def histories(opening: tuple[Said, ...], steps: list[tuple[str, str]]) -> Iterator[tuple[str, tuple[Said, ...], Said]]:
    """Two people who begin with the same words and then say what they like: who, what is sent, the answer."""
    said = {"ana": opening, "eva": opening}
    for person, step in steps:
        if step == "anew":
            said[person] = opening
        elif step == "again" and len(said[person]) > len(opening):
            said[person] = said[person][:-2]  # edits or regenerates the last question
        sent = (*said[person], user("hi" if step in ("hi", "anew") else step))
        answer = assistant(f"You asked: {sent[-1]['content']}")  # the same to both, as at temperature 0
        yield person, sent, answer
        said[person] = (*sent, answer)


@given(openings, people)
def test_two_people_never_share_a_session(opening: tuple[Said, ...], steps: list[tuple[str, str]]) -> None:
    async def play() -> None:
        proxy = Proxy(private=False)
        sessions: dict[str, set[str]] = {"ana": set(), "eva": set()}
        for person, sent, answer in histories(opening, steps):
            sessions[person].add((await proxy.answered(*sent, answer=answer)).session)
        assert sessions["ana"].isdisjoint(sessions["eva"])

    asyncio.run(play())


@given(openings, people, st.booleans())
def test_what_is_known_was_said_before(opening: tuple[Said, ...], steps: list[tuple[str, str]], private: bool) -> None:
    async def play() -> None:
        proxy = Proxy(private=private)
        seen: dict[str, set[bytes]] = {}
        for _, sent, answer in histories(opening, steps):
            identity = await proxy.answered(*sent, answer=answer)
            assert set(identity.chain[: identity.known]) <= seen.get(identity.session, set())
            assert (identity.continuity == "new") == (identity.known == 0)
            seen.setdefault(identity.session, set()).update(
                identity.chain, links_after(identity.chain[-1], messages(answer))
            )

    asyncio.run(play())


# --- scopes that people name -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ana", "josé maría", "h-ana", "a b", "x" * (MAX_NAME + 1), "ana@example.com"])
async def test_the_end_user_that_a_person_names_is_the_one_of_the_requests(name: str, personal: Proxy) -> None:
    scope = (await personal.asked(HI, headers=(("x-olvido-user", name),))).scope
    assert scope.user == end_user(name)
    assert is_scope(scope.id)


@pytest.mark.parametrize(
    ("name", "could_be"),
    [
        (f"{TENANT}/", True),
        (f"{TENANT}/ana", True),
        (f"{TENANT}/{'x' * MAX_NAME}", True),
        (f"{TENANT}/{'x' * (MAX_NAME + 1)}", False),
        (TENANT, False),
        (f"{TENANT.upper()}/ana", False),
        (f"{TENANT}/a b", False),
        (f"{TENANT}/ana\n", False),
        ("ana", False),
        ("", False),
    ],
)
def test_a_scope_that_no_request_can_have_is_known(name: str, could_be: bool) -> None:
    assert is_scope(name) is could_be


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
        archive=archive,
        open_turns=held,
        settled=settled,
        chains=Chains(),
        offload=inline(executor),
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
        archive=archive,
        open_turns=LocalOpenTurns(),
        settled=settled,
        chains=Chains(),
        offload=inline(executor),
    )
    assert [each.data for each in found.messages] == [*SAID, user("three")]


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


# --- while nothing can be looked up ----------------------------------------------------------------------------------


def unseen(*said: Said, private: bool = True, headers: Headers = (), request_id: str = "req_9") -> Identity:
    request, arrived = chat(*said), incoming(headers=headers, request_id=request_id)
    chain = chain_of(scope_of(arrived, request, read_directives(headers)).id, request.messages)
    return identify_unseen(arrived, request, read_directives(headers), chain, private=private)


async def test_what_is_said_while_nothing_can_be_looked_up_has_the_links_it_would_have_had(proxy: Proxy) -> None:
    talk = (user("I have a dog."), assistant("A good one?"), user("What is a dog?"))
    found, known = unseen(*talk, private=proxy.private), await proxy.asked(*talk)
    assert (found.scope, found.chain, found.known, found.is_answered) == (known.scope, known.chain, 0, False)
    assert (found.session == known.session) is proxy.private


def test_two_people_who_cannot_be_told_apart_share_no_session_meanwhile() -> None:
    one, other = (unseen(user("Hello."), private=False, request_id=name) for name in ("req_1", "req_2"))
    assert one.memory != other.memory


@pytest.mark.parametrize(
    ("said", "is_named"),
    [
        ((user("And what did I say?"),), False),
        ((user("I have a dog."), assistant("A good one?"), user("What is a dog?")), True),
    ],
)
def test_a_turn_whose_history_was_not_found_is_none_of_the_named_session(said: list[Said], *, is_named: bool) -> None:
    headers = (("x-olvido-session", "mine"),)
    found = apart(incoming(headers=headers), chat(*said), unseen(*said, headers=headers))
    assert (found.session == "mine") is is_named
