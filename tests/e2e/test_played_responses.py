"""OpenAI's SDK speaking Responses to an upstream that has them, and a model that manages its memory: but for usage, ids
and times of responses the client sees, event by event, what it would have seen of an upstream without such tools.
Whatever fails, it gets an answer, and no order of the model's is carried out twice."""

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import openai
import pytest

from proxy.tasks import Tasks
from tests.covering import swept
from tests.e2e.test_played import leaks, ours_in
from tests.native_worlds import World, running
from tests.other_apis import misplaced_events
from tests.playing import FAULT, NOTES, PATTERNS
from tests.playing_responses import JSON, LOOK, ResponsePlayer
from tests.servers import eventually

pytestmark = pytest.mark.long

Json = Any
APIS: Json = {"apis": ["chat", "responses"]}
PATIENCE = 1.0  # seconds; what a busy machine takes for an answer is less


@pytest.fixture(scope="module")
def world() -> Iterator[World[ResponsePlayer]]:
    with running(ResponsePlayer(), **APIS) as made:
        yield made


@pytest.fixture(scope="module")
def hasty() -> Iterator[World[ResponsePlayer]]:
    with running(ResponsePlayer(), timeout=PATIENCE, **APIS) as made:
        yield made


# --- what the client sees ---------------------------------------------------------------------------------------------

_OF_ITS_OWN = ("id", "created_at", "usage")  # of a response


def _seen(response: Json) -> Json:
    return {name: value for name, value in response.items() if name not in _OF_ITS_OWN}


def whole(client: openai.OpenAI, asked: Json) -> tuple[Json, Json]:
    got: Json = client.responses.create(**asked).to_dict(mode="json")
    return _seen(got), got["output"]


def streamed(client: openai.OpenAI, asked: Json) -> tuple[Json, Json]:
    events: Json = [event.to_dict(mode="json") for event in client.responses.create(**asked, stream=True)]
    assert misplaced_events(events) == []
    assert len({event["response"]["created_at"] for event in events if "response" in event}) == 1
    told = [{**event, "response": _seen(event["response"])} if "response" in event else event for event in events]
    return told, events[-1]["response"]["output"]


def helped(client: openai.OpenAI, asked: Json) -> tuple[Json, Json]:
    with client.responses.stream(**asked) as stream:
        done = [event.type for event in stream if event.type.endswith("done")]
        got: Json = stream.get_final_response().to_dict(mode="json")
    for item in got["output"]:
        item.pop("parsed_arguments", None)
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return [done, _seen(got)], got["output"]


WAYS = {"whole": whole, "stream": streamed, "stream helper": helped}


def conversation(base_url: str, name: str, way: str, key: str) -> list[Json]:
    """What the SDK sees: a question with all that the client's own tools say, the next one, one with a form."""
    given: Json = [{"role": "user", "content": "What now?"}]
    asked: Json = {"model": name, "input": given, "tools": [LOOK], "store": False}
    asked["include"] = ["reasoning.encrypted_content"]
    seen = []
    with openai.OpenAI(base_url=base_url, api_key=key, max_retries=0, _strict_response_validation=True) as client:
        for question in ("And then?", "As JSON?"):
            while True:
                told, output = WAYS[way](client, asked)
                seen.append(told)
                given += output
                calls = [item for item in output if item["type"] == "function_call"]
                given += [{"type": "function_call_output", "call_id": call["call_id"], "output": "x"} for call in calls]
                if not calls:
                    break
            given.append({"role": "user", "content": question})
        form = {"type": "json_schema", "name": "trip", "schema": {"type": "object"}, "strict": True}
        told, output = WAYS[way](client, {**asked, "text": {"format": form}})
        assert output[0]["content"][0]["text"] == JSON
    return [*seen, told]


@pytest.mark.parametrize(("name", "way"), swept([*PATTERNS], [*WAYS]))
def test_the_python_sdk_sees_no_trace_of_memorys_tools(world: World[ResponsePlayer], name: str, way: str) -> None:
    key = f"sk-{name}-{way}".replace(" ", "-").replace(",", "")
    direct = conversation(f"{world.player.url}/v1", name, way, f"{key}-direct")
    before = len(world.tap.sent)
    world.calls()
    proxied = conversation(f"{world.url}/v1", name, way, key)
    assert proxied == direct
    assert world.calls() == ours_in(name)
    sent = world.tap.sent[before:]
    assert len(sent) == len(direct)
    assert leaks(sent) == []


# Of rounds that came to nothing the client's own request was answered, and nothing of them is put back.
@pytest.mark.parametrize("name", [name for name in PATTERNS if name != "ours for ever, nothing said"])
def test_each_prompt_begins_with_the_one_before(world: World[ResponsePlayer], name: str) -> None:
    key = f"sk-prefix-{name}".replace(" ", "-").replace(",", "")
    conversation(f"{world.url}/v1", name, "stream", key)
    asked = [each for each in world.player.by_key[key] if any(tool["name"] == "remember" for tool in each["tools"])]
    assert len(asked) > 1
    for one, other in pairwise(asked):
        assert other["input"][: len(one["input"])] == one["input"]
        assert other["tools"] == one["tools"]


