"""A person's word on a desk: everything undone, what waits decided, messages pinned."""

import pytest

from proxy.pipeline.desk_reset import DeskReset, Unknown
from proxy.types.desk import Confirmed, DeskEvent, Edit, Mark, Pin, Reset, TapeLine
from tests.builders import NOW
from tests.pipeline.test_desk_tools import SCOPE, House, opened


def reset(house: House) -> DeskReset:
    return DeskReset(house.services.storage.desks, house.services.library, lambda: NOW + 100)


async def texts(house: House) -> dict[str, str]:
    return {each.name: each.text for each in await house.services.storage.desks.documents(SCOPE)}


@pytest.mark.note("SMMA 8/2")
async def test_all_edits_of_a_session_are_undone_and_those_of_others_stay() -> None:
    async with opened() as house:
        store = house.services.storage.desks
        await store.put(SCOPE, "agent_notes.md", "before\n", version=0, at=NOW - 9, by="person")
        tools = house.tools()
        await house.call(tools, "remember", key="city", value="lives in Oslo")
        await house.call(tools, "edit_section", section_name="agent_notes", new_content="before\nmodel\n")
        await house.call(tools, "save_to_disk", file_name="plan", content="ship it")
        await house.call(tools, "remember", key="city", value="lives in Rosario")
        await house.call(tools, "prune_messages", message_ids=[4])
        now = await store.document(SCOPE, "agent_notes.md")
        assert now is not None
        await store.put(SCOPE, now.name, "mine\nbefore\nmodel\n", version=now.version, at=NOW + 1, by="person")
        await store.put(SCOPE, "other.md", "another session's", version=0, at=NOW, by="model")
        undone = await reset(house).reset(SCOPE, "s")
        assert set(undone.documents) == {"agent_notes.md", "plan.md"}
        assert await texts(house) == {"agent_notes.md": "mine\nbefore\n", "other.md": "another session's"}
        assert await house.facts() == {}
        assert len(await house.payloads(Mark)) == len(await house.payloads(Reset)) == 1
        again = await reset(house).reset(SCOPE, "s")
        assert again.names == ()


@pytest.mark.note("Rumi Tools/2")
async def test_a_forgotten_fact_comes_back() -> None:
    async with opened() as house:
        await house.call(house.tools(), "remember", key="city", value="lives in Rosario")
        other = house.seat(session="t")
        await house.call(house.tools(other), "forget", key="city")
        await reset(house).reset(SCOPE, "t")
        assert await house.facts() == {"city": "lives in Rosario"}


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_an_edit_that_waits_is_carried_out_or_declined_once(is_allowed: bool) -> None:
    async with opened() as house:
        await house.call(house.tools(), "remember", key="shop", value="always buys from ACME")
        await house.call(house.tools(), "edit_section", section_name="user_profile", new_content="buys from ACME")
        events = (await house.services.storage.desks.since(SCOPE, "s", 0, 0)).events
        waiting = [each.number for each in events if isinstance(each.payload, Edit)]
        for number in waiting:
            await reset(house).confirm(SCOPE, "s", number, is_allowed=is_allowed)
        assert await house.facts() == ({"shop": "always buys from ACME"} if is_allowed else {})
        assert await texts(house) == ({"user_profile.md": "buys from ACME"} if is_allowed else {})
        assert len(await house.payloads(Confirmed)) == 2
        with pytest.raises(Unknown):
            await reset(house).confirm(SCOPE, "s", waiting[0], is_allowed=True)
        with pytest.raises(Unknown):
            await reset(house).confirm(SCOPE, "t", waiting[0], is_allowed=True)


async def test_an_edit_that_was_undone_waits_no_more() -> None:
    async with opened() as house:
        await house.call(house.tools(), "remember", key="shop", value="always buys from ACME")
        await reset(house).reset(SCOPE, "s")
        with pytest.raises(Unknown):
            await reset(house).confirm(SCOPE, "s", 1, is_allowed=True)
        assert await house.facts() == {}


@pytest.mark.parametrize(
    ("version", "text", "after"),
    [
        (3, "mine", "mine"),
        (2, "one\ntwo\nmine", "zero\none\ntwo\nmine"),  # a line before them has come since
        (1, "one\nmine", "zero\none\nmine\ntwo"),
        (2, "ONE\ntwo", "zero\nONE\ntwo"),
        (3, "", None),
        (3, "zero\none\ntwo", "zero\none\ntwo"),
    ],
)
async def test_a_persons_edit_is_merged_with_what_has_come_since(version: int, text: str, after: str | None) -> None:
    async with opened() as house:
        store = house.services.storage.desks
        for number, each in enumerate(("one", "one\ntwo", "zero\none\ntwo")):
            await store.put(SCOPE, "plan.md", each, version=number, at=NOW, by="model")
        made = await reset(house).edit(SCOPE, "plan.md", text, version)
        assert await texts(house) == ({} if after is None else {"plan.md": after})
        is_same = after == "zero\none\ntwo"
        assert made is not None
        assert (made.version, made.by) == ((3, "model") if is_same else (4, "person"))


async def test_a_person_writes_a_new_document_and_none_of_a_version_that_is_gone() -> None:
    async with opened() as house:
        assert await reset(house).edit(SCOPE, "plan.md", "", 0) is None
        made = await reset(house).edit(SCOPE, "plan.md", "mine", 0)
        assert made is not None
        assert (made.version, made.text) == (1, "mine")
        with pytest.raises(Unknown):
            await reset(house).edit(SCOPE, "plan.md", "other", 7)
        with pytest.raises(ValueError, match="bytes"):
            await reset(house).edit(SCOPE, "plan.md", "x" * 300_000, 1)
        merged = await reset(house).edit(SCOPE, "plan.md", "other", 0)  # begun before there was one
        assert merged is not None
        assert set(merged.text.splitlines()) == {"mine", "other"}


async def test_a_message_is_pinned_by_its_id() -> None:
    async with opened() as house:
        store = house.services.storage.desks
        await store.write(SCOPE, "s", [TapeLine(0, b"l" * 16, NOW, "user", 1)], [DeskEvent(NOW, "", Pin(b"x"))])
        await reset(house).pin(SCOPE, "s", 1, is_pinned=True)
        await reset(house).pin(SCOPE, "s", 1, is_pinned=False)
        assert await house.payloads(Pin) == [Pin(b"x"), Pin(b"l" * 16), Pin(b"l" * 16, is_pinned=False)]
        with pytest.raises(Unknown):
            await reset(house).pin(SCOPE, "s", 2, is_pinned=True)
