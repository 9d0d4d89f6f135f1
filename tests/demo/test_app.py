"""The demonstration's upstream over a real socket, by the official SDK."""

from collections.abc import Iterator

import httpx
import openai
import pytest

from proxy.demo.app import create_app
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


def test_its_models_are_listed_and_others_unknown(sdk: openai.OpenAI) -> None:
    assert "demo-chat" in [model.id for model in sdk.models.list()]
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        sdk.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "Hello."}])


@pytest.mark.parametrize("body", [b"{", b"\xff", b'"text"', b"{}", b'{"model":"demo-chat"}', b'{"messages":[]}'])
def test_what_is_no_request_is_refused(sdk: openai.OpenAI, body: bytes) -> None:
    answer = httpx.post(f"{sdk.base_url}chat/completions", content=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
