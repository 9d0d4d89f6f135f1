"""Does the prompt that arrives hold what the question needs? Evidence by whole messages, answers by their strings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proxy.conversation.blocks import ours
from proxy.tokens import PER_MESSAGE, PER_ROLE
from tests.bench.context_data import Conversation, Question
from tests.bench.context_replay import Bench, bench
from tests.builders import counter

ADVERSARIAL = "5"  # of LoCoMo: asked about the wrong person; there is evidence all the same
OPENING = "Hello again."


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one question."""

    conversation: str
    lang: str
    question: Question
    found: float  # share of its evidence, or of its answer strings, that the prompt holds
    tokens: int  # of the prompt
    recalled: int  # tokens of the block of excerpts
    facts: int  # tokens of the head, and of the facts before the question
    first: bool  # the history was seen for the first time
    outdated: bool  # the prompt holds a value that has been replaced, and not the one that replaced it


def asked(conversations: Sequence[Conversation], *, told: bool, **sections: Any) -> list[Answer]:
    """Every question, each as the last message after the whole conversation. `told`: which was had turn by turn before;
    else it is seen for the first time with the first question, and all others come when it has been read."""
    found = []
    with bench(**sections) as running:
        for conversation in conversations:
            if told:
                for messages, reply in conversation.requests():
                    running.ask(conversation.name, messages, reply=reply, tools=conversation.tools)
                running.settle()
            for number, question in enumerate(conversation.questions):
                found.append(_answer(running, conversation, question, first=not told and number == 0))
                if number == 0:
                    running.settle()
    return found


def _answer(running: Bench, conversation: Conversation, question: Question, *, first: bool) -> Answer:
    messages = [*conversation.messages, {"role": "user", "content": question.text}]
    got = running.ask(conversation.name, messages, tools=conversation.tools)
    before, _, _ = got.text.rpartition(question.text)  # the question must not answer itself
    wanted = question.evidence or question.answers
    held = [_holds(before, each, whole=bool(question.evidence)) for each in wanted]
    blocks = ours(before)
    outdated = any(_holds(before, value, whole=False) for value in question.outdated)
    return Answer(
        conversation=conversation.name,
        lang=conversation.lang,
        question=question,
        found=sum(held) / len(held),
        tokens=got.tokens,
        recalled=sum(counter().text(each) for each in blocks if each.startswith("<recalled>")),
        facts=sum(counter().text(each) for each in blocks if each.startswith("<memory>")),
        first=first,
        outdated=outdated and not all(held),
    )


def _holds(prompt: str, wanted: str, *, whole: bool) -> bool:
    return wanted in prompt if whole else wanted.casefold() in prompt.casefold()


def in_window(conversation: Conversation, question: Question, budget: int) -> float:
    """Share of it that the newest messages hold which fit into `budget` tokens."""
    left = budget - counter().text(question.text)
    held: list[str] = []
    for said in reversed(conversation.messages):
        left -= counter().text(said.get("content") or "") + PER_MESSAGE + PER_ROLE
        if left < 0:
            break
        held.append(said.get("content") or "")
    prompt = "\n".join(reversed(held))
    wanted = question.evidence or question.answers
    return sum(_holds(prompt, each, whole=bool(question.evidence)) for each in wanted) / len(wanted)


def mean(answers: Sequence[Answer]) -> float:
    return sum(answer.found for answer in answers) / len(answers) if answers else 0.0
