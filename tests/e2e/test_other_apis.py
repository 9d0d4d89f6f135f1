"""Real SDKs of the Responses and Messages APIs: directly against an upstream that has them and through the proxy, what
they see is equal; and of an upstream of chat completions they see well-formed answers."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from pydantic import BaseModel

from tests.builders import config
from tests.native import ANSWER, Native, run_native
from tests.servers import run_proxy

pytestmark = pytest.mark.long

Json = Any
HERE = Path(__file__).parent
PARAMETERS = {
    "type": "object",
    "properties": {"q": {"type": "string"}},
    "required": ["q"],
    "additionalProperties": False,
}
PICTURE = "data:image/png;base64,iVBORw0KGgo="
HAVE = {"has the API": ["chat", "responses", "messages"], "has chat completions": ["chat"]}


@pytest.fixture
def native() -> Iterator[Native]:
    with run_native(seals=False) as upstream:
        yield upstream


@contextmanager
def proxied(upstream: Native, apis: list[str]) -> Iterator[str]:
    entry = {"name": "up", "base_url": f"{upstream.url}/v1", "apis": apis, "retries": 0}
    settings = config(
        upstreams=[entry], storage={"kind": "memory"}, server={"port": 0, "drain": 5}, embedding={"enabled": False}
    )
    with run_proxy(settings) as url:
        yield url


def dumped(value: BaseModel) -> Json:
    assert not extras(value), extras(value)
    return value.model_dump(mode="json", warnings="none")


def extras(value: Json) -> list[str]:
    """Fields that the SDK's types do not know."""
    if isinstance(value, BaseModel):
        found = list(value.model_extra or ())
        return found + [name for field in type(value).model_fields for name in extras(getattr(value, field))]
    return [name for each in value for name in extras(each)] if isinstance(value, list) else []


def plain(seen: Json) -> str:
    """Without what is new with every request."""
    text = json.dumps(seen, sort_keys=True)
    text = re.sub(r'"(resp|rs|msg|fc|ctc|call)_[0-9a-z]+"', r'"\1"', text)
    return re.sub(r'"(created_at|_request_id)": [^,}]+', r'"\1": 0', text)


# --- Python -----------------------------------------------------------------------------------------------------------


def responses(base: str) -> Json:
    with openai.OpenAI(base_url=f"{base}/v1", api_key="sk-a", max_retries=0) as client:
        tools: Any = [
            {"type": "function", "name": "look", "description": "Looks", "parameters": PARAMETERS, "strict": True}
        ]
        content = [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": PICTURE}]
        history: Any = [{"role": "user", "content": content}]
        first = client.responses.create(model="m", input=history, tools=tools, instructions="Be brief", store=False)
        (call,) = [item for item in first.output if item.type == "function_call"]
        history += first.output
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": "a cat"})
        with client.responses.stream(model="m", input=history, tools=tools, store=False) as stream:
            events = [dumped(event) for event in stream]
            last = stream.get_final_response()
        assert last.output_text == ANSWER
        return [dumped(first), events, dumped(last)]


def chain(base: str) -> Json:
    with openai.OpenAI(base_url=f"{base}/v1", api_key="sk-a", max_retries=0) as client:
        first = client.responses.create(model="m", input="One")
        second = client.responses.create(model="m", input="Two", previous_response_id=first.id)
        return [dumped(first), dumped(second)]


def messages(base: str) -> Json:
    with anthropic.Anthropic(base_url=base, api_key="sk-a", max_retries=0) as client:
        tools: Any = [{"name": "look", "description": "Looks", "input_schema": PARAMETERS}]
        source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
        content = [{"type": "text", "text": "What is it?"}, {"type": "image", "source": source}]
        history: Any = [{"role": "user", "content": content}]
        common: Any = {"model": "m", "max_tokens": 100, "system": "Be brief", "tools": tools}
        first = client.messages.create(messages=history, **common)
        (use,) = [block for block in first.content if block.type == "tool_use"]
        history.append({"role": "assistant", "content": first.content})
        result = {"type": "tool_result", "tool_use_id": use.id, "content": "a cat"}
        history.append({"role": "user", "content": [result]})
        with client.messages.stream(messages=history, **common) as stream:
            events = [event.model_dump(mode="json", warnings="none") for event in stream]
            events[0]["message"].pop("usage")  # an estimate, where the upstream counts at the end alone
            last = stream.get_final_message()
        assert [block.text for block in last.content if block.type == "text"] == [ANSWER]
        return [dumped(first), events, last.model_dump(mode="json", warnings="none")]


class Trip(BaseModel):
    city: str


def seen(work: Callable[[], Json]) -> Json:
    """What it returns, or how it fails."""
    try:
        return work()
    except (anthropic.APIStatusError, ValueError) as error:
        return [type(error).__name__, getattr(error, "status_code", None)]


def messages_otherwise(base: str) -> Json:
    """Messages in all the ways of the SDK: beta, structured, with its tool runner, and its other routes."""
    with anthropic.Anthropic(base_url=base, api_key="sk-a", max_retries=0) as client:
        asked: Json = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "What is it?"}]}

        def runner() -> Json:
            return [dumped(message) for message in client.beta.messages.tool_runner(tools=[look], **asked)]

        def streamed() -> Json:
            told: list[Json] = []
            for stream in client.beta.messages.tool_runner(tools=[look], stream=True, **asked):
                told.append([event.type for event in stream])
                told.append(stream.get_final_message().model_dump(mode="json", warnings="none"))
            return told

        thinks: Json = {
            "thinking": {"type": "enabled", "budget_tokens": 1_024},
            "system": [{"type": "text", "text": "x"}],
        }
        with client.messages.stream(**asked, **thinks) as stream:
            text = "".join(stream.text_stream)
        with anthropic.Anthropic(base_url=base, auth_token="sk-a", max_retries=0) as bearer:
            return {
                "beta": dumped(client.beta.messages.create(betas=["context-1m-2025-08-07"], **asked)),
                "parsed": seen(lambda: client.messages.parse(output_format=Trip, **asked).parsed_output),
                "parsed, beta": seen(lambda: client.beta.messages.parse(output_format=Trip, **asked).parsed_output),
                "runner": runner(),
                "runner, streamed": streamed(),
                "text": text,
                "events": [event.type for event in client.messages.create(stream=True, **asked)],
                "bearer": dumped(bearer.messages.create(**asked)),
                "models": [model.id for model in client.models.list()],
                "count": type(
                    client.messages.count_tokens(messages=asked["messages"], model="m").input_tokens
                ).__name__,
                "more": dumped(client.messages.create(extra_body={"top_k": 3}, extra_headers={"x-mine": "1"}, **asked)),
            }


