from typing import Any

import msgspec
import pytest

from proxy.demo.chat import Chat
from proxy.demo.config import DemoConfig
from proxy.demo.conversation import CONVERSATION, SYSTEM, WEATHER_RESULT, Ask
from proxy.demo.recording import Received
from proxy.demo.reply import Reply
from proxy.wire.dialects import DIALECTS, Dialect


def answered(chat: Chat, messages: list[Any], **fields: Any) -> Any:
    body = msgspec.json.encode({"model": "demo-chat", "messages": messages, **fields})
    reply = chat.answer(Received("POST", "/v1/chat/completions", "", (("authorization", "Bearer k"),), body, 0.0))
    assert isinstance(reply, Reply)
    return msgspec.json.decode(reply.pieces[0])["choices"][0]["message"]


def play(chat: Chat, *, window: int | None = None) -> list[tuple[Ask, str]]:
    """The whole conversation; with `window`, the upstream gets only that many of the newest
    messages, cut anywhere."""
    system = {"role": "system", "content": SYSTEM}
    history: list[Any] = []
    heard = []
    for ask in CONVERSATION:
        if ask.alone:
            heard.append(
                (ask, answered(chat, [system, {"role": "user", "content": ask.text}], temperature=0)["content"])
            )
            continue
        history.append({"role": "user", "content": ask.text})
        fields = {"tools": list(ask.tools)} if ask.tools else {}
        message = answered(chat, [system, *history[-(window or len(history)) :]], **fields)
        if calls := message.get("tool_calls"):
            history.append(message)
            history += [{"role": "tool", "tool_call_id": call["id"], "content": WEATHER_RESULT} for call in calls]
            message = answered(chat, [system, *history], **fields)
        history.append(message)
        heard.append((ask, message["content"]))
    return heard


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())
def test_with_the_whole_history_everything_that_was_told_is_remembered(dialect: Dialect) -> None:
    heard = play(Chat(DemoConfig(dialect=dialect)))
    assert len(heard) == 40
    assert [ask.text for ask, answer in heard if ask.expects not in answer] == []


def test_with_the_newest_messages_only_most_of_it_is_lost() -> None:
    asked = [(ask, answer) for ask, answer in play(Chat(DemoConfig(strict=False)), window=5) if ask.expects]
    lost = [ask for ask, answer in asked if ask.expects not in answer]
    assert len(asked) >= 10
    assert len(lost) > len(asked) / 2


def test_questions_that_come_again_stand_alone_and_are_word_for_word_the_same() -> None:
    alone = [ask.text for ask in CONVERSATION if ask.alone]
    assert len(alone) == 2 * len(set(alone)) >= 4


def test_a_tool_is_called_once() -> None:
    assert sum(bool(ask.tools) for ask in CONVERSATION) == 1
