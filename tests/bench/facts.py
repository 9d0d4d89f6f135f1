"""How well facts are found in what users write, and kept up to date.

    python -m tests.bench.facts [--misses] [FILE.jsonl]

Replays `told_unseen.jsonl` beside this script (see `told`), which nobody tuned on, then reads `authored/` of the
evaluation data in `OLVIDO_EVAL_DATA`; or only the messages of FILE. A label is found if the values of its message say
every string that it must: one fact is kept a statement, so "I'm a cook in Bath and off on Mondays" has two values for
one label. A value of a message that states no fact is wrong, as is one of a message with facts that says nothing of
any of them; a turn without a label is neither right nor wrong. Bounds are Wilson's, 95 %, on the side that hurts.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from proxy.memory.extract import extract
from proxy.memory.facts import later, learn
from proxy.types.memory import Fact, Statement
from tests.bench import told
from tests.bench.bypass import DATA, wilson

AUTHORED = DATA.parent
UNSEEN = Path(__file__).with_name("told_unseen.jsonl")
DAY = 86_400.0


@dataclass(slots=True)
class Tally:
    found: int = 0
    facts: int = 0
    right: int = 0
    values: int = 0
    domains: int = 0
    superseded: int = 0
    contradicted: int = 0
    in_order: int = 0
    outdated: int = 0
    wrong: list[str] = field(default_factory=list)


def statements(text: str) -> list[Statement]:
    return list(extract(text))


def has_all(value: str, strings: Sequence[str]) -> bool:
    return all(each.lower() in value.lower() for each in strings)


def judge(tally: Tally, text: str, facts: Sequence[dict[str, Any]]) -> None:
    """Count a labelled message: what it states, and what was found of it."""
    values = statements(text)
    for fact in facts:
        found = [each for each in values if any(has_all(each.value, [string]) for string in fact["must_contain"])]
        match = found[0] if has_all("\n".join(each.value for each in found), fact["must_contain"]) else None
        tally.facts += 1
        tally.found += match is not None
        if match is None:
            tally.wrong.append(f"missed {fact['must_contain']} in {text!r}: {[each.value for each in values]}")
        elif match.domain == fact["domain"]:
            tally.domains += 1
        else:
            tally.wrong.append(f"{match.domain} for {fact['domain']}: {text!r}")
    strings = [each for fact in facts for each in fact["must_contain"]]
    for each in values:
        right = any(string.lower() in each.value.lower() for string in strings)
        tally.values += 1
        tally.right += right
        if not right:
            tally.wrong.append(f"no fact: {each.value!r} ({each.key}) in {text!r}")


def singles(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(msgspec.json.decode, path.read_bytes().splitlines())


def replay(tally: Tally, conversation: dict[str, Any]) -> None:
    """The whole conversation through `learn`: are contradicted facts superseded, is anything outdated left?"""
    facts: dict[str, Fact] = {}
    for turn in conversation["turns"]:
        changes = learn(
            tuple(facts.values()),
            extract(turn["user"]),
            session="s",
            turn=turn["t"],
            link=turn["t"].to_bytes(16),
            now=turn["t"] * DAY,
        )
        for fact in changes:
            facts[fact.id] = fact
    labels = {fact["turn"]: fact for fact in conversation["facts"]}
    for label in conversation["facts"]:
        if label["kind"] != "contradict":
            continue
        tally.contradicted += 1
        before = labels[label["contradicts_turn"]]
        old = [fact for fact in facts.values() if fact.turn == before["turn"]]
        changed = [string for string in before["must_contain"] if string not in label["must_contain"]]
        told = [fact for fact in old if any(has_all(fact.value, [string]) for string in changed)]
        current = [fact for fact in told if fact.superseded_by is None]
        outdated = [fact for fact in current if later(fact, facts) is None]
        tally.superseded += len(current) < len(told)
        tally.in_order += len(current) == len(told) and len(outdated) < len(told)
        tally.outdated += len(outdated)
        if not told or len(outdated) == len(told):
            now = [(fact.key, fact.value) for fact in facts.values() if fact.turn == label["turn"]]
            tally.wrong.append(f"outdated: {[(fact.key, fact.value) for fact in old]} after {now}")


def report(tallies: dict[str, Tally], *, misses: bool) -> None:
    print(
        f"{'lang':6}{'facts':>6}{'recall':>9}{'bound':>9}{'values':>8}{'precision':>11}{'bound':>9}{'domain':>8}",
        end="",
    )
    print(f"{'contradicted':>14}{'superseded':>12}{'in order':>10}{'outdated':>10}")
    for language, tally in sorted(tallies.items()):
        recall, precision = wilson(tally.found, tally.facts)[0], wilson(tally.right, tally.values)[0]
        print(
            f"{language:6}{tally.facts:6}{tally.found / tally.facts:9.1%}{recall:9.1%}{tally.values:8}"
            f"{tally.right / tally.values:11.1%}{precision:9.1%}{tally.domains / max(tally.found, 1):8.1%}"
            f"{tally.contradicted:14}{tally.superseded:12}{tally.in_order:10}{tally.outdated:10}"
        )
        if misses:
            print(*(f"    {line}" for line in tally.wrong), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path, help="messages, one a line; the evaluation data if left out")
    parser.add_argument("--misses", action="store_true", help="print what went wrong")
    chosen = parser.parse_args()
    if chosen.file is None:
        told.report([UNSEEN], misses=chosen.misses)
        if not AUTHORED.exists():
            print(f"the rest is skipped: no evaluation data at {AUTHORED} (set OLVIDO_EVAL_DATA)")
            return
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for row in singles(chosen.file or AUTHORED / "facts_single.jsonl"):
        judge(tallies[row["lang"]], row["text"], [row] if row["is_fact"] else [])
    if chosen.file is None:
        for path in sorted((AUTHORED / "conversations").glob("*.json")):
            conversation = msgspec.json.decode(path.read_bytes())
            tally = tallies[conversation["lang"]]
            labelled = Counter(fact["turn"] for fact in conversation["facts"])
            labelled.update(each["turn"] for each in conversation["not_facts"])
            for turn in conversation["turns"]:
                if turn["t"] in labelled:
                    judge(tally, turn["user"], [fact for fact in conversation["facts"] if fact["turn"] == turn["t"]])
            replay(tally, conversation)
    report(tallies, misses=chosen.misses)


if __name__ == "__main__":
    main()
