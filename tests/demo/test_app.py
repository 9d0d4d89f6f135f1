"""The demonstration's upstream over a real socket, by the official SDK."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from proxy.demo.app import Chat, create_app
from proxy.demo.forms import body
from tests.scripted.config import four_bytes_a_token
from tests.servers import run_app


@pytest.fixture(scope="module")
def sdk() -> Iterator[openai.OpenAI]:
    with (
        run_app(create_app(four_bytes_a_token)) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="sk-test", max_retries=0) as client,
    ):
        yield client


def test_a_stream_adds_up_to_the_same_answer(sdk: openai.OpenAI) -> None:
    whole = sdk.chat.completions.create(model="demo-chat", messages=[{"role": "user", "content": "Hello."}])
    pieces = sdk.chat.completions.create(
        model="demo-chat", messages=[{"role": "user", "content": "Hello."}], stream=True
    )
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == whole.choices[0].message.content


def test_it_has_every_model_that_the_programs_of_the_documents_name(sdk: openai.OpenAI) -> None:
    documents = (Path("README.md"), Path("deploy/docs/clients.md"))
    programs = re.compile(r"""\bmodel\b\W+"(?:openai/)?([a-z0-9.-]+)""")
    named = {name for path in documents for name in programs.findall(path.read_text(encoding="utf-8"))}
    assert {"kimi-k2.6", "gpt-6-luna"} <= named
    assert named - {"gpt-5.1"} <= {model.id for model in sdk.models.list()}  # that one is of a client's own settings


def test_its_models_are_listed_and_others_unknown(sdk: openai.OpenAI) -> None:
    assert "demo-chat" in [model.id for model in sdk.models.list()]
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        sdk.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "Hello."}])


@pytest.mark.parametrize("body", [b"{", b"\xff", b'"text"', b"{}", b'{"model":"demo-chat"}', b'{"messages":[]}'])
def test_what_is_no_request_is_refused(sdk: openai.OpenAI, body: bytes) -> None:
    answer = httpx.post(f"{sdk.base_url}chat/completions", content=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


LONG = [{"role": "user", "content": "get weather " + "word " * 600}]
WEATHER = {"type": "function", "function": {"name": "get_weather"}}


def told(chat: Chat, **fields: Any) -> Any:
    return body(chat.complete({"model": "demo-chat", **fields}, LONG, "sk-1"))


def test_ids_come_from_the_request_and_calls_are_named_as_kimi_names_them() -> None:
    first, again, other = (
        told(Chat(four_bytes_a_token), tools=[WEATHER]),
        told(Chat(four_bytes_a_token), tools=[WEATHER], user="ana"),
        told(Chat(four_bytes_a_token)),
    )
    assert first == again
    assert first["id"] != other["id"]
    assert [call["id"] for call in first["choices"][0]["message"]["tool_calls"]] == ["get_weather:0"]


def test_what_was_sent_before_is_billed_as_cached() -> None:
    chat = Chat(four_bytes_a_token)
    first, again = told(chat)["usage"], told(chat)["usage"]
    assert (first["cached_tokens"], again["cached_tokens"]) == (0, 512)
    assert first["total_tokens"] == first["prompt_tokens"] + first["completion_tokens"]
