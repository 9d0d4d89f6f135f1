"""What the context engine is measured on: whole conversations, and questions about what was said in them.

Read from `OLVIDO_EVAL_DATA` (default: `../shared/data` beside the repository).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tests.bench.reuse_data import AUTHORED, FOLDER

Said = dict[str, Any]  # a message


@dataclass(frozen=True, slots=True)
class Question:
    """Asked after the conversation. Answerable if every one of `evidence` (whole messages) or `answers` (strings) is in
    the prompt."""

    text: str
    kind: str
    evidence: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()  # values that newer ones have replaced


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    source: str
    lang: str
    messages: tuple[Said, ...]
    tools: tuple[Any, ...] = ()
    questions: tuple[Question, ...] = ()
    facts: tuple[Any, ...] = field(default=(), repr=False)

    def requests(self) -> Iterator[tuple[tuple[Said, ...], Said]]:
        """What a client sends, and what it is answered, until the conversation is had."""
        for index, said in enumerate(self.messages):
            if said["role"] == "assistant" and index and self.messages[index - 1]["role"] in ("user", "tool"):
                yield self.messages[:index], said


def everything() -> list[Conversation]:
    return [*locomo(), *beam(), *authored(), *agents(), *tau(), *swe()]


def locomo() -> list[Conversation]:
    found = []
    for row in msgspec.json.decode((FOLDER / "locomo_dev.json").read_bytes()):
        spoken = row["conversation"]
        texts: dict[str, str] = {}
        messages: list[Said] = []
        for number in range(1, 100):
            for at, said in enumerate(spoken.get(f"session_{number}", ())):
                text = f"{spoken[f'session_{number}_date_time']}: {said['text']}" if at == 0 else said["text"]
                texts[said["dia_id"]] = text
                role = "user" if said["speaker"] == spoken["speaker_a"] else "assistant"
                messages.append({"role": role, "content": text})
        questions = [
            Question(asked["question"], f"{asked['category']}", evidence)
            for asked in row["qa"]
            if (evidence := tuple(texts[each] for each in _ids(asked["evidence"]) if each in texts))
        ]
        found.append(Conversation(row["sample_id"], "locomo", "en", tuple(messages), questions=tuple(questions)))
    return found


def beam() -> list[Conversation]:
    found = []
    for row in _lines("beam_100K_dev.jsonl"):
        texts = {said["id"]: said["content"] for said in row["messages"]}
        messages = tuple({"role": said["role"], "content": said["content"]} for said in row["messages"])
        questions = tuple(
            Question(asked["question"], asked["type"], tuple(texts[each] for each in _flat(asked["evidence_ids"])))
            for asked in row["questions"]
            if asked["evidence_ids"]
        )
        found.append(Conversation(row["chat_id"], "beam", "en", messages, questions=questions))
    return found


def authored() -> list[Conversation]:
    return _written(AUTHORED / "conversations", "authored")


def unseen() -> list[Conversation]:
    """Conversations by authors who had not seen the code, which nobody tunes on."""
    return _written(Path(__file__).with_name("unseen"), "unseen")


def _written(folder: Path, source: str) -> list[Conversation]:
    found = []
    for path in sorted(folder.glob("*.json")):
        row = msgspec.json.decode(path.read_bytes())
        messages = tuple(
            said
            for turn in row["turns"]
            for said in ({"role": "user", "content": turn["user"]}, {"role": "assistant", "content": turn["assistant"]})
        )
        questions = tuple(
            Question(
                asked["q"], asked["type"], answers=tuple(asked["answer_must_contain"]), outdated=_outdated(row, asked)
            )
            for asked in row["questions"]
            if asked["answer_must_contain"]
        )
        found.append(
            Conversation(row["id"], source, row["lang"], messages, questions=questions, facts=tuple(row["facts"]))
        )
    return found


def agents() -> list[Conversation]:
    found = []
    for lang in ("en", "es"):
        for row in msgspec.json.decode((AUTHORED / f"agent_{lang}.json").read_bytes()):
            questions = tuple(
                Question(q["q"], q["type"], answers=tuple(q["answer_must_contain"])) for q in row["questions"]
            )
            found.append(
                Conversation(row["id"], "agents", lang, tuple(row["messages"]), tuple(row["tools"]), questions)
            )
    return found


def tau() -> list[Conversation]:
    return [
        Conversation(f"tau-{number}", "tau", "en", tuple(row["messages"]), _called(row["messages"]))
        for number, row in enumerate(_lines("tau_airline_dev.jsonl"))
    ]


def swe() -> list[Conversation]:
    return [
        Conversation(f"swe-{number}", "swe", "en", tuple(row["messages"]), _called(row["messages"]))
        for number, row in enumerate(_lines("swe_dev.jsonl"))
    ]


def _called(messages: Sequence[Said]) -> tuple[Any, ...]:
    """A definition for every tool that is called: the data has none."""
    names = {call["function"]["name"] for said in messages for call in said.get("tool_calls") or ()}
    return tuple({"type": "function", "function": {"name": name}} for name in sorted(names))


def _outdated(row: Any, asked: Any) -> tuple[str, ...]:
    """What the facts that the asked-for one contradicts say, and it does not."""
    if asked["type"] != "updated_fact":
        return ()
    newest = [fact for fact in row["facts"] if fact["turn"] in asked["evidence_turns"] and fact["contradicts_turn"]]
    older = [fact for fact in row["facts"] if fact["turn"] in {fact["contradicts_turn"] for fact in newest}]
    current = " ".join(asked["answer_must_contain"]).casefold()
    return tuple(said for fact in older for said in fact["must_contain"] if said.casefold() not in current)


def _ids(evidence: Sequence[str]) -> list[str]:
    return [found for each in evidence for found in re.findall(r"D\d+:\d+", each)]


def _flat(evidence: Any) -> list[int]:
    if isinstance(evidence, dict):
        evidence = list(evidence.values())
    return [found for each in evidence for found in (_flat(each) if isinstance(each, list | dict) else [each])]


def _lines(name: str) -> list[Any]:
    return [msgspec.json.decode(line) for line in (FOLDER / name).read_bytes().splitlines() if line]
