"""Forgetting, as it reaches desks and documents, whatever they are kept in."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from proxy.types import Fact
from proxy.types.desk import Board, Called, DeskEvent, DeskNews, Edit, Ended, Hidden, Mark, Payload, Pin
from tests.contract.test_desk_store import BACKENDS, NOW, OTHER, SCOPE, House, execute, line
from tests.contract.test_wipe_store import link, turn

WEEK = 7 * 86_400.0
VALUE = "I live in Neuquén"
FACT = Fact("f-1", "personal", "city", VALUE, "high", "explicit", "s", 1, NOW, NOW, links=(link("1 asked"),))
SAID_AGAIN = ("i LIVE  in   neuquen", "that I live\n in Neuquén, she said", '{"value": "I live in Neuqu\\u00e9n"}')
QUOTE = "the build of the third module fails with an error about a missing header"
TALK = ("rules", "1 asked", "hidden 1", "result 1", "1 answered", "2 asked", "result 2", "2 answered")


@pytest.fixture(params=BACKENDS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with BACKENDS[request.param](tmp_path) as opened:
        yield opened


def message(text: str) -> bytes:
    """A message that says a text, as raw as they are kept."""
    return msgspec.json.encode({"role": "assistant", "content": text})


async def talked(house: House) -> None:
    """Two turns in the tape, the archive and the facts, and the same in another scope."""
    for scope in (SCOPE, OTHER):
        for number in (1, 2):
            house.archive.add(scope, turn(number, NOW), None)
        house.facts.put(scope, [FACT])
        await house.say(*TALK, scope=scope)


async def known(house: House, session: str = "s-1") -> list[str]:
    """The lines of a tape that still say something."""
    return [each.link.decode().rstrip("\0") for each in await house.desks.tape(SCOPE, session) if each.content]


Forgets = Callable[[House], object]


def forgets_a_message(house: House) -> None:
    house.archive.forget(SCOPE, [link("1 asked")], NOW)


def forgets_an_answer(house: House) -> None:
    house.archive.forget(SCOPE, [link("1 answered")], NOW)


def forgets_a_fact(house: House) -> None:
    house.facts.forget(SCOPE, ["f-1"])


FORGETTING: list[Forgets] = [forgets_a_message, forgets_an_answer, forgets_a_fact]


@pytest.mark.parametrize("forgets", FORGETTING)
class TestMessages:
    @pytest.mark.note("SMMA 4/7")
    async def test_the_lines_of_their_turn_lose_their_content_and_keep_their_place(
        self, house: House, forgets: Forgets
    ) -> None:
        await talked(house)
        before = await house.desks.tape(SCOPE, "s-1")
        forgets(house)
        assert await known(house) == ["rules", "2 asked", "result 2", "2 answered"]
        after = await house.desks.tape(SCOPE, "s-1")
        assert [replace(each, content=None) for each in after] == [replace(each, content=None) for each in before]
        assert len(await house.texts(OTHER)) == len(list(filter(None, await house.texts(OTHER)))) == len(TALK)

    async def test_so_do_those_of_other_sessions_with_that_turn(self, house: House, forgets: Forgets) -> None:
        await talked(house)
        await house.say(*TALK[:5], "3 asked", session="s-2")
        forgets(house)
        assert await known(house, "s-2") == ["rules", "3 asked"]

    async def test_tapes_on_disk_are_told(self, house: House, forgets: Forgets) -> None:
        await talked(house)
        upto = (await house.desks.unwritten(SCOPE, 0))[-1][0]
        forgets(house)
        found = await house.desks.unwritten(SCOPE, upto)
        assert {(session, each.id, each.content) for _, session, each in found} == {
            ("s-1", number, None) for number in (2, 3, 4, 5)
        }

    async def test_events_about_them_are_dropped_or_lose_their_texts(self, house: House, forgets: Forgets) -> None:
        await talked(house)
        about: list[Payload] = [
            Hidden(link("1 asked"), link("x"), (message("a"),)),
            Hidden(link("x"), link("1 answered"), (message("a"),)),
            Hidden(link("result 1"), link("x"), (message("a"),)),
            Board(link("result 1"), "a dashboard", "low", ""),
            Mark("range", (link("hidden 1"), link("2 asked")), 3, 6, "in short"),
            Called("remember", '{"key": "x"}', "ok", 1),
            Edit("save_to_disk", "x.md", "", "all of it", "waiting", 1),
        ]
        mark = Mark("prune", (link("1 asked"),), 2, 2)
        await house.note(*about, mark, Pin(link("1 asked")), Ended("loop"))
        others: list[Payload] = [
            Hidden(link("2 asked"), link("2 answered"), (message("b"),)),
            Board(link("2 asked"), "a dashboard", "low", ""),
            Mark("range", (link("2 asked"),), 6, 6, "in short"),
            Called("remember", '{"key": "y"}', "ok", 1),
        ]
        await house.desks.write(SCOPE, "s-1", (), [DeskEvent(NOW, "req-2", each) for each in others])
        forgets(house)
        left = [
            Called("remember", "", "ok", 1),
            Edit("save_to_disk", "x.md", "", "", "declined", 1),
            mark,
            Pin(link("1 asked")),
            Ended("loop"),
            *others,
        ]
        assert await house.payloads() == left
        assert [each.number for each in await house.desks.events(SCOPE, "s-1", limit=2)] == [14, 13]
        assert [each.number for each in (await house.note(Ended("x"))).events] == [15]

    async def test_an_event_about_them_that_comes_later_is_not_kept(self, house: House, forgets: Forgets) -> None:
        await talked(house)
        forgets(house)
        hidden = Hidden(link("result 1"), link("1 answered"), (message("late"),))
        call = Called("remember", "{}", "ok", 1)
        news = await house.note(hidden, call)
        assert [each.payload for each in news.events] == [replace_arguments(call)]
        assert await house.payloads() == [replace_arguments(call)]

    async def test_what_quotes_them_at_length_goes_with_them(self, house: House, forgets: Forgets) -> None:
        await talked(house)
        told = f"Look:\n  {QUOTE}\nWhat now?"
        await house.desks.write(SCOPE, "s-3", [line("0 asked"), replace(line("1 asked"), content=message(told))])
        nested = msgspec.json.encode({"content": [{"text": message(QUOTE.upper()).decode()}]})
        await house.desks.write(SCOPE, "s-4", [replace(line("hidden recall"), content=nested), line("hidden other")])
        for answer, said in (("10", nested), ("11", message("?"))):
            await house.note(Hidden(link("9"), link(answer), (message("I say"), said)))
        forgets(house)
        assert [each.answer for each in await house.payloads() if isinstance(each, Hidden)] == [link("11")]
        assert await known(house, "s-4") == ["hidden other"]

    async def test_a_desk_without_any_of_it_stays_as_it_is(self, house: House, forgets: Forgets) -> None:
        for number in (1, 2):
            house.archive.add(SCOPE, turn(number, NOW), None)
        house.facts.put(SCOPE, [FACT])
        await house.say("3 asked", "hidden 3", "3 answered")
        await house.note(Hidden(link("3 asked"), link("3 answered"), (message("a"),)))
        await house.put("a.md", "nothing of it")
        news = await house.desks.since(SCOPE, "s-1", 0, 0)
        forgets(house)
        assert await house.desks.since(SCOPE, "s-1", 0, 0) == news
        assert len(await known(house)) == 3
        document = await house.desks.document(SCOPE, "a.md")
        assert document is not None
        assert document.version == 1


async def test_what_is_forgotten_comes_again_without_content_and_so_does_the_rest_of_its_turn(house: House) -> None:
    await talked(house)
    forgets_a_message(house)
    await house.say("rules", "1 asked", "result of it", "1 answered", "result of more", "3 asked", session="s-2")
    assert await known(house, "s-2") == ["rules", "3 asked"]
    await house.say("result of another", session="s-2")
    assert await known(house, "s-2") == ["rules", "3 asked", "result of another"]
    await house.say("rules", "1 asked", session="s-3")
    await house.say("result of it", session="s-3")
    assert await known(house, "s-3") == ["rules"]


def replace_arguments(call: Called) -> Called:
    return msgspec.structs.replace(call, arguments="")


class TestFacts:
    @pytest.mark.parametrize("said", SAID_AGAIN)
    async def test_what_says_a_forgotten_value_was_hidden_and_is_gone(self, house: House, said: str) -> None:
        house.facts.put(SCOPE, [FACT])
        await house.say("3 asked", "3 answered")
        lines = [replace(line("hidden 3"), content=message(said)), line("hidden 4")]
        await house.desks.write(SCOPE, "s-1", lines)
        kept: list[Payload] = [Hidden(link("b"), link("b"), (message("else"),)), Edit("remember", "x", "a", "b")]
        await house.note(
            Hidden(link("a"), link("a"), (), message(said)),
            Hidden(link("a"), link("a"), (), b"", (message("?"), message(said))),
            Board(link("a"), said, "low", ""),
            Mark("range", (link("a"),), 1, 2, said),
            Called("remember", said, "ok", 1),
            Edit("edit_section", "user_profile.md", "", f"- {said}"),
            Edit("edit_section", "user_profile.md", f"- {said}", "", "waiting", 4, "f-9"),
            Edit("remember", "city", "", "elsewhere", fact="f-1"),
            *kept,
        )
        forgets_a_fact(house)
        assert await house.payloads() == [
            Called("remember", "", "ok", 1),
            Edit("edit_section", "user_profile.md", "", ""),
            Edit("edit_section", "user_profile.md", "", "", "declined", 4, "f-9"),
            Edit("remember", "city", "", "", fact="f-1"),
            *kept,
        ]
        assert await known(house) == ["3 asked", "3 answered", "hidden 4"]

    async def test_documents_lose_its_words_line_by_line_and_their_older_versions_too(self, house: House) -> None:
        house.facts.put(SCOPE, [FACT])
        await house.put("a.md", f"- {VALUE}\n- likes tea\n")
        await house.put("a.md", "- i live in neuquen, and fish\n- likes tea\n", 1)
        await house.put("b.md", "- likes tea\n")
        await house.put("c.md", VALUE, scope=OTHER)
        forgets_a_fact(house)
        left = await house.desks.document(SCOPE, "a.md")
        assert left is not None
        assert (left.text, left.version, left.at, left.by) == ("- forgotten\n- likes tea\n", 3, NOW + 1, "model")
        older = await house.desks.older(SCOPE, "a.md")
        assert [(each.version, each.text) for each in older] == [(2, left.text), (1, left.text)]
        assert await house.put("a.md", VALUE, 2) is None  # it was made of the text before
        assert (await house.text("b.md"), await house.text("c.md", OTHER)) == ("- likes tea\n", VALUE)

    async def test_a_value_that_is_no_fact_is_scrubbed_as_well(self, house: House) -> None:
        await house.put("a.md", f"- {VALUE}\n- likes tea\n")
        other = Edit("save_to_disk", "b.md", "", "else", version=1)
        await house.note(Called("remember", VALUE, "ok", 1), Edit("remember", "city", "", VALUE, fact="f-1"), other)
        await house.desks.write(SCOPE, "s-1", [replace(line("hidden 3"), content=message(VALUE)), line("3 asked")])
        await house.desks.scrub(SCOPE, ["Neuquén"])
        await house.desks.scrub(SCOPE, [])
        assert await house.text("a.md") == "- forgotten\n- likes tea\n"
        left = [Called("remember", "", "ok", 1), Edit("remember", "city", "", "", fact="f-1"), other]
        assert await house.payloads() == left
        assert await known(house) == ["3 asked"]

    async def test_a_removed_document_is_not_there_again(self, house: House) -> None:
        house.facts.put(SCOPE, [FACT])
        await house.put("a.md", VALUE)
        await house.put("a.md", None, 1)
        forgets_a_fact(house)
        assert await house.desks.documents(SCOPE) == []
        assert [each.text for each in await house.desks.older(SCOPE, "a.md")] == ["forgotten"]


class TestWipes:
    async def all_of_it(self, house: House) -> tuple[DeskNews, list[bytes | None], list[tuple[str, str]]]:
        documents = [(each.name, each.text) for each in await house.desks.documents(SCOPE)]
        return await house.desks.since(SCOPE, "s-1", 0, 0), await house.texts(), documents

    async def filled(self, house: House) -> None:
        await talked(house)
        await house.put("a.md", "one")
        await house.put("a.md", "two", 1)
        await house.put("b.md", "three")
        await house.note(
            Hidden(link("1 asked"), link("1 answered"), (message("a"),)),
            Mark("prune", (link("1 asked"),), 2, 2),
            Edit("remember", "city", "", VALUE, "waiting"),
            Called("remember", "{}", "ok", 1),
        )

    async def test_nothing_of_it_is_read_and_a_restore_brings_it_back(self, house: House) -> None:
        await self.filled(house)
        before = await self.all_of_it(house)
        house.wipes.wipe(SCOPE, [], at=NOW + 9, until=NOW + WEEK)
        news, texts, documents = await self.all_of_it(house)
        assert news.lines == before[0].lines
        assert [each.payload for each in news.events] == [
            Mark("prune", (link("1 asked"),), 2, 2),
            Edit("remember", "city", "", "", "declined"),
            Called("remember", "", "ok", 1),
        ]
        assert (set(texts), documents) == ({None}, [])
        assert [each.text for each in await house.desks.older(SCOPE, "a.md")] == []
        house.wipes.restore(SCOPE, NOW + 10)
        house.wipes.restore(SCOPE, NOW + 10)
        assert await self.all_of_it(house) == before
        older = await house.desks.older(SCOPE, "a.md")
        assert [each.text for each in older if not each.is_removed] == ["two", "one"]
        document = await house.desks.document(SCOPE, "a.md")
        assert document is not None
        assert (document.version, document.at, document.by) == (4, NOW + 1, "model")

    async def test_another_wipe_puts_nothing_aside_twice(self, house: House) -> None:
        await self.filled(house)
        before = await self.all_of_it(house)
        for at in (9, 19):
            house.wipes.wipe(SCOPE, [], at=NOW + at, until=NOW + at + WEEK)
        house.wipes.restore(SCOPE, NOW + 20)
        assert await self.all_of_it(house) == before

    async def test_what_was_written_since_stays_and_the_other_text_is_an_earlier_one(self, house: House) -> None:
        await self.filled(house)
        house.wipes.wipe(SCOPE, [], at=NOW + 9, until=NOW + WEEK)
        assert await house.desks.put(SCOPE, "a.md", "new", version=3, at=NOW + 10, by="person") is not None
        await house.say("9 asked", at=NOW + 10)
        house.wipes.restore(SCOPE, NOW + 20)
        assert (await house.text("a.md"), await house.text("b.md")) == ("new", "three")
        older = await house.desks.older(SCOPE, "a.md")
        assert [each.text for each in older if not each.is_removed] == ["two", "one"]
        assert len(await known(house)) == len(TALK) + 1

    async def test_what_is_said_after_a_wipe_is_not_wiped(self, house: House) -> None:
        await house.say("1 asked", at=NOW)
        house.wipes.wipe(SCOPE, [link("1 asked")], at=NOW + 9, until=NOW + WEEK)
        await house.wipes.flush()
        late = [line("late", NOW + 9), line("result of it", NOW + 10), line("new", NOW + 10)]
        news = await house.desks.write(SCOPE, "s-2", [line("1 asked", NOW + 10), *late])
        assert [each.content is None for each in news.lines] == [True, True, True, False]

    @pytest.mark.parametrize("how", ["at once", "pruned"])
    async def test_at_its_end_nothing_comes_back(self, house: House, how: str) -> None:
        await self.filled(house)
        house.wipes.wipe(SCOPE, [], at=NOW + 9, until=NOW + (9 if how == "at once" else WEEK))
        house.wipes.prune(NOW + (0 if how == "at once" else WEEK))
        house.wipes.restore(SCOPE, NOW + 1)
        _, texts, documents = await self.all_of_it(house)
        assert (set(texts), documents) == ({None}, [])

    async def test_a_fact_that_is_forgotten_after_a_wipe_does_not_come_back_with_it(self, house: House) -> None:
        await self.filled(house)
        await house.put("c.md", f"- {VALUE}\n- tea")
        hidden = Hidden(link("x"), link("y"), (message(VALUE),))
        other = Hidden(link("2 asked"), link("2 answered"), (message("b"),))
        await house.desks.write(SCOPE, "s-1", (), [DeskEvent(NOW, "req-2", each) for each in (hidden, other)])
        await house.desks.write(SCOPE, "s-1", [replace(line("hidden 2"), content=message(VALUE))])
        house.wipes.wipe(SCOPE, [], at=NOW + 9, until=NOW + WEEK)
        house.wipes.forget(SCOPE, [FACT])
        house.wipes.restore(SCOPE, NOW + 10)
        assert await known(house) == ["rules", "2 asked", "result 2", "2 answered"]
        assert [each for each in await house.payloads() if isinstance(each, Hidden)] == [other]
        assert Edit("remember", "city", "", "", "declined") in await house.payloads()
        assert await house.text("c.md") == "- forgotten\n- tea"
        assert await house.text("a.md") == "two"

    async def test_what_nobody_here_can_read_is_not_kept(self, house: House) -> None:
        await self.filled(house)
        await execute(house, "UPDATE desk_events SET payload = {} WHERE number = 1", b"\x02later")
        forgets_a_fact(house)
        await house.facts.flush()
        assert [each.number for each in (await house.desks.since(SCOPE, "s-1", 0, 0)).events] == [2, 3, 4]
