"""Reuse in the way of a request: only what is complete is given again, and identical requests share one answer."""

import asyncio
import json
from collections import Counter
from contextlib import suppress

import pytest

from proxy.errors import UpstreamError
from proxy.pipeline import Services
from proxy.pipeline.chat import handle
from proxy.storage.answers import MemoryAnswers
from proxy.storage.shared.flights import MOST_FAILURES
from proxy.types import Headers, Incoming, StoredAnswer
from tests.builders import NOW, body, user
from tests.proxied import KEY, Answers, Upstream, ask, gives, hangs, in_front_of, serving, total


@pytest.mark.note("1.3/3")
@pytest.mark.parametrize(
    ("fault", "stream", "kept"),
    [
        ("", False, True),
        ("500", False, False),
        ("429=0", False, False),
        ("garbage", False, False),
        ("cut", False, False),
        ("gzip", False, False),
        ("", True, True),
        ("500", True, False),
        ("garbage=2", True, False),
        ("error-event=2", True, False),
        ("cut=2", True, False),
        ("no-done", True, True),  # every choice had ended
        ("odd", True, True),
    ],
)
async def test_only_a_complete_answer_is_given_again(fault: str, stream: bool, kept: bool, upstream: Upstream) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0, stream=stream)
    async with serving(in_front_of(upstream)) as services:
        with suppress(UpstreamError):
            await ask(services, raw, headers=(("x-demo-fault", fault),))
        await services.tasks.drain(5.0)
        upstream.bodies()
        again = await ask(services, raw)
        assert again.source == ("exact" if kept else "upstream")
        assert len(upstream.bodies()) == (0 if kept else 1)


async def test_who_waits_for_an_answer_that_fails_asks_for_itself(upstream: Upstream) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0)
    async with serving(in_front_of(upstream)) as services:
        first, *others = await asyncio.gather(
            ask(services, raw, headers=(("x-demo-fault", "500"),)), *(ask(services, raw) for _ in range(3))
        )
        assert first.status == 500
        assert [other.status for other in others] == [200] * 3
        assert len(services.shared.flights) == 0
        upstream.bodies()


async def told(services: Services, raw: bytes, headers: Headers) -> tuple[int, str, bytes]:
    """Status, source and body; what follows the answer is not waited for."""
    given = (("authorization", f"Bearer {KEY}"), ("content-type", "application/json"), *headers)
    incoming = Incoming("req_x", given, raw, NOW, services.authenticator.tenant(given))
    try:
        answer = await handle(incoming, services)
    except UpstreamError as error:
        answer = error.answer()
    if isinstance(answer.body, bytes):
        return answer.status, answer.source, answer.body
    return answer.status, answer.source, b"".join([chunk async for chunk in answer.body])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("fault", "statuses", "calls"),
    [
        ("503x1", {503: 1, 200: 99}, 2),  # the next one leads, and brings it
        ("503", {503: 100}, 2),  # the others are told what the second was told
        ("401", {401: 100}, 2),
        ("reset", {502: 100}, 2),
    ],
)
async def test_a_hundred_that_ask_at_once_do_not_stampede_when_the_upstream_fails(
    fault: str, statuses: dict[int, int], calls: int, stream: bool, upstream: Upstream
) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0, stream=stream)
    async with serving(in_front_of(upstream)) as services:
        answers = await asyncio.gather(*(told(services, raw, (("x-demo-fault", fault),)) for _ in range(100)))
        assert Counter(status for status, _, _ in answers) == statuses
        assert len(upstream.bodies()) == calls
        await services.tasks.drain(5)
        assert len(services.shared.flights) == 0
        assert total(services, "olvido_requests_total") == 100


async def sent(services: Services, raw: bytes, headers: Headers) -> tuple[int, str, bytes]:
    """The same, also of a stream that breaks off: what came of it."""
    pieces: list[bytes] = []
    given = (("authorization", f"Bearer {KEY}"), ("content-type", "application/json"), *headers)
    answer = await handle(Incoming("req_x", given, raw, NOW, services.authenticator.tenant(given)), services)
    if isinstance(answer.body, bytes):
        return answer.status, answer.source, answer.body
    with suppress(UpstreamError):
        async for chunk in answer.body:
            pieces.append(chunk)  # noqa: PERF401 (what came before it broke off counts)
    return answer.status, answer.source, b"".join(pieces)


