"""Requests of a log, one after the other through the pipeline; whole logs, and what they would come to under other
numbers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proxy.config import Config
from proxy.embedding import EmbeddingOff, EmbeddingUnavailable, Vectors
from proxy.protocol.message import message
from proxy.replay.running import CachingEmbedder, Replay, at_ratio, open_resources, replay_config, replayed, replaying
from proxy.storage.opening import DATABASE
from tests.builders import assistant, config, left_out, user
from tests.replay.logs import AT, FACT, MODEL, by_words, conversation, log_of, logged, priced, requests

LOG = [*log_of("es", 30), *log_of("en", 30)]


@pytest.mark.long
async def test_a_log_of_two_conversations_is_cheaper_and_at_no_point_much_dearer() -> None:
    seen: list[tuple[int, int]] = []
    async with by_words() as resources:
        report = await replayed(
            LOG, priced(), resources=resources, ratios=(0.1, 1.0), progress=lambda done, of: seen.append((done, of))
        )
    assert (report.total.requests, report.total.conversations, report.embedding) == (62, 2, "")
    assert report.total.fail_open == report.total.over_budget == 0
    assert report.total.ratio < 1
    assert report.total.worst <= 1.1
    assert report.at_ratios[1.0].ratio < report.at_ratios[0.1].ratio <= 1.02
    assert report.at_ratios[1.0].costs.full == report.total.tokens_full
    assert seen == [(done, 186) for done in range(1, 187)]
    times = [each.at for each in report.requests]
    assert times == sorted(times)


async def test_the_same_requests_come_to_the_same() -> None:
    async with by_words() as resources:
        once, again = [await replayed(LOG[:20], priced(), resources=resources, ratios=(0.25,)) for _ in range(2)]
    assert once == again


async def test_a_number_of_the_profile_changes_what_would_be_sent() -> None:
    async with by_words() as resources:
        wide = await replayed(LOG, priced(), resources=resources, ratios=())
        narrow = await replayed(LOG, priced(profiles={"lean": {"budget": 900}}), resources=resources, ratios=())
    assert max(each.tokens_sent for each in narrow.requests) <= 900 < max(each.tokens_sent for each in wide.requests)


async def test_requests_without_times_or_answers_are_a_conversation_all_the_same() -> None:
    given = [logged(told) for told in requests(conversation("es", 30))]
    async with by_words() as resources:
        report = await replayed(given, priced(), resources=resources, ratios=(), now=1_000.0)
    assert report.total.conversations == 1
    assert report.requests[0].at == 1_000.0
    assert report.total.mechanisms.window > 0


async def test_nothing_is_kept_and_context_is_managed_whatever_the_configuration_says(tmp_path: Path) -> None:
    settings = priced(storage={"path": tmp_path / "kept"}, context={"mode": "off"})
    async with by_words() as resources:
        report = await replayed(LOG, settings, resources=resources, ratios=())
    assert report.total.mechanisms.window > 0
    assert not (tmp_path / "kept" / DATABASE).exists()
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("dialect", ["kimi", "vllm", "generic"])
@pytest.mark.parametrize("cache", ["assumed", "none"])
def test_at_a_ratio_every_upstream_has_a_prefix_cache_and_that_price(dialect: str, cache: str) -> None:
    entry = {"name": "up", "base_url": "http://127.0.0.1:1/v1", "dialect": dialect, "cache": cache}
    (upstream,) = at_ratio(priced(upstreams=[entry]), 0.1).upstreams
    assert (upstream.dialect, upstream.cache) == (dialect, "assumed")
    assert upstream.price is not None
    assert (upstream.price.input, upstream.price.cached, upstream.price.write) == (1, 0.1, None)


# --- one request after the other --------------------------------------------------------------------------------------


@asynccontextmanager
async def replay(config: Config | None = None) -> AsyncIterator[Replay]:
    async with by_words() as resources, replaying(replay_config(config or priced()), resources) as made:
        yield made


@pytest.mark.parametrize("lang", ["es", "en"])
async def test_a_conversation_is_recognised_and_folded_once_that_pays(lang: str) -> None:
    async with replay() as through:
        rows = [await through.take(each, number, details=True) for number, each in enumerate(log_of(lang, 40))]
    assert len({row.conversation for row in rows}) == 1
    assert [row.kind for row in rows[:2]] == ["untouched", "untouched"]
    last = rows[-1]
    assert (last.kind, last.model, last.ratio, last.price) == ("managed", MODEL, 0.2, 1.0)
    assert last.tokens_sent < last.tokens_full / 2
    done = left_out(last.mechanisms) - last.mechanisms.added
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
    given = log_of(lang, 26)  # no question before calls for it, after which it would stay in the prompt
    asked = logged([*conversation(lang, 27)[:-1], user(question)], at=AT + 2_000, key=lang)
    async with replay() as through:
        rows = [await through.take(each, number, details=True) for number, each in enumerate([*given, asked])]
    last = rows[-1].inside
    assert last is not None
    assert answer in last.volatile
    assert FACT[lang].startswith(last.messages[1].begins)
    assert last.messages[1].fate in ("recalled", "left out")


async def test_a_named_session_may_send_only_what_is_new() -> None:
    named = (("x-olvido-session", "s"),)
    first = logged([user("a " * 50)], at=AT, headers=named, answer=message(assistant("b " * 50)))
    async with replay() as through:
        before = await through.take(first, 0, details=False)
        after = await through.take(logged([user("c")], at=AT + 1, headers=named), 1, details=False)
    assert before.conversation == after.conversation
    assert after.tokens_full > before.tokens_full + 50


async def test_a_log_that_begins_amid_a_tool_loop_is_replayed_all_the_same() -> None:
    result: Any = {"role": "tool", "tool_call_id": "nobody", "content": "done"}
    async with replay() as through:
        row = await through.take(logged([result], at=AT, headers=(("x-olvido-session", "s"),)), 0, details=False)
    assert row.tokens_sent == row.tokens_full > 0


async def test_customers_share_nothing() -> None:
    said = logged([user("the same")], at=AT, key="one")
    async with replay() as through:
        one = await through.take(said, 0, details=False)
        other = await through.take(logged([user("the same")], at=AT, key="two"), 1, details=False)
    assert one.conversation != other.conversation
    assert one.costs == other.costs  # nothing of the first is held for the second


@pytest.mark.parametrize(("mode", "kind"), [("meter", "managed"), ("off", "untouched")])
async def test_who_only_measured_sees_what_would_have_been_and_who_wanted_nothing_nothing(mode: str, kind: str) -> None:
    headers = (("x-olvido-mode", mode),)
    given = [logged(told, at=AT + number, headers=headers) for number, told in enumerate([conversation("es", 60)] * 2)]
    async with replay() as through:
        rows = [await through.take(each, number, details=False) for number, each in enumerate(given)]
    assert rows[-1].kind == kind


async def test_what_the_upstream_would_refuse_anyway_is_sent_as_it_was_above_the_budget_or_not() -> None:
    odd: Any = {"role": "tool", "tool_call_id": "nobody", "content": "done"}
    told = conversation("en", 60)
    async with replay() as through:
        row = await through.take(logged([*told, odd], at=AT), 0, details=True)
    assert (row.kind, row.reason) == ("over-budget", "")
    assert row.tokens_sent == row.tokens_full


async def test_the_prefix_cache_is_on_every_side() -> None:
    told = conversation("en", 4)
    async with replay(priced(cached=0.5)) as through:
        first = await through.take(logged(told, at=AT), 0, details=False)
        again = await through.take(logged(told, at=AT + 100), 1, details=False)
        late = await through.take(logged(told, at=AT + 1000), 2, details=False)
    assert first.costs.full == first.tokens_full
    assert again.costs.full == first.tokens_full - 256 * 0.5 * (first.tokens_full // 256)
    assert late.costs == first.costs


@pytest.mark.usefixtures("embedding_folder")
async def test_it_is_there_once_texts_can_be_embedded() -> None:
    async with open_resources(config(storage={"kind": "memory"})) as resources:
        assert resources.embedder.state == "ready"
        assert (await resources.embedder.embed(["hola"])).shape == (1, 384)
        assert resources.counter.text("hola") == 1
    with pytest.raises(EmbeddingUnavailable):
        await resources.embedder.embed(["adiós"])


async def test_without_embedding_nothing_is_loaded() -> None:
    async with open_resources(config(storage={"kind": "memory"}), embedding=False) as resources:
        assert resources.embedder.state == "off"


async def test_a_model_that_does_not_come_is_not_waited_for() -> None:
    settings = config(storage={"kind": "memory"}, embedding={"model": "m", "base_url": "http://127.0.0.1:1/v1"})
    async with open_resources(settings) as resources:
        assert resources.embedder.state == "failed"


class Lengths(EmbeddingOff):
    """Embeds a text as its length."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text)] for text in texts], np.float32).reshape(-1, 1)


async def test_a_text_that_is_known_is_not_embedded_again() -> None:
    behind = Lengths()
    memo = CachingEmbedder(behind)
    assert (await memo.embed(["a", "bb", "a"])).tolist() == [[1], [2], [1]]
    assert (await memo.embed(["bb", "ccc"])).tolist() == [[2], [3]]
    assert behind.asked == ["a", "bb", "ccc"]
    assert (await memo.embed([])).shape == (0, 1)


async def test_the_oldest_leave() -> None:
    behind = Lengths()
    memo = CachingEmbedder(behind, most=1)
    assert (await memo.embed(["a", "bb"])).tolist() == [[1], [2]]
    await memo.embed(["bb", "a"])
    assert behind.asked == ["a", "bb", "a"]


async def test_what_cannot_be_embedded_is_told_as_the_one_behind_tells_it() -> None:
    memo = CachingEmbedder(EmbeddingOff())
    assert (memo.state, memo.version, memo.detail) == ("off", "", "")
    with pytest.raises(EmbeddingUnavailable):
        await memo.embed(["a"])
