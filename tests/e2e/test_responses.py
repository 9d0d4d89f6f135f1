"""OpenAI's SDK where responses are kept: on an upstream that keeps them itself, taken over, and on one of chat
completions alone. What it sees is what it sees without the proxy."""

import json
import re
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.builders import config
from tests.e2e.test_other_apis import PARAMETERS, dumped, plain
from tests.native import ANSWER
from tests.provider import Provider, run_provider
from tests.servers import run_proxy

pytestmark = pytest.mark.long

Json = Any
WAYS: dict[str, Json] = {
    "has the API": {"apis": ["chat", "responses"]},
    "taken over": {"apis": ["chat", "responses"], "take_over": True},
    "has chat completions": {"apis": ["chat"]},
}
TOOLS: Any = [{"type": "function", "name": "look", "description": "Looks", "parameters": PARAMETERS, "strict": True}]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with run_provider() as upstream:
        yield upstream


def dialogue(base: str) -> Json:
    """Two questions, each with a call of a tool, each request on from the response before; then what is kept of it."""
    with openai.OpenAI(base_url=f"{base}/v1", api_key="sk-a", max_retries=0) as client:
        seen: list[Json] = []
        last: Any = openai.omit
        for question in ("What is it?", "And then?"):
            first = client.responses.create(model="m", input=question, tools=TOOLS, previous_response_id=last)
            (call,) = [item for item in first.output if item.type == "function_call"]
            output: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "a cat"}]
            with client.responses.stream(model="m", input=output, tools=TOOLS, previous_response_id=first.id) as stream:
                events = [dumped(event) for event in stream]
                told = stream.get_final_response()
            last = told.id
            assert told.output_text == ANSWER
            seen += [dumped(first), events, dumped(told)]
        again = client.responses.retrieve(last)
        assert again.output_text == ANSWER
        seen.append(dumped(again)["output"])
        items = list(client.responses.input_items.list(last, order="asc", limit=3))
        seen.append([(item.type, getattr(item, "role", None)) for item in items])
        client.responses.delete(last)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(last)
        with pytest.raises(openai.NotFoundError):
            client.responses.create(model="m", input="x", previous_response_id="resp_0")
        return seen


def without_chain(seen: Json) -> str:
    """Where a chain is taken over its provider is told of no response before."""
    return re.sub(r'"previous_response_id": ("resp"|null)', r'"previous_response_id": 0', plain(seen))


@pytest.mark.parametrize("way", WAYS)
def test_a_chain_of_responses_is_what_it_is_without_the_proxy(provider: Provider, way: str) -> None:
    direct = dialogue(provider.url)
    settings = dict(WAYS[way])
    entry = {"name": "up", "base_url": f"{provider.url}/v1", "apis": settings.pop("apis"), "retries": 0}
    made = config(
        upstreams=[entry],
        responses=settings,
        storage={"kind": "memory"},
        server={"port": 0, "drain": 5},
        embedding={"enabled": False},
    )
    provider.faults.clear()
    with run_proxy(made) as url:
        seen = dialogue(url)
    for one, other in zip(seen, direct, strict=True):
        assert json.loads(without_chain(one)) == json.loads(without_chain(other))
    assert [fault for fault in provider.faults if "not found" not in fault] == []
