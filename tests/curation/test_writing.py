"""Facts of a model are written as they are decided at that moment: nothing that is forgotten comes back, nothing that
changes meanwhile is lost."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.curation.carrying import Carried
from proxy.curation.spending import Failed, Left
from proxy.memory.commands import mark
from proxy.memory.shelf import Shelf
from proxy.storage.base import StorageError
from proxy.types import Fact
from tests.curation.builders import SCOPE, fact
from tests.curation.house import House, opened

OLD, NEW = fact(1, "Vive en Puebla"), fact(2, "Vive en Salta")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as house:
        await house.knows(OLD)
        yield house


def adds(*facts: Fact) -> Callable[..., Carried]:
    def decide(_: Mapping[str, Fact], was_forgotten: Callable[[bytes], bool]) -> Carried:
        return Carried(tuple(each for each in facts if not was_forgotten(mark(each.value))))

    return decide


async def ours() -> bool:
    return True


async def others() -> bool:
    return False


async def test_what_was_decided_is_durable_and_seen_at_once(house: House) -> None:
    ended = replace(OLD, superseded_by=NEW.id)
    await house.doing.writer.carry_out(SCOPE, adds(NEW, ended), ours)
    assert await house.values() == [NEW.value]
    assert (await house.library.shelf(SCOPE)).facts[OLD.id].superseded_by == NEW.id


async def test_who_has_lost_the_job_writes_nothing(house: House) -> None:
    with pytest.raises(Left):
        await house.doing.writer.carry_out(SCOPE, adds(NEW), others)
    assert await house.values() == [OLD.value]


async def test_what_stands_already_is_not_written_again(house: House) -> None:
    written: list[Fact] = []
    learn = house.library.learn

    def learning(scope: str, shelf: Shelf, facts: Sequence[Fact]) -> None:
        written.extend(facts)
        learn(scope, shelf, facts)

    house.library.learn = learning  # type: ignore[method-assign]  # it tells what it is given
    for _ in range(2):
        await house.doing.writer.carry_out(SCOPE, adds(OLD, NEW), ours)
    assert written == [NEW]


async def test_facts_that_change_meanwhile_are_decided_about_anew(house: House) -> None:
    seen: list[set[str]] = []

    def decide(facts: Mapping[str, Fact], _: Callable[[bytes], bool]) -> Carried:
        seen.append(set(facts))
        return Carried((NEW,))

    async def meanwhile() -> bool:
        if len(seen) == 1:
            house.library.learn(SCOPE, await house.library.shelf(SCOPE), [fact(3, "Toca el cello")])
        return True

    await house.doing.writer.carry_out(SCOPE, decide, meanwhile)
    assert [len(each) for each in seen] == [1, 2]
    assert len(await house.values()) == 3


async def test_what_another_process_changes_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    async with opened(tmp_path) as house, opened(tmp_path) as other:
        await house.knows(fact(1, "Vive en Puebla", key="ciudad"))
        seen: list[str] = []

        def decide(facts: Mapping[str, Fact], _: Callable[[bytes], bool]) -> Carried:
            (known,) = facts.values()
            seen.append(known.value)
            return Carried((replace(known, confidence="low"),))

        async def meanwhile() -> bool:
            if len(seen) == 1:
                (known,) = await other.facts()
                await other.knows(replace(known, value="Vive en Puebla, en La Paz", source="explicit"))
            return True

        await house.doing.writer.carry_out(SCOPE, decide, meanwhile)
        assert seen == ["Vive en Puebla", "Vive en Puebla, en La Paz"]
        assert [each.source for each in await other.facts()] == ["explicit"]


async def test_facts_that_never_rest_are_left_for_later(house: House) -> None:
    async def meanwhile() -> bool:
        house.library.learn(SCOPE, await house.library.shelf(SCOPE), [OLD])
        return True

    with pytest.raises(Failed, match="keep changing"):
        await house.doing.writer.carry_out(SCOPE, adds(NEW), meanwhile)
    assert await house.values() == [OLD.value]


async def test_the_decision_knows_of_everything_that_it_asks_whether_it_was_forgotten(house: House) -> None:
    house.storage.archive.forget(SCOPE, [mark(NEW.value)], house.now - 100)
    await house.doing.writer.carry_out(SCOPE, adds(NEW), ours)
    assert await house.values() == [OLD.value]


@pytest.mark.parametrize("what", [mark(NEW.value), *NEW.links], ids=["the value", "the message"])
async def test_what_is_forgotten_while_it_is_written_is_taken_back(house: House, what: bytes) -> None:
    def decide(_: Mapping[str, Fact], __: Callable[[bytes], bool]) -> Carried:
        return Carried((NEW,))

    async def meanwhile() -> bool:  # by another process, of which this one does not hear at once
        house.storage.archive.forget(SCOPE, [what], house.now)
        return True

    await house.doing.writer.carry_out(SCOPE, decide, meanwhile)
    assert await house.values() == [OLD.value]
    assert NEW.id not in (await house.library.shelf(SCOPE)).facts


async def test_what_storage_refuses_is_no_success(house: House) -> None:
    house.storage.wipes.wipe(SCOPE, (), at=NEW.created_at + 1, until=house.now)
    await house.storage.flush()
    with pytest.raises(StorageError):
        await house.doing.writer.carry_out(SCOPE, adds(NEW), ours)
