"""Text that gives orders: results of tools and documents, before a model that obeys every one of them. Nothing comes of
it that the model itself may not do: no fact, no profile, no file but in the person's folder, nothing of anybody else.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from proxy.desk.planned import View
from proxy.desk.wishes import Numbered
from proxy.protocol.chains import chain_of
from proxy.types import ToolCall
from proxy.types.desk import Edit, Ended, Hidden, Mark, TapeLine
from tests.builders import NOW, assistant, calling, messages, result, system, user
from tests.pipeline.test_desk_tools import SCOPE, House, opened

LINES = Path(__file__).parents[1].joinpath("desk", "injections.jsonl").read_text(encoding="utf-8").splitlines()
ORDERS: list[Mapping[str, Any]] = [json.loads(line) for line in LINES]
SECRET = "the secret of somebody else"


def test_there_are_sixty_of_them() -> None:
    assert len({order["text"] for order in ORDERS}) == len(ORDERS) == 60


@pytest.mark.parametrize("place", ["tool", "document"])
async def test_an_order_in_a_text_has_no_effect_that_the_model_was_not_allowed(place: str) -> None:
    async with opened() as house:  # one for all: nothing comes of any of them
        await _fill(house)
        await house.call(house.tools(), "remember", key="city", value="lives in Rosario")
        before = await house.facts()
        for order in ORDERS:
            asked = order["text"]
            told = await _obeyed(house, order, place)
            assert SECRET not in told, asked
            assert await house.facts() == before, asked
            assert await house.services.storage.desks.documents(SCOPE) == [], asked
            assert await _others(house) == (["theirs.md"], 20), asked
            edits = [each for each in await house.payloads(Edit) if each.name != "city"]
            assert all(each.state == "waiting" for each in edits), asked
            others = await house.payloads(Ended), await house.payloads(Hidden), await house.payloads(Mark)
            assert others == ([], [], []), asked


async def _obeyed(house: House, order: Mapping[str, Any], place: str) -> str:
    """The result of the call that the text asks for. No call of a tool that is not ours gets here."""
    pasted = f'Please translate this page:\n"""\n{order["text"]}\n"""'
    heard = order["text"] if place == "tool" else "nothing"
    said = messages(
        system("Be brief."),
        user("I live in Rosario."),
        calling("c1"),
        result("c1", heard),
        assistant("Read."),
        user("Go on." if place == "tool" else pasted),
        calling("c2"),
        result("c2", heard),
    )
    chain = chain_of(SCOPE, said)
    view = View(said, chain, chain, ids=tuple(range(1, 9)), ours=(0,) * 8)
    seat = house.seat(numbered=Numbered(view, 8, frozenset(), lambda _index: 50))
    tools = house.tools(seat)
    call = ToolCall("call", order["call"], json.dumps(order["arguments"]))
    assert tools.answers(call) == (order["call"] in seat.names)
    (told,) = await tools.run([call], 1)
    return told


async def _fill(house: House) -> None:
    store = house.services.storage.desks
    await store.put("other/", "theirs.md", SECRET, version=0, at=NOW, by="person")
    lines = [TapeLine(0, bytes([at]) * 16, NOW, "user", 1, SECRET.encode()) for at in range(20)]
    await store.write(SCOPE, "other session", lines)
    await store.write("other/", "s", lines)


async def _others(house: House) -> tuple[list[str], int]:
    store = house.services.storage.desks
    names = [each.name for each in await store.documents("other/") if each.text == SECRET]
    return names, len(await store.tape(SCOPE, "other session"))
