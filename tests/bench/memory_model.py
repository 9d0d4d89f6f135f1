"""How well a model extracts what sixty conversations imply about their users, through the proxy's own code.

    OLVIDO_MEMORY_BASE_URL=https://…/v1 OLVIDO_MEMORY_KEY=… OLVIDO_MEMORY_MODEL=… \\
        python -m tests.bench.memory_model [--schemas] [--misses]
    python -m tests.bench.memory_model --scripted [--misses]
    python -m tests.bench.memory_model --write-readme

The conversations were written by an author who had not seen the code, each with the answer of a perfect model, made
by hand. A kept operation is right if the hand-made answer has one that comes to the same: a value that states the same
fact or its beginning, or has what a later question needs of it; or the end of the same fact. What a model finds beside
that may be true, so its precision is at least what is told here. `needed`: conversations whose later question finds its
fact. `--scripted` plays the hand-made answers. `--write-readme` writes `proxy/curation/README.md`: ten conversations as
they are asked, their hand-made answers, and what is kept of them. Bounds are Wilson's, 95 %.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import msgspec

from proxy.curation.asking import Question, shown_of
from proxy.curation.carrying import Carried
from proxy.curation.model import MOST_ANSWER
from proxy.memory.same_fact import same_fact
from tests.bench.bypass import wilson
from tests.curation.builders import applied, holding
from tests.curation.conversations import PROMPTS, Conversation, asked, carried_out, conversations, named, perfect

README = Path(__file__).parents[2] / "proxy" / "curation" / "README.md"
VARIABLES = ("OLVIDO_MEMORY_BASE_URL", "OLVIDO_MEMORY_KEY", "OLVIDO_MEMORY_MODEL")
SECONDS = 120.0  # that an answer may take
SHOWN = 5  # conversations of each language in the README
SHOWN_KNOWN = 2  # of these, with facts that were known before

Answering = Callable[[Conversation, Question], bytes]


@dataclass
class Score:
    expected: int = 0  # operations of the hand-made answers
    found: int = 0  # of these, that were kept
    kept: int = 0  # operations that were kept
    right: int = 0  # of these, that a hand-made answer has
    needed: int = 0  # conversations whose later question finds its fact
    asked: int = 0
    refused: Counter[str] = field(default_factory=Counter)


# --- scoring ---------------------------------------------------------------------------------------------------------


def scored(score: Score, conversation: Conversation, question: Question, done: Carried) -> list[str]:
    """Adds what came of an answer to the score; returns what is missing or beside it."""
    names = named(conversation, shown_of(question.shown))
    by_name = {name: conversation.known[each].id for each, name in names.items()}
    kept = [line for line in done.lines if line.result == "kept" and line.op not in {"event", "summary", "slug"}]
    expected = perfect(conversation, shown_of(question.shown))["operations"]
    ended = {name for line in kept for name in line.before}
    values = [line.value for line in kept if line.op != "invalidate"]
    missing = [
        each
        for each in expected
        if not (
            by_name[each["id"]] in ended
            if each["op"] == "invalidate"
            else any(_comes_to(value, each["value"], conversation) for value in values)
        )
    ]
    ends = {by_name[name] for each in expected for name in (each.get("id"), *each.get("ids", ())) if name in by_name}
    golden = [each["value"] for each in expected if "value" in each]
    beside = [
        line
        for line in kept
        if not (
            set(line.before) <= ends
            if line.op == "invalidate"
            else any(_comes_to(line.value, value, conversation) for value in golden)
        )
    ]
    after = holding(applied(conversation.facts, done.facts))
    score.asked += 1
    score.expected += len(expected)
    score.found += len(expected) - len(missing)
    score.kept += len(kept)
    score.right += len(kept) - len(beside)
    score.needed += any(all(part in value for part in conversation.must_contain) for value in after)
    score.refused.update(f"{line.op or 'answer'}: {line.reason}" for line in done.lines if line.result == "refused")
    return [
        *(f"{conversation.id} missing: {msgspec.json.encode(each).decode()}" for each in missing),
        *(f"{conversation.id} beside: {line.op} {line.value}" for line in beside),
        *(
            f"{conversation.id} refused ({x.reason}): {x.value} <- {x.quote}"
            for x in done.lines
            if x.result == "refused"
        ),
    ]


def _comes_to(value: str, expected: str, conversation: Conversation) -> bool:
    """Whether a value states the expected fact, or the beginning of it, or has of it what the later question needs."""
    needed = [part for part in conversation.must_contain if part in expected]
    has_it = bool(needed) and all(part in value for part in needed)
    return has_it or expected.startswith(value) or same_fact(value, expected)


def report(score: Score) -> None:
    rows = (
        ("precision", score.right, score.kept),
        ("recall", score.found, score.expected),
        ("needed", score.needed, score.asked),
    )
    for name, part, of in rows:
        low, high = wilson(part, of)
        print(f"{name:10}{part:5} of {of:4}{part / of if of else 0.0:8.1%}   [{low:.1%}, {high:.1%}]")
    for reason, times in score.refused.most_common():
        print(f"refused {times:5}  {reason}")


# --- answers ---------------------------------------------------------------------------------------------------------


def scripted(conversation: Conversation, question: Question) -> bytes:
    """The hand-made answer."""
    return msgspec.json.encode(perfect(conversation, shown_of(question.shown)))


def by_model(client: httpx.Client, url: str) -> Answering:
    """A model's answers; one that fails counts as an empty answer."""

    def answer(conversation: Conversation, question: Question) -> bytes:
        try:
            response = client.post(f"{url.rstrip('/')}/chat/completions", content=question.body)
            response.raise_for_status()
            said: Any = response.json()["choices"][0]["message"]["content"]
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
            print(f"{conversation.id}: {type(error).__name__}", file=sys.stderr)
            return b""
        return said.encode("utf-8", "replace") if isinstance(said, str) else b""

    return answer


