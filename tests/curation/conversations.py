"""Sixty conversations in which users imply facts about themselves, with the answer of a perfect model, made by hand by
an author who had not seen the code (`tests/bench/implied_conversations.jsonl`). What an operation of an answer names
`k1` is the first of the facts that were known before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from proxy.curation.asking import Question, Shown, extraction, shown_of
from proxy.curation.carrying import Carried
from proxy.curation.operations import extracted
from proxy.curation.prompts import Prompts
from proxy.types import ArchivedTurn, Fact
from tests.builders import NOW
from tests.curation.builders import DAY, job, turns

FILE = Path(__file__).parent.parent / "bench" / "implied_conversations.jsonl"
PROMPTS = Prompts()


@dataclass(frozen=True)
class Conversation:
    id: str
    language: str
    turns: tuple[ArchivedTurn, ...]
    known: Mapping[str, Fact]  # by the names that the answer uses
    answer: Mapping[str, Any]
    question: str  # of a new conversation, which needs one of the facts
    must_contain: tuple[str, ...]  # strings of that fact

    @property
    def facts(self) -> dict[str, Fact]:
        return {fact.id: fact for fact in self.known.values()}


def conversations() -> list[Conversation]:
    return [_conversation(msgspec.json.decode(line)) for line in FILE.read_bytes().splitlines()]


def _conversation(row: Mapping[str, Any]) -> Conversation:
    said = turns(*((turn["user"], turn["assistant"]) for turn in row["turns"]), session=row["id"])
    known = {each["id"]: _known(row["id"], each) for each in row["known"]}
    return Conversation(row["id"], row["lang"], said, known, row["answer"], row["question"], tuple(row["must_contain"]))


def _known(conversation: str, row: Mapping[str, str]) -> Fact:
    source = blake2b(f"{conversation} {row['id']}".encode(), digest_size=16).digest()
    key = "-".join(row["key"].lower().split())
    at = NOW - DAY
    name = f"f-{source[:8].hex()}"
    return Fact(name, row["domain"], key, row["value"], "medium", "auto", "before", 1, at, at, links=(source,))


def asked(conversation: Conversation, *, schemas: bool = False, settings: Mapping[str, Any] | None = None) -> Question:
    """What the model is asked about a conversation."""
    facts = tuple(conversation.facts.values())
    return extraction(conversation.turns, facts, prompts=PROMPTS, settings=settings or {}, schemas=schemas)


def named(conversation: Conversation, shown: Shown) -> dict[str, str]:
    """The short ids that the known facts have in a question, by the names that the answer uses."""
    short = {fact: name for name, (fact, _) in shown.facts.items()}
    return {name: short[fact.id] for name, fact in conversation.known.items()}


def translated(operation: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """An operation with the short ids of a question."""
    said = dict(operation)
    if "id" in said:
        said["id"] = names[said["id"]]
    if "ids" in said:
        said["ids"] = [names[name] for name in said["ids"]]
    return said


def perfect(conversation: Conversation, shown: Shown) -> dict[str, Any]:
    """The answer of a perfect model."""
    names = named(conversation, shown)
    operations = [translated(operation, names) for operation in conversation.answer["operations"]]
    return {**conversation.answer, "operations": operations}


def carried_out(
    conversation: Conversation,
    question: Question,
    answer: bytes,
    *,
    facts: Mapping[str, Fact] | None = None,
    said: Sequence[ArchivedTurn] | None = None,
) -> Carried:
    """What comes of an answer. `facts`: as they are by then; None: as they were."""
    row = job(subject=conversation.id, shown=question.shown, read=question.read, answer=answer)
    known = conversation.facts if facts is None else facts
    said = conversation.turns if said is None else said
    return extracted(row, said, known, forgotten=lambda _: False, now=NOW + DAY)


def gold(conversation: Conversation) -> tuple[Question, bytes]:
    """The question about a conversation, and the answer of a perfect model to it."""
    question = asked(conversation)
    return question, msgspec.json.encode(perfect(conversation, shown_of(question.shown)))
