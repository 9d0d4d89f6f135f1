"""The small model of the demonstration that helps memory, `demo-memory`: it reads what it is asked as any model would,
numbered messages and facts, and answers with the operations that talk/memory.yaml has for what it finds there.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

MODEL = "demo-memory"

_SAID = re.compile(r"^\[(\d+)\] user: (.*(?:\n    .*)*)", re.MULTILINE)
_FACT = re.compile(r"^(f\d+) \| ([^|\n]+) \| ([^|\n]+) \| (.*)$", re.MULTILINE)
_ENTRY = re.compile(r"^- (.+)$", re.MULTILINE)


@cache
def written() -> Mapping[str, Any]:
    """The text of talk/memory.yaml: conversations, and what is written for them."""
    found: Mapping[str, Any] = yaml.safe_load((Path(__file__).parent / "talk" / "memory.yaml").read_text("utf-8"))
    return found


def answer(asked: str) -> str:
    """Returns the model's answer, a JSON object, to the data of a question."""
    if "<conversation>" in asked:
        return _encoded(_extracted(asked))
    if "<entries" in asked:
        return _encoded({"digest": ". ".join(_ENTRY.findall(asked)) + "."})
    return _encoded({"operations": _merges(asked)})


def _extracted(asked: str) -> Mapping[str, Any]:
    said = [(int(number), text) for number, text in _SAID.findall(asked)]
    known = {value.strip() for _, _, _, value in _FACT.findall(asked)}
    operations = [
        {"op": "add", "turn": turn, **each}
        for turn, each in _quoted(written()["facts"], said)
        if each["value"] not in known
    ]
    events = [{"turn": turn, "text": each["text"]} for turn, each in _quoted(written()["events"], said)]
    topic = said[0][1][:60] if said else ""
    summary: Mapping[str, Any] = {"topic": topic, "discussed": [], "outcome": "", "decisions": [], "open_questions": []}
    return {"operations": operations, "events": events, "summary": summary, "slug": "demo-conversation"}


def _quoted(
    entries: Sequence[Mapping[str, str]], said: Sequence[tuple[int, str]]
) -> list[tuple[int, Mapping[str, str]]]:
    return [(turn, each) for each in entries for turn, text in said if each["quote"] in text]


def _merges(asked: str) -> Sequence[Mapping[str, Any]]:
    names = {value.strip(): name for name, _, _, value in _FACT.findall(asked)}
    return [
        {
            "op": "merge",
            "ids": [names[value] for value in each["values"]],
            **{k: each[k] for k in ("key", "value", "domain")},
        }
        for each in written()["same"]
        if all(value in names for value in each["values"])
    ]


def _encoded(found: Mapping[str, Any]) -> str:
    return f"```json\n{msgspec.json.encode(found).decode()}\n```"