# --- faults -----------------------------------------------------------------------------------------------------------

FAULTED = {name: PATTERNS[name] for name in (NOTES, "text between", "both behind ours", "reasoning")}
FAULTS = ("error", "hang", "cut", "event", "failed", "garbage")


def talk(client: openai.OpenAI, name: str, *, streamed: bool, fault: str = "") -> tuple[list[str], int]:
    """The texts of the answers, and how often the client had to ask again."""
    given: Json = [{"role": "user", "content": "What now?"}]
    asked: Json = {"model": name, "input": given, "tools": [LOOK], "store": False}
    asked["extra_headers"] = {FAULT: fault} if fault else {}
    texts, again = [], 0
    for question in ("And then?", ""):
        while True:
            try:
                output = said_by(client, asked, streamed=streamed)
            except (openai.APIError, httpx.HTTPError, ValueError):
                again += 1
                assert again < 3
                continue
            given += output
            calls = [item for item in output if item["type"] == "function_call"]
            given += [{"type": "function_call_output", "call_id": call["call_id"], "output": "x"} for call in calls]
            if not calls:
                break
        texts.append([item["content"][0]["text"] for item in output if item["type"] == "message"][-1])
        given.append({"role": "user", "content": question})
    return texts, again


def said_by(client: openai.OpenAI, asked: Json, *, streamed: bool) -> Json:
    """The output of a response. Raises what an SDK would, or ValueError for a stream that does not end as it should."""
    if not streamed:
        got: Json = client.responses.create(**asked).to_dict(mode="json")
        if got["status"] != "completed":
            raise ValueError(got["status"])
        return got["output"]
    events: Json = [event.to_dict(mode="json") for event in client.responses.create(**asked, stream=True)]
    if not events or events[-1]["type"] != "response.completed":
        raise ValueError("no end")
    assert misplaced_events(events) == []
    return events[-1]["response"]["output"]


@pytest.mark.parametrize(("name", "fault", "at", "streamed"), swept([*FAULTED], FAULTS, [0, 1, 2], [False, True]))
def test_a_fault_of_the_upstream_costs_no_answer(
    hasty: World[ResponsePlayer], name: str, fault: str, at: int, streamed: bool
) -> None:
    key = f"sk-{name}-{fault}-{at}-{streamed}".replace(" ", "-").replace(",", "")
    with openai.OpenAI(base_url=f"{hasty.url}/v1", api_key=key, max_retries=0) as client:
        texts, again = talk(client, name, streamed=streamed, fault=f"{fault}@{at}")
    assert again <= 1
    assert texts == ["It is noon.", "That is all."]
    hasty.did_nothing_twice(hasty.scope(authorization=f"Bearer {key}"), least=1)


@pytest.mark.parametrize(("name", "at", "streamed"), swept([*FAULTED], [0, 1, 2], [False, True]))
async def test_a_client_that_hangs_up_in_any_round_may_ask_again(
    world: World[ResponsePlayer], name: str, at: int, streamed: bool
) -> None:
    if at >= len(FAULTED[name].rounds):
        return
    key = f"sk-left-{name}-{at}-{streamed}".replace(" ", "-").replace(",", "")
    hanging, left = world.player.hanging, world.player.left
    given: Json = [{"role": "user", "content": "What now?"}]

    async def asks() -> None:
        """Asks, and goes on with its own tools, until it is held."""
        async with openai.AsyncOpenAI(base_url=f"{world.url}/v1", api_key=key, max_retries=0) as client:
            while True:
                asked: Json = {"model": name, "input": given, "tools": [LOOK], "store": False}
                asked["extra_headers"] = {FAULT: f"hang@{at}"}
                if streamed:
                    async with client.responses.stream(**asked) as stream:
                        output: Json = (await stream.get_final_response()).to_dict(mode="json")["output"]
                else:
                    output = (await client.responses.create(**asked)).to_dict(mode="json")["output"]
                calls = [item["call_id"] for item in output if item["type"] == "function_call"]
                given.extend(output)
                given.extend({"type": "function_call_output", "call_id": each, "output": "x"} for each in calls)

    asking = Tasks().spawn(asks(), name="asking")
    await asyncio.to_thread(eventually, lambda: world.player.hanging == hanging + 1)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.to_thread(eventually, lambda: world.player.left == left + 1)

    def again() -> tuple[list[str], int]:
        with openai.OpenAI(base_url=f"{world.url}/v1", api_key=key, max_retries=0) as client:
            return talk(client, name, streamed=streamed)

    assert await asyncio.to_thread(again) == (["It is noon.", "That is all."], 0)
    world.did_nothing_twice(world.scope(authorization=f"Bearer {key}"), least=1)


def test_a_leak_would_be_found(world: World[ResponsePlayer]) -> None:
    conversation(f"{world.url}/v1", "both in parallel", "stream", "sk-leaking")
    arrived = [json.dumps(each["input"]).encode() for each in world.player.by_key["sk-leaking"]]
    assert len(leaks(arrived)) == len(arrived)
