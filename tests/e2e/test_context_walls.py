"""What is remembered stays where it belongs, is gone when it is forgotten, and changes nothing of what an upstream
demands. The whole way, in this process, in front of a demo upstream over real sockets."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from proxy.pipeline import Services
from proxy.protocol.dialects import DIALECTS
from proxy.protocol.request import parse
from proxy.types import Headers, Scope
from tests.builders import assistant, body, system, user
from tests.e2e.running import FOLDS_PAY
from tests.proxied import KEY, Got, Upstream, ask, in_front_of, run_upstream, serving, total

Json = Any
Said = Mapping[str, Any]

SMALL = {
    "budget": 700,
    "window": {"tokens": 250, "answer_tokens": 60},
    "summaries": {"slots": 2, "tokens": 40},
    "facts": {"tokens": 100},
}
ALLERGY = "Recordá que soy alérgica al maní."
ASKING = "Hola, ¿a qué soy alérgica? Repetí: bien."  # what the answer repeated would be remembered, too
NICKNAME = "From now on, call me Captain Ana."


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with run_upstream() as upstream:
        yield upstream


@pytest.fixture
async def services(running: Upstream) -> AsyncIterator[Services]:
    async with managing(running) as services:
        running.bodies()
        yield services


def managing(
    running: Upstream,
    *,
    profile: Mapping[str, Json] | None = None,
    upstream: Mapping[str, Json] | None = None,
    **sections: Any,
) -> Any:
    """Services with a small budget, at prices at which it is worth keeping."""
    small = {"base": "lean", **SMALL, **(profile or {})}
    return serving(
        in_front_of(
            running,
            upstream={"price": FOLDS_PAY, **(upstream or {})},
            **{
                "profiles": {"small": small},
                "context": {"profile": "small", "profile_with_tools": "small"},
                "reuse": {"exact": {"enabled": False}, "intent": {"enabled": False}},
                **sections,
            },
        )
    )


@dataclass(slots=True)
class Talk:
    """A client that sends its history, and what becomes of it."""

    services: Services
    upstream: Upstream
    key: str = KEY
    headers: Headers = ()
    fields: Mapping[str, Json] = field(default_factory=dict)
    messages: list[Said] = field(default_factory=list)

    async def say(self, *said: Said | str) -> "Prompt":
        """The prompt that arrives for what is said next; the answer is taken down."""
        self.messages += [user(each) if isinstance(each, str) else each for each in said]
        raw = body(*self.messages, **{"model": "demo-chat", **self.fields})
        got = await ask(self.services, raw, key=self.key, headers=self.headers)
        assert got.status == 200, got.body
        (arrived,) = self.upstream.bodies()
        self.messages.append(msgspec.json.decode(got.body)["choices"][0]["message"])
        return Prompt(arrived, raw, got)

    async def chat(self, turns: int, about: str = "the garden") -> None:
        for number in range(turns):
            await self.say(f"Let us talk about {about}, part {number}. 60 words")


@dataclass(frozen=True, slots=True)
class Prompt:
    raw: bytes
    sent: bytes
    got: Got

    @property
    def messages(self) -> list[Said]:
        found: list[Said] = msgspec.json.decode(self.raw)["messages"]
        return found

    @property
    def text(self) -> str:
        return self.raw.decode()


def holds(prompt: Prompt, text: str) -> bool:
    return any(text in str(said.get("content")) for said in prompt.messages)


def before_newest(prompt: Prompt, text: str) -> bool:
    """It stands in the prompt, and not by what the user has just said."""
    *before, newest = prompt.messages
    memory, _, _ = newest["content"].rpartition("</")
    return any(text in str(said.get("content")) for said in before) or text in memory


def scope_of(services: Services, key: str = KEY) -> str:
    return Scope(services.authenticator.tenant((("authorization", f"Bearer {key}"),))).id


# --- scopes ---------------------------------------------------------------------------------------------------------


@pytest.mark.note("1.1/8")
async def test_what_somebody_states_stands_in_their_next_conversation(services: Services, running: Upstream) -> None:
    await Talk(services, running).say(NICKNAME)
    prompt = await Talk(services, running).say("Hello!")
    head, _, said = prompt.messages[0]["content"].rpartition("\n\n")
    assert head.startswith("<memory>\n")
    assert "call me Captain Ana" in head
    assert said == "Hello!"
    assert prompt.got.plan.startswith("managed")


@pytest.mark.note("1.1/8")
async def test_or_where_it_is_asked_for(services: Services, running: Upstream) -> None:
    await Talk(services, running).say(ALLERGY)
    assert holds(await Talk(services, running).say(ASKING), "soy alérgica al maní")


@pytest.mark.parametrize(
    ("key", "headers"),
    [("sk-other", ()), (KEY, (("x-olvido-user", "eva"),))],
    ids=["another key", "another user"],
)
async def test_and_in_nobody_elses(key: str, headers: Headers, services: Services, running: Upstream) -> None:
    await Talk(services, running).say(ALLERGY)
    await Talk(services, running).say(NICKNAME)
    stranger = Talk(services, running, key, headers)
    for said in (ASKING, "Do you remember what I am to be called?"):
        prompt = await stranger.say(said)
        assert prompt.raw == prompt.sent


async def test_unnamed_people_who_share_a_key_are_told_nothing_of_each_other(running: Upstream) -> None:
    async with managing(running, tenancy="shared") as services:
        one = Talk(services, running, headers=(("x-olvido-session", "one"),))
        await one.say(ALLERGY)
        await one.say(NICKNAME)
        strangers = [Talk(services, running), Talk(services, running, headers=(("x-olvido-session", "two"),))]
        for stranger in strangers:
            for said in (ASKING, "Do you remember what I am to be called?"):
                prompt = await stranger.say(said)
                assert prompt.raw == prompt.sent


async def test_and_each_of_them_is_remembered_within_the_conversation(running: Upstream) -> None:
    async with managing(running, tenancy="shared") as services:
        talk = Talk(services, running)
        await talk.say(ALLERGY)
        await talk.chat(8)
        assert before_newest(await talk.say(ASKING), "alérgica al maní")


async def test_they_do_not_correct_each_other_nor_forget_for_each_other(running: Upstream) -> None:
    async with managing(running, tenancy="shared") as services:
        one, two = (Talk(services, running, headers=(("x-olvido-session", name),)) for name in ("one", "two"))
        await one.say("From now on, call me Captain Ana.")
        await two.say("From now on, call me Doctor Eva.")
        await two.say("Forget everything that you know about me.")
        left = await services.library.facts.all(f"{scope_of(services)}~one")
        assert [(fact.value, fact.superseded_by) for fact in left] == [("From now on, call me Captain Ana", None)]


async def test_named_people_who_share_a_key_are_remembered(running: Upstream) -> None:
    async with managing(running, tenancy="shared") as services:
        ana = (("x-olvido-user", "ana"),)
        await Talk(services, running, headers=ana).say(NICKNAME)
        assert holds(await Talk(services, running, headers=ana).say("Hello!"), "Captain Ana")


# --- what must not be kept, and what must go --------------------------------------------------------------------------


async def test_what_must_not_be_stored_leaves_nothing(services: Services, running: Upstream) -> None:
    private = Talk(services, running, headers=(("cache-control", "no-store"),))
    await private.say(ALLERGY)
    await private.chat(8)
    await private.say("Do you remember what I said about the garden, part 0?")
    library, scope = services.library, scope_of(services)
    assert await library.facts.all(scope) == []
    assert (await library.archive.changes(scope, 0, 0.0)).entries == ()
    chain = services.chains.of(scope, parse(body(*private.messages)).messages)
    known = [await library.paths.last(scope, chain[:length]) for length in range(1, len(chain) + 1)]
    assert known == [None] * len(chain)
    later = await Talk(services, running).say("Do you remember the last time, what I said about the garden, part 0?")
    assert later.raw == later.sent


@pytest.mark.parametrize(
    ("said", "command", "asked", "word"),
    [
        (ALLERGY, "Olvidá que soy alérgica al maní.", ASKING, "alérgica al maní"),
        (
            "Remember that I'm allergic to peanuts.",
            "Forget that I'm allergic to peanuts.",
            "What am I allergic to? Say: Fine.",
            "allergic to peanuts",
        ),
        (NICKNAME, "Forget that you call me Captain Ana.", "What do you call me? Say: Fine.", "Captain Ana"),
    ],
)
async def test_what_shall_be_forgotten_is_gone_from_the_very_next_prompt(
    said: str, command: str, asked: str, word: str, services: Services, running: Upstream
) -> None:
    first = Talk(services, running)
    await first.say(said)
    await first.chat(8)
    assert before_newest(await first.say(asked), word)
    other = Talk(services, running)
    assert before_newest(await other.say(asked), word)
    assert not before_newest(await first.say(command), word)
    library, scope = services.library, scope_of(services)
    assert await library.facts.all(scope) == []
    archived = (await library.archive.changes(scope, 0, 0.0)).entries
    assert not any(word in utterance.text for turn, _ in archived for utterance in turn.utterances)
    prompt = await Talk(services, running).say(asked)
    assert prompt.raw == prompt.sent
    await first.chat(6)
    assert not before_newest(await first.say(asked), word)


# --- branches -------------------------------------------------------------------------------------------------------


async def test_no_turn_of_a_branch_that_was_left_is_recalled(services: Services, running: Upstream) -> None:
    talk = Talk(services, running)
    await talk.say("Write a story about the boat Milonga. 40 words")
    await talk.chat(2)
    branch = Talk(services, running, messages=list(talk.messages))
    await talk.say("Write about the captain of the boat, Ezequiel. 40 words")
    await talk.chat(6)
    await branch.say("Write about the captain of the boat, Renata. 40 words")
    await branch.chat(6, "the harbour")
    prompt = await branch.say("What did I say earlier about the captain of the boat?")
    assert prompt.got.plan.startswith("managed")
    assert holds(prompt, "Renata")
    assert not holds(prompt, "Ezequiel")
    prompt = await talk.say("What did I say earlier about the captain of the boat?")
    assert holds(prompt, "Ezequiel")
    assert not holds(prompt, "Renata")


async def test_nor_is_an_answer_that_was_asked_for_anew(services: Services, running: Upstream) -> None:
    talk = Talk(services, running)
    await talk.say("Name the ship, say: The ship of the tale is Albatross.")
    again = talk.messages[:-1]
    raw = body(*again, model="demo-chat", seed=1)
    await ask(services, raw)
    running.bodies()
    # The client keeps another answer than the first.
    chosen = assistant("The ship of the tale is Zanzibar.")
    talk.messages = [*again, chosen]
    await talk.chat(8)
    prompt = await talk.say("Do you remember the name of the ship of the tale?")
    assert holds(prompt, "Zanzibar")
    assert prompt.text.count("Albatross") <= 1  # in the question that was asked


# --- what an upstream demands -----------------------------------------------------------------------------------------

TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}


def agents_step(number: int, dialect: str) -> tuple[Said, Said]:
    """A call, and its result of some 150 tokens."""
    name = {"mistral": f"a{number:08}", "kimi": f"read_file:{number}"}.get(dialect, f"call_{number}")
    call = {"id": name, "type": "function", "function": {"name": "read_file", "arguments": f'{{"part": {number}}}'}}
    thought = {} if dialect in ("openai", "mistral", "vllm", "generic") else {"reasoning_content": f"Part {number}?"}
    result = {"role": "tool", "tool_call_id": name, "content": f"part {number}\n" + "some words of it " * 40}
    return assistant(None if dialect != "vllm" else "", tool_calls=[call], **thought), result


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_old_tool_results_leave_and_every_call_keeps_its_answer(dialect: str) -> None:
    agent = {"base": "agent", "budget": 1_300, "tool_results": {"keep": 2}}
    with run_upstream(dialect=DIALECTS[dialect]) as strict:
        async with managing(strict, profile=agent, upstream={"dialect": dialect}) as services:
            talk = Talk(services, strict, fields={"tools": [TOOL]}, messages=[system("You read files.")])
            await talk.say("Let us begin. 20 words")
            talk.messages.append(user("Go through all parts, please. Say: done."))
            for number in range(10):
                talk.messages += agents_step(number, dialect)
                raw = body(*talk.messages, model="demo-chat", tools=[TOOL])
                got = await ask(services, raw)
                assert got.status == 200, got.body
                (arrived,) = strict.bodies()
                prompt = Prompt(arrived, raw, got)
            assert prompt.got.plan.startswith("managed")
            assert total(services, "olvido_fail_open_total") == 0
    results = [said for said in prompt.messages if said["role"] == "tool"]
    calls = [said for said in prompt.messages if said.get("tool_calls")]
    assert calls == [said for said in talk.messages if said.get("tool_calls")]
    assert [said["tool_call_id"] for said in results] == [said["tool_calls"][0]["id"] for said in calls]
    assert all(said["content"].startswith("[tool result left out: read_file(part=") for said in results[:4])
    assert results[-2:] == [said for said in talk.messages if said["role"] == "tool"][-2:]
    assert prompt.messages[0] == talk.messages[0]


async def test_the_head_stands_at_the_end_of_the_instructions_where_that_is_wanted(running: Upstream) -> None:
    async with managing(running, memory={"role": "system"}) as services:
        await Talk(services, running).say(NICKNAME)
        with_none = await Talk(services, running).say("Hello!")
        assert [said["role"] for said in with_none.messages] == ["system", "user"]
        assert with_none.messages[1]["content"] == "Hello!"
        talk = Talk(services, running, messages=[system("Be kind.")])
        (instructions, newest) = (await talk.say("Hello!")).messages
        assert instructions["content"].startswith("Be kind.\n\n<memory>\n")
        assert "Captain Ana" in instructions["content"]
        assert newest["content"] == "Hello!"
        await talk.chat(10)
        late = await talk.say("And now?")
        assert [said["role"] for said in late.messages].count("system") == 1
        assert late.messages[0]["content"].startswith("Be kind.\n\n<memory>\n")


async def test_content_parts_stay_parts_and_are_never_lost(services: Services, running: Upstream) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
    await Talk(services, running).say(NICKNAME)
    talk = Talk(services, running)
    first = await talk.say(user([{"type": "text", "text": "What is this?"}, image]))
    block, *said = first.messages[0]["content"]
    assert "Captain Ana" in block["text"]
    assert said == [{"type": "text", "text": "What is this?"}, image]
    await talk.chat(10)
    last = await talk.say(user([image, {"type": "text", "text": "What did I ask you about the image?"}]))
    assert last.got.plan.startswith("managed")
    assert last.messages[-1]["content"][-2:] == [image, {"type": "text", "text": "What did I ask you about the image?"}]
    assert total(services, "olvido_fail_open_total") == 0
