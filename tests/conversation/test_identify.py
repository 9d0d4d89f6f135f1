"""Who asks, and in which conversation: the walls between scopes, and how a history is recognised."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.identify import identify, identify_unseen
from proxy.conversation.names import scope_of
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.protocol.chains import Chains, chain_of, links_after
from proxy.protocol.chat import SESSION_METADATA
from proxy.protocol.headers import SESSION_HEADERS, read_directives
from proxy.storage.base import SessionStore
from proxy.types import Headers, Identity, SessionSource
from tests import stores
from tests.builders import (
    NOW,
    TENANT,
    Executor,
    Said,
    assistant,
    calling,
    chat,
    incoming,
    inline,
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
