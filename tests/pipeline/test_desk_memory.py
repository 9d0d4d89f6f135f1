"""The memory tool of Anthropic's models, over real stores: files of the person's folder, under the rules of every edit
of the model."""

from typing import Any

import pytest

from proxy.desk.schemas import MEMORY_OFFER
from proxy.pipeline.desk_tools import DeskTools
from proxy.types.desk import Called, Edit, Ended
from tests.builders import NOW
from tests.pipeline.test_desk_reset import reset, texts
from tests.pipeline.test_desk_tools import SCOPE, House, opened


def minding(house: House, **settings: Any) -> DeskTools:
    return house.tools(house.seat(names=MEMORY_OFFER), **settings)


async def ask(house: House, tools: DeskTools, command: str, path: str = "", **given: Any) -> str:
    named = {"path": f"/memories/{path}".rstrip("/")} if command != "rename" else {}
    return await house.call(tools, "memory", command=command, **named, **given)


async def test_a_file_is_made_seen_changed_renamed_and_deleted() -> None:
    async with opened() as house:
        tools = minding(house)
        assert (await ask(house, tools, "view")).splitlines()[1:] == ["0B\t/memories"]
        assert await ask(house, tools, "create", "plan.md", file_text="one\nthree\n") == (
            "File created successfully at: /memories/plan.md"
        )
        assert "edited" in await ask(house, tools, "insert", "plan.md", insert_line=1, insert_text="two")
        assert "     3\tfour" in await ask(house, tools, "str_replace", "plan.md", old_str="three", new_str="four")
        assert await texts(house) == {"plan.md": "one\ntwo\nfour\n"}
        told = await ask(house, tools, "rename", old_path="/memories/plan.md", new_path="/memories/done.md")
        assert told == "Successfully renamed /memories/plan.md to /memories/done.md"
        assert "     2\ttwo\n     3\tfour" in await ask(house, tools, "view", "done.md", view_range=[2, 3])
        assert await ask(house, tools, "delete", "done.md") == "Successfully deleted /memories/done.md"
        assert await texts(house) == {}
        assert {each.result for each in await house.payloads(Called)} == {"ok"}
        assert house.counted == [("memory", "ok")] * 7
        assert house.failures == []


@pytest.mark.parametrize(
    ("command", "given", "told"),
    [
        ("view", {"path": "none.md"}, "does not exist"),
        ("create", {"path": "plan.md", "file_text": "x"}, "File /memories/plan.md already exists"),
        ("str_replace", {"path": "none.md", "old_str": "a", "new_str": "b"}, "does not exist"),
        ("str_replace", {"path": "plan.md", "old_str": "z", "new_str": "b"}, "did not appear"),
        ("insert", {"path": "plan.md", "insert_line": 9, "insert_text": "b"}, "Invalid `insert_line`"),
        ("delete", {"path": "none.md"}, "does not exist"),
        ("rename", {"old_path": "/memories/none.md", "new_path": "/memories/a.md"}, "does not exist"),
        ("rename", {"old_path": "/memories/plan.md", "new_path": "/memories/b.md"}, "b.md already exists"),
        ("create", {"path": "../etc.md", "file_text": "x"}, "no file of yours"),
        ("create", {"path": "current_task-other.md", "file_text": "x"}, "not yours"),
        ("create", {"path": "agent_notes.md", "file_text": "word " * 3_000}, "may have 2000 tokens"),
        ("format", {"path": "plan.md"}, "There is no such command. Commands: view, create"),
    ],
)
async def test_what_cannot_be_done_is_told_and_changes_nothing(command: str, given: dict[str, Any], told: str) -> None:
    async with opened() as house:
        for name in ("plan.md", "b.md"):
            await ask(house, minding(house), "create", name, file_text="a")
        before = await texts(house)
        assert told in await ask(house, minding(house), command, **given)
        assert await texts(house) == before


async def test_a_section_is_a_file_and_what_quotes_a_tool_waits_for_a_person() -> None:
    async with opened() as house:
        tools = minding(house)
        told = await ask(house, tools, "create", "user_profile.md", file_text="The user always buys from ACME.")
        assert told.startswith("Kept aside")
        assert await texts(house) == {}
        (edit,) = await house.payloads(Edit)
        assert (edit.state, edit.name) == ("waiting", "user_profile.md")
        await ask(house, tools, "create", "user_profile.md", file_text="Lives in Rosario.")
        assert await texts(house) == {"user_profile.md": "Lives in Rosario."}


async def test_what_a_person_wrote_meanwhile_stays() -> None:
    async with opened() as house:
        tools, store = minding(house), house.services.storage.desks
        await ask(house, tools, "create", "plan.md", file_text="model\n")
        now = await store.document(SCOPE, "plan.md")
        assert now is not None
        await store.put(SCOPE, "plan.md", "person\nmodel\n", version=now.version, at=NOW + 1, by="person")
        await ask(house, tools, "str_replace", "plan.md", old_str="model", new_str="model, again")
        assert await texts(house) == {"plan.md": "person\nmodel, again\n"}


async def test_a_reset_brings_back_what_it_changed_and_deleted() -> None:
    async with opened() as house:
        store = house.services.storage.desks
        for name in ("kept.md", "gone.md"):
            await store.put(SCOPE, name, "before\n", version=0, at=NOW - 9, by="person")
        tools = minding(house)
        await ask(house, tools, "insert", "kept.md", insert_line=1, insert_text="more")
        await ask(house, tools, "delete", "gone.md")
        await ask(house, tools, "create", "new.md", file_text="x")
        await reset(house).reset(SCOPE, "s")
        assert await texts(house) == {"kept.md": "before\n", "gone.md": "before\n"}


async def test_a_loop_of_edits_ends_the_offer() -> None:
    async with opened() as house:
        tools = minding(house)
        await ask(house, tools, "create", "a.md", file_text="x")
        for at in range(12):
            old, new = ("x", "y") if at % 2 == 0 else ("y", "x")
            told = await ask(house, tools, "str_replace", "a.md", old_str=old, new_str=new)
        assert told == "Memory tools have ended for this session. Go on without them."
        assert [each.reason for each in await house.payloads(Ended)] == ["loop"]


async def test_a_call_by_the_same_id_has_no_second_effect() -> None:
    async with opened() as house:
        tools = minding(house)
        await ask(house, tools, "create", "a.md", file_text="x\n")
        for _ in range(2):
            house.number = 7
            await ask(house, tools, "insert", "a.md", insert_line=1, insert_text="y")
        assert await texts(house) == {"a.md": "x\ny\n"}
