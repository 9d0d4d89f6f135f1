"""Each provider's own way of telling usage and of refusing an order reaches the client, and the ledger right."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import openai
import pytest

from proxy.protocol.dialects import DIALECTS
from tests.e2e.running import CHAT, Demo, Proxy, chat, events, run_demo_here, run_proxy, upstream
from tests.scripted.config import ScriptedConfig

pytestmark = pytest.mark.long

Json = Any
MODELS = {"kimi": "kimi-k2.6", "deepseek": "deepseek-v4-flash", "mistral": "mistral-small-latest"}
LONG = "Once upon a time there was a llama that lived in a small house by the river. " * 100


@dataclass(frozen=True, slots=True)
class World:
    demos: Mapping[str, Demo]
    proxy: Proxy


@pytest.fixture(scope="module")
def world(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        demos = {name: stack.enter_context(run_demo_here(ScriptedConfig(dialect=DIALECTS[name]))) for name in MODELS}
        upstreams = [upstream(name, demo, [MODELS[name]], dialect=name) for name, demo in demos.items()]
        asking = upstream("asking", running_demo, ["demo-*"], stream_usage="ask")
        config = {"upstreams": [*upstreams, asking]}
        yield World(demos, stack.enter_context(run_proxy(config, tmp_path_factory.mktemp("dialects"))))


@pytest.mark.parametrize("dialect", MODELS)
@pytest.mark.parametrize("include_usage", [False, True])
def test_a_dialects_stream_is_as_directly_and_its_usage_is_in_the_ledger(
    dialect: str, include_usage: bool, world: World
) -> None:
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    asked = chat(f"{include_usage} {LONG} 40 words", model=MODELS[dialect], **options)

    def chunks(base_url: str, key: str) -> tuple[list[Json], str]:
        with openai.OpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
            raw = client.chat.completions.with_raw_response.create(**asked, stream=True)
            with raw.parse() as stream:
                return [chunk.to_dict() for chunk in stream], raw.headers.get("x-olvido-request", "")

    if dialect == "mistral" and include_usage:
        for base_url in (world.demos[dialect].base_url, world.proxy.base_url):
            with pytest.raises(openai.UnprocessableEntityError):
                chunks(base_url, "sk-x")
        return
    first = [chunks(world.demos[dialect].base_url, f"sk-direct-{include_usage}")[0] for _ in range(2)]
    through = [chunks(world.proxy.base_url, f"sk-proxied-{include_usage}") for _ in range(2)]
    assert [seen for seen, _ in through] == first
    cold, warm = (world.proxy.row(request_id=request_id) for _, request_id in through)
    told = [usage for usage in map(usage_of, first[1]) if usage]
    if dialect == "deepseek" and not include_usage:
        assert told == []
        assert not warm["measured"]
        assert warm["tokens_sent"] > 1000
        return
    assert warm["measured"]
    assert cold["tokens_cached"] == 0
    assert warm["tokens_cached"] > 1000
    assert warm["tokens_billed"] == told[-1]["prompt_tokens"]
    assert warm["tokens_completion"] == told[-1]["completion_tokens"]


def usage_of(chunk: Json) -> Json:
    return chunk.get("usage") or next((c["usage"] for c in chunk["choices"] if c.get("usage")), None)


@pytest.mark.parametrize("dialect", MODELS)
def test_a_dialects_refusal_of_an_order_passes(dialect: str, world: World) -> None:
    body = {
        "model": MODELS[dialect],
        "messages": [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "x", "content": "y"}],
    }
    direct = world.demos[dialect].control.post(CHAT, json=body, headers={"authorization": "Bearer sk-test"})
    proxied = world.proxy.http.post(CHAT, json=body)
    assert direct.status_code == 400
    assert (proxied.status_code, proxied.content) == (direct.status_code, direct.content)


@pytest.mark.parametrize("dialect", MODELS)
def test_tools_and_thinking_go_round(dialect: str, world: World) -> None:
    """The answer, sent back as it came, is accepted: nothing that the provider needs was lost on the way."""
    function = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    asked = chat("get_weather in 'Rosario'", model=MODELS[dialect], tools=[{"type": "function", "function": function}])
    with openai.OpenAI(base_url=world.proxy.base_url, api_key="sk-tools", max_retries=0) as client:
        first = client.chat.completions.create(**asked).choices[0].message
        assert first.tool_calls
        result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "sunny"}
        asked["messages"] += [first.to_dict(), result]
        second = client.chat.completions.create(**asked).choices[0].message
    assert second.content is not None
    assert "sunny" in second.content


def test_usage_that_only_we_asked_for_is_measured_and_not_shown(world: World, demo: Demo) -> None:
    asked = chat("40 words of ours", stream=True)
    answer = world.proxy.http.post(CHAT, json=asked)
    assert demo.arrived()[0].body.endswith(b'"stream_options":{"include_usage":true}}')
    seen = events(answer.content)
    assert all(chunk["choices"] for chunk in seen)
    assert not any(chunk.get("usage") for chunk in seen)
    direct = demo.control.post(CHAT, json=asked, headers={"authorization": "Bearer sk-test"})
    assert [without_usage(chunk) for chunk in seen] == events(direct.content)
    row = world.proxy.row(request_id=answer.headers["x-olvido-request"])
    assert row["measured"]
    assert row["tokens_completion"] > 0


def without_usage(chunk: Json) -> Json:
    return {key: value for key, value in chunk.items() if key != "usage"}
