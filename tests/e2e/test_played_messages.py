"""Anthropic's SDK speaking Messages to an upstream that has them, and a model that manages its memory, by the
provider's own tool or by ours: but for usage and ids of messages the client sees, event by event, what it would have
seen of an upstream without such tools. Whatever fails, it gets an answer, and no order of the model's is carried out
twice."""

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import anthropic
import httpx
import pytest

from proxy.tasks import Tasks
from tests.covering import swept
from tests.e2e.test_played import leaks, ours_in
from tests.native_worlds import World, running
from tests.other_apis import misplaced_message_events
from tests.playing import FAULT, JSON, LOOP, NOTES, PATTERNS
from tests.playing_messages import LOOK, MessagePlayer, memory_tool
from tests.servers import eventually

pytestmark = pytest.mark.long

Json = Any
PATIENCE = 1.0  # seconds; what a busy machine takes for an answer is less
TOOLS = {"its own": "anthropic", "ours": "kimi"}  # the model's tool by the upstream's dialect
APIS: Json = {"apis": ["chat", "messages"]}


@pytest.fixture(scope="module", params=[*TOOLS.values()], ids=[*TOOLS])
def world(request: pytest.FixtureRequest) -> Iterator[World[MessagePlayer]]:
    with running(MessagePlayer(), dialect=request.param, **APIS) as made:
        yield made


@pytest.fixture(
    scope="module",
    params=["anthropic", pytest.param("kimi", marks=pytest.mark.long)],
    ids=[*TOOLS],
)
def hasty(request: pytest.FixtureRequest) -> Iterator[World[MessagePlayer]]:
    with running(MessagePlayer(), timeout=PATIENCE, dialect=request.param, **APIS) as made:
        yield made


# --- what the client sees ---------------------------------------------------------------------------------------------

_OF_ITS_OWN = ("id", "usage")  # of a message


def _seen(message: Json) -> Json:
    return {name: value for name, value in message.items() if name not in _OF_ITS_OWN}


def whole(client: anthropic.Anthropic, asked: Json) -> tuple[Json, Json]:
    got: Json = client.messages.create(**asked).to_dict(mode="json")
    return _seen(got), got["content"]


def streamed(client: anthropic.Anthropic, asked: Json) -> tuple[Json, Json]:
    events: Json = [event.to_dict(mode="json") for event in client.messages.create(**asked, stream=True)]
    assert misplaced_message_events(events) == []
    told = [
        {**_seen(event), **({"message": _seen(event["message"])} if "message" in event else {})} for event in events
    ]
    return told, _content(events)


def _content(events: Json) -> Json:
    """The blocks that a stream tells."""
    blocks: list[Json] = []
    said: list[str] = []  # the input of the newest, as JSON
    for event in events:
        match event:
            case {"type": "content_block_start", "content_block": block}:
                blocks.append(dict(block))
                said.clear()
            case {"delta": {"type": "input_json_delta", "partial_json": piece}}:
                said.append(piece)
                blocks[-1]["input"] = json.loads("".join(said) or "{}") if _is_json("".join(said)) else {}
            case {"delta": {"type": "text_delta", "text": piece}}:
                blocks[-1]["text"] += piece
            case {"delta": {"type": "thinking_delta", "thinking": piece}}:
                blocks[-1]["thinking"] += piece
            case {"delta": {"type": "signature_delta", "signature": piece}}:
                blocks[-1]["signature"] = piece
    return blocks


def _is_json(said: str) -> bool:
    try:
        json.loads(said)
    except ValueError:
        return False
    return True


def helped(client: anthropic.Anthropic, asked: Json) -> tuple[Json, Json]:
    with client.messages.stream(**asked) as stream:
        kinds = [event.type for event in stream]
        got: Json = stream.get_final_message().to_dict(mode="json")
    for block in got["content"]:
        block.pop("parsed_output", None)
    return [kinds, _seen(got)], got["content"]


