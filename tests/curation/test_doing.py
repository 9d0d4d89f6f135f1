"""Jobs from their rows to what comes of them: what a model found out is remembered, and nothing else."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest

from proxy.curation.consolidating import MOST_GROUPS
from proxy.curation.digesting import JOINED, spanned, subject_of
from proxy.curation.doing import SETTLED
from proxy.memory.commands import Order
from proxy.storage.erasing import erase_sqlite
from proxy.storage.jobs import DAY
from proxy.types import Forgetting
from proxy.types.curation import DigestSpan, Job
from tests.builders import NOW
from tests.curation.builders import SCOPE, fact, turn, turns
from tests.curation.house import House, opened, operation, settings

Json = Any
SAID = turns("Como soy celíaca, ¿qué puedo pedir en una pizzería?", "Me mudé a Salta en marzo")
CITY = fact(1, "Vive en Puebla", key="ciudad")
DIET = operation("add", key="dieta", value="Es celíaca", domain="personal", turn=1, quote="soy celíaca")
MOVED = operation(
    "update", id="f1", key="ciudad", value="Vive en Salta", domain="personal", turn=2, quote="Me mudé a Salta"
)
GOLD: Json = {
    "operations": [DIET, MOVED],
    "events": [{"turn": 2, "text": "Contó que se mudó a Salta"}],
    "summary": {
        "topic": "Pizzas sin gluten",
        "discussed": ["pizzas"],
        "outcome": "",
        "decisions": [],
        "open_questions": [],
    },
    "slug": "pizza-sin-gluten",
}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as house:
        yield house


# --- extraction -------------------------------------------------------------------------------------------------------


@pytest.mark.note("Rumi Decisiones/1")
async def test_what_a_conversation_implies_is_known_afterwards(house: House) -> None:
    house.model.says = [GOLD]
    await house.knows(CITY)
    await house.said(*SAID)
    assert await house.work() == 1
    assert sorted(await house.values()) == ["Es celíaca", "Vive en Salta"]
    job = await house.job()
    assert (job.state, job.model, job.answer, len(job.lines)) == ("done", "small", b"", 5)
    assert [(line.op, line.result) for line in house.lines] == [(line.op, line.result) for line in job.lines]
    (event,) = house.watch.events
    assert (event.text, event.at) == ("Contó que se mudó a Salta", SAID[1].at)
    assert house.watch.names == ["pizza-sin-gluten"]
    (summary,) = await house.storage.jobs.summaries(SCOPE)
    assert (summary.link, summary.summary.topic) == (SAID[1].link, "Pizzas sin gluten")
    assert await house.storage.jobs.events(SCOPE, 0, 2e9) == [event]


@pytest.mark.note("Rumi Extracción/3")
async def test_a_turn_is_read_once(house: House) -> None:
    await house.said(*SAID)
    await house.work()
    await house.said(*SAID, turn(3, "Además toco el cello los jueves"))
    await house.work()
    await house.said(*SAID)
    await house.work()
    assert [job.reason for job in await house.jobs()] == ["", "", "nothing new"]
    assert len(house.model.asked) == 2
    assert "Me mudé" not in house.model.shown[1]
    assert "[1] user: Además toco el cello" in house.model.shown[1]


async def test_what_is_too_long_for_one_question_is_read_in_several_from_the_oldest_on(house: House) -> None:
    long = "Me gusta cómo suena el mar. " * 400
    await house.said(*(turn(number, f"{number}. {long}") for number in range(1, 9)))
    assert await house.work() == 2
    assert ["1. Me" in shown for shown in house.model.shown] == [True, False]
    assert [shown.count("] user: ") for shown in house.model.shown] == [4, 4]
    read = [name for job in await house.jobs() for name in job.read]
    assert len(read) == len(set(read)) == 8 * 2


async def test_where_little_money_is_left_less_is_read_and_the_rest_tomorrow(tmp_path: Path) -> None:
    long = "Me gusta cómo suena el mar. " * 400
    async with opened(tmp_path / "dear", settings=settings(allowance=0.03)) as house:
        house.model.price = 1e-6
        await house.said(*(turn(number, f"{number}. {long}") for number in range(1, 9)))
        assert await house.work() == 2
        assert [shown.count("] user: ") for shown in house.model.shown] == [1]
        first, rest = await house.jobs()
        assert (first.state, rest.state, rest.reason) == ("done", "waiting", "share")
        assert await house.work(later=rest.due_at - house.now) == 2  # the next day


@pytest.mark.parametrize(
    "nonsense", ["Sure! I'd be happy to help.", '{"answer": 42}', '{"operations": [', "", "x" * 10**7]
)
async def test_an_answer_that_is_none_is_asked_for_again_about_less_and_in_the_end_one_turn_is_passed_over(
    house: House, nonsense: str
) -> None:
    await house.said(*SAID)
    house.model.says = [nonsense] * 4 + [lambda shown: nonsense if "celíaca" in shown else {"operations": []}]
    for _ in range(5):
        assert await house.work() >= 1
        house.now += 60 * 4**5
    first, *rest = await house.jobs()
    assert await house.values() == []
    if nonsense:
        assert (first.state, first.lines[0].op, first.lines[0].result) == ("done", "", "refused")
        assert [job.state for job in rest] == ["done"]  # the other turn
        assert house.model.shown[-1].count("] user: ") == 1
    else:
        assert (first.state, first.reason) == ("given-up", "no answer")


async def test_words_that_are_forgotten_while_the_model_thinks_do_not_come_back(house: House) -> None:
    await house.knows(CITY)
    await house.said(*SAID)

    def thinking(_: str) -> Json:
        house.storage.archive.forget(SCOPE, [SAID[0].utterances[0].link], house.now)
        return GOLD

    house.model.says = [thinking, {"operations": []}]
    await house.work()
    assert await house.facts() == [CITY]
    assert len(house.model.asked) == 2
    assert "celíaca" not in house.model.shown[-1]  # it was asked again about what is left


async def test_a_value_that_was_forgotten_is_not_learnt_again(house: House) -> None:
    await house.knows(fact(2, "Es celíaca"))
    await house.library.carry_out(
        SCOPE, Order((Forgetting("que soy celíaca"),), house.now - 10, (b"o" * 16,)), lambda: None
    )
    assert await house.values() == []
    await house.said(*SAID)
    house.model.says = [GOLD]
    await house.work()
    assert "Es celíaca" not in await house.values()
    assert ("add", "refused", "forgotten") in [(line.op, line.result, line.reason) for line in house.lines]


async def test_who_is_erased_while_the_model_thinks_is_gone(house: House, tmp_path: Path) -> None:
    await house.knows(CITY)
    await house.said(*SAID)

    def thinking(_: str) -> Json:
        erase_sqlite(tmp_path / "olvido.db", lambda scope: scope == SCOPE)
        return GOLD

    house.model.says = [thinking]
    await house.work()
    await house.work(later=DAY)
    assert await house.facts() == []
    assert await house.storage.jobs.jobs() == []
    assert house.watch.events == []
    assert await house.storage.jobs.spent(0) > 0  # a limit of all counts it


async def test_an_answer_about_turns_that_have_expired_meanwhile_comes_to_nothing(house: House) -> None:
    await house.said(*SAID)
    house.model.says = [GOLD]
    job = await house.storage.jobs.claim("dead", house.now, 1.0)
    assert job is not None
    links = [said.link for turn in SAID for said in turn.utterances]
    assert await house.storage.jobs.asked(job.id, "dead", model="m", prompt="p", shown=b"{}", read=links)
    assert await house.storage.jobs.answered(job.id, "dead", b'{"operations": []}', 0.0)
    house.library.archive.prune(house.now + 400 * DAY)
    await house.storage.flush()
    await house.work(later=60)
    assert ((await house.job()).state, (await house.job()).reason) == ("done", "nothing new")
    assert house.model.asked == []


async def test_what_the_user_takes_back_later_in_the_conversation_is_not_learnt(house: House) -> None:
    await house.said(*SAID, turn(3, "Olvidá que soy celíaca."))
    house.model.says = [{"operations": [DIET]}]
    await house.work()
    assert await house.values() == []


# --- facts in order ---------------------------------------------------------------------------------------------------


@pytest.mark.note("Consolidación/1")
async def test_after_facts_have_changed_they_are_put_in_order(house: House) -> None:
    await house.knows(CITY)
    house.model.says = [GOLD]
    await house.said(*SAID)
    await house.work()
    waiting = await house.job("consolidate")
    assert (waiting.state, waiting.subject, waiting.due_at) == ("waiting", "", house.now + SETTLED)


async def test_where_nothing_is_alike_nobody_is_asked(house: House) -> None:
    await house.knows(CITY, fact(2, "Es celíaca", key="dieta"))
    house.storage.jobs.arm(SCOPE, "consolidate", "", house.now)
    await house.work()
    assert (await house.job("consolidate")).reason == "nothing new"
    assert house.model.asked == []


async def test_what_says_the_same_becomes_one_and_is_asked_about_once(house: House) -> None:
    one = fact(1, "Trabaja en Google", key="trabajo", domain="work")
    other = fact(2, "Trabaja en Google como programadora", key="empleo", domain="work")
    await house.knows(one, other)
    house.model.says = [{"operations": []}]
    for _ in range(2):
        house.storage.jobs.arm(SCOPE, "consolidate", "", house.now)
        await house.work(later=10)
    assert [job.reason for job in await house.jobs("consolidate")] == ["", "nothing new"]
    assert len(house.model.asked) == 1


async def test_what_one_message_stated_is_compared_although_something_else_of_it_was_forgotten(house: House) -> None:
    shared = (b"one message.....",)
    one = fact(1, "Trabaja en Google", key="trabajo", domain="work", links=shared)
    other = fact(2, "Trabaja en Google como programadora", key="empleo", domain="work")
    await house.knows(one, other, fact(3, "Vive en Puebla", key="ciudad", links=shared))
    gone = [each for each in await house.facts() if each.value == "Vive en Puebla"]
    await house.library.forget(SCOPE, gone)
    house.storage.jobs.arm(SCOPE, "consolidate", "", house.now)
    await house.work(later=10)
    assert (await house.job("consolidate")).state == "done"
    assert len(house.model.asked) == 1


async def test_of_many_groups_each_is_asked_about_once(house: House) -> None:
    number = MOST_GROUPS + 3
    for each in range(number):
        name = "klmnopqrstuvwxyz"[each] * 8
        await house.knows(
            fact(100 + 2 * each, f"{name} {each}", key=name),
            fact(101 + 2 * each, f"{name} {each + 70}", key=f"{name}s"),
        )
    for _ in range(3):
        house.storage.jobs.arm(SCOPE, "consolidate", "", house.now)
        await house.work(later=10)
    shown = [said.count("\n\n") + 1 for said in house.model.shown]
    assert shown == [MOST_GROUPS, 3]


async def test_a_summary_is_there_for_the_next_fold_of_the_same_process(house: House) -> None:
    assert not (await house.library.shelf(SCOPE)).summaries
    house.model.says = [GOLD]
    await house.said(*SAID)
    await house.work()
    assert len((await house.library.shelf(SCOPE)).summaries or ()) == 1


# --- diaries ----------------------------------------------------------------------------------------------------------


async def told_of(house: House, number: int, *, session: str = "s") -> None:
    """A conversation of which the model tells so many events."""
    things = ("pan", "yoga", "jabón", "gimnasia")[:number]
    house.model.says = [{"operations": [], "events": [{"turn": 1, "text": f"Hizo {each}"} for each in things]}]
    await house.said(turn(1, f"Hoy hice {', '.join(things)}", session=session))
    await house.work()


async def digests_due(house: House) -> Job:
    (due,) = (job for job in await house.jobs("digest") if job.state == "waiting")
    return due


async def test_an_hour_is_digested_when_it_is_over_then_its_day_then_its_week(house: House) -> None:
    house.now = NOW + 100
    await told_of(house, JOINED)
    for span in get_args(DigestSpan):
        due = await digests_due(house)
        assert due.subject == subject_of(span, NOW + 60)
        assert due.due_at > spanned(due.subject)[2] > house.now
        assert await house.work() == 0
        house.now = due.due_at
        await house.work()
    assert [each.span for each in house.watch.digests] == ["hour", "day", "week"]
    assert {each.text for each in house.watch.digests} == {house.watch.digests[0].text}
    assert len(house.model.asked) == 1  # few items need no model


@pytest.mark.parametrize(("says", "by_model"), [({"digest": "Hizo de todo."}, True), ("prosa", False), (None, False)])
async def test_many_events_are_told_by_the_model_or_joined_where_it_fails(
    house: House, says: Json, by_model: bool
) -> None:
    await told_of(house, JOINED + 1)
    house.model.says = [says]
    house.now = (await digests_due(house)).due_at
    await house.work()
    (digest, *_) = house.watch.digests
    assert digest.by_model is by_model
    assert (digest.text == "Hizo de todo.") is by_model
    assert len(house.model.asked) == 2


async def test_a_digest_without_money_is_joined(tmp_path: Path) -> None:
    async with opened(tmp_path, settings=settings(per_day=0.02)) as house:
        await told_of(house, JOINED + 1)
        house.model.price = 1.0
        house.now = (await digests_due(house)).due_at
        await house.work()
        assert [each.by_model for each in house.watch.digests] == [False]
        assert len(house.model.asked) == 1
