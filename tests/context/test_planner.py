"""What the upstream shall see: a short conversation as it is, with what it will cost; a long one by what is remembered.
(What is decided is in tests/context/test_planning.py; whole conversations are in tests/e2e/test_context.py.)"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.context.planner import MOST_COUNTED, Planner
from proxy.pipeline import Services
from proxy.storage.base import StorageError
from proxy.storage.shared import Calibrations
from proxy.storage.shared.learnt import MISSES, local_calibrations
from proxy.tokens import RoughCounter
from proxy.types import ChatRequest, Directives, Mode, PathState, Plan, Scope, Usage
from proxy.upstream.client import Upstream
from tests.builders import TENANT, Executor, Said, assistant, chat, config, counter, identity, incoming, system, user
from tests.proxied import build_services

SMALL = chat(user("hello world"), assistant("hi"), user("tell me more"))
LARGE = chat(user("word " * 20_000))
LONG = chat(
    system("Be brief."),
    *(said for number in range(40) for said in (user(f"question {number} " * 30), assistant(f"answer {number} " * 30))),
    user("and now?"),
)
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


class Desk:
    """The stage, as the pipeline calls it."""

    def __init__(self, services: Services, executor: Executor, calibrations: Calibrations) -> None:
        self.executor = executor
        self.upstream: Upstream = services.router.route("m").upstream
        self.planner = Planner(
            services.config,
            counter=counter(),
            calibrations=calibrations,
            library=services.library,
            vectors=services.planner.vectors,
            executor=executor,
        )

    async def count(self, request: ChatRequest) -> Plan:
        return await self.planner.count(request, identity(request), self.upstream.config)

    async def sent(self, request: ChatRequest) -> PathState:
        """Plans a request, and keeps the state that its successor starts from."""
        made, who = await self.plan(request), identity(request)
        assert made.state is not None
        self.planner.library.paths.keep(who.memory, who.session, who.chain[-1], made.state)
        return made.state

    async def plan(self, request: ChatRequest, *, mode: Mode = "on") -> Plan:
        assert identity(request).scope == Scope(TENANT)
        directives = Directives(mode=mode)
        return await self.planner.plan(incoming(), request, identity(request), directives, self.upstream.config)


Desks = Callable[..., Any]


@asynccontextmanager
async def desk(calibrations: Calibrations | None = None, **sections: Any) -> AsyncIterator[Desk]:
    settings = config(storage={"kind": "memory"}, embedding={"enabled": False}, **sections)
    with Executor() as executor:
        async with build_services(settings) as services:
            yield Desk(services, executor, calibrations or local_calibrations())


async def test_a_short_conversation_is_left_as_it_is() -> None:
    async with desk() as stage:
        made = await stage.plan(SMALL)
        assert (made.kind, made.messages, made.reason, made.state) == ("untouched", None, "", None)
        assert stage.executor.submitted == 0


async def test_it_costs_its_messages_and_what_is_no_message() -> None:
    request = chat(user("hello world"), assistant("hi"), tools=TOOLS)
    async with desk() as stage:
        made = await stage.count(request)
    expected = sum(counter().message(each) for each in request.messages) + counter().overhead(request)
    assert made.tokens.original == made.tokens.sent == expected
    assert made.tokens.rough == RoughCounter().request(request)  # what the upstream's own count will be compared with


async def test_once_this_upstream_has_told_what_it_counts_a_rough_count_is_enough() -> None:
    learnt = local_calibrations()
    learnt.rough.observe("kimi", LARGE.model, counted=1_000, measured=1_500)
    async with desk(learnt) as stage:
        made = await stage.count(LARGE)
        assert stage.executor.submitted == 0
    assert made.tokens.rough == RoughCounter().request(LARGE)
    assert made.tokens.original == made.tokens.sent == round(1.5 * made.tokens.rough)


async def test_and_not_by_what_another_counted() -> None:
    learnt = local_calibrations()
    learnt.rough.observe("other", SMALL.model, counted=1_000, measured=1_500)
    learnt.rough.observe("kimi", "another model", counted=1_000, measured=1_500)
    async with desk(learnt) as one, desk() as other:
        assert await one.count(SMALL) == await other.count(SMALL)


@pytest.mark.parametrize(
    "request_",
    [LARGE, chat(tools=[{"type": "function", "function": {"name": "look", "description": "word " * 4_000}}])],
)
async def test_what_is_large_is_counted_off_the_event_loop(request_: ChatRequest) -> None:
    async with desk() as stage:
        made = await stage.count(request_)
        assert stage.executor.submitted == 1
    expected = sum(counter().message(each) for each in request_.messages) + counter().overhead(request_)
    assert made.tokens.sent == expected


async def test_of_a_request_beyond_every_context_a_rough_count_is_enough() -> None:
    huge = chat(user("word " * (MOST_COUNTED // 5)))
    async with desk() as stage:
        made = await stage.plan(huge)
    assert made.tokens.original == made.tokens.sent == made.tokens.rough == RoughCounter().request(huge)


async def test_a_conversation_above_its_budget_is_cut_to_it() -> None:
    async with desk() as stage:
        made = await stage.plan(LONG)
    assert made.kind == "managed"
    assert made.messages is not None
    assert made.messages[0] == LONG.messages[0]
    assert made.messages[-1].data["content"].endswith("and now?")
    assert made.tokens.sent <= 4_000 < made.tokens.original
    assert made.tokens.mechanisms.window > 0
    assert made.state is not None


async def test_the_same_request_is_planned_the_same() -> None:
    async with desk() as stage:
        assert await stage.plan(LONG) == await stage.plan(LONG)


async def test_tokens_are_the_upstreams_once_it_has_told_them() -> None:
    learnt = local_calibrations()
    learnt.exact.observe("kimi", LONG.model, counted=1_000, measured=1_250)
    async with desk(learnt) as stage, desk() as unknowing:
        made, plainly = await stage.plan(LONG), await unknowing.plan(LONG)
    assert made.tokens.original == round(1.25 * plainly.tokens.original)
    assert made.tokens.sent <= 4_000
    assert made.tokens.counted <= 3_200


def grown(request: ChatRequest, *said: Said) -> ChatRequest:
    return chat(*(each.data for each in request.messages), *said)


async def test_a_short_turn_of_a_conversation_that_goes_on_is_planned_on_the_event_loop() -> None:
    longer = grown(LONG, assistant("Soon."), user("Thanks, that is all."))
    async with desk() as stage, desk() as other:
        await stage.sent(LONG)
        await other.sent(LONG)
        before = stage.executor.submitted
        made = await stage.plan(longer)
        assert stage.executor.submitted == before
        shelf = await other.planner.library.shelf(identity(longer).memory)
        shelf.lock.acquire()  # somebody learns
        asyncio.get_running_loop().call_later(0.01, shelf.lock.release)
        assert await other.plan(longer) == made  # where it is planned makes no difference
        assert other.executor.submitted == before + 1
    assert made.kind == "managed"


@pytest.mark.parametrize(
    "said",
    [
        (assistant("word " * 1_000), user("Thanks, that is all.")),  # much is new
        (assistant("Soon."), user("What did I say before about question 3 answer?")),  # excerpts are to be chosen
    ],
)
async def test_what_takes_longer_is_planned_in_a_thread(said: tuple[Said, ...]) -> None:
    async with desk() as stage:
        await stage.sent(LONG)
        before = stage.executor.submitted
        await stage.sent(grown(LONG, *said))
        assert stage.executor.submitted == before + 1


async def test_so_is_a_fold() -> None:
    request, folds = LONG, []
    async with desk() as stage:
        await stage.sent(request)
        for number in range(30):
            before = stage.executor.submitted
            request = grown(request, assistant(f"answer {number} " * 30), user(f"The plan has part {number}. " * 9))
            made = await stage.sent(request)
            assert made.fold is not None
            folds.append(made.fold.turn == made.turns)
            assert stage.executor.submitted == before + folds[-1]
    assert True in folds
    assert False in folds


@pytest.mark.parametrize(
    ("mode", "configured", "is_told"),
    [("meter", "on", True), ("on", "meter", True), ("off", "on", False), ("on", "off", False)],
)
async def test_the_original_is_sent_where_nobody_wants_it_managed(
    mode: Mode, configured: str, *, is_told: bool
) -> None:
    async with desk(context={"mode": configured}) as stage:
        made = await stage.plan(LONG, mode=mode)
    assert made.messages is None
    assert made.tokens.sent == made.tokens.original
    assert made.reason.startswith("meter;would_send=") is is_told


async def test_a_message_that_alone_is_above_the_budget_is_sent_and_told() -> None:
    async with desk() as stage:
        made = await stage.plan(chat(user("word " * 5_000)))
    assert (made.kind, made.messages) == ("over-budget", None)


SILENT = chat(*(said.data for said in LONG.messages), assistant(""), user("Well?"))  # which Kimi refuses
NOBODY = chat(system("word " * 5_000))
HUGE = chat(user("word " * (MOST_COUNTED // 5)))


@pytest.mark.parametrize("request_", [SILENT, NOBODY, HUGE])
@pytest.mark.parametrize(("budget", "kind"), [(500, "over-budget"), (1_000_000, "untouched")])
async def test_so_is_every_other_that_is_sent_as_it_came(request_: ChatRequest, budget: int, kind: str) -> None:
    async with desk(profiles={"lean": {"budget": budget}}) as stage:
        made = await stage.plan(request_)
    assert (made.kind, made.messages) == (kind, None)
    assert made.tokens.sent == made.tokens.original > 500


async def test_it_is_counted_to_the_token_then() -> None:
    learnt = local_calibrations()
    learnt.rough.observe("kimi", SILENT.model, counted=1_000, measured=500)
    async with desk(learnt) as stage:
        made = await stage.plan(SILENT)
        expected = await counter().request(SILENT, identity(SILENT).chain, stage.executor)
    assert (made.kind, made.tokens.sent) == ("over-budget", expected)


async def test_what_fits_into_the_window_and_not_into_the_budget_is_not_left_alone() -> None:
    learnt = local_calibrations()
    learnt.rough.observe("kimi", SMALL.model, counted=1_000, measured=400)
    said = chat(*(part for at in range(4) for part in (user(f"{at}: 4^7 {{}} " * 70), assistant("Ok."))), user("So?"))
    async with desk(learnt, profiles={"lean": {"budget": 500}}) as stage:
        made = await stage.plan(said)
        assert (await stage.count(said)).tokens.sent < 500 < made.tokens.original
    assert made.kind == "managed"
    assert made.tokens.sent <= 500


@pytest.mark.parametrize(
    ("settings", "cached"),
    [
        ({"dialect": "generic", "price": {"input": 1, "cached": 0.17, "output": 4}}, 0.17),
        ({"dialect": "generic", "price": {"input": 1, "output": 4}}, 0.25),
        ({"dialect": "generic"}, 0.25),
        ({"dialect": "generic", "cache": "none"}, 1.0),
        ({"dialect": "vllm", "price": {"input": 1, "cached": 1, "output": 4}}, 1.0),
    ],
)
async def test_folds_are_paid_at_the_price_of_a_prefix_cache_unless_there_is_known_to_be_none(
    settings: dict[str, Any], cached: float
) -> None:
    entry = {"name": "up", "base_url": "http://127.0.0.1:1/v1", **settings}
    learnt, seen = local_calibrations(), replace(identity(LONG), known=3)
    async with desk(learnt, upstreams=[entry]) as stage:
        for reckoned in (cached, 1.0):
            made = await stage.planner.plan(incoming(), LONG, seen, Directives(), stage.upstream.config)
            assert made.trail is not None
            assert made.trail.break_even is not None
            assert made.trail.break_even.cached == reckoned
            assert (made.tokens.repeated > 0) is (reckoned < 1)
            for _ in range(MISSES):
                none = Usage(9_000, 9, reports_none_cached=True)
                learnt.caches.observe("up", LONG.model, none, repeated=9_000)


async def test_a_request_with_tools_has_a_profile_of_its_own() -> None:
    with_tools = chat(*(said.data for said in LONG.messages), tools=TOOLS)
    async with desk() as stage:
        made = await stage.plan(with_tools)
    assert made.messages is None  # the agent's has no budget but the price


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """The planner's log lines: level and message."""
    mine = [record for record in caplog.records if record.name == "proxy.context.planner"]
    assert all("question 3" not in str(vars(record)) for record in mine)
    return [(record.levelname, record.message) for record in mine]


