"""SDKs of Node that speak Responses or Messages to an upstream that has them, and a model that manages its memory: they
see what they would have seen of an upstream without such tools, whether its provider stores responses or not."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_played_messages import traces
from tests.native_worlds import World, running
from tests.playing import PATTERNS
from tests.playing_messages import MessagePlayer
from tests.playing_responses import ResponsePlayer

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]

Json = Any
OF_ITS_OWN = ("usage", "usage_metadata", "estimatedTokenUsage", "created_at", "previous_response_id")  # of an answer
ANSWERS = re.compile(r"resp_\d+|msg_\d")  # ids of answers, as the upstreams here give them
HERE = Path(__file__).parent
RESPONSES = {"responses": "openai", "ai": "@ai-sdk/openai", "langchain": "@langchain/openai"}
MESSAGES = {"anthropic": "@anthropic-ai/sdk", "ai": "@ai-sdk/anthropic", "langchain": "@langchain/anthropic"}


def seen_by(program: str, package: str, base_url: str, api: str, **more: str) -> dict[str, Json]:
    """What each way of asking saw, of each pattern."""
    if not (HERE / "node_modules" / package / "package.json").exists():
        pytest.skip(f"{package} is not installed: run `npm ci` in tests/e2e")
    given = {"BASE_URL": base_url, "API": api, "PATTERNS": json.dumps(list(PATTERNS)), **more}
    command = ["node", f"played_{program}.mjs"]
    ran = subprocess.run(
        command, cwd=HERE, env={**os.environ, **given}, capture_output=True, text=True, timeout=90, check=False
    )
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, Json] = unnumbered(json.loads(ran.stdout))
    return seen


def unnumbered(seen: Json) -> Json:
    """What was seen, but for usage, ids and times of answers; those of what they are made of stay."""
    if isinstance(seen, list):
        return [unnumbered(each) for each in seen]
    if not isinstance(seen, dict):
        return seen
    kept = {name: value for name, value in seen.items() if name not in OF_ITS_OWN}
    return {name: unnumbered(value) for name, value in kept.items() if not (name == "id" and _is_answers(value))}


def _is_answers(id_: Json) -> bool:
    return isinstance(id_, str) and ANSWERS.fullmatch(id_) is not None


def no_difference(world: World[Any], program: str, package: str, api: str, **more: str) -> None:
    """Asserts that it sees the same with the proxy and without, and nothing of memory's tools."""
    direct = seen_by(program, package, world.player.url, api, **more)
    before = len(world.tap.sent)
    world.calls()
    proxied = seen_by(program, package, world.url, api, **more)
    assert {key: (proxied.get(key), seen) for key, seen in direct.items() if proxied.get(key) != seen} == {}
    assert proxied.keys() == direct.keys()
    assert len(direct) % len(PATTERNS) == 0
    assert world.calls() > len(PATTERNS)
    assert traces(world.tap.sent[before:]) == []


@pytest.mark.parametrize("program", RESPONSES)
def test_an_sdk_of_responses_sees_no_trace_of_memorys_tools(program: str) -> None:
    with running(ResponsePlayer(), apis=["chat", "responses"]) as world:
        no_difference(world, program, RESPONSES[program], "responses")


@pytest.mark.parametrize("program", ["responses", "ai"])
def test_nor_does_one_that_has_responses_stored(program: str) -> None:
    with running(ResponsePlayer(), take_over=True, apis=["chat", "responses"]) as world:
        no_difference(world, program, RESPONSES[program], "responses", STORE="1")


@pytest.mark.parametrize("dialect", ["anthropic", "kimi"])
@pytest.mark.parametrize("program", MESSAGES)
def test_an_sdk_of_messages_sees_no_trace_of_memorys_tools(program: str, dialect: str) -> None:
    with running(MessagePlayer(), dialect=dialect, apis=["chat", "messages"]) as world:
        no_difference(world, program, MESSAGES[program], "messages")