@anthropic.beta_tool
def look(q: str) -> str:
    """Looks.

    Args:
        q: what to look for
    """
    return f"a cat in {q}"


WAYS: dict[str, Callable[[str], Json]] = {
    "responses": responses,
    "messages": messages,
    "messages otherwise": messages_otherwise,
}


@pytest.mark.parametrize("way", WAYS)
def test_pythons_sdks_see_what_they_see_without_the_proxy(native: Native, way: str) -> None:
    direct = WAYS[way](native.url)
    with proxied(native, HAVE["has the API"]) as url:
        assert plain(WAYS[way](url)) == plain(direct)
    assert native.faults == []


@pytest.mark.parametrize("way", WAYS)
def test_pythons_sdks_see_the_same_of_an_upstream_of_chat_completions(native: Native, way: str) -> None:
    direct = WAYS[way](native.url)
    with proxied(native, HAVE["has chat completions"]) as url:
        assert plain(WAYS[way](url)) == plain(direct)  # this upstream answers with the same words in each API


def test_a_chain_goes_on_where_the_upstream_has_none(native: Native) -> None:
    with proxied(native, HAVE["has chat completions"]) as url:
        first, second = chain(url)
    assert second["previous_response_id"] == first["id"]
    sent = native.bodies("/v1/chat/completions")[-1]["messages"]
    assert [said["content"] for said in sent] == ["One", ANSWER, "Two"]


def test_structured_output_is_asked_for(native: Native) -> None:
    with (
        proxied(native, HAVE["has chat completions"]) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="sk-a", max_retries=0) as client,
        pytest.raises(ValueError, match="JSON"),  # the upstream does not keep to it, and the SDK says so
    ):
        client.responses.parse(model="m", input="Where?", text_format=Trip)
    form = native.bodies("/v1/chat/completions")[-1]["response_format"]
    assert (form["type"], form["json_schema"]["name"]) == ("json_schema", "Trip")


def test_errors_are_the_sdks_own(native: Native) -> None:
    with (
        proxied(native, HAVE["has chat completions"]) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="sk-a", max_retries=0) as one,
        anthropic.Anthropic(base_url=url, api_key="sk-a", max_retries=0) as other,
    ):
        with pytest.raises(openai.NotFoundError, match="resp_0"):
            one.responses.create(model="m", input="x", previous_response_id="resp_0")
        with pytest.raises(openai.BadRequestError, match="background"):
            one.responses.create(model="m", input="x", background=True)
        with pytest.raises(anthropic.BadRequestError, match="at least one message"):
            other.messages.create(model="m", max_tokens=9, messages=[])


# --- Node -------------------------------------------------------------------------------------------------------------


def node(base: str) -> Json:
    asked = ["node", str(HERE / "other_apis.mjs"), base, "sk-a"]
    ran = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr[-3_000:]
    return json.loads(ran.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.skipif(not (HERE / "node_modules/@anthropic-ai").exists(), reason="its packages are not installed")
@pytest.mark.parametrize("which", HAVE)
def test_nodes_sdks_see_what_they_see_without_the_proxy(native: Native, which: str) -> None:
    direct = node(native.url)
    with proxied(native, HAVE[which]) as url:
        seen = node(url)
    for name, told in direct.items():
        assert plain(seen[name]) == plain(told), name
    if which == "has the API":
        assert native.faults == []