WAYS = {"whole": whole, "stream": streamed, "stream helper": helped}


def results(content: Json) -> list[Json]:
    """What the client's own tools say to its calls."""
    calls = [block["id"] for block in content if block["type"] == "tool_use"]
    return [{"type": "tool_result", "tool_use_id": id_, "content": "seen"} for id_ in calls]


def conversation(base_url: str, name: str, way: str, key: str) -> list[Json]:
    """What the SDK sees: a question with all that the client's own tools say, the next one, one with a form."""
    given: Json = [{"role": "user", "content": "What now?"}]
    asked: Json = {"model": name, "max_tokens": 900, "messages": given, "tools": [LOOK]}
    seen = []
    with anthropic.Anthropic(base_url=base_url, api_key=key, max_retries=0, _strict_response_validation=True) as client:
        for question in ("And then?", "As JSON?"):
            while True:
                told, content = WAYS[way](client, asked)
                seen.append(told)
                given.append({"role": "assistant", "content": content})
                if not (answered := results(content)):
                    break
                given.append({"role": "user", "content": answered})
            given.append({"role": "user", "content": question})
        form = {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}}
        told, content = WAYS[way](client, {**asked, "output_config": {"format": form}})
        assert content[0]["text"] == JSON
    return [*seen, told]


def traces(sent: list[bytes]) -> list[bytes]:
    """The answers that tell anything of memory's tools, the provider's own included."""
    return [each for each in sent if leaks([each]) or b"/memories" in each or b'"memory"' in each]


def is_its_own(world: World[MessagePlayer]) -> bool:
    """True if the model has the provider's own tool, which refuses to make a file again: that is no edit, and so no
    loop of edits that ends the offer."""
    return world.services().config.upstreams[0].dialect == "anthropic"


def key_of(*parts: object) -> str:
    return "-".join(map(str, parts)).replace(" ", "-").replace(",", "")


@pytest.mark.parametrize(("name", "way"), swept([*PATTERNS], [*WAYS]))
def test_the_python_sdk_sees_no_trace_of_memorys_tools(world: World[MessagePlayer], name: str, way: str) -> None:
    direct = conversation(world.player.url, name, way, key_of("sk", name, way, "direct"))
    before = len(world.tap.sent)
    world.calls()
    proxied = conversation(world.url, name, way, key_of("sk", name, way))
    assert proxied == direct
    assert world.calls() == ours_in(name) + (name == LOOP and is_its_own(world))
    sent = world.tap.sent[before:]
    assert len(sent) == len(direct)
    assert traces(sent) == []


# Of rounds that came to nothing the client's own request was answered, and nothing of them is put back.
@pytest.mark.parametrize("name", [name for name in PATTERNS if name != "ours for ever, nothing said"])
def test_each_prompt_begins_with_the_one_before(world: World[MessagePlayer], name: str) -> None:
    key = key_of("sk-prefix", name)
    conversation(world.url, name, "stream", key)
    asked = [each for each in world.player.by_key[key] if memory_tool(each)]
    assert len(asked) > 1
    for one, other in pairwise(asked):
        assert other["messages"][: len(one["messages"])] == one["messages"]
        assert other["tools"] == one["tools"]


# --- faults -----------------------------------------------------------------------------------------------------------

FAULTED = {name: PATTERNS[name] for name in (NOTES, "text between", "both behind ours", "reasoning")}
FAULTS = ("error", "hang", "cut", "event", "garbage")


def said_by(client: anthropic.Anthropic, asked: Json, *, streamed: bool) -> Json:
    """The content of a message. Raises what an SDK would, or ValueError for one that does not end as it should."""
    if not streamed:
        got: Json = client.messages.create(**asked).to_dict(mode="json")
        if got["type"] != "message":
            raise ValueError(got["type"])
        return got["content"]
    events: Json = [event.to_dict(mode="json") for event in client.messages.create(**asked, stream=True)]
    if not events or events[-1]["type"] != "message_stop":
        raise ValueError("no end")
    assert misplaced_message_events(events) == []
    return _content(events)