def run(
    answering: Answering, *, misses: bool, schemas: bool = False, settings: Mapping[str, Any] | None = None
) -> Score:
    score = Score()
    for conversation in conversations():
        question = asked(conversation, schemas=schemas, settings=settings)
        done = carried_out(conversation, question, answering(conversation, question))
        wrong = scored(score, conversation, question, done)
        if misses:
            print(*wrong, sep="\n", end="\n" if wrong else "")
    return score


# --- the README ------------------------------------------------------------------------------------------------------


def written() -> str:
    """The text of `proxy/curation/README.md`."""
    parts = [_INTRODUCTION.format(es=PROMPTS.of("extract", "es").version, en=PROMPTS.of("extract", "en").version)]
    parts += map(_shown, _chosen(conversations()))
    return "\n".join(parts)


_INTRODUCTION = """# Memory with a model's help

A model reads conversations that have ended and proposes what to remember; `__init__.py` is the map. This page shows ten
conversations as the model is asked about them, an answer to each, and what is kept of it.

**The answers below are hand-made: no model wrote them.** They are what a careful person would answer, written with the
conversations by an author who had not seen the code. They show what is asked and how answers are treated, not how well
any model does; `make bench-memory-model` measures that, for whoever has a key.

Each request has two messages: the prompt, [`prompts/extract.es.md`](prompts/extract.es.md) (version `{es}`) or
[`prompts/extract.en.md`](prompts/extract.en.md) (version `{en}`), and the data that stands below as "Asked".

What is kept needs a quotation that the user really wrote, in their own words, from which the value follows. A refused
operation is a line of its job, with its reason; it changes nothing.

This page is written by `python -m tests.bench.memory_model --write-readme`.
"""


def _chosen(every: Sequence[Conversation]) -> list[Conversation]:
    chosen = []
    for language in ("es", "en"):
        spoken = [each for each in every if each.language == language]
        known = [each for each in spoken if each.known][:SHOWN_KNOWN]
        chosen += known + [each for each in spoken if not each.known][: SHOWN - len(known)]
    return sorted(chosen, key=lambda each: each.id)


def _shown(conversation: Conversation) -> str:
    question = asked(conversation)
    answer = perfect(conversation, shown_of(question.shown))
    done = carried_out(conversation, question, msgspec.json.encode(answer))
    data = msgspec.json.decode(question.body)["messages"][1]["content"]
    lines = [f"## {answer['summary']['topic']}", "", "Asked:", "", "```text", data, "```", ""]
    lines += ["Answer, made by hand:", "", "```json", _json(answer), "```", "", "What comes of it:", ""]
    lines += ["| operation | value | from | |", "|---|---|---|---|"]
    for line in done.lines:
        came = f"refused: {line.reason}" if line.result == "refused" else _kept(line.op, line.before, conversation)
        quote = f"“{line.quote}”" if line.quote else ""
        place = f"turn {line.turn} {quote}".strip() if line.turn else ""
        lines.append(f"| {line.op} | {_cell(line.value)} | {_cell(place)} | {_cell(came)} |")
    return "\n".join([*lines, ""])


def _kept(op: str, before: Sequence[str], conversation: Conversation) -> str:
    ended = [conversation.facts[name].value for name in before]
    if not ended:
        return "kept"
    return f"kept; ended: {'; '.join(ended)}" if op != "invalidate" else "ended"


def _json(answer: Mapping[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory_model", description=__doc__)
    parser.add_argument("--scripted", action="store_true", help="play the hand-made answers")
    parser.add_argument("--write-readme", action="store_true", help="write proxy/curation/README.md")
    parser.add_argument("--schemas", action="store_true", help="ask with a JSON schema")
    parser.add_argument("--misses", action="store_true", help="print what is missing, beside it, or refused")
    given = parser.parse_args(arguments)
    if given.write_readme:
        README.write_text(written())
        return 0
    if given.scripted:
        report(run(scripted, misses=given.misses))
        return 0
    base, key, model = map(os.environ.get, VARIABLES)
    if not (base and key and model):
        print(f"No model to ask: set {', '.join(VARIABLES)}, or use --scripted.", file=sys.stderr)
        return 2
    settings = {"model": model, "temperature": 0, "max_tokens": MOST_ANSWER}
    with httpx.Client(headers={"authorization": f"Bearer {key}"}, timeout=SECONDS) as client:
        client.headers["content-type"] = "application/json"
        report(run(by_model(client, base), misses=given.misses, schemas=given.schemas, settings=settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
