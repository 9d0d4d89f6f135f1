"""The ways to splice an answer, by its API."""

import json

import msgspec
import pytest

from proxy.protocol.messages.reading import MessageReader
from proxy.protocol.rounds import NOBODYS
from proxy.protocol.spliced import Stream, Whole, as_stream, completion_in, followed
from proxy.protocol.sse import SseParser
from proxy.types import ApiName, Message, Plan, Prompt, PromptTokens
from tests.builders import assistant, messages
from tests.minding import Round, text, thought, use
from tests.spoken import Spoken, stream

MESSAGE = Round([thought("Hm."), text("Hello."), use("c1", "look", at="x")])
PLAN = Plan("untouched", PromptTokens(0, 0))


@pytest.mark.parametrize(
    ("api", "body"), [("chat", stream(Spoken("Hello."))), ("messages", b"".join(MESSAGE.events()))]
)
def test_a_stream_of_one_round_passes_in_its_own_api(api: ApiName, body: bytes) -> None:
    made = Stream(api)
    round_ = made.round(NOBODYS)
    assert round_.feed(body) + round_.end() == body
    assert round_.is_untouched
    assert made.splice.has_said


@pytest.mark.parametrize(
    ("api", "body"), [("chat", Spoken("Hello.").body), ("messages", json.dumps(MESSAGE.message).encode())]
)
def test_a_whole_answer_of_one_round_passes_in_its_own_api(api: ApiName, body: bytes) -> None:
    round_ = Whole(api).round(NOBODYS, body)
    assert round_.closing() == body
    assert round_.has_text


def test_a_whole_message_is_told_as_the_events_that_it_would_have_been() -> None:
    body = json.dumps(MESSAGE.message).encode()
    reader = MessageReader()
    made = as_stream("messages", body, include_usage=False)
    reader.feed_all([event.data for event in SseParser().feed(made) if event.data])
    assert reader.content() == list(MESSAGE.blocks)
    assert reader.complete
    assert reader.completion() == completion_in("messages", body)


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_further_round_stands_behind_the_prompts_messages(api: ApiName) -> None:
    more: tuple[Message, ...] = messages(assistant("So."))
    body = followed(Prompt(b'{"messages":[{"role":"user","content":"Hi"}]}', PLAN, api=api), more)
    content = msgspec.json.decode(body)["messages"][1]["content"]
    assert content == ("So." if api == "chat" else [{"type": "text", "text": "So."}])
