"""A command to forget is obeyed whatever becomes of its request: while it is not, nobody sees what it names."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import time
from typing import Any

import pytest

from proxy.context.planner import Planner
from proxy.memory.commands import ordered
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.types import (
    Fact,
)
from tests import stores
from tests.builders import NOW, Said, assistant, body, calling, chat, identity, result, system, user
from tests.proxied import Sessions, Upstream, answered, ask, in_front_of, run_upstream, serving, total
from tests.stores import AtOnce

pytestmark = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")  # aiohttp's, of a picture

FORGET = user("Forget that I'm allergic to nuts.")
WIPE = user("Forget everything.")
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 3_000_000}}
NUTS, TEA = "I'm allergic to nuts", "I drink tea"


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with run_upstream() as upstream:
        yield upstream


@pytest.fixture
def upstream(running: Upstream) -> Upstream:
    running.bodies()
    return running


def known(value: str, **differing: Any) -> Fact:
    name = f"f-{abs(hash(value)):016x}"[:18]
    stated = {"domain": "personal", "key": value, "value": value, "confidence": "high", "source": "explicit"}
    said = {"session": "old", "turn": 1, "created_at": NOW - 9, "last_confirmed_at": NOW - 9, "pinned": True}
    return Fact(**{"id": name, **stated, **said, **differing})


class Store(SqliteFacts):
    """That does as it is told: it refuses what is to be forgotten, or hangs."""

    def __init__(self) -> None:
        super().__init__(AtOnce())
        self.is_broken = False
        self.hangs = False

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        if not self.is_broken:
            super().forget(scope, ids)

    async def all(self, scope: str) -> list[Fact]:
        if self.hangs:
            await asyncio.Event().wait()
        return await super().all(scope)


def raw(*said: Said, **fields: Any) -> bytes:
    return body(*said, model="demo-chat", **fields)


def scope_of(services: Any) -> str:
    return f"{services.authenticator.tenant((('authorization', 'Bearer sk-test'),))}/"


async def left(services: Any) -> list[str]:
    return [fact.value for fact in await services.library.facts.all(scope_of(services))]


# --- whatever the mode, the cache and the size ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "headers"),
    [
        ([FORGET], ()),
        ([FORGET], (("x-olvido-mode", "meter"),)),
        ([FORGET], (("x-olvido-mode", "off"),)),
        ([FORGET], (("cache-control", "no-store"),)),
        ([user([PICTURE, {"type": "text", "text": "Nice?"}]), assistant("Yes."), FORGET], ()),
        ([user([{"type": "text", "text": FORGET["content"]}, PICTURE])], ()),
        ([user("hi"), assistant("hello"), FORGET, assistant("Well…", partial=True)], ()),
    ],
    ids=["on", "meter", "off", "no-store", "picture before", "picture beside", "answer begun"],
)
@pytest.mark.parametrize("mode", ["on", "meter", "off"])
async def test_a_command_is_obeyed(said: list[Said], headers: Any, mode: str, upstream: Upstream) -> None:
    async with serving(in_front_of(upstream, context={"mode": mode}), **stores.remembering()) as services:
        services.library.facts.put(scope_of(services), [known(NUTS), known(TEA)])
        got = await ask(services, raw(*said), headers=headers)
        assert (got.status, await left(services)) == (200, [TEA])


@pytest.mark.parametrize(
    "said",
    [
        [FORGET, assistant("Done."), user("And now?")],
        [FORGET, calling("c"), result("c")],
        [user("Lorem ipsum dolor. " * 150_000 + "Forget that I'm allergic to nuts.")],
        [user("hi"), assistant("Forget that I'm allergic to nuts.")],
        [user("Translate to French:\nForget everything.")],
    ],
    ids=["earlier", "goes on", "pasted", "assistant's", "handed over"],
)
async def test_what_is_no_command_of_now_changes_nothing(said: list[Said], upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        services.library.facts.put(scope_of(services), [known(NUTS)])
        await ask(services, raw(*said))
        assert await left(services) == [NUTS]


@pytest.mark.parametrize("together", [False, True], ids=["one after another", "at once"])
async def test_a_command_is_answered_from_no_memory_and_leaves_no_answer(together: bool, upstream: Upstream) -> None:
    asked = raw(FORGET, temperature=0)
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        for _ in range(2):
            services.library.facts.put(scope_of(services), [known(NUTS)])
            if together:
                answers = await asyncio.gather(*(ask(services, asked) for _ in range(3)))
            else:
                answers = [await ask(services, asked)]
            assert {each.source for each in answers} == {"upstream"}
            assert await left(services) == []
        assert len(upstream.bodies()) == 2 * len(answers)
        assert total(services, "olvido_reuse_total", kind="exact", result="command") == 2 * len(answers)


async def test_sent_again_it_means_nothing_else(upstream: Upstream) -> None:
    two = user("Forget that I like green tea.")
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        facts = [known("I like green tea"), known("I like green apples")]
        services.library.facts.put(scope_of(services), facts)
        for _ in range(3):
            await ask(services, raw(two))
            assert await left(services) == ["I like green apples"]


async def test_of_a_fact_that_says_more_the_rest_stays(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        services.library.facts.put(scope_of(services), [known("I own a boat called Petrel and a flat in Cadiz")])
        for _ in range(2):
            await ask(services, raw(user("Forget the boat.")))
            assert await left(services) == ["I own \u2026 a flat in Cadiz"]


async def test_an_order_may_point_back_to_the_message_before(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        services.library.facts.put(scope_of(services), [known("I'm pregnant"), known(TEA)])
        await ask(services, raw(user("I told you that I'm pregnant."), assistant("Yes."), user("Forget that.")))
        assert await left(services) == [TEA]


async def test_an_order_that_names_nothing_known_is_logged(
    upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        services.library.facts.put(scope_of(services), [known(TEA)])
        with caplog.at_level("INFO", "proxy.memory.commands"):
            await ask(services, raw(user("Forget my zeppelin.")))
        assert await left(services) == [TEA]
        assert "an order to forget names nothing" in caplog.text
        assert "zeppelin" not in caplog.text


# --- whatever fails -------------------------------------------------------------------------------------------------


class HangingPlanner(Planner):
    async def plan(self, *_: Any) -> Any:
        await asyncio.Event().wait()


async def test_forty_are_obeyed_while_no_plan_is_ready_in_time(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.pipeline.chat.PLAN_DEADLINE", 0.01)
    users = [f"user-{number}" for number in range(40)]
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        services.planner.__class__ = HangingPlanner
        for name in users:
            services.library.facts.put(scope_of(services) + name, [known(NUTS), known(TEA)])
        answers = await asyncio.gather(*(ask(services, raw(FORGET, user=name)) for name in users))
        assert {(each.status, each.plan) for each in answers} == {(200, "fail-open;stage=plan")}
        after = [await services.library.facts.all(scope_of(services) + name) for name in users]
        assert [[fact.value for fact in each] for each in after] == [[TEA]] * 40


@pytest.mark.long
async def test_while_storage_refuses_it_no_prompt_has_it_and_then_it_is_done(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.pipeline.obeying.OBEY_DEADLINE", 0.05)
    store = Store()
    async with serving(in_front_of(upstream), facts=store) as services:
        store.put(scope_of(services), [known(NUTS), known(TEA)])
        await ask(services, raw(user("Is there anything I drink?")))
        assert NUTS in upstream.bodies()[0].decode()
        store.is_broken = True
        got = await answered(services, raw(FORGET))
        assert got.plan.endswith("stage=obey")
        assert total(services, "olvido_fail_open_total", stage="obey", reason="deadline") == 1
        assert NUTS not in upstream.bodies()[0].decode().replace(str(FORGET["content"]), "")
        assert NUTS in await left(services)
        await answered(services, raw(user("What must I not eat?")))
        assert NUTS not in upstream.bodies()[0].decode()
        store.is_broken = False
        await services.tasks.drain(5.0)
        assert (await left(services), len(services.library.orders)) == ([TEA], 0)


@pytest.mark.long
async def test_a_storage_that_hangs_holds_up_no_answer(upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.pipeline.obeying.OBEY_DEADLINE", 0.05)
    monkeypatch.setattr("proxy.pipeline.chat.PLAN_DEADLINE", 0.05)
    monkeypatch.setattr("proxy.memory.obedience.DEADLINE", 0.05)
    store = Store()
    async with serving(in_front_of(upstream), facts=store) as services:
        store.put(scope_of(services), [known(NUTS), known(TEA)])
        store.hangs = True
        assert (await answered(services, raw(FORGET))).status == 200
        store.hangs = False
        await services.tasks.drain(5.0)
        assert await left(services) == [TEA]


async def test_whose_memory_it_is_needs_no_storage(upstream: Upstream) -> None:
    def broken() -> None:
        raise OSError

    async with serving(in_front_of(upstream), **stores.remembering(), sessions=Sessions(look=broken)) as services:
        services.library.facts.put(scope_of(services), [known(NUTS), known(TEA)])
        await ask(services, raw(FORGET))
        assert await left(services) == [TEA]


async def test_what_was_said_a_moment_ago_and_is_being_learnt_is_forgotten_too(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        said = user("Remember that I'm allergic to nuts.")
        for each in (said, FORGET):
            await answered(services, raw(each))
        await services.tasks.drain(5.0)
        assert await left(services) == []


async def test_what_is_said_later_is_not_meant(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        services.library.facts.put(scope_of(services), [known(NUTS, created_at=NOW + 1)])
        await ask(services, raw(FORGET))
        assert await left(services) == [NUTS]


def test_a_command_is_told_from_the_newest_message_of_the_user() -> None:
    def what(*said: Said) -> list[str] | None:
        order = ordered(chat(*said), identity(chat(*said)), NOW)
        return None if order is None else [each.what for each in order.what]

    assert what(FORGET) == ["I'm allergic to nuts"]
    assert what(FORGET, user("hi")) is None
    assert what(assistant("hi")) is None
    assert what() is None


def test_with_everything_the_turns_of_its_own_history_are_meant_and_no_system_prompt() -> None:
    said = [system("Be brief."), user("hi"), assistant("hello"), WIPE, assistant("Well…", partial=True)]
    order = ordered(chat(*said), identity(chat(*said)), NOW)
    assert order is not None
    assert order.chain == identity(chat(*said)).chain[1:4]


# --- everything -----------------------------------------------------------------------------------------------------


async def test_a_wipe_takes_all_that_is_remembered_and_can_be_undone(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        scope = scope_of(services)
        services.library.facts.put(scope, [known(NUTS)])
        history = [user("My boat is called Marigold."), assistant("A fine name.")]
        await ask(services, raw(*history, user("hi")))
        await ask(services, raw(*history, user("hi"), assistant("hello"), WIPE))
        assert await left(services) == []
        assert (await services.library.archive.changes(scope, 0, NOW)).entries == ()
        (wiped,) = await services.library.wipes.wiped(NOW)
        assert (wiped.scope, wiped.facts, wiped.until) == (scope, 2, NOW + 7 * 86_400)
        upstream.bodies()
        await ask(services, raw(user("What must I not eat? What is my boat called?")))
        assert NUTS not in upstream.bodies()[0].decode()
        services.library.wipes.restore(scope, NOW)
        assert (await left(services))[0] == NUTS
        assert len(await left(services)) == 2
        assert len((await services.library.archive.changes(scope, 0, NOW)).entries) >= wiped.turns > 0


async def test_given_twice_it_takes_what_there_is_and_both_come_back(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        for value in (NUTS, TEA):
            services.library.facts.put(
                scope_of(services), [replace(known(value), created_at=known(value).created_at - 100)]
            )
            await ask(services, raw(WIPE))
            await ask(services, raw(WIPE))
        assert await left(services) == []
        services.library.wipes.restore(scope_of(services), NOW)
        assert await left(services) == [NUTS, TEA]


async def test_where_it_cannot_be_undone_it_is_gone(upstream: Upstream) -> None:
    settings = in_front_of(upstream, memory={"undo": 0})
    async with serving(settings, **stores.remembering()) as services:
        services.library.facts.put(scope_of(services), [known(NUTS)])
        await ask(services, raw(WIPE))
        assert (await left(services), await services.library.wipes.wiped(NOW)) == ([], [])


async def test_what_is_forgotten_by_itself_does_not_come_back_with_what_was_wiped(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream), **stores.remembering()) as services:
        # A wipe can be undone for a while by the clock, and these requests are of long ago.
        services.library.facts.put(scope_of(services), [known(NUTS), known(TEA)])
        at = time()
        services.library.wipes.wipe(scope_of(services), [], at=at, until=at + 60)
        await ask(services, raw(FORGET))
        services.library.wipes.restore(scope_of(services), at)
        assert await left(services) == [TEA]
