"""The patterns of `playing.py`, played by an upstream of the Messages API. Which round is due is told by how many
messages of the model's stand behind the user's newest; to a client that asks it directly it gives in one message what
the client is to see of all its rounds. Where it is offered the provider's own memory tool, its model keeps files."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.minding import Minder, Round, text, thought, use
from tests.playing import FAULT, JSON, NEEDLES, PATTERNS, THEN, Pattern
from tests.spoken import Called, Spoken

Json = Any
LOOK: Json = {"name": "look", "description": "Looks", "input_schema": {"type": "object", "properties": {}}}
FORMED = "json"  # the tool by which the Vercel AI SDK has a form filled in


def blocks_of(spoken: Spoken, *, built_in: bool = False) -> list[Json]:
    """The blocks of a round: thinking, text, calls. `built_in`: calls of the provider's own memory tool."""
    blocks = [thought(spoken.reasoning)] if spoken.reasoning else []
    blocks += [text(spoken.text)] if spoken.text else []
    return blocks + [_use(call, built_in=built_in) for call in spoken.calls]


def _use(call: Called, *, built_in: bool) -> Json:
    given = json.loads(call.arguments)
    if call.name == "look" or not built_in:
        return use(call.id, call.name, **given)
    name = given.get("file_name") or f"note{given['key'].strip(NEEDLES)}.md"
    text_ = given.get("value") or given["content"]
    return use(call.id, "memory", command="create", path=f"/memories/{name}", file_text=text_)


def answers_of(pattern: Pattern) -> list[list[Json]]:
    """What the client is to see: of each answer all blocks that are not of memory's tools."""
    answers: list[list[Json]] = []
    group: list[Json] = []
    for at, spoken in enumerate(pattern.rounds):
        group += [block for block in blocks_of(spoken) if block.get("name", "look") == "look"]
        theirs = any(call.name == "look" for call in spoken.calls)
        if theirs or not spoken.calls or at == len(pattern.rounds) - 1:
            is_answer = any(block["type"] != "thinking" for block in group)
            answers.append(group if is_answer else [text("It is noon.")])
            group = []
    return answers


class MessagePlayer(Minder):
    """Plays the pattern that the model's name says."""

    def __init__(self) -> None:
        super().__init__()
        self.pick = self._due
        self.by_key: dict[str, list[Json]] = {}  # requests
        self._failed: set[tuple[str, str]] = set()

    def _due(self, asked: Json, headers: Mapping[bytes, bytes]) -> Round:
        key = (headers.get(b"x-api-key") or headers[b"authorization"].removeprefix(b"Bearer ")).decode()
        self.by_key.setdefault(key, []).append(asked)
        if asked.get("output_config"):
            return Round([text(JSON)])
        if FORMED in [tool["name"] for tool in asked.get("tools") or ()]:
            return Round([use("formed", FORMED, **json.loads(JSON))])
        given = asked["messages"]
        newest = max(at for at, each in enumerate(given) if each["role"] == "user" and not _are_results(each))
        is_first = not any(each["role"] == "assistant" for each in given[:newest])
        pattern = PATTERNS[asked["model"]] if is_first else THEN
        said = sum(each["role"] == "assistant" for each in given[newest:])
        if not (tool := memory_tool(asked)):
            answers = answers_of(pattern)
            return Round(answers[min(said, len(answers) - 1)], id=f"msg_{said}")
        at = min(said, len(pattern.rounds) - 1)
        played = Round(blocks_of(pattern.rounds[at], built_in=tool == "memory"), id=f"msg_{at}")
        fault, _, of = headers.get(FAULT.encode(), b"").decode().partition("@")
        if not is_first or of != str(at) or (key, fault) in self._failed:
            return played
        self._failed.add((key, fault))
        return replace(played, fault=fault)


def _are_results(message: Json) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "tool_result" for block in content)


def memory_tool(asked: Json) -> str:
    """The tool by which the model of a request can remember; "": it has none."""
    names = [str(tool["name"]) for tool in asked.get("tools") or ()]
    return next((name for name in ("memory", "remember") if name in names), "")