def talk(client: anthropic.Anthropic, name: str, *, streamed: bool, fault: str = "") -> tuple[list[str], int]:
    """The texts of the answers, and how often the client had to ask again."""
    given: Json = [{"role": "user", "content": "What now?"}]
    asked: Json = {"model": name, "max_tokens": 900, "messages": given, "tools": [LOOK]}
    asked["extra_headers"] = {FAULT: fault} if fault else {}
    texts, again = [], 0
    for question in ("And then?", ""):
        while True:
            try:
                content = said_by(client, asked, streamed=streamed)
            except (anthropic.APIError, httpx.HTTPError, ValueError):
                again += 1
                assert again < 3
                continue
            given.append({"role": "assistant", "content": content})
            if not (answered := results(content)):
                break
            given.append({"role": "user", "content": answered})
        texts.append([block["text"] for block in content if block["type"] == "text"][-1])
        given.append({"role": "user", "content": question})
    return texts, again


@pytest.mark.parametrize(("name", "fault", "at", "streamed"), swept([*FAULTED], FAULTS, [0, 1, 2], [False, True]))
def test_a_fault_of_the_upstream_costs_no_answer(
    hasty: World[MessagePlayer], name: str, fault: str, at: int, streamed: bool
) -> None:
    key = key_of("sk", name, fault, at, streamed)
    with anthropic.Anthropic(base_url=hasty.url, api_key=key, max_retries=0) as client:
        texts, again = talk(client, name, streamed=streamed, fault=f"{fault}@{at}")
    assert again <= 1
    assert texts == ["It is noon.", "That is all."]
    hasty.did_nothing_twice(hasty.scope(x_api_key=key), least=1)


@pytest.mark.parametrize(("name", "at", "streamed"), swept([*FAULTED], [0, 1, 2], [False, True]))
async def test_a_client_that_hangs_up_in_any_round_may_ask_again(
    world: World[MessagePlayer], name: str, at: int, streamed: bool
) -> None:
    if at >= len(FAULTED[name].rounds):
        return
    key = key_of("sk-left", name, at, streamed)
    hanging, left = world.player.hanging, world.player.left
    given: Json = [{"role": "user", "content": "What now?"}]

    async def asks() -> None:
        """Asks, and goes on with its own tools, until it is held."""
        async with anthropic.AsyncAnthropic(base_url=world.url, api_key=key, max_retries=0) as client:
            while True:
                asked: Json = {"model": name, "max_tokens": 900, "messages": given, "tools": [LOOK]}
                asked["extra_headers"] = {FAULT: f"hang@{at}"}
                if streamed:
                    async with client.messages.stream(**asked) as stream:
                        content: Json = (await stream.get_final_message()).to_dict(mode="json")["content"]
                else:
                    content = (await client.messages.create(**asked)).to_dict(mode="json")["content"]
                given.append({"role": "assistant", "content": content})
                given.append({"role": "user", "content": results(content)})

    asking = Tasks().spawn(asks(), name="asking")
    await asyncio.to_thread(eventually, lambda: world.player.hanging == hanging + 1)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.to_thread(eventually, lambda: world.player.left == left + 1)

    def again() -> tuple[list[str], int]:
        with anthropic.Anthropic(base_url=world.url, api_key=key, max_retries=0) as client:
            return talk(client, name, streamed=streamed)

    assert await asyncio.to_thread(again) == (["It is noon.", "That is all."], 0)
    world.did_nothing_twice(world.scope(x_api_key=key), least=1)


def test_a_leak_would_be_found(world: World[MessagePlayer]) -> None:
    conversation(world.url, "both in parallel", "stream", "sk-leaking")
    arrived = [json.dumps(each["messages"]).encode() for each in world.player.by_key["sk-leaking"]]
    assert len(traces(arrived)) == len(arrived)
