"""What a row claims: no saving where nothing was changed, and what was changed against what it would have cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from proxy.config import Upstream, price_for
from proxy.context.layout import unpack
from proxy.pipeline import ledger as ledger_row
from proxy.pipeline.ledger import Keeper, cost_of
from proxy.protocol import apis
from proxy.protocol.answers import find_usage
from proxy.protocol.message import message
from proxy.protocol.routes import usage_in
from proxy.tasks import Attempts
from proxy.types import (
    Contents,
    Delivery,
    DeskTrail,
    Directives,
    Exchange,
    Fates,
    LedgerRow,
    Mechanisms,
    Outcome,
    Plan,
    PlanKind,
    Price,
    PromptTokens,
    ReuseMiss,
    Round,
    Trail,
    Usage,
)
from proxy.types.desk import DeskPlan
from tests import stores
from tests.builders import assistant, chat, identity, incoming, messages, user

REQUEST = chat(user("What is a black hole?"))
PRICE = Price(input=1.0, cached=0.1, write=1.0, output=4.0)
MANAGED = Plan(
    "managed",
    PromptTokens(1_000, 400, repeated=900, busted=50, mechanisms=Mechanisms(window=700, summaries=100)),
    messages=messages(user("What is a black hole?")),
    trail=Trail(limit=4_000, turns=9, kept=3, start=12, newest=18),
)


def row(
    plan: Plan,
    usage: Usage | None,
    outcome: Outcome = "complete",
    *,
    price: Price = PRICE,
    rounds: tuple[Round, ...] = (),
    spent: float | None = None,
) -> LedgerRow:
    exchange = Exchange(
        incoming(REQUEST.raw), REQUEST, identity(REQUEST), Directives(), ReuseMiss("absent"), plan, "up", started=0.0
    )
    status = 200 if outcome == "complete" else 0
    delivery = Delivery(outcome, status, "up", "m", streamed=False, usage=usage, rounds=rounds)
    return ledger_row.forwarded(exchange, delivery, 7, price, Attempts(lambda _stage, _reason: None), 0.1, spent)


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        (Usage(400, 10), 300),  # as many as the plan has reckoned with
        (None, 300),
        (Usage(400, 10, reports_none_cached=True), 0),
        (Usage(400, 10, 0, written_tokens=400), 0),
        (Usage(400, 10, 200), 200),
    ],
)
def test_where_nobody_says_what_was_cached_ours_is_taken_for_as_well_cached_as_pass_through(
    usage: Usage | None, found: int
) -> None:
    plan = replace(MANAGED, tokens=replace(MANAGED.tokens, expected=300))
    got, answered = row(plan, usage), 10 if usage else 7
    passed = 100 * 1.0 + 900 * 0.1 + answered * 4.0
    ours = (400 - found) * 1.0 + found * 0.1 + answered * 4.0
    assert got.cost_saved == pytest.approx((passed - ours) / 1e6)
    # What is told to be paid stays what was reported.
    assert got.tokens_cached == (usage.cached_tokens if usage else 0)


@pytest.mark.parametrize("kind", ["untouched", "over-budget", "fail-open"])
@pytest.mark.parametrize("usage", [Usage(390, 10, 200), None])
def test_what_went_through_as_it_came_saves_nothing(kind: PlanKind, usage: Usage | None) -> None:
    got = row(Plan(kind, PromptTokens(1_000, 1_000)), usage)
    assert got.tokens_original == got.tokens_sent == (390 if usage else 1_000)
    assert (got.cost_saved, got.mechanisms, got.tokens_busted) == (0.0, {}, 0)


DESK = replace(
    MANAGED,
    trail=Trail(4_000, 9, 3, 12, 18, desk=DeskTrail(400, 8_000, 0.0625, "low", schemas=100)),
    desk=DeskPlan(has_tools=True, schemas=8, definitions=100),
)


@pytest.mark.parametrize(
    ("usage", "rounds", "schemas", "told"),
    [
        (Usage(390, 10, 0), [], 8, (1, 100 * 1.0)),
        (Usage(390, 10, 200), [], 8, (1, 100 * 0.1)),
        (Usage(390, 10, 60), [], 8, (1, 60 * 0.1 + 40 * 1.0)),
        (Usage(790, 20, 390), [Usage(390, 10), Usage(400, 10, 390)], 8, (2, 100 * 1.0 + 100 * 0.1)),
        (Usage(790, 20, 390), [Usage(390, 10), Usage(400, 10, 390)], 0, (2, 100 * 1.0)),  # at last without them
        (Usage(390, 10), [Usage(390, 10), None], 8, (2, 100 * 1.0)),
        (None, [], 8, (1, 100 * 1.0)),
    ],
)
def test_the_share_of_the_schemas_is_told_for_all_rounds(
    usage: Usage | None, rounds: Sequence[Usage | None], schemas: int, told: tuple[int, float]
) -> None:
    assert DESK.desk is not None
    plan = replace(DESK, desk=replace(DESK.desk, schemas=schemas))
    got = row(plan, usage, rounds=tuple(Round("up", each) for each in rounds))
    assert got.trail is not None
    assert got.trail.desk is not None
    assert got.trail.desk.rounds == told[0]
    assert got.trail.desk.cost == pytest.approx(told[1] / 1e6)
    assert got.trail.desk.cost < got.cost


def test_tools_that_went_nowhere_cost_nothing() -> None:
    got = row(DESK, None, "upstream_error")
    assert got.trail is not None
    assert got.trail.desk is not None
    assert got.trail.desk.cost == 0


def test_what_was_changed_is_compared_with_what_it_would_have_cost() -> None:
    got = row(MANAGED, Usage(390, 10, 200))
    assert (got.tokens_original, got.tokens_sent, got.tokens_cached, got.tokens_completion) == (1_000, 390, 200, 10)
    assert got.cost == pytest.approx((190 * 1.0 + 200 * 0.1 + 10 * 4.0) / 1e6)
    # The provider's cache would have held the 900 tokens that were sent before: that is not our saving.
    assert got.cost_saved == pytest.approx((100 * 1.0 + 900 * 0.1 + 10 * 4.0) / 1e6 - got.cost)
    assert (dict(got.mechanisms), got.tokens_busted, got.trail) == (
        {"window": 700, "summaries": 100},
        50,
        MANAGED.trail,
    )


def test_the_rounds_of_an_answer_are_one_row_and_only_the_clients_own_would_have_been_paid_without_us() -> None:
    rounds = (Round("up", Usage(390, 30, 200)), Round("up", Usage(450, 10, 390)))
    got = row(MANAGED, Usage(840, 40, 590), rounds=rounds)
    assert (got.tokens_original, got.tokens_sent, got.tokens_cached, got.tokens_completion) == (1_000, 840, 590, 40)
    assert got.cost == pytest.approx((250 * 1.0 + 590 * 0.1 + 40 * 4.0) / 1e6)
    assert got.cost_saved == pytest.approx((100 * 1.0 + 900 * 0.1 + 10 * 4.0) / 1e6 - got.cost)


def test_rounds_that_came_to_nothing_cost_more_than_the_clients_own_request() -> None:
    rounds = (Round("up", Usage(390, 30)), Round("up", None), Round("up", Usage(1_000, 10)))
    got = row(Plan("fail-open", PromptTokens(1_000, 1_000)), Usage(1_390, 40), rounds=rounds)
    assert (got.tokens_original, got.tokens_sent) == (1_000, 1_390)
    assert got.cost_saved == pytest.approx(-(390 * 1.0 + 30 * 4.0) / 1e6)


def test_rounds_of_several_upstreams_are_paid_at_their_own_prices() -> None:
    assert row(MANAGED, Usage(840, 40), spent=0.5).cost == 0.5


def test_rounds_whose_usage_nobody_tells_are_estimated() -> None:
    got = row(MANAGED, None, rounds=(Round("up", None), Round("up", None)))
    assert (got.tokens_sent, got.measured) == (800, False)


WRITTEN = Price(input=1.0, cached=0.1, write=1.25, output=4.0)


@pytest.mark.parametrize(
    ("usage", "cost", "passed_through"),
    [
        (Usage(390, 10, 200), 190 * 1.25, 100 * 1.25),  # not told: all that is new
        (Usage(390, 10, 200, written_tokens=190), 190 * 1.25, 100 * 1.25),
        (Usage(390, 10, 200, written_tokens=95), 95 * 1.25 + 95, 50 * 1.25 + 50),
        (Usage(390, 10, 200, written_tokens=0), 190, 100),
        (Usage(200, 10, 200, written_tokens=0), 0, 100),
    ],
)
def test_what_is_written_to_the_prefix_cache_costs_what_a_write_does(
    usage: Usage, cost: float, passed_through: float
) -> None:
    got = row(MANAGED, usage, price=WRITTEN)
    assert got.cost == pytest.approx((cost + 200 * 0.1 + 40) / 1e6)
    assert got.cost_saved == pytest.approx((passed_through + 900 * 0.1 + 40) / 1e6 - got.cost)


def claude(**counts: int) -> dict[str, Any]:
    """Usage as Anthropic tells it: `m5` and `h1` are tokens written for five minutes, and for an hour."""
    told = {"m5": 0, "h1": 0, **counts}
    return {
        "input_tokens": told["input"],
        "cache_read_input_tokens": told["read"],
        "cache_creation_input_tokens": told["m5"] + told["h1"],
        "cache_creation": {"ephemeral_5m_input_tokens": told["m5"], "ephemeral_1h_input_tokens": told["h1"]},
        "output_tokens": told["output"],
    }


# Dollars by hand, at the prices of platform.claude.com/docs/en/about-claude/pricing.
BILLS = [
    ("claude-opus-5", claude(input=1_000_000, read=0, output=0), 5.00),
    ("claude-opus-5", claude(input=0, read=1_000_000, output=0), 0.50),
    ("claude-opus-5", claude(input=0, read=0, m5=1_000_000, output=0), 6.25),
    ("claude-opus-5", claude(input=0, read=0, h1=1_000_000, output=0), 10.00),
    ("claude-opus-5", claude(input=0, read=0, output=1_000_000), 25.00),
    ("claude-opus-5", claude(input=21, read=188_086, output=393), 0.103973),
    ("claude-opus-5", claude(input=50, read=1_800, m5=248, h1=1_800, output=503), 0.033275),
    ("claude-opus-5-5", claude(input=100_000, read=200_000, m5=300_000, h1=400_000, output=50_000), 6.14),
    ("claude-fable-5-1", claude(input=0, read=1_000_000, m5=100_000, h1=100_000, output=0), 3.50),
    ("claude-haiku-4-5", claude(input=10, read=4_096, m5=4_096, output=100), 0.0060396),
]


@pytest.mark.parametrize(("model", "usage", "dollars"), BILLS)
def test_claude_costs_what_anthropic_bills(model: str, usage: dict[str, Any], dollars: float) -> None:
    upstream = Upstream.model_validate({"name": "up", "base_url": "http://x/v1", "dialect": "anthropic"})
    price = price_for(upstream, model)
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": usage}
    whole = msgspec.json.encode(message)
    told = apis.as_completion("messages", whole)
    assert told is not None
    reader = apis.reader_of("messages")
    begun = {**message, "usage": {**usage, "output_tokens": 1}}
    ended = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": usage["output_tokens"]}}
    reader.feed_all([msgspec.json.encode(each) for each in ({"type": "message_start", "message": begun}, ended)])
    for found in (find_usage(msgspec.json.decode(told)), reader.usage, usage_in(whole, b"")):
        assert found is not None
        assert cost_of(found, price) == pytest.approx(dollars, abs=1e-9)


@pytest.mark.parametrize(
    ("repeated", "is_unwritten", "usage", "passed_through"),
    [
        (900, False, Usage(390, 10, 200, written_tokens=190), 900 * 0.1 + 100 * 1.25),
        (900, False, Usage(390, 10, 200, written_tokens=190, written_for_an_hour=190), 900 * 0.1 + 100 * 2),
        (0, True, Usage(390, 10, 200, written_tokens=190), 1_000),  # the client asks for no cache
        (300, True, Usage(390, 10, 200, written_tokens=190), 300 * 0.1 + 700),  # of its instructions alone
    ],
)
def test_what_was_saved_is_told_against_what_the_clients_own_breakpoints_would_have_cost(
    repeated: int, is_unwritten: bool, usage: Usage, passed_through: float
) -> None:
    tokens = replace(MANAGED.tokens, repeated=repeated, is_unwritten=is_unwritten)
    got = row(replace(MANAGED, tokens=tokens), usage, price=replace(WRITTEN, write_hour=2.0))
    assert got.cost_saved == pytest.approx((passed_through + 40) / 1e6 - got.cost)


def test_what_made_a_request_dearer_is_held_against_us() -> None:
    assert row(replace(MANAGED, tokens=replace(MANAGED.tokens, repeated=1_000)), Usage(390, 10, 0)).cost_saved < 0


@pytest.mark.parametrize("outcome", ["upstream_error", "our_error"])
def test_what_was_not_answered_cost_and_saved_nothing(outcome: Outcome) -> None:
    got = row(MANAGED, None, outcome)
    assert (got.cost, got.cost_saved, got.tokens_sent, got.tokens_original, got.mechanisms) == (0.0, 0.0, 0, 0, {})


REQUEST_KEEP = chat(user("What is a black hole?"), assistant("A region."), user("And a red dwarf?"))
UNTOUCHED = Plan("untouched", PromptTokens(30, 30))
FATES = Fates(preamble=0, left=2, start=2, newest=2)
MANAGED_KEEP = Plan("managed", PromptTokens(30, 10), messages=messages(user("And a red dwarf?")), fates=FATES)
ANSWER = assistant("A small star.")


async def kept(
    plan: Plan = UNTOUCHED,
    directives: Directives | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    *,
    is_forgotten: bool = False,
) -> Contents | None:
    contents = stores.contents()
    who = identity(REQUEST_KEEP)
    exchange = Exchange(
        replace(incoming(REQUEST_KEEP.raw), headers=headers),
        REQUEST_KEEP,
        who,
        directives or Directives(),
        ReuseMiss("absent"),
        plan,
        "up",
        started=0.0,
    )
    asked: list[tuple[str, tuple[bytes, ...]]] = []

    def has_forgotten(scope: str, links: Sequence[bytes]) -> bool:
        asked.append((scope, tuple(links)))
        return is_forgotten

    Keeper(contents, has_forgotten).keep(exchange, [message(ANSWER)])
    assert asked in ([], [(who.memory, who.chain)])
    return await contents.get(who.scope.id, exchange.incoming.request_id)


async def test_an_untouched_request_is_kept_as_the_client_sent_it_and_the_answer_with_it() -> None:
    found = await kept()
    assert found is not None
    assert (found.body, found.sent, found.fates) == (REQUEST_KEEP.raw, b"", b"")
    assert msgspec.json.decode(found.answer) == ANSWER


async def test_of_a_managed_one_what_went_upstream_is_kept_and_the_fates_of_its_messages() -> None:
    found = await kept(MANAGED_KEEP)
    assert found is not None
    assert msgspec.json.decode(found.sent) == [user("And a red dwarf?")]
    assert unpack(found.fates) == FATES


@pytest.mark.parametrize(
    ("directives", "is_forgotten"),
    [(Directives(remember=False), False), (Directives(mode="off"), False), (Directives(), True)],
)
async def test_what_must_not_be_remembered_is_not_kept(directives: Directives, is_forgotten: bool) -> None:
    assert await kept(directives=directives, is_forgotten=is_forgotten) is None


async def test_no_header_that_may_carry_a_key_is_kept() -> None:
    names = ("authorization", "api-key", "x-api-key", "cookie", "proxy-authorization", "x-goog-api-key", "traceparent")
    ours = (("x-olvido-session", "s"), ("user-agent", "openai-python"))
    found = await kept(headers=(*((name, "sk-secret") for name in names), *ours))
    assert found is not None
    assert found.headers == dict(ours)
