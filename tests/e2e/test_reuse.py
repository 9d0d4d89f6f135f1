"""An identical request is answered from memory: whole, in either form, only in the same scope, only if it may be."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import httpx
import openai
import pytest

from tests.e2e.running import CHAT, Demo, Proxy, chat, events
from tests.servers import eventually

Json = Any
HELD = {"x-demo-fault": "slow-first-byte"}
IMPATIENT = "deepseek-v4-flash"
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}

ANSWERS: dict[str, dict[str, Json]] = {
    "text": chat("¿60 palabras? 60 palabras"),
    "logprobs": chat("say: a b ñ 🌵", logprobs=True, top_logprobs=2),
    "refusal": chat("refuse to help"),
    "reasoning": chat("say: thought through", model="demo-reasoner"),
    "tool calls": chat("get_weather", tools=[TOOL]),
    "cut to length": chat("90 words", max_tokens=5),
    "JSON": chat("say: x", response_format={"type": "json_object"}),
}


def source(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return answer.headers["x-olvido-source"]


# --- both forms -----------------------------------------------------------------------------------------------------


@pytest.mark.note("4.1/1")
@pytest.mark.parametrize("asked", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("again", [False, True], ids=["to JSON", "to SSE"])
@pytest.mark.parametrize("first", [False, True], ids=["JSON", "SSE"])
def test_a_reused_answer_is_the_upstreams_in_every_field(
    first: bool, again: bool, asked: dict[str, Json], demo: Demo, proxy: Proxy, request: pytest.FixtureRequest
) -> None:
    def ask(client: openai.OpenAI, *, stream: bool) -> tuple[Json, str]:
        if not stream:
            raw = client.chat.completions.with_raw_response.create(**asked, seed=1)
            return raw.parse().to_dict(), raw.headers.get("x-olvido-source", "")
        with client.chat.completions.stream(**asked, stream_options={"include_usage": True}, seed=1) as streamed:
            for _ in streamed:
                pass
            return streamed.current_completion_snapshot.to_dict(), streamed._response.headers.get("x-olvido-source", "")  # noqa: SLF001 (the helper has no public way to the headers)

    key = f"sk-{request.node.callspec.id}".encode("ascii", "replace").decode()
    with (
        openai.OpenAI(base_url=proxy.base_url, api_key=key, max_retries=0) as proxied,
        openai.OpenAI(base_url=demo.base_url, api_key="sk-direct", max_retries=0) as direct,
    ):
        assert ask(proxied, stream=first)[1] == "upstream"
        assert len(demo.arrived()) == 1
        reused, from_ = ask(proxied, stream=again)
        assert from_ == "exact"
        assert len(demo.arrived()) == 1
        assert comparable(reused) == comparable(ask(direct, stream=first)[0])


def comparable(value: Json) -> Json:
    """What is null or empty in one form is absent from the other; the SDK's own `parsed` and the position of a streamed
    tool call are of the form, not of the answer."""
    if isinstance(value, dict):
        own = ("parsed", "parsed_arguments", *(("index",) if "function" in value else ()))
        kept = {key: comparable(item) for key, item in value.items() if key not in own}
        return {key: item for key, item in kept.items() if item not in (None, [], "")}
    return [comparable(item) for item in value] if isinstance(value, list) else value


@pytest.mark.note("4/3")
def test_a_reused_json_answer_is_the_upstreams_own_bytes_and_says_its_age(demo: Demo, proxy: Proxy) -> None:
    first, again = (proxy.http.post(CHAT, json=chat("say: own bytes", temperature=0)) for _ in range(2))
    assert again.content == first.content
    assert again.headers["content-type"] == "application/json"
    assert (source(first), source(again)) == ("upstream", "exact")
    assert "age" not in first.headers
    assert 0 <= int(again.headers["age"]) < 60
    assert again.headers["x-olvido-request"] != first.headers["x-olvido-request"]
    assert again.headers["x-olvido-tokens-sent"] == "0"
    row = proxy.row(request_id=again.headers["x-olvido-request"])
    assert (row["source"], row["reuse_reason"], row["tokens_billed"], row["cost"]) == ("exact", "hit", 0, 0.0)
    assert row["tokens_completion"] == first.json()["usage"]["completion_tokens"]
    assert row["cost_saved"] > 0


@pytest.mark.parametrize("include_usage", [False, True])
def test_a_reused_stream_tells_usage_as_this_client_asked(include_usage: bool, demo: Demo, proxy: Proxy) -> None:
    asked = chat(f"say: usage {include_usage}", temperature=0)
    proxy.http.post(CHAT, json=asked)
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    again = proxy.http.post(CHAT, json={**asked, "stream": True, **options})
    assert source(again) == "exact"
    assert again.headers["content-type"].startswith("text/event-stream")
    assert again.text.endswith("data: [DONE]\n\n")
    told = [event["usage"] for event in events(again.content) if event.get("usage")]
    assert len(told) == include_usage


# --- when not -------------------------------------------------------------------------------------------------------


BASE: dict[str, Json] = {
    "model": "demo-chat",
    "temperature": 0,
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "say: walls"}],
}


@pytest.mark.parametrize(
    ("change", "headers"),
    [
        ({}, {"authorization": "Bearer sk-another"}),
        ({}, {"x-olvido-user": "ana"}),
        ({"user": "beto"}, {}),
        ({"safety_identifier": "carla"}, {}),
        ({"model": "demo-reasoner"}, {}),
        ({"messages": [{"role": "system", "content": "Be verbose."}, BASE["messages"][1]]}, {}),
        ({"messages": [BASE["messages"][1]]}, {}),
        ({"messages": [BASE["messages"][0], {"role": "user", "content": "say: walls!"}]}, {}),
        ({"tools": [TOOL]}, {}),
        ({"seed": 1}, {}),
        ({"temperature": 0, "top_p": 0.5}, {}),
        ({"max_tokens": 100}, {}),
        ({"response_format": {"type": "json_object"}}, {}),
        ({"unknown_to_all": 1}, {}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_another_request_is_no_hit(change: dict[str, Json], headers: dict[str, str], demo: Demo, proxy: Proxy) -> None:
    proxy.http.post(CHAT, json=BASE)
    assert source(proxy.http.post(CHAT, json=BASE)) == "exact"
    demo.clear()
    assert source(proxy.http.post(CHAT, json={**BASE, **change}, headers=headers)) == "upstream"
    assert len(demo.arrived()) == 1


@pytest.mark.parametrize("change", [{"stream": True}, {"metadata": {"a": "b"}}, {"prompt_cache_key": "k"}], ids=str)
def test_what_does_not_reach_the_model_makes_no_other_request(
    change: dict[str, Json], demo: Demo, proxy: Proxy
) -> None:
    proxy.http.post(CHAT, json=BASE)
    assert source(proxy.http.post(CHAT, json={**BASE, **change})) == "exact"


def test_the_query_of_the_url_belongs_to_the_request(demo: Demo, proxy: Proxy) -> None:
    asked = chat("say: versions", temperature=0)
    paths = [CHAT, f"{CHAT}?api-version=1", f"{CHAT}?api-version=2", f"{CHAT}?api-version=2"]
    answers = [proxy.http.post(path, json=asked) for path in paths]
    assert [source(answer) for answer in answers] == ["upstream", "upstream", "upstream", "exact"]
    assert [request.query for request in demo.arrived()] == ["", "api-version=1", "api-version=2"]


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({}, "say: not deterministic"),
        ({"temperature": 0.7}, "say: warm"),
        ({"temperature": 0, "n": 2}, "say: twice"),
        ({"temperature": 0}, "What time is it now?"),
        ({"temperature": 0}, "¿Qué hora es?"),
        ({"temperature": 0}, "¿Qué pasó hoy?"),
        ({"temperature": 0}, "I feel terrible, nobody loves me"),
        ({"temperature": 0, "tools": [{**TOOL, "function": {"name": "send_email", "parameters": {}}}]}, "say: mail"),
    ],
)
def test_what_may_not_be_reused_is_asked_again(fields: dict[str, Json], content: str, demo: Demo, proxy: Proxy) -> None:
    asked = chat(content, **fields)
    assert [source(proxy.http.post(CHAT, json=asked)) for _ in range(2)] == ["upstream"] * 2
    assert len(demo.arrived()) == 2


@pytest.mark.parametrize("fault", ["429=0", "500x1", "502x1", "503x1"])
def test_an_error_is_not_kept(fault: str, demo: Demo, proxy: Proxy) -> None:
    asked = chat(f"say: no error {fault}", temperature=0)
    assert proxy.http.post(CHAT, json=asked, headers={"x-demo-fault": fault}).status_code >= 400
    assert source(proxy.http.post(CHAT, json=asked)) == "upstream"


def test_a_refused_request_is_asked_again(demo: Demo, proxy: Proxy) -> None:
    asked = {**BASE, "messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]}
    assert [proxy.http.post(CHAT, json=asked).status_code for _ in range(2)] == [400, 400]
    assert len(demo.arrived()) == 2


# --- what the client wishes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wish", "expected", "replaced"),
    [
        ({"x-olvido-cache": "off"}, "upstream", False),
        ({"x-olvido-mode": "off"}, "upstream", False),
        ({"cache-control": "no-store"}, "upstream", False),
        ({"x-olvido-cache": "refresh"}, "upstream", True),
        ({"cache-control": "no-cache"}, "upstream", True),
        ({"x-olvido-cache": "on"}, "exact", False),
        ({"x-olvido-cache": "no such wish"}, "exact", False),
    ],
    ids=str,
)
def test_the_clients_wish_counts(wish: dict[str, str], expected: str, replaced: bool, demo: Demo, proxy: Proxy) -> None:
    asked = chat(f"say: wish {wish}", temperature=0)
    first = proxy.http.post(CHAT, json=asked)
    # The fault is no part of the key, and makes the upstream say something else.
    other = proxy.http.post(CHAT, json=asked, headers={**wish, "x-demo-fault": "oversized=100"})
    assert source(other) == expected
    again = proxy.http.post(CHAT, json=asked)
    assert source(again) == "exact"
    assert again.content == (other if replaced else first).content
    assert (other.content == first.content) is (expected == "exact")
    assert len(demo.arrived()) == (1 if expected == "exact" else 2)


@pytest.mark.parametrize("wish", [{"x-olvido-cache": "off"}, {"cache-control": "no-store"}], ids=str)
def test_what_is_not_to_be_kept_is_not(wish: dict[str, str], demo: Demo, proxy: Proxy) -> None:
    asked = chat(f"say: do not keep {wish}", temperature=0)
    proxy.http.post(CHAT, json=asked, headers=wish)
    assert source(proxy.http.post(CHAT, json=asked)) == "upstream"


def test_a_request_that_is_not_deterministic_is_reused_if_the_client_says_so(demo: Demo, proxy: Proxy) -> None:
    asked, wish = chat("say: opted in", temperature=0.9), {"x-olvido-cache": "on"}
    assert [source(proxy.http.post(CHAT, json=asked, headers=wish)) for _ in range(2)] == ["upstream", "exact"]
    assert source(proxy.http.post(CHAT, json=asked)) == "upstream"


# --- at the same time -------------------------------------------------------------------------------------------------


@pytest.fixture
async def crowd(proxy: Proxy) -> AsyncIterator[httpx.AsyncClient]:
    key = {"authorization": "Bearer sk-crowd"}
    async with httpx.AsyncClient(base_url=proxy.url, headers=key, timeout=100) as client:
        yield client


async def once(condition: Callable[[], object]) -> None:
    await asyncio.to_thread(eventually, condition)


async def let_go(demo: Demo, answers: "asyncio.Future[Any]") -> Sequence[httpx.Response]:
    """The answers, which the upstream has been holding back."""

    def released() -> bool:
        demo.release()
        return answers.done()

    await once(released)
    held: Sequence[httpx.Response] = await answers
    return held


def in_flight(proxy: Proxy) -> float:
    lines = proxy.http.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith("olvido_in_flight ")).split()[1])


def text(answer: httpx.Response) -> str:
    if answer.headers["content-type"] == "application/json":
        return str(answer.json()["choices"][0]["message"]["content"])
    return "".join(
        choice["delta"].get("content") or "" for event in events(answer.content) for choice in event["choices"]
    )


@pytest.mark.note("7 NO/3")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_identical_requests_at_once_are_one_upstream_call(
    stream: bool, demo: Demo, proxy: Proxy, crowd: httpx.AsyncClient
) -> None:
    asked = chat(f"say: together {stream}", temperature=0, stream=stream)
    group = asyncio.gather(*(crowd.post(CHAT, json=asked, headers=HELD) for _ in range(10)))
    await once(lambda: in_flight(proxy) == 10)
    answers = await let_go(demo, group)
    assert sorted(map(source, answers)) == ["exact"] * 9 + ["upstream"]
    assert {text(answer) for answer in answers} == {f"together {stream}"}
    assert len(demo.arrived()) == 1


@pytest.mark.parametrize(
    ("stream", "held"),
    [(False, "slow-first-byte"), (True, "slow-first-byte"), (False, "stall=1"), (True, "stall=4")],
)
async def test_when_the_one_that_leads_leaves_another_leads(
    stream: bool, held: str, demo: Demo, proxy: Proxy, crowd: httpx.AsyncClient
) -> None:
    said = f"the leader leaves {stream} {held}"
    asked, headers = chat(f"say: {said}", temperature=0, stream=stream), {"x-demo-fault": held}
    leader = asyncio.gather(crowd.post(CHAT, json=asked, headers=headers))
    await once(lambda: len(demo.arrived()) == 1)
    others = asyncio.gather(*(crowd.post(CHAT, json=asked, headers=headers) for _ in range(6)))
    await once(lambda: in_flight(proxy) == 7)
    if held.startswith("stall"):
        await once(lambda: demo.arrived()[0].chunks_sent > 0)
    leader.cancel()
    await once(lambda: len(demo.arrived()) == 2)
    answers = await let_go(demo, others)
    assert sorted(map(source, answers)) == ["exact"] * 5 + ["upstream"]
    assert {text(answer) for answer in answers} == {said}
    assert len(demo.arrived()) == 2


async def test_when_a_follower_leaves_the_others_are_answered(
    demo: Demo, proxy: Proxy, crowd: httpx.AsyncClient
) -> None:
    asked = chat("say: a follower leaves", temperature=0)
    others = asyncio.gather(*(crowd.post(CHAT, json=asked, headers=HELD) for _ in range(3)))
    await once(lambda: len(demo.arrived()) == 1)
    follower = asyncio.gather(crowd.post(CHAT, json=asked, headers=HELD))
    await once(lambda: in_flight(proxy) == 4)
    follower.cancel()
    await once(lambda: in_flight(proxy) == 3)
    answers = await let_go(demo, others)
    assert sorted(map(source, answers)) == ["exact"] * 2 + ["upstream"]


async def test_when_the_one_that_leads_brings_nothing_the_others_ask_for_themselves(
    demo: Demo, proxy: Proxy, crowd: httpx.AsyncClient
) -> None:
    asked = chat("say: nothing to share", temperature=0)
    broken = {"x-demo-fault": "stall=1"}
    leader = asyncio.gather(crowd.post(CHAT, json={**asked, "model": IMPATIENT}, headers=broken))
    await once(lambda: len(demo.arrived()) == 1)
    others = asyncio.gather(*(crowd.post(CHAT, json={**asked, "model": IMPATIENT}) for _ in range(3)))
    assert [answer.status_code for answer in await leader] == [504]
    assert {source(answer) for answer in await others} <= {"upstream", "exact"}
    assert {text(answer) for answer in await others} == {"nothing to share"}


async def test_streams_that_break_off_one_after_the_other_do_not_go_on_for_all_who_wait(
    demo: Demo, proxy: Proxy, crowd: httpx.AsyncClient
) -> None:
    asked = chat("60 words, broken off", temperature=0, stream=True)
    asking = (crowd.post(CHAT, json=asked, headers={"x-demo-fault": "cut=4"}) for _ in range(50))
    told = await asyncio.gather(*asking, return_exceptions=True)
    answers = [each for each in told if isinstance(each, httpx.Response)]
    assert {(each.status_code, each.json()["error"]["code"]) for each in answers} == {(502, "upstream_broken")}
    broken = [each for each in told if each not in answers]
    assert {type(each) for each in broken} == {httpx.RemoteProtocolError}
    # Two: the first, and one more of those who waited. Who arrives when both are over begins anew.
    assert len(broken) == len(demo.arrived())
    assert 2 <= len(broken) < 10


async def test_who_wants_a_fresh_answer_does_not_wait_for_anothers(
    demo: Demo, proxy: Proxy, crowd: httpx.AsyncClient
) -> None:
    asked = chat("say: fresh", temperature=0)
    leader = asyncio.gather(crowd.post(CHAT, json=asked, headers=HELD))
    await once(lambda: len(demo.arrived()) == 1)
    fresh = await crowd.post(CHAT, json=asked, headers={"x-olvido-cache": "refresh"})
    assert source(fresh) == "upstream"
    assert [source(answer) for answer in await let_go(demo, leader)] == ["upstream"]
