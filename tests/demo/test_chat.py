from typing import Any

from proxy.demo.chat import Chat
from proxy.demo.completions import body
from tests.scripted.config import four_bytes_a_token

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