def reads(services: Services) -> dict[str, float]:
    """Look-ups of the state of a conversation, by result."""
    (family,) = services.metrics.context_reads.collect()
    found = {sample.labels["result"]: sample.value for sample in family.samples if sample.name.endswith("_total")}
    return {result: count for result, count in found.items() if count}


@pytest.mark.note("v2 Monitoreo/1", "v2 Monitoreo/2", "v2 Monitoreo/4")
async def test_it_is_logged_and_counted_where_the_state_of_a_conversation_came_from(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "proxy.context.planner")
    settings = config(storage={"path": str(tmp_path)}, embedding={"enabled": False})
    longer = grown(LONG, assistant("Soon."), user("Thanks, that is all."))
    who = identity(longer)

    async def plan(services: Services, request: ChatRequest) -> Plan:
        upstream = services.router.route("m").upstream.config
        return await services.planner.plan(incoming(), request, identity(request), Directives(), upstream)

    async with build_services(settings) as services:
        made = await plan(services, LONG)
        assert made.state is not None
        services.library.paths.keep(who.memory, who.session, identity(LONG).chain[-1], made.state)
        await plan(services, longer)
        assert reads(services) == {"database": 1, "memory": 1}
    first = [("INFO", "context_loaded_from_database"), ("INFO", "context_needs_compression")]
    assert told(caplog) == [*first, ("INFO", "context_compressed"), ("DEBUG", "context_loaded_from_cache")]
    assert made.state.fold is not None
    caplog.clear()
    async with build_services(settings) as services:
        await plan(services, longer)
        assert reads(services) == {"database": 1}
    (loaded,) = [vars(record) for record in caplog.records if record.message == "context_loaded_from_database"]
    assert (loaded["session"], loaded["recent_turns"]) == (who.session, len(made.state.open))
    assert loaded["estimated_tokens"] > 4_000
    assert told(caplog) == [("INFO", "context_loaded_from_database")]  # its fold was made by the request before


