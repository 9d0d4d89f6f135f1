"""Whole logs, and what the same requests would come to under other numbers."""

from pathlib import Path

import pytest

from proxy.replay.running import at_ratio, replayed
from proxy.storage.opening import DATABASE
from tests.replay.logs import by_words, conversation, log_of, logged, priced, requests

LOG = [*log_of("es", 30), *log_of("en", 30)]


async def test_a_log_of_two_conversations_is_cheaper_and_at_no_point_much_dearer() -> None:
    seen: list[tuple[int, int]] = []
    async with by_words() as means:
        report = await replayed(
            LOG, priced(), means=means, ratios=(0.1, 1.0), progress=lambda done, of: seen.append((done, of))
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
    async with by_words() as means:
        once, again = [await replayed(LOG[:20], priced(), means=means, ratios=(0.25,)) for _ in range(2)]
    assert once == again


async def test_a_number_of_the_profile_changes_what_would_be_sent() -> None:
    async with by_words() as means:
        wide = await replayed(LOG, priced(), means=means, ratios=())
        narrow = await replayed(LOG, priced(profiles={"lean": {"budget": 900}}), means=means, ratios=())
    assert max(each.tokens_sent for each in narrow.requests) <= 900 < max(each.tokens_sent for each in wide.requests)


async def test_requests_without_times_or_answers_are_a_conversation_all_the_same() -> None:
    given = [logged(told) for told in requests(conversation("es", 30))]
    async with by_words() as means:
        report = await replayed(given, priced(), means=means, ratios=(), now=1_000.0)
    assert report.total.conversations == 1
    assert report.requests[0].at == 1_000.0
    assert report.total.mechanisms.window > 0


async def test_nothing_is_kept_and_context_is_managed_whatever_the_configuration_says(tmp_path: Path) -> None:
    settings = priced(storage={"path": tmp_path / "kept"}, context={"mode": "off"})
    async with by_words() as means:
        report = await replayed(LOG, settings, means=means, ratios=())
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
