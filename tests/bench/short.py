"""How many tokens of the past a question brings back, and whether its answer is sent: in short conversations.

    python -m tests.bench.short [--each]

The whole proxy, over HTTP, turn by turn. The authored conversations under a budget of 1,500 tokens and a window of 600,
their questions after the last turn; the demonstration with the default profile, its questions where they stand. A
question's answer is found if its words are in the prompt that the upstream receives, before the question itself.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proxy.conversation.blocks import ours
from proxy.demo.script import Scripted, script
from proxy.demo.show import CONVERSATION, SYSTEM, WEATHER_RESULT, Ask
from tests.bench.context_data import Said, authored
from tests.bench.context_recall import asked
from tests.bench.context_replay import Bench, bench
from tests.builders import counter

AUTHORED = {"lean": {"budget": 1_500, "window": {"tokens": 600}}}
UNKNOWN = "No lo sé"  # expected where the conversation does not tell


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    found: float  # share of its answers that the prompt holds
    recalled: int  # tokens of excerpts
    facts: int  # tokens of facts, in the head and before the question
    tokens: int  # of the prompt


def of_authored() -> list[Asked]:
    return [
        Asked(each.question.text, each.found, each.recalled, each.facts, each.tokens)
        for each in asked(authored(), told=True, profiles=AUTHORED)
    ]


def of_demonstration() -> tuple[list[Asked], list[Asked]]:
    """Its questions about the past, and all its other turns."""
    questions: list[Asked] = []
    others: list[Asked] = []
    history: list[Said] = [{"role": "system", "content": SYSTEM}]
    with bench() as running:
        for said in CONVERSATION:
            if said.alone:
                continue
            history.append({"role": "user", "content": said.text})
            row = _sent(running, history, said)
            if calls := history[-1].get("tool_calls"):
                history += [{"role": "tool", "tool_call_id": call["id"], "content": WEATHER_RESULT} for call in calls]
                _sent(running, history, said)
            running.settle()
            is_question = bool(said.expects) and not said.expects.startswith(UNKNOWN)
            (questions if is_question else others).append(row)
    return questions, others


def _sent(running: Bench, history: list[Said], said: Ask) -> Asked:
    """One request of the demonstration; its answer, by the whole history, goes on the end of it."""
    fields = {"tools": said.tools} if said.tools else {}
    reply = _message(script(fields, history, seed=0, thinking=False), len(history))
    got = running.ask("demonstration", history, reply=reply, tools=said.tools)
    history.append(reply)
    before, _, _ = got.text.rpartition(said.text)
    blocks = ours(before)
    return Asked(
        question=said.text,
        found=float(said.expects in before) if said.expects else 1.0,
        recalled=sum(counter().text(each) for each in blocks if each.startswith("<recalled>")),
        facts=sum(counter().text(each) for each in blocks if each.startswith("<memory>")),
        tokens=got.tokens,
    )


def _message(made: Scripted, at: int) -> dict[str, Any]:
    calls = [
        {"id": f"{call.name}:{at}", "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in made.calls
    ]
    return {"role": "assistant", "content": made.content, **({"tool_calls": calls} if calls else {})}


def row(name: str, found: Sequence[Asked]) -> str:
    n = len(found)
    with_any = sum(each.recalled > 0 for each in found)
    return (
        f"{name:34s} answers {100 * sum(each.found for each in found) / n:5.1f} %  "
        f"recalled tokens {sum(each.recalled for each in found) / n:6.0f} ({with_any} with any)  "
        f"facts {sum(each.facts for each in found) / n:4.0f}  "
        f"prompt {sum(each.tokens for each in found) / n:6.0f}  (n={n})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", action="store_true", help="a line a question as well")
    options = parser.parse_args()
    questions, others = of_demonstration()
    sets = {"demonstration, questions": questions, "— its other turns": others, "authored": of_authored()}
    for name, found in sets.items():
        print(row(name, found), flush=True)
        if options.each:
            for each in found:
                print(f"    {each.found:4.2f} {each.recalled:5d} {each.facts:4d}  {each.question[:90]}")


if __name__ == "__main__":
    main()