async def test_a_prompt_that_only_metering_would_compress_is_not_told_as_compressed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "proxy.context.planner")
    async with desk() as stage:
        await stage.plan(LONG, mode="meter")
    assert ("INFO", "context_compressed") not in told(caplog)


@pytest.mark.note("v2 Monitoreo/3")
async def test_storage_that_cannot_be_read_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = config(storage={"path": str(tmp_path)}, embedding={"enabled": False})
    async with build_services(settings) as services:
        upstream = services.router.route("m").upstream.config
        await services.storage.close()
        with pytest.raises(StorageError) as failed:
            await services.planner.plan(incoming(), LONG, identity(LONG), Directives(), upstream)
        assert reads(services) == {"failed": 1}
        assert told(caplog) == [("WARNING", "context_load_failed")]
        assert vars(caplog.records[-1])["why"] == failed.type.__name__


@pytest.mark.note("v2 Resumen/5", "v2 Buffer/4", "v2 Testing/2")
@pytest.mark.parametrize(
    ("profile", "budget"), [("conversation", 4_000), ("conversation-short", 2_000), ("conversation-long", 6_000)]
)
async def test_twenty_long_messages_stay_below_the_budget_of_three_levels(
    profile: str, budget: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "proxy.context.planner")
    request, sent = chat(user(f"Long message number 0. {'word ' * 250}")), []
    async with desk(context={"profile": profile}) as stage:
        for number in range(1, 21):
            made = await stage.plan(request)
            if made.state is not None:
                who = identity(request)
                stage.planner.library.paths.keep(who.memory, who.session, who.chain[-1], made.state)
            sent.append(made.tokens.sent)
            asked = f"Long message number {number}. {'word ' * 250}"
            request = grown(request, assistant("It is noted. " * 20), user(asked))
    assert max(sent) < budget < made.tokens.original
    assert ("INFO", "context_compressed") in told(caplog)
