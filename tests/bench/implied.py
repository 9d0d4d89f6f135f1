"""How often facts that a question implies are in the prompt, and how often some are where they are of no use.

    python -m tests.bench.implied [--misses] [--words]

Reads `implied_pairs.jsonl` (a fact that was stated, a question of another day that needs it, strings that show that it
is there, in one fact or in the pieces that it was cut into) and `implied_ordinary.jsonl` (twelve facts of one person,
fifty questions that none of them helps with) beside this file, written by an author who had not seen the code. Facts
are read and chosen as the proxy does, with the built-in embedding; `--words` leaves it out. Bounds are Wilson's, 95 %.
"""

import argparse
import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from proxy.conversation.topics import domain
from proxy.embedding.engines import LocalEngine
from proxy.embedding.exported import BUILTIN
from proxy.language.words import terms
from proxy.memory import choosing, facts
from proxy.memory.ageing import Decay
from proxy.memory.current import current
from proxy.memory.extract import extract
from proxy.memory.predictions import needs
from proxy.memory.signals import spoken_in
from proxy.types import Vector
from proxy.types.memory import Fact
from tests.bench.bypass import wilson

HERE = Path(__file__).parent
DAY = 86_400.0
TOKENS = 150  # of facts: the budget of the profile `lean`


def read(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def told(statements: Sequence[str]) -> tuple[Fact, ...]:
    known: dict[str, Fact] = {}
    for turn, text in enumerate(statements, start=1):
        changes = facts.learn(
            tuple(known.values()), extract(text), session="s", turn=turn, link=turn.to_bytes(16), now=turn * 60.0
        )
        for fact in changes:
            known[fact.id] = fact
    return tuple(known.values())


def chosen(known: Sequence[Fact], question: str, vectors: dict[str, Vector]) -> tuple[Fact, ...]:
    asked, language = vectors.get(question), spoken_in(question)
    need = choosing.Need(
        terms=frozenset(terms(question)),
        domain=domain(question),
        cosines=None if asked is None else {fact.id: float(vectors[fact.value] @ asked) for fact in known},
        said=(question,),
        asks=needs(question, language),
        language=language,
    )
    holding = current(known, DAY, Decay())
    found = choosing.relevant(holding, need, tokens=TOKENS, count=lambda text: len(text) // 4)
    return (*holding.standing, *found)


async def embedded(texts: Sequence[str]) -> dict[str, Vector]:
    with tempfile.TemporaryDirectory() as folder:
        engine = LocalEngine(BUILTIN, [Path(folder)])
        await engine.open()
        found = {text: (await engine.vectors([text]))[0] for text in texts}
        await engine.close()
        return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--words", action="store_true", help="without embedding")
    parser.add_argument("--beside", action="store_true", help="beside what is known of the other person")
    parser.add_argument("--pairs", type=Path, default=HERE / "implied_pairs.jsonl")
    parser.add_argument("--ordinary", type=Path, default=HERE / "implied_ordinary.jsonl")
    given = parser.parse_args()
    pairs, people = read(given.pairs), read(given.ordinary)
    known = {row["id"]: told([row["fact"]]) for row in pairs}
    persons = {row["lang"]: told(row["facts"]) for row in people}
    texts = {fact.value for each in (*known.values(), *persons.values()) for fact in each}
    texts |= {row["question"] for row in pairs} | {question for row in people for question in row["questions"]}
    vectors = {} if given.words else asyncio.run(embedded(sorted(texts)))
    present: defaultdict[str, list[bool]] = defaultdict(list)
    wrong: defaultdict[str, list[bool]] = defaultdict(list)
    for row in pairs:
        others = tuple(fact for fact in persons[row["lang"]] if not fact.pinned) if given.beside else ()
        found = chosen((*known[row["id"]], *others), row["question"], vectors)
        mine = {fact.id for fact in known[row["id"]]}
        said = "\n".join(fact.value for fact in found if fact.id in mine)
        there = all(must in said for must in row["must"])
        present[row["lang"]].append(there)
        if given.misses and not there:
            print(
                "missed", row["fact"], "|", row["question"], "|", [(fact.key, fact.value) for fact in known[row["id"]]]
            )
    for row in people:
        for question in row["questions"]:
            found = tuple(fact for fact in chosen(persons[row["lang"]], question, vectors) if not fact.pinned)
            wrong[row["lang"]].append(bool(found))
            if given.misses and found:
                print("of no use", question, "|", [fact.value for fact in found])
    for language in present:
        right, asked = sum(present[language]), len(present[language])
        no_use, ordinary = sum(wrong[language]), len(wrong[language])
        low, high = wilson(right, asked)[0], wilson(no_use, ordinary)[1]
        print(
            f"{language}: implied facts present {right}/{asked} {right / asked:.1%} (≥ {low:.1%}),"
            f" ordinary questions with a fact {no_use}/{ordinary} {no_use / ordinary:.1%} (≤ {high:.1%})"
        )


if __name__ == "__main__":
    main()
