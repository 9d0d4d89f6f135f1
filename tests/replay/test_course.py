"""One request after the other through the real stages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proxy.config import Config
from proxy.replay.course import Course
from proxy.replay.running import aside
from proxy.storage.opening import open_storage
from proxy.tasks import Tasks
from proxy.wire.request import message
from tests.builders import assistant, user
from tests.replay.logs import AT, FACT, MODEL, by_words, conversation, log_of, logged, priced


@asynccontextmanager
async def course(config: Config | None = None) -> AsyncIterator[Course]:
    config = aside(config or priced())
    async with by_words() as means:
        made = Course(config, means, await open_storage(config, Tasks()))
        try:
            yield made
        finally:
            await made.close()


@pytest.mark.parametrize("lang", ["es", "en"])
async def test_a_conversation_is_recognised_and_folded_once_that_pays(lang: str) -> None:
    async with course() as through:
        rows = [await through.take(each, number, details=True) for number, each in enumerate(log_of(lang, 40))]
    assert len({row.conversation for row in rows}) == 1
    assert [row.kind for row in rows[:2]] == ["untouched", "untouched"]
    last = rows[-1]
    assert (last.kind, last.model, last.ratio, last.price) == ("managed", MODEL, 0.2, 1.0)
    assert last.tokens_sent < last.tokens_full / 2
    done = last.mechanisms.left_out - last.mechanisms.added
    assert last.tokens_full - last.tokens_sent == pytest.approx(
        done, abs=8
    )  # planning reckons a block's frame generously
    assert last.inside is not None
    assert last.inside.head.startswith("<memory>")
    assert {seen.fate for seen in last.inside.messages} >= {"kept", "folded", "left out"}
    assert [seen.fate for seen in last.inside.messages][:: len(last.inside.messages) - 1] == ["kept", "kept"]


@pytest.mark.parametrize(
    ("lang", "question", "answer"),
    [("es", "¿A qué soy alérgico?", "nueces"), ("en", "What did I say that I am allergic to?", "walnuts")],
)
async def test_what_was_said_long_ago_comes_back_with_the_question_for_it(
    lang: str, question: str, answer: str
) -> None:
    given = log_of(lang, 40)
    asked = logged([*conversation(lang, 41)[:-1], user(question)], at=AT + 2_000, key=lang)
    async with course() as through:
        rows = [await through.take(each, number, details=True) for number, each in enumerate([*given, asked])]
    last = rows[-1].inside
    assert last is not None
    assert answer in last.volatile
    assert FACT[lang].startswith(last.messages[1].begins)
    assert last.messages[1].fate in ("recalled", "left out")


async def test_a_named_session_may_send_only_what_is_new() -> None:
    named = (("x-olvido-session", "s"),)
    first = logged([user("a " * 50)], at=AT, headers=named, answer=message(assistant("b " * 50)))
    async with course() as through:
        before = await through.take(first, 0, details=False)
        after = await through.take(logged([user("c")], at=AT + 1, headers=named), 1, details=False)
    assert before.conversation == after.conversation
    assert after.tokens_full > before.tokens_full + 50


async def test_a_log_that_begins_amid_a_tool_loop_is_replayed_all_the_same() -> None:
    result: Any = {"role": "tool", "tool_call_id": "nobody", "content": "done"}
    async with course() as through:
        row = await through.take(logged([result], at=AT, headers=(("x-olvido-session", "s"),)), 0, details=False)
    assert row.tokens_sent == row.tokens_full > 0


async def test_customers_share_nothing() -> None:
    said = logged([user("the same")], at=AT, key="one")
    async with course() as through:
        one = await through.take(said, 0, details=False)
        other = await through.take(logged([user("the same")], at=AT, key="two"), 1, details=False)
    assert one.conversation != other.conversation
    assert one.costs == other.costs  # nothing of the first is held for the second


@pytest.mark.parametrize(("mode", "kind"), [("meter", "managed"), ("off", "untouched")])
async def test_who_only_measured_sees_what_would_have_been_and_who_wanted_nothing_nothing(mode: str, kind: str) -> None:
    headers = (("x-olvido-mode", mode),)
    given = [logged(told, at=AT + number, headers=headers) for number, told in enumerate([conversation("es", 60)] * 2)]
    async with course() as through:
        rows = [await through.take(each, number, details=False) for number, each in enumerate(given)]
    assert rows[-1].kind == kind


async def test_what_the_upstream_would_refuse_anyway_is_sent_as_it_was_above_the_budget_or_not() -> None:
    odd: Any = {"role": "tool", "tool_call_id": "nobody", "content": "done"}
    told = conversation("en", 60)
    async with course() as through:
        row = await through.take(logged([*told, odd], at=AT), 0, details=True)
    assert (row.kind, row.reason) == ("over-budget", "")
    assert row.tokens_sent == row.tokens_full


async def test_the_prefix_cache_is_on_every_side() -> None:
    told = conversation("en", 4)
    async with course(priced(cached=0.5)) as through:
        first = await through.take(logged(told, at=AT), 0, details=False)
        again = await through.take(logged(told, at=AT + 100), 1, details=False)
        late = await through.take(logged(told, at=AT + 1000), 2, details=False)
    assert first.costs.full == first.tokens_full
    assert again.costs.full == first.tokens_full - 256 * 0.5 * (first.tokens_full // 256)
    assert late.costs == first.costs
