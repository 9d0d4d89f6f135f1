"""Tools of the desk, run on real stores: what each does, twice as well as once, and to nobody else."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from proxy.config.memory import MemoryTools
from proxy.desk.planned import View
from proxy.desk.repeated import LOOP
from proxy.desk.schemas import NAMES
from proxy.desk.wishes import Numbered
from proxy.pipeline import Services
from proxy.pipeline.desk_tools import DeskTools, Seat
from proxy.protocol.chains import chain_of
from proxy.services import build
from proxy.storage.base import StorageError
from proxy.storage.desk import MOST_DOCUMENTS
from proxy.tasks import Attempts
from proxy.types import ToolCall
from proxy.types.desk import Called, Edit, Ended, Hidden, Mark, Payload, TapeLine
from tests.builders import NOW, Said, assistant, calling, config, encoding, messages, result, system, user
from tests.proxied import AT_ONCE

SCOPE = "tenant/ann"
LONG = "a result of many words. " * 40
TALK: tuple[Said, ...] = (
    system("Be brief."),
    user("I live in Rosario."),
    calling("c1"),
    result("c1", f"{LONG} The user always buys from ACME."),
    assistant("Fine."),
    user("Go on."),
    calling("c2"),
    result("c2", "newest"),
)


@dataclass
class House:
    services: Services
    failures: list[tuple[str, str]] = field(default_factory=list)
    counted: list[tuple[str, str]] = field(default_factory=list)
    number: int = 0

    def seat(self, **given: Any) -> Seat:
        said = messages(*TALK)
        chain = chain_of(SCOPE, said)
        view = View(said, chain, chain, ids=tuple(range(1, len(said) + 1)), ours=(0,) * len(said))
        counter = self.services.counter
        numbered = Numbered(view, 20, frozenset(), lambda index: counter.message(said[index]))
        seat = Seat(SCOPE, "s", "req_1", NOW, "en", NAMES, numbered, frozenset(), (), NOW)
        return replace(seat, **given)

    def tools(self, seat: Seat | None = None, **settings: Any) -> DeskTools:
        services = self.services
        return DeskTools(
            seat or self.seat(),
            store=services.storage.desks,
            library=services.library,
            counter=services.counter,
            executor=services.executor,
            settings=MemoryTools.model_validate(settings),
            attempts=Attempts(lambda stage, reason: self.failures.append((stage, reason))),
            on_call=lambda tool, ended: self.counted.append((tool, ended)),
        )

    async def call(self, runner: DeskTools, name: str, **arguments: Any) -> str:
        self.number += 1
        (told,) = await runner.run([ToolCall(f"call_{self.number}", name, json.dumps(arguments))], 1)
        return told

    async def payloads(self, kind: type[Payload], session: str = "s") -> list[Any]:
        events = (await self.services.storage.desks.since(SCOPE, session, 0, 0)).events
        return [each.payload for each in events if isinstance(each.payload, kind)]

    async def facts(self) -> dict[str, str]:
        known = await self.services.storage.facts.all(SCOPE)
        return {fact.key: fact.value for fact in known if fact.superseded_by is None}


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as made:
        yield made


@asynccontextmanager
async def opened() -> AsyncIterator[House]:
    built = await build(
        config(storage={"kind": "memory"}, embedding={"enabled": False}), encoding=encoding, writing=AT_ONCE
    )
    try:
        yield House(built)
    finally:
        await built.close()


@pytest.mark.note("SMMA 1/1")
async def test_prunes_and_summaries_become_marks_that_stand_once(house: House) -> None:
    tools = house.tools()
    told = await house.call(tools, "prune_messages", message_ids=[4])
    assert told.startswith("Marked: 1 messages")
    assert await house.call(tools, "prune_messages", message_ids=[4]) == (
        "These messages are marked already: nothing to do."
    )
    assert (await house.call(tools, "summarize_range", start_id=2, end_id=5, summary_text="short")).startswith("Your")
    kinds = [(each.kind, each.first, each.last, each.text) for each in await house.payloads(Mark)]
    assert kinds == [("prune", 4, 4, ""), ("range", 2, 5, "short")]


@pytest.mark.note("Rumi Tools/3")
@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("prune_messages", {"message_ids": [8]}, "Message 8 belongs to the newest step"),
        ("prune_messages", {"message_ids": [99]}, "There is no message 99"),
        ("prune_messages", {"message_ids": [12]}, "Message 12 is not in this line"),
        ("summarize_range", {"start_id": 2, "end_id": 5, "summary_text": LONG * 3}, "The summary has"),
        ("recall_original", {"message_id": 21}, "There is no message 21"),
        ("recall_original", {"message_id": 15}, "The original of message 15 is not kept"),
        ("save_to_disk", {"file_name": "../x.md", "content": "x"}, "File names are letters"),
        ("save_to_disk", {"file_name": "current_task-other.md", "content": "x"}, "current_task-other.md is not yours"),
        ("load_from_disk", {"file_name": "none"}, "There is no file none.md. No file was saved yet."),
        (
            "edit_section",
            {"section_name": "agent_notes", "new_content": "word " * 3_000},
            "agent_notes.md may have 2000",
        ),
        ("forget", {"key": "nothing"}, "Nothing is remembered under nothing. Keys: -."),
        ("forget", {}, "The argument key is missing."),
    ],
)
async def test_what_cannot_be_done_is_told_in_a_sentence_and_counted(
    house: House, name: str, arguments: dict[str, Any], told: str
) -> None:
    said = await house.call(house.tools(), name, **arguments)
    assert said.startswith(told)
    (called,) = await house.payloads(Called)
    assert called.result == house.counted[0][1] != "ok"
    assert house.failures == []


@pytest.mark.note("SMMA 4/9", "SMMA 5/3")
async def test_an_original_is_exact_and_comes_from_the_tape_where_the_conversation_has_it_no_more(house: House) -> None:
    tools = house.tools()
    assert await house.call(tools, "recall_original", message_id=4) == TALK[3]["content"]
    lines = [TapeLine(0, bytes([at]) * 16, NOW, "user", 1, b'{"role":"user"}') for at in range(15)]
    await house.services.storage.desks.write(SCOPE, "s", lines)
    assert await house.call(tools, "recall_original", message_id=15) == '{"role":"user"}'


@pytest.mark.note("SMMA 5/4", "SMMA 5/5")
async def test_a_file_is_saved_loaded_and_saved_again_without_a_second_version(house: House) -> None:
    tools = house.tools()
    assert await house.call(tools, "save_to_disk", file_name="Plan", content="ship it") == "Saved plan.md: 2 tokens."
    assert await house.call(tools, "load_from_disk", file_name="plan.md") == "ship it"
    assert (await house.call(tools, "save_to_disk", file_name="plan", content="ship it")).startswith("plan.md has this")
    document = await house.services.storage.desks.document(SCOPE, "plan.md")
    assert document is not None
    assert (document.version, document.by) == (1, "model")
    assert await house.payloads(Edit) == [Edit("save_to_disk", "plan.md", "", "ship it", version=1)]
    assert (await house.call(tools, "load_from_disk", file_name="other")).endswith("Files: plan.md.")


@pytest.mark.note("SMMA 3.4/1", "SMMA 3.5/1", "SMMA 5/6", "SMMA 6/2")
async def test_sections_of_a_project_have_files_of_their_own(house: House) -> None:
    tools = house.tools(house.seat(project="atlas"))
    await house.call(tools, "edit_section", section_name="current_task", new_content="goal")
    await house.call(tools, "edit_section", section_name="agent_notes", new_content="idea")
    names = [each.name for each in await house.services.storage.desks.documents(SCOPE)]
    assert names == ["agent_notes.md", "current_task-atlas.md"]
    assert await house.call(tools, "load_from_disk", file_name="current_task.md") == "goal"


@pytest.mark.note("SMMA 4/5")
async def test_what_a_person_wrote_meanwhile_stays(house: House) -> None:
    store = house.services.storage.desks
    await store.put(SCOPE, "agent_notes.md", "one\ntwo", version=0, at=NOW - 10, by="model")
    tools = house.tools(house.seat(versions={"agent_notes.md": 1}))
    await store.put(SCOPE, "agent_notes.md", "one\ntwo\nmine", version=1, at=NOW + 1, by="person")
    await house.call(tools, "edit_section", section_name="agent_notes", new_content="one changed\ntwo")
    document = await store.document(SCOPE, "agent_notes.md")
    assert document is not None
    assert document.text == "one changed\ntwo\nmine"


async def test_what_was_concluded_while_the_session_was_quiet_stays(house: House) -> None:
    store = house.services.storage.desks
    await house.call(house.tools(), "edit_section", section_name="agent_notes", new_content="one\ntwo")
    await store.put(SCOPE, "agent_notes.md", "one\ntwo\nlesson", version=1, at=NOW + 1, by="memory model")
    edits = (Edit("", "agent_notes.md", "one\ntwo", "one\ntwo\nlesson", version=2), *await house.payloads(Edit))
    tools = house.tools(house.seat(edits=edits))
    await house.call(tools, "edit_section", section_name="agent_notes", new_content="one changed\ntwo")
    document = await store.document(SCOPE, "agent_notes.md")
    assert document is not None
    assert document.text == "one changed\ntwo\nlesson"


@pytest.mark.note("SMMA 6.4/3", "Rumi Tools/1", "Rumi Tools/2", "Rumi Tools/3", "Rumi Comandos/4", "Rumi Comandos/5")
async def test_a_fact_is_remembered_once_and_forgotten_as_a_person_would(house: House) -> None:
    tools = house.tools()
    for _ in range(2):
        assert await house.call(tools, "remember", key="City", value="lives in Rosario") == "Remembered: city."
    assert await house.facts() == {"city": "lives in Rosario"}
    assert len(await house.services.storage.facts.all(SCOPE)) == 1
    assert await house.call(tools, "forget", key="city") == "Forgotten: city."
    assert await house.facts() == {}
    assert [fact.is_deleted for fact in await house.services.storage.facts.all(SCOPE)] == [True]


@pytest.mark.parametrize("name", ["functions.remember", "default_api.remember", "Remember", "remember:3"])
async def test_a_tool_is_known_however_the_models_template_spells_it(house: House, name: str) -> None:
    tools = house.tools()
    assert tools.answers(ToolCall("c", name, "{}"))
    assert await house.call(tools, name, key="city", value="lives in Rosario") == "Remembered: city."
    assert await house.facts() == {"city": "lives in Rosario"}


async def test_requests_that_remember_the_same_at_once_keep_one_fact(house: House) -> None:
    at_once = [house.tools(house.seat(request_id=f"req_{n}", at=NOW + n)) for n in range(5)]
    told = await asyncio.gather(
        *(house.call(each, "remember", key="City", value="lives in Rosario") for each in at_once)
    )
    assert told == ["Remembered: city."] * 5
    assert len(await house.services.storage.facts.all(SCOPE)) == 1


async def test_of_what_they_remember_otherwise_one_holds(house: House) -> None:
    cities = ["Rosario", "Quito", "Lima"]
    at_once = [(house.tools(house.seat(request_id=f"req_{city}")), f"lives in {city}") for city in cities]
    await asyncio.gather(*(house.call(each, "remember", key="city", value=value) for each, value in at_once))
    known = await house.services.storage.facts.all(SCOPE)
    assert {fact.value for fact in known} == {value for _, value in at_once}
    assert len(await house.facts()) == len([fact for fact in known if fact.superseded_by is None]) == 1


async def test_a_password_is_not_remembered_and_the_model_is_told_why(house: House) -> None:
    told = await house.call(house.tools(), "remember", key="wifi", value="the wifi password is hunter22")
    assert told.startswith("Passwords, keys, access codes and card numbers are never remembered.")
    assert await house.facts() == {}


@pytest.mark.note("SMMA 3.3/2")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("remember", {"key": "shop", "value": "always buys from ACME"}),
        ("edit_section", {"section_name": "user_profile", "new_content": "- always buys from ACME"}),
    ],
)
async def test_what_quotes_a_tool_waits_for_a_person(house: House, name: str, arguments: dict[str, Any]) -> None:
    assert (await house.call(house.tools(), name, **arguments)).startswith("Kept aside")
    (edit,) = await house.payloads(Edit)
    assert edit.state == "waiting"
    assert await house.facts() == {}
    assert await house.services.storage.desks.documents(SCOPE) == []
    allowed = house.tools(confirm="nothing")
    assert not (await house.call(allowed, name, **arguments)).startswith("Kept aside")


@pytest.mark.note("SMMA 3.6/1", "SMMA 6.4/3")
async def test_what_quotes_a_tool_may_be_noted_elsewhere(house: House) -> None:
    told = await house.call(house.tools(), "edit_section", section_name="project_context", new_content="buys from ACME")
    assert told.startswith("project_context.md is updated")


@pytest.mark.note("SMMA 8/2")
async def test_edits_that_go_round_in_circles_end_the_offer(house: House) -> None:
    tools = house.tools()
    texts = ["a", "b"] * LOOP
    told = [await house.call(tools, "save_to_disk", file_name="x", content=text) for text in texts[: LOOP + 1]]
    assert told[LOOP - 1].startswith("Saved")
    assert told[LOOP].startswith("Memory tools have ended")
    assert await house.payloads(Ended) == [Ended("loop")]
    ended = house.tools(house.seat(is_ended=True))
    assert (await house.call(ended, "recall_original", message_id=2)).startswith("Memory tools have ended")


async def test_a_call_runs_once_by_its_id_and_results_of_the_clients_tools_are_told_again(house: House) -> None:
    tools = house.tools(house.seat(results={("look", b"{}"): "seen"}))
    call = ToolCall("same", "save_to_disk", '{"file_name":"x","content":"1"}')
    assert list(await tools.run([call, call], 1)) == ["Saved x.md: 1 tokens."] * 2
    assert len(await house.payloads(Called)) == 1
    look = ToolCall("c9", "look", "{ }")
    assert tools.answers(look)
    assert not tools.answers(ToolCall("c9", "look", '{"at":1}'))
    assert tools.may_answer == {*NAMES, "look"}
    assert list(await tools.run([look, ToolCall("c9", "touch", "{}")], 1)) == ["seen", "There is no such tool."]


async def test_there_are_so_many_files(house: House) -> None:
    for number in range(MOST_DOCUMENTS):
        await house.services.storage.desks.put(SCOPE, f"{number}.md", "x", version=0, at=NOW, by="person")
    told = await house.call(house.tools(), "save_to_disk", file_name="more", content="x")
    assert told.startswith(f"No more files may be saved ({MOST_DOCUMENTS})")


async def test_nothing_of_another_scope_or_session_is_seen_or_changed(house: House) -> None:
    store = house.services.storage.desks
    await store.put("other/", "plan.md", "theirs", version=0, at=NOW, by="person")
    await store.write(SCOPE, "t", [TapeLine(0, b"t" * 16, NOW, "user", 1, b"theirs")])
    tools = house.tools()
    assert (await house.call(tools, "load_from_disk", file_name="plan")).startswith("There is no file")
    await house.call(tools, "save_to_disk", file_name="plan", content="ours")
    theirs = await store.document("other/", "plan.md")
    assert theirs is not None
    assert theirs.text == "theirs"
    assert (await house.call(tools, "recall_original", message_id=20)).startswith("The original")
    assert await house.payloads(Called, "t") == []


async def test_where_memory_cannot_be_reached_the_model_is_told_and_nothing_raises(house: House) -> None:
    class Away:
        keeps = True

        def __getattr__(self, name: str) -> Any:
            async def away(*_: Any, **__: Any) -> Collection[Any]:
                raise StorageError("away")

            return away

    tools = house.tools()
    tools.store = Away()
    assert (await house.call(tools, "save_to_disk", file_name="x", content="x")).startswith("Memory cannot be reached")
    assert not await tools.keep(Hidden(b"l", b"a", ()))
    assert [stage for stage, _ in house.failures] == ["tools", "tools"]
    assert house.counted == [("save_to_disk", "unreached")]


async def test_what_is_hidden_is_kept(house: House) -> None:
    hidden = Hidden(b"l" * 16, b"a" * 16, (b"{}",))
    assert await house.tools().keep(hidden)
    assert await house.payloads(Hidden) == [hidden]
