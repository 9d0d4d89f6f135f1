"""After the answer: what it cost, in a row that the metrics agree with; what is remembered; who was waiting."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.learn import Learner
from proxy.memory.library import Library
from proxy.memory.obedience import Obedience
from proxy.observe.metrics import Metrics
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.record import INLINE_JSON_BYTES, Recorder
from proxy.storage.answers import MemoryAnswers
from proxy.storage.shared import SharedState
from proxy.storage.shared.learnt import MISSES
from proxy.storage.shared.local import local_state
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.sessions import SqliteSessions, SqliteStates
from proxy.tasks import Attempts, Tasks
from proxy.tokens import RoughCounter
from proxy.types import (
    Asked,
    Delivery,
    Directives,
    Exchange,
    LedgerRow,
    Outcome,
    Plan,
    PromptTokens,
    ReuseHit,
    ReuseMiss,
    StoredAnswer,
    Usage,
)
from proxy.upstream.client import Router, Upstream
from tests import stores
from tests.builders import (
    NOW,
    assistant,
    chat,
    completion,
    counter,
    identity,
    incoming,
    links,
    stored,
    upstream_config,
    user,
)
from tests.stores import AtOnce, nothing_on_record

PRICE = {"input": 1.0, "cached": 0.1, "write": 1.25, "output": 4.0}
UP, FREE = Upstream(upstream_config(price=PRICE)), Upstream(upstream_config("free"))
REQUEST = chat(user("What is a black hole? " * 20))
PLAN = Plan("untouched", PromptTokens(100, 100, rough=100))


def counted(**tokens: Any) -> Plan:
    return replace(PLAN, tokens=replace(PLAN.tokens, **tokens))


KEY = "k" * 64

_ids = count()


class Sessions(SqliteSessions):
    """As strict as those on disk, whose queue belongs to the event loop."""

    def __init__(self) -> None:
        super().__init__(AtOnce())

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        asyncio.get_running_loop()
        super().remember(scope, session, chain, start, at)


@dataclass
class House:
    """A recorder, and everything that it writes to."""

    ledger: SqliteLedger = field(default_factory=stores.ledger)
    sessions: SqliteSessions = field(default_factory=Sessions)
    answers: MemoryAnswers = field(default_factory=MemoryAnswers)
    metrics: Metrics = field(default_factory=Metrics)
    shared: SharedState = field(default_factory=local_state)
    tasks: Tasks = field(default_factory=Tasks)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    facts: SqliteFacts = field(default_factory=stores.facts)
    states: SqliteStates = field(default_factory=stores.states)
    remembered: list[tuple[Asked, StoredAnswer, str | None]] = field(default_factory=list)

    @cached_property
    def library(self) -> Library:
        return Library(self.facts, stores.archive(ttl=60.0), self.states, stores.wipes(), self.executor, self.tasks)

    async def remember(self, exchange: Exchange, asked: Asked, answer: StoredAnswer, key: str | None) -> None:
        self.remembered.append((asked, answer, key))

    @property
    def recorder(self) -> Recorder:
        learner = Learner(self.library, self.executor, self.tasks, self.shared.open_turns)
        return Recorder(
            answered=AnsweredScopes(nothing_on_record),
            storage=stores.storage(ledger=self.ledger, sessions=self.sessions, answers=self.answers),
            shared=self.shared,
            counter=counter(),
            metrics=self.metrics,
            router=Router([UP, FREE], reject_unknown=False),
            remember=self.remember,
            learner=learner,
            obedience=Obedience(self.library, self.tasks, learner.learning, is_answered=nothing_on_record),
            tasks=self.tasks,
            executor=self.executor,
            ttl=60.0,
        )

    async def delivered(self, delivery: Delivery, exchange: Exchange | None = None) -> LedgerRow:
        """The row of a request that this became of."""
        exchange = exchange or passing()
        self.recorder.delivered(exchange, delivery, Attempts(self.metrics.failed_open))
        return await self._row(exchange)

    async def reused(self, hit: ReuseHit, exchange: Exchange | None = None) -> LedgerRow:
        exchange = exchange or passing()
        self.recorder.reused(exchange, hit, Attempts(self.metrics.failed_open))
        return await self._row(exchange)

    async def _row(self, exchange: Exchange) -> LedgerRow:
        assert await self.tasks.drain(5.0) == 0
        rows = await self.ledger.recent(exchange.identity.scope.id)
        return next(row for row in rows if row.request_id == exchange.incoming.request_id)

    def total(self, name: str, **labels: str) -> float:
        return sum(
            sample.value
            for family in self.metrics.registry.collect()
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def close(self) -> None:
        self.executor.shutdown()


@pytest.fixture
async def house() -> AsyncIterator[House]:
    opened = House()
    yield opened
    opened.close()


def passing(**differing: Any) -> Exchange:
    exchange = Exchange(
        incoming(REQUEST.raw, request_id=f"req_{next(_ids)}"),
        REQUEST,
        identity(REQUEST),
        Directives(),
        ReuseMiss("absent", KEY),
        PLAN,
        "up",
        started=0.0,
    )
    return replace(exchange, **differing)


def whole(answer: Mapping[str, Any] | None = None, **differing: Any) -> Delivery:
    """A JSON answer, as its bytes; `differing` are fields of the delivery."""
    raw = msgspec.json.encode(completion() if answer is None else answer)
    delivery = Delivery("complete", 200, "up", "m", streamed=False, raw_completion=raw, upstream_seconds=1.5)
    return replace(delivery, **differing)


def streamed(answer: Mapping[str, Any] | None = None, **differing: Any) -> Delivery:
    delivery = Delivery("complete", 200, "up", "m", streamed=True, completion=answer or completion())
    return replace(delivery, usage=Usage(9, 3), **differing)


def using(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {**completion(), "usage": usage}


# --- what it cost ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"prompt_tokens": 1_000_000, "completion_tokens": 0}, 1.25),  # all of it is new, and is written
        ({"prompt_tokens": 0, "completion_tokens": 1_000_000}, 4.0),
        ({"prompt_tokens": 1_000_000, "completion_tokens": 0, "cached_tokens": 1_000_000}, 0.1),
        (
            {
                "prompt_tokens": 1_000_000,
                "completion_tokens": 500_000,
                "prompt_tokens_details": {"cached_tokens": 600_000},
            },
            0.06 + 0.5 + 2.0,
        ),
    ],
)
async def test_an_answer_costs_what_its_usage_says(usage: Mapping[str, int], cost: float, house: House) -> None:
    row = await house.delivered(whole(using(usage)))
    assert row.cost == pytest.approx(cost)
    assert row.measured
    assert row.tokens_original == row.tokens_sent == row.tokens_billed == usage["prompt_tokens"]
    assert row.tokens_completion == usage["completion_tokens"]
    assert house.total("olvido_cost_dollars_total") == pytest.approx(cost)


async def test_without_a_price_it_costs_nothing_that_we_know_of(house: House) -> None:
    row = await house.delivered(whole(upstream="free"), passing(upstream="free"))
    assert (row.cost, row.tokens_billed) == (0.0, 9)


TEXT = "The archive holds what the window has let go."
UNTOLD = {key: value for key, value in completion(TEXT).items() if key != "usage"}
PARTIAL = {"choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}}]}


@pytest.mark.note("4/5")
@pytest.mark.parametrize(
    ("delivery", "billed", "generated"),
    [
        (whole(UNTOLD), 100, counter().text(TEXT)),
        (streamed(UNTOLD), 100, counter().text(TEXT)),
        (streamed(UNTOLD, outcome="client_gone", completion=None, partial=PARTIAL), 100, counter().text(TEXT)),
        (streamed(UNTOLD, outcome="upstream_broken", completion=None, partial=PARTIAL), 100, counter().text(TEXT)),
        (whole(outcome="client_gone", raw_completion=None), 100, 0),
        (whole(outcome="upstream_error", status=500), 0, 0),
        (whole(outcome="upstream_error", status=504, raw_completion=None), 0, 0),
        (whole(outcome="our_error", status=0, raw_completion=None), 0, 0),
    ],
)
async def test_what_the_upstream_does_not_tell_is_estimated_unless_nothing_was_billed(
    delivery: Delivery, billed: int, generated: int, house: House
) -> None:
    row = await house.delivered(replace(delivery, usage=None))
    assert not row.measured
    assert (row.tokens_billed, row.tokens_completion) == (billed, generated)
    assert row.cost == pytest.approx((billed * 1.25 + generated * 4.0) / 1e6)
    assert (row.outcome, row.status) == (delivery.outcome, delivery.status)


async def test_thinking_is_generated_too(house: House) -> None:
    thought = {"role": "assistant", "reasoning_content": TEXT, "content": TEXT}
    told = {"choices": [{"index": 0, "message": thought, "finish_reason": "stop"}]}
    row = await house.delivered(whole(told))
    assert row.tokens_completion == counter().text(f"{TEXT}\n{TEXT}")


async def test_what_was_reused_cost_nothing_and_saved_what_the_providers_cache_would_not_have(house: House) -> None:
    answer = replace(stored(), usage=Usage(1_000_000, 500_000, cached_tokens=0))
    row = await house.reused(ReuseHit("exact", KEY, answer))
    assert (row.source, row.cost, row.tokens_sent, row.tokens_billed) == ("exact", 0.0, 0, 0)
    assert (row.tokens_original, row.tokens_completion) == (1_000_000, 500_000)
    assert row.cost_saved == pytest.approx(0.1 + 2.0)
    assert house.total("olvido_saved_cost_dollars_total") == pytest.approx(row.cost_saved)
    assert house.total("olvido_saved_tokens_total") == 1_500_000


async def test_of_an_answer_without_usage_no_saving_is_claimed(house: House) -> None:
    row = await house.reused(ReuseHit("exact", KEY, replace(stored(), usage=None)))
    assert (row.measured, row.cost_saved, row.tokens_original) == (False, 0.0, 0)


@pytest.mark.parametrize(
    ("expected", "usage", "by", "shown"),
    [
        (3_000, {"cached_tokens": 0}, "up", True),
        (3_000, {}, "up", False),
        (100, {"cached_tokens": 0}, "up", False),
        (3_000, {"cached_tokens": 0}, "free", False),  # a fallback: it has not seen what the prompt begins with
    ],
)
async def test_an_upstream_that_never_finds_what_it_has_seen_has_no_prefix_cache(
    expected: int, usage: Mapping[str, int], by: str, house: House, *, shown: bool
) -> None:
    told = using({"prompt_tokens": 3_500, "completion_tokens": 3, **usage})
    for _ in range(MISSES):
        assert not house.shared.calibrations.caches.shows_none(by, REQUEST.model)
        await house.delivered(whole(told, upstream=by), passing(plan=counted(expected=expected)))
    assert house.shared.calibrations.caches.shows_none(by, REQUEST.model) is shown


_usages = st.none() | st.builds(
    lambda prompt, cached, generated: Usage(prompt + cached, generated, cached_tokens=cached),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
_ends = st.tuples(st.sampled_from(get_args(Outcome)), st.sampled_from([0, 200, 404, 502]), _usages, st.booleans())


@given(st.lists(_ends, max_size=6))
def test_the_metrics_are_the_ledgers_sums(ends: list[tuple[Outcome, int, Usage | None, bool]]) -> None:
    async def play() -> None:
        house = House()
        rows = []
        for outcome, status, usage, reused in ends:
            if reused:
                rows.append(await house.reused(ReuseHit("exact", KEY, replace(stored(), usage=usage))))
            else:
                ended = Delivery(outcome, status, "up", "m", streamed=True, usage=usage, upstream_seconds=0.5)
                rows.append(await house.delivered(ended))
        house.close()
        paid = [row for row in rows if row.source == "upstream"]
        assert house.total("olvido_requests_total") == len(rows)
        assert house.total("olvido_cost_dollars_total") == pytest.approx(sum(row.cost for row in rows))
        assert house.total("olvido_saved_cost_dollars_total") == pytest.approx(sum(row.cost_saved for row in rows))
        for kind in ("original", "sent", "cached", "billed"):
            expected = sum(getattr(row, f"tokens_{kind}") for row in rows)
            assert house.total("olvido_tokens_total", kind=kind) == expected
        assert house.total("olvido_tokens_total", kind="completion") == sum(row.tokens_completion for row in paid)

    asyncio.run(play())


# --- what is learnt -------------------------------------------------------------------------------------------------


async def test_the_upstreams_count_calibrates_ours(house: House) -> None:
    rough = RoughCounter().request(REQUEST)
    await house.delivered(
        whole(using({"prompt_tokens": 2 * rough, "completion_tokens": 1})),
        passing(plan=counted(rough=rough)),
    )
    assert house.shared.calibrations.rough.factor("up", REQUEST.model) == pytest.approx(2.0)
    assert house.shared.calibrations.exact.factor("up", REQUEST.model) is None  # it was not counted by the ranks


async def test_so_it_does_what_the_ranks_counted_of_what_was_sent(house: House) -> None:
    answer = whole(using({"prompt_tokens": 300, "completion_tokens": 1}))
    await house.delivered(answer, passing(plan=counted(rough=1_000, counted=200)))
    assert house.shared.calibrations.exact.factor("up", REQUEST.model) == pytest.approx(1.5)


async def known(house: House, exchange: Exchange, *said: Mapping[str, Any]) -> int:
    """How many messages of this history, continued by `said`, are known."""
    chain = links(exchange.identity.scope.id, [*(message.data for message in REQUEST.messages), *said])
    prefix = await house.sessions.longest_prefix(exchange.identity.scope.id, chain)
    return prefix.length if prefix else 0


@pytest.mark.parametrize("delivery", [whole(), streamed()])
async def test_the_next_request_of_the_conversation_will_be_known_by_the_answer(
    delivery: Delivery, house: House
) -> None:
    exchange = passing()
    house.recorder.delivered(exchange, delivery, Attempts(house.metrics.failed_open))
    # Before anything else is waited for: the client may go on at once.
    assert await known(house, exchange, assistant("hello"), user("and?")) == 2
    await house.tasks.drain(5.0)


@pytest.mark.parametrize(
    ("delivery", "exchange", "length"),
    [
        (whole(status=500, outcome="upstream_error"), passing(), 0),
        (whole(status=0, outcome="our_error", raw_completion=None), passing(), 0),
        (whole(), passing(directives=Directives(mode="off")), 0),
        (whole(raw_completion=b"garbage"), passing(), 1),
        (whole(outcome="client_gone", raw_completion=None), passing(), 1),
        (whole({"choices": [*completion("a")["choices"], *completion("hello")["choices"]]}), passing(), 1),
    ],
)
async def test_of_anything_else_only_what_is_certain_is_remembered(
    delivery: Delivery, exchange: Exchange, length: int, house: House
) -> None:
    await house.delivered(delivery, exchange)
    assert await known(house, exchange, assistant("hello")) == length


async def test_a_reused_answer_continues_the_conversation_too(house: House) -> None:
    exchange = passing()
    await house.reused(ReuseHit("exact", KEY, stored()), exchange)
    assert await known(house, exchange, assistant("hello")) == 2


@pytest.mark.parametrize(
    ("delivery", "exchange", "kept"),
    [
        (whole(), passing(), True),
        (streamed(), passing(), True),
        (whole(upstream="free"), passing(), False),  # a fallback's
        (whole(), passing(miss=ReuseMiss("not_deterministic")), False),
        (whole(status=404, outcome="upstream_error"), passing(), False),
        (whole(completion("x", finish_reason="content_filter")), passing(), False),
        (streamed(outcome="upstream_broken", completion=None), passing(), False),
    ],
)
async def test_an_answer_is_kept_if_it_may_be_given_again(
    delivery: Delivery, exchange: Exchange, kept: bool, house: House
) -> None:
    await house.delivered(delivery, exchange)
    answer = await house.answers.get(exchange.identity.scope.id, KEY, NOW)
    assert (answer is not None) == kept
    if answer is not None:
        assert msgspec.json.decode(answer.completion) == completion()


def leading(lead: int) -> Exchange:
    exchange = passing()
    return replace(exchange, miss=replace(exchange.miss, lead=lead))


@pytest.mark.parametrize(
    ("delivery", "brought"),
    [(whole(), "answer"), (whole(status=500, outcome="upstream_error"), "lead"), (whole(raw_completion=b"?"), "alone")],
)
async def test_who_waits_for_the_answer_is_told(delivery: Delivery, brought: str, house: House) -> None:
    lead = await house.shared.flights.lead_or_wait(KEY, 60.0)
    assert isinstance(lead, int)
    waiting = house.tasks.spawn(house.shared.flights.lead_or_wait(KEY, 60.0), name="follower")
    await asyncio.sleep(0)
    await house.delivered(delivery, leading(lead))
    told = await waiting
    assert {StoredAnswer: "answer", int: "lead", type(None): "alone"}[type(told)] == brought
    assert len(house.shared.flights) == (brought == "lead")


async def test_when_the_one_that_led_has_left_another_leads(house: House) -> None:
    lead = await house.shared.flights.lead_or_wait(KEY, 60.0)
    assert isinstance(lead, int)
    waiting = house.tasks.spawn(house.shared.flights.lead_or_wait(KEY, 60.0), name="follower")
    await asyncio.sleep(0)
    await house.delivered(whole(outcome="client_gone", raw_completion=None), leading(lead))
    assert isinstance(await waiting, int)


async def test_a_large_answer_is_read_in_a_thread_and_recorded_all_the_same(house: House) -> None:
    exchange = passing()
    text = "x" * INLINE_JSON_BYTES
    row = await house.delivered(whole(completion(text)), exchange)
    assert (row.measured, row.tokens_billed) == (True, 9)
    assert await known(house, exchange, assistant(text)) == 2
    assert house.total("olvido_fail_open_total") == 0


async def test_so_is_one_that_was_reused(house: House) -> None:
    exchange = passing()
    text = "x" * INLINE_JSON_BYTES
    await house.reused(ReuseHit("exact", KEY, stored(completion(text))), exchange)
    assert await known(house, exchange, assistant(text)) == 2
    assert house.total("olvido_fail_open_total") == 0


ASKED = Asked("r-1", "p", "en", "What is a black hole?", ())


@pytest.mark.parametrize(
    ("delivery", "exchange", "kept"),
    [
        (whole(), passing(miss=ReuseMiss("not_deterministic", asked=ASKED)), [None]),
        (whole(), passing(miss=ReuseMiss("absent", KEY, asked=ASKED)), [KEY]),
        (whole(), passing(), []),
        (whole(), passing(miss=ReuseMiss("client_off", asked=ASKED), directives=Directives(store=False)), []),
        (whole(upstream="free"), passing(miss=ReuseMiss("absent", asked=ASKED)), []),
        (whole(status=500, outcome="upstream_error"), passing(miss=ReuseMiss("absent", asked=ASKED)), []),
    ],
)
async def test_an_answer_is_kept_by_its_question_too(
    delivery: Delivery, exchange: Exchange, kept: list[str | None], house: House
) -> None:
    await house.delivered(delivery, exchange)
    assert [key for _, _, key in house.remembered] == kept


async def test_the_reason_of_reuse_by_intent_is_in_the_row_and_the_metrics(house: House) -> None:
    row = await house.delivered(whole(), passing(miss=ReuseMiss("absent", intent="numbers")))
    assert (row.reuse_reason, row.intent_reason) == ("absent", "numbers")
    assert house.total("olvido_reuse_total", kind="intent", result="numbers") == 1


async def test_the_row_says_what_was_done(house: House) -> None:
    row = await house.delivered(whole(retries=2), passing(miss=ReuseMiss("refresh")))
    assert (row.session, row.model, row.upstream, row.source) == ("s", "m", "up", "upstream")
    assert (row.plan, row.plan_reason, row.reuse_reason, row.retries) == ("untouched", "", "refresh", 2)
    assert (row.at, row.upstream_seconds) == (NOW, 1.5)
    assert house.total("olvido_reuse_total", result="refresh") == 1
