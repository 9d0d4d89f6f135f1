"""Which requests are looked up, what is given again and in which form, what is kept, and who waits for whom."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.model import ExactReuse
from proxy.reuse.key import exact_key
from proxy.stages.exact import Flights, addressee, lookup, replayed, storable
from proxy.storage.answers import MemoryAnswers
from proxy.tasks import Tasks
from proxy.types import Answer, ChatRequest, Delivery, Directives, Headers, ReuseHit, ReuseMiss, StoredAnswer, Usage
from proxy.wire.accumulate import Accumulator
from proxy.wire.sse import DONE_DATA, SseParser
from tests.builders import NOW, Executor, calling, chat, completion, identity, inline, stored, user

EXECUTOR = Executor()  # never used: the work of these tests is small
QUESTION = user("What is the capital of France?")
FIXED = chat(QUESTION, temperature=0)
FREE = chat(QUESTION, temperature=0.7)


async def looked_up(
    request: ChatRequest,
    directives: Directives = Directives(),  # noqa: B008 (frozen)
    *,
    person: str = "",
    upstream: str = "up",
    cache: MemoryAnswers | None = None,
    now: float = NOW,
    **config: Any,
) -> ReuseHit | ReuseMiss:
    return await lookup(
        request,
        identity(request, person=person),
        directives,
        upstream=upstream,
        config=ExactReuse(**config),
        cache=cache or MemoryAnswers(),
        now=now,
        offload=inline(EXECUTOR),
    )


async def holding(request: ChatRequest, answer: StoredAnswer, *, ttl: float = 60.0) -> MemoryAnswers:
    """A cache that has this answer to this request."""
    cache = MemoryAnswers()
    missed = await looked_up(request)
    assert isinstance(missed, ReuseMiss)
    assert missed.key is not None
    await cache.put(identity(request).scope.id, missed.key, answer, ttl)
    return cache


# --- look-up --------------------------------------------------------------------------------------------------------

OPTED_IN = Directives(opted_in=True)
REFRESH = Directives(lookup=False, opted_in=True)
NO_CACHE = Directives(lookup=False)
OFF = Directives(lookup=False, store=False)
NO_STORE = Directives(store=False)


@pytest.mark.parametrize(
    ("request_", "directives", "config", "reason", "may_be_stored"),
    [
        (FIXED, Directives(), {}, "absent", True),
        (chat(QUESTION, seed=7), Directives(), {}, "absent", True),
        (FREE, Directives(), {}, "not_deterministic", False),
        (chat(QUESTION), Directives(), {}, "not_deterministic", False),
        (FREE, Directives(), {"when": "always"}, "absent", True),
        (FREE, OPTED_IN, {}, "absent", True),
        (FREE, REFRESH, {}, "refresh", True),
        (FIXED, REFRESH, {}, "refresh", True),
        (FIXED, NO_CACHE, {}, "refresh", True),
        (FREE, NO_CACHE, {}, "not_deterministic", False),
        (FIXED, NO_STORE, {}, "absent", False),
        (FIXED, OFF, {}, "client_off", False),
        (FREE, OFF, {}, "client_off", False),
        (FIXED, Directives(), {"enabled": False}, "disabled", False),
        (FIXED, OPTED_IN, {"enabled": False}, "disabled", False),
        (chat(QUESTION, temperature=0, n=2), Directives(), {}, "n_gt_1", False),
        (chat(QUESTION, temperature=0, n=2), OPTED_IN, {}, "n_gt_1", False),
        (chat(QUESTION, temperature=0, n=2), REFRESH, {}, "n_gt_1", False),
        (chat(user("What time is it now?"), temperature=0), Directives(), {}, "time_dependent", False),
    ],
)
async def test_a_request_goes_to_the_upstream_for_a_reason(
    request_: ChatRequest, directives: Directives, config: Mapping[str, Any], reason: str, may_be_stored: bool
) -> None:
    missed = await looked_up(request_, directives, **config)
    assert isinstance(missed, ReuseMiss)
    assert missed.reason == reason
    key = exact_key(identity(request_).scope.id, "up", request_)
    assert missed.key == (key if may_be_stored else None)


@pytest.mark.note("7 SÍ/3")
async def test_what_was_stored_is_found() -> None:
    answer = stored()
    cache = await holding(FIXED, answer)
    hit = await looked_up(FIXED, cache=cache)
    assert isinstance(hit, ReuseHit)
    assert (hit.source, hit.answer) == ("exact", answer)
    assert hit.key == exact_key(identity(FIXED).scope.id, "up", FIXED)
    assert isinstance(await looked_up(FIXED, NO_STORE, cache=cache), ReuseHit)


@pytest.mark.parametrize(
    ("request_", "other"),
    [
        (FIXED, {"person": "ana"}),
        (FIXED, {"upstream": "other"}),
        (FIXED, {"now": NOW + 60.0}),
        (FIXED, {"directives": REFRESH}),
        (FIXED, {"directives": NO_CACHE}),
        (chat(QUESTION, temperature=0, model="m2"), {}),
        (chat(user("What is the capital of Spain?"), temperature=0), {}),
        (chat(QUESTION, temperature=0, seed=1), {}),
    ],
)
async def test_and_nothing_else_is(request_: ChatRequest, other: Mapping[str, Any]) -> None:
    cache = await holding(FIXED, stored())
    assert isinstance(await looked_up(request_, cache=cache, **other), ReuseMiss)


# --- replay ---------------------------------------------------------------------------------------------------------

SAID = {"role": "assistant", "content": "yes"}
WITH_CALLS = completion(None, finish_reason="tool_calls", tool_calls=calling("1")["tool_calls"])
RICH = completion("¡Hola! 🧉 " * 60, reasoning_content="They greet, so I greet.", refusal=None, annotations=[])


def read(sse: bytes) -> tuple[Mapping[str, Any] | None, list[bytes | None]]:
    """A stream as a client reads it: the completion it amounts to, and the data of its events."""
    parser, accumulator = SseParser(), Accumulator()
    events = [event.data for event in [*parser.feed(sse), *parser.flush()]]
    for data in events:
        accumulator.feed(data or b"")
    assert accumulator.complete
    return accumulator.completion(), events


@pytest.mark.parametrize("answer", [completion(), WITH_CALLS, RICH], ids=["plain", "calls", "rich"])
@pytest.mark.parametrize("was_streamed", [False, True])
def test_an_answer_is_replayed_as_json_to_the_byte(answer: Mapping[str, Any], was_streamed: bool) -> None:
    kept = stored(answer, streamed=was_streamed)
    given_again = replayed(ReuseHit("exact", "k", kept), FIXED, NOW + 12.7)
    assert given_again.body == kept.completion
    assert (given_again.status, given_again.source) == (200, "exact")
    assert given_again.headers == (("content-type", "application/json"), ("age", "12"))


@pytest.mark.parametrize("answer", [completion(), WITH_CALLS, RICH], ids=["plain", "calls", "rich"])
@pytest.mark.parametrize("was_streamed", [False, True])
@pytest.mark.parametrize("asks_for_usage", [False, True])
def test_or_as_a_stream_that_amounts_to_it(answer: Mapping[str, Any], was_streamed: bool, asks_for_usage: bool) -> None:
    asking = chat(QUESTION, temperature=0, stream=True, stream_options={"include_usage": asks_for_usage})
    given_again = replayed(ReuseHit("exact", "k", stored(answer, streamed=was_streamed)), asking, NOW + 3.0)
    headers = dict(given_again.headers)
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["age"] == "3"
    assert isinstance(given_again.body, bytes)
    whole, events = read(given_again.body)
    expected = dict(answer) if asks_for_usage else {k: v for k, v in answer.items() if k != "usage"}
    assert whole == expected
    assert events[-1] == DONE_DATA


def test_a_clock_that_was_set_back_makes_no_negative_age() -> None:
    given_again = replayed(ReuseHit("exact", "k", stored(at=NOW + 100)), FIXED, NOW)
    assert dict(given_again.headers)["age"] == "0"


# --- what is kept ---------------------------------------------------------------------------------------------------


def delivery(**differing: Any) -> Delivery:
    base: dict[str, Any] = {
        "outcome": "complete",
        "status": 200,
        "upstream": "up",
        "model": "m-2026",
        "streamed": False,
        "usage": Usage(9, 3),
        "completion": completion(),
    }
    return Delivery(**{**base, **differing})


def said(parts: list[dict[str, str]]) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": parts}, "finish_reason": "stop"}]}


def choices(*reasons: Any) -> dict[str, Any]:
    return {
        **completion(),
        "choices": [{"index": i, "message": SAID, "finish_reason": each} for i, each in enumerate(reasons)],
    }


@pytest.mark.parametrize(
    ("differing", "kept"),
    [
        ({}, True),
        ({"status": 201}, False),
        ({"streamed": True}, True),
        ({"usage": None}, True),
        ({"completion": choices("length")}, True),
        ({"completion": choices("tool_calls")}, True),
        ({"completion": choices("stop", "length")}, True),
        ({"outcome": "client_gone"}, False),
        ({"outcome": "upstream_broken"}, False),
        ({"outcome": "upstream_error"}, False),
        ({"outcome": "our_error"}, False),
        ({"status": 199}, False),
        ({"status": 301}, False),
        ({"status": 429}, False),
        ({"status": 500}, False),
        ({"completion": None}, False),
        ({"completion": None, "partial": completion()}, False),
        ({"completion": {}}, False),
        ({"completion": {"choices": None}}, False),
        ({"completion": {"choices": []}}, False),
        ({"completion": {"choices": ["stop"]}}, False),
        ({"completion": choices("content_filter")}, False),
        ({"completion": choices(None)}, False),
        ({"completion": choices("error")}, False),
        ({"completion": choices("stop", None)}, False),
        ({"completion": {"error": {"message": "no"}}}, False),
        ({"completion": {**completion(), "error": {"message": "no"}}}, False),
        ({"completion": {"choices": [{"message": SAID, "finish_reason": "stop", "error": {"code": 502}}]}}, False),
        ({"completion": completion("")}, False),
        ({"completion": completion(" \n")}, False),
        ({"completion": completion(None)}, False),
        ({"completion": completion(None, finish_reason="length", reasoning_content="I thought")}, False),
        ({"completion": said([{"type": "text", "text": ""}])}, False),
        ({"completion": {"choices": [{"finish_reason": "stop"}]}}, False),
        ({"completion": said([{"type": "text", "text": "yes"}])}, True),
        ({"completion": completion(None, refusal="I can't help with that.")}, True),
        ({"completion": WITH_CALLS}, True),
        ({"completion": {**completion(), "error": None}}, True),
    ],
)
def test_only_a_complete_answer_is_kept(differing: Mapping[str, Any], kept: bool) -> None:
    assert (storable(delivery(**differing), NOW) is not None) == kept


def test_it_is_kept_as_the_upstreams_own_bytes() -> None:
    raw = b'{ "choices" : [] , "unknown" : 1.0 }'
    kept = storable(delivery(raw_completion=raw), NOW)
    assert kept == StoredAnswer(raw, NOW, "up", "m-2026", streamed=False, usage=Usage(9, 3))


def test_or_as_what_its_stream_amounted_to() -> None:
    kept = storable(delivery(streamed=True), NOW)
    assert kept is not None
    assert msgspec.json.decode(kept.completion) == completion()
    assert kept.streamed


# --- flights --------------------------------------------------------------------------------------------------------

ANSWER = stored()
PATIENCE = 60.0


async def settled() -> None:
    """Everything that can go on has gone on."""
    for _ in range(10):
        await asyncio.sleep(0)


Told: TypeAlias = int | StoredAnswer | Answer | None
ERROR = Answer(503, (), b"overloaded")


async def led(flights: Flights, key: str = "k") -> int:
    lead = await flights.lead_or_wait(key, PATIENCE)
    assert isinstance(lead, int)
    return lead


class Crew:
    """Requests for one key at once."""

    def __init__(self) -> None:
        self.flights = Flights()
        self.tasks = Tasks()

    async def followers(self, count: int) -> list[asyncio.Task[Told]]:
        waiting = [
            self.tasks.spawn(self.flights.lead_or_wait("k", PATIENCE), name=f"follower {i}") for i in range(count)
        ]
        await settled()
        return waiting


async def handed_on(followers: list[asyncio.Task[Told]]) -> int:
    """The number of the one that leads now; it is no follower any more."""
    await settled()
    (leader,) = [each for each in followers if each.done()]
    followers.remove(leader)
    lead = leader.result()
    assert isinstance(lead, int)
    return lead


async def test_the_first_leads_and_the_others_get_what_it_brings() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    followers = await crew.followers(3)
    assert not any(each.done() for each in followers)
    crew.flights.land("k", lead, ANSWER)
    assert await asyncio.gather(*followers) == [ANSWER] * 3
    assert len(crew.flights) == 0


async def test_another_key_is_another_flight() -> None:
    flights = Flights()
    assert await led(flights, "k") != await led(flights, "other")
    assert len(flights) == 2


async def test_after_landing_the_next_one_leads() -> None:
    flights = Flights()
    first = await led(flights)
    flights.land("k", first, ANSWER)
    assert await led(flights) != first


async def test_nothing_to_share_sends_each_on_alone() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    followers = await crew.followers(3)
    crew.flights.land("k", lead, None)
    assert await asyncio.gather(*followers) == [None] * 3
    assert len(crew.flights) == 0


async def test_who_has_waited_long_enough_goes_alone_and_the_flight_goes_on() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    assert await crew.flights.lead_or_wait("k", 0.0) is None
    (stayer,) = await crew.followers(1)
    crew.flights.land("k", lead, ANSWER)
    assert await stayer == ANSWER


async def test_an_abandoned_flight_is_led_by_exactly_one_of_those_who_wait_until_somebody_stays() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    followers = await crew.followers(5)
    for _ in range(3):
        crew.flights.abandon("k", lead)
        lead = await handed_on(followers)
    crew.flights.land("k", lead, ANSWER)
    assert [await each for each in followers] == [ANSWER] * 2


async def test_after_a_failure_one_leads_and_the_others_go_on_waiting() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    followers = await crew.followers(4)
    crew.flights.fail("k", lead, ERROR)
    lead = await handed_on(followers)
    crew.flights.land("k", lead, ANSWER)
    assert [await each for each in followers] == [ANSWER] * 3


async def test_of_failures_in_a_row_all_who_wait_are_told_and_the_next_one_begins_anew() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    followers = await crew.followers(5)
    for _ in range(Flights.MOST_FAILURES - 1):
        crew.flights.fail("k", lead, ERROR)
        lead = await handed_on(followers)
    crew.flights.abandon("k", lead)  # says nothing about the upstream
    lead = await handed_on(followers)
    crew.flights.fail("k", lead, ERROR)
    assert [await each for each in followers] == [ERROR] * len(followers)
    followers = [*await crew.followers(2)]
    crew.flights.fail("k", await handed_on(followers), ERROR)
    assert isinstance(await handed_on(followers), int)


async def test_a_follower_that_leaves_does_no_harm() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    leaver, stayer = await crew.followers(2)
    leaver.cancel()
    await settled()
    assert leaver.cancelled()
    assert not stayer.done()
    crew.flights.land("k", lead, ANSWER)
    assert await stayer == ANSWER


async def test_nor_does_one_that_leaves_as_it_is_about_to_lead() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    leaver, stayer = await crew.followers(2)
    crew.flights.abandon("k", lead)
    leaver.cancel()
    await settled()
    assert leaver.cancelled()
    assert isinstance(stayer.result(), int)


async def test_an_answer_is_shared_before_it_has_landed() -> None:
    crew = Crew()
    lead = await led(crew.flights)
    followers = await crew.followers(2)
    crew.flights.share("k", lead, ANSWER)
    assert await asyncio.gather(*followers) == [ANSWER] * 2
    assert await crew.flights.lead_or_wait("k", PATIENCE) == ANSWER
    crew.flights.land("k", lead, ANSWER)
    await led(crew.flights)
    crew.flights.share("other", lead, ANSWER)
    await led(crew.flights, "other")


async def test_who_does_not_lead_lands_nothing() -> None:
    crew = Crew()
    crew.flights.land("k", None, ANSWER)
    first = await led(crew.flights)
    followers = await crew.followers(2)
    crew.flights.abandon("k", first)
    second = await handed_on(followers)
    for late in (first, None):
        crew.flights.share("k", late, ANSWER)
        crew.flights.land("k", late, None)
        crew.flights.fail("k", late, ERROR)
    assert not followers[0].done()
    crew.flights.land("k", second, ANSWER)
    assert await followers[0] == ANSWER


Step = Literal["ask", "answer", "nothing", "abandon", "fail", "leave"]
steps = st.lists(st.sampled_from(["ask", "ask", "answer", "nothing", "abandon", "fail", "leave"]), max_size=25)


@given(steps)
def test_at_any_time_one_leads_and_nobody_waits_for_nobody(taken: list[Step]) -> None:
    async def play() -> None:
        crew = Crew()
        leading: list[int] = []
        waiting: list[asyncio.Task[Told]] = []
        for step in [*taken, "nothing"]:
            match step:
                case "ask":
                    waiting += await crew.followers(1)
                case "leave" if waiting:
                    waiting.pop().cancel()
                case "answer" | "nothing" if leading:
                    crew.flights.land("k", leading.pop(), ANSWER if step == "answer" else None)
                case "abandon" if leading:
                    crew.flights.abandon("k", leading.pop())
                case "fail" if leading:
                    crew.flights.fail("k", leading.pop(), ERROR)
            await settled()
            leading += [told for each in waiting if each.done() and isinstance(told := each.result(), int)]
            waiting = [each for each in waiting if not each.done()]
            assert len(leading) == len(crew.flights) <= 1
            assert leading or not waiting
        assert await crew.tasks.drain(5.0) == 0

    asyncio.run(play())


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("api-version=2", ()),
        ("", (("openai-beta", "x"),)),
        ("", (("openai-organization", "org"),)),
        ("", (("x-portkey-config", "1"),)),
    ],
)
def test_another_addressee_is_another_question(query: str, headers: Headers) -> None:
    assert addressee("kimi", query, headers) != addressee("kimi", "", ())


def test_headers_that_only_inform_and_their_order_make_no_difference() -> None:
    steering = (("openai-beta", "x"), ("openai-project", "y"))
    informing = (("user-agent", "z"), ("x-stainless-retry-count", "1"), ("x-request-id", "2"))
    assert addressee("kimi", "", (*steering, *informing)) == addressee("kimi", "", steering[::-1])


async def test_an_answer_that_lands_is_counted_and_nothing_else_is() -> None:
    flights = Flights()
    for key, answer in (("a", stored()), ("b", None)):
        flights.land(key, await led(flights, key), answer)
    assert flights.landed == 1
