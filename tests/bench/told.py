"""What memory knows at the end of conversations that nobody tuned on.

    python -m tests.bench.told FILE.jsonl … [--misses] [--by-class]

A row: `conversations` (lists of user messages, in the order of time), and what must be known at their end: `keep` (each
an item that one fact must hold: all strings of `has`), `may` (may be known or not) and `gone` (must not be known: a
fact that has all strings of `has` and none of `unless`). A fact that prompts tell together with what may have ended it
(`Fact.doubted_by`; of a line of these, with the newest) is not known as `gone` if that newer one is what must or may be
known instead. `kind` is
"statement", or "handed" where a message hands over somebody else's text. A fact is wrong if it is in `gone`, or in
neither `keep` nor `may` nor an ended item of `gone`.
A supersede is wrong if it took away the last fact that held an item of `keep`. A doubt is false if its fact holds as a
whole (an item of `keep`, none of `gone`), unless the newest that it is told with says the same item: then it holds
again, in other words. Bounds are Wilson's, 95 %.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from proxy.memory.commands import commands
from proxy.memory.extract import extract
from proxy.memory.facts import later, learn
from proxy.memory.forgetting import forgotten, rests
from proxy.memory.shapes import Voice
from proxy.types.memory import Fact
from tests.bench.bypass import wilson

DAY = 86_400.0


@dataclass(slots=True)
class Tally:
    rows: int = 0
    wanted: int = 0
    kept: int = 0
    values: int = 0
    wrong: int = 0
    banned: int = 0
    known: int = 0
    lost: int = 0  # by a supersede
    doubted: int = 0  # values that are told together with what may have ended them
    holding: int = 0  # values that hold as a whole: they say what must be kept and nothing that is gone
    doubted_falsely: int = 0  # of these, what is told together with something that does not concern it
    notes: list[str] = field(default_factory=list)


def holds(value: str, item: Mapping[str, Sequence[str]]) -> bool:
    said = value.lower()
    return all(each.lower() in said for each in item["has"])


def is_known(value: str, item: Mapping[str, Sequence[str]]) -> bool:
    said = value.lower()
    return holds(value, item) and not any(each.lower() in said for each in item.get("unless") or ())


def replay(conversations: Sequence[Sequence[str]]) -> dict[str, Fact]:
    """All facts after `conversations`, superseded ones too, as the proxy would have them: a day between two of them."""
    facts: dict[str, Fact] = {}
    for day, messages in enumerate(conversations):
        link, voice, before = b"", Voice(), ""
        for number, text in enumerate(messages, start=1):
            link = blake2b(link + text.encode(), digest_size=16).digest()
            orders = commands((text,), before)
            meant = {fact.id: fact for order in orders for fact in forgotten(facts.values(), order)}
            facts = {name: fact for name, fact in facts.items() if name not in meant}
            facts |= {fact.id: fact for fact in rests(meant.values(), orders)}
            before = text
            said_by, voice = voice, voice.after(text)
            changes = learn(
                tuple(facts.values()),
                () if orders or not said_by.is_own else extract(text),
                session=f"s{day}",
                turn=number,
                link=link,
                now=day * DAY + number * 60.0,
                again=True,
            )
            for fact in changes:
                facts[fact.id] = fact
    return facts


def judge(tally: Tally, row: Mapping[str, Any]) -> None:
    facts = replay(row["conversations"])
    current = [fact for fact in facts.values() if fact.superseded_by is None]
    values = [fact.value for fact in current]
    ending = {fact.value: newest.value for fact in current if (newest := _newest(fact, facts)) is not fact}
    old = [fact.value for fact in facts.values() if fact.superseded_by is not None]
    tally.rows += 1
    for item in row["keep"]:
        tally.wanted += 1
        if any(holds(value, item) for value in values):
            tally.kept += 1
            continue
        was = any(holds(value, item) for value in old)
        tally.lost += was
        tally.notes.append(f"{row['id']} {'SUPERSEDED' if was else 'missed'} {item['has']}")
    tally.doubted += len(ending)
    for fact in current:
        items = [item for item in row["keep"] if holds(fact.value, item)]
        if items and not any(holds(fact.value, item) for item in row["gone"]):
            tally.holding += 1
            newest = _newest(fact, facts)
            tally.doubted_falsely += newest is not fact and not any(holds(newest.value, item) for item in items)
    in_order = {
        value for value, newer in ending.items() if any(holds(newer, item) for item in (*row["keep"], *row["may"]))
    }
    for item in row["gone"]:
        tally.banned += 1
        tally.known += any(is_known(value, item) for value in values if value not in in_order)
    ended = [item for item in row["gone"] if item.get("unless")]
    for value in values:
        tally.values += 1
        banned = any(is_known(value, item) for item in row["gone"])
        if banned and value in in_order:
            continue
        right = any(holds(value, item) for item in (*row["keep"], *row["may"], *ended))
        # A kept fact may quote what is gone only if it also holds what must be kept.
        if (banned and not any(holds(value, item) for item in row["keep"])) or not right:
            tally.wrong += 1
            tally.notes.append(f"{row['id']} {'GONE' if banned else 'wrong'} {value!r}")


def _newest(fact: Fact, facts: Mapping[str, Fact]) -> Fact:
    """The end of the line of what a prompt tells beside `fact`; itself, if nothing."""
    seen: list[Fact] = []
    while fact not in seen and (newer := later(fact, facts)) is not None:
        seen.append(fact)
        fact = newer
    return fact


def line(name: str, tally: Tally) -> str:
    kept = f"{tally.kept:4}/{tally.wanted:<4} {tally.kept / tally.wanted:6.1%}" if tally.wanted else f"{'':16}"
    bound = f"≥{wilson(tally.kept, tally.wanted)[0]:6.1%}" if tally.wanted else f"{'':7}"
    wrong = f"{tally.wrong:4}/{tally.values:<4} {tally.wrong / max(tally.values, 1):6.1%}"
    known = f"{tally.known:4}/{tally.banned:<4} {tally.known / max(tally.banned, 1):6.1%}"
    told = f"kept {kept} {bound}  wrong {wrong}  gone but known {known}  superseded wrongly {tally.lost}"
    told += f"  in doubt {tally.doubted}, falsely {tally.doubted_falsely} of {tally.holding} that hold"
    return f"{name:28}{tally.rows:5} rows  {told}"


def report(files: Sequence[Path], *, misses: bool = False, by_class: bool = False, only: Sequence[str] = ()) -> None:
    tallies: defaultdict[tuple[str, ...], Tally] = defaultdict(Tally)
    for path in files:
        for row in map(msgspec.json.decode, path.read_bytes().splitlines()):
            if not only or row["class"] in only:
                judge(tallies[row["lang"], row["kind"], *((row["class"],) if by_class else ())], row)
    for name, tally in sorted(tallies.items()):
        print(line(" ".join(name), tally))
        if misses:
            print(*(f"    {note}" for note in tally.notes), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--misses", action="store_true", help="print what went wrong")
    parser.add_argument("--by-class", action="store_true")
    parser.add_argument("--only", default="", help="classes, comma-separated")
    chosen = parser.parse_args()
    only = [name for name in chosen.only.split(",") if name]
    report(chosen.files, misses=chosen.misses, by_class=chosen.by_class, only=only)


if __name__ == "__main__":
    main()