@pytest.mark.parametrize(
    ("fault", "code"),
    [("cut=3", "upstream_broken"), ("reset=3", "upstream_broken"), ("error-event=2", "upstream_error")],
)
async def test_fifty_that_wait_for_a_stream_that_breaks_off_are_told_after_the_second(
    fault: str, code: str, upstream: Upstream
) -> None:
    raw = body(user("60 words"), model="demo-chat", temperature=0, stream=True)
    async with serving(in_front_of(upstream)) as services:
        answers = await asyncio.gather(*(sent(services, raw, (("x-demo-fault", fault),)) for _ in range(50)))
        assert Counter(status for status, _, _ in answers) == {200: 2, 502: 48}
        told_all = {body for status, _, body in answers if status == 502}
        assert [json.loads(each)["error"]["code"] for each in told_all] == [code]
        assert len(upstream.bodies()) == MOST_FAILURES == 2
        await services.tasks.drain(5)
        assert len(services.shared.flights) == 0
        assert total(services, "olvido_requests_total") == 50


async def test_who_waits_for_a_stream_that_breaks_off_once_gets_the_next_ones(upstream: Upstream) -> None:
    raw = body(user("60 words"), model="demo-chat", temperature=0, stream=True)
    async with serving(in_front_of(upstream)) as services:
        fault = (("x-demo-fault", "cut=3x1"),)
        answers = await asyncio.gather(*(sent(services, raw, fault) for _ in range(50)))
        assert Counter(source for _, source, _ in answers) == {"upstream": 2, "exact": 48}
        assert sum(b"[DONE]" in body for _, _, body in answers) == 49
        assert len(upstream.bodies()) == 2


async def test_who_waits_for_a_stream_that_cannot_be_read_gets_its_own(upstream: Upstream) -> None:
    raw = body(user("60 words"), model="demo-chat", temperature=0, stream=True)
    async with serving(in_front_of(upstream)) as services:
        answers = await asyncio.gather(*(sent(services, raw, (("x-demo-fault", "garbage=2"),)) for _ in range(5)))
        assert Counter((status, source) for status, source, _ in answers) == {(200, "upstream"): 5}
        assert len(upstream.bodies()) == 5


async def test_a_leader_that_is_cancelled_hands_over_to_one(upstream: Upstream) -> None:
    raw = body(user("What is a white dwarf?"), model="demo-chat", temperature=0)
    held: Headers = (("x-demo-fault", "slow-first-bytex1"),)
    async with serving(in_front_of(upstream)) as services:
        leader, *others = [services.tasks.spawn(told(services, raw, held), name="ask") for _ in range(100)]
        while not upstream.demo.recorder.requests:  # noqa: ASYNC110 (a server in another thread)
            await asyncio.sleep(0.001)
        leader.cancel()
        answers = await asyncio.gather(*others)
        assert Counter(source for _, source, _ in answers) == {"upstream": 1, "exact": 98}
        assert len(upstream.bodies()) == 2


async def test_an_answer_that_was_stored_and_cannot_be_read_costs_the_client_nothing(upstream: Upstream) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0, stream=True)
    unreadable = StoredAnswer(b'{"choices": "no', NOW, "demo", "demo-chat", streamed=False)
    async with serving(in_front_of(upstream), answers=Answers(get=gives(unreadable))) as services:
        got = await ask(services, raw)
        assert upstream.bodies() == [raw]
        assert (got.status, got.source, got.plan) == (200, "upstream", "fail-open;stage=exact")


async def answered(services: Services, raw: bytes) -> str:
    """Where the answer came from; what follows it is not waited for."""
    headers = (("authorization", f"Bearer {KEY}"), ("content-type", "application/json"))
    incoming = Incoming("req_x", headers, raw, NOW, services.authenticator.tenant(headers))
    return (await handle(incoming, services)).source


async def test_an_answer_that_cannot_be_stored_in_time_does_not_keep_anybody_waiting(upstream: Upstream) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0)
    settings = in_front_of(upstream, server={"drain": 0.1})
    async with serving(settings, patience=100.0, answers=Answers(put=hangs)) as services:  # that is 1,000 seconds
        async with asyncio.timeout(100):
            first, second = await asyncio.gather(answered(services, raw), answered(services, raw))
        assert {first, second} == {"upstream", "exact"}
        assert len(upstream.bodies()) == 1


class Overtaken(MemoryAnswers):
    """The second look-up finds nothing, and tells so only when the first request's answer has been stored."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = 0
        self.stored = asyncio.Event()

    async def get(self, scope: str, key: str, now: float) -> StoredAnswer | None:
        self.looked += 1
        if self.looked != 2:
            return await super().get(scope, key, now)
        await self.stored.wait()
        return None

    async def put(self, scope: str, key: str, answer: StoredAnswer, ttl: float) -> None:
        await super().put(scope, key, answer, ttl)
        asyncio.get_running_loop().call_soon(self.stored.set)


async def test_an_answer_that_lands_while_it_is_looked_up_is_found(upstream: Upstream) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0)
    async with serving(in_front_of(upstream), answers=Overtaken()) as services:
        first, second = await asyncio.gather(answered(services, raw), answered(services, raw))
        assert (first, second) == ("upstream", "exact")
        assert len(upstream.bodies()) == 1
