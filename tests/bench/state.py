"""Are the fields of a session read as people say them? Authored conversations, Spanish and English.

    python -m tests.bench.state [FILE.jsonl]

A hit is a field with its right value, or without one where none is said; a wrong value is worse than a missing one.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from proxy.config.session_state import StateField
from proxy.context.state import Heard, hear, question

FILE = Path(__file__).with_name("state_unseen.jsonl")
AT = datetime(2026, 11, 23, 11, tzinfo=UTC).timestamp()  # a Monday
STYLES = {"es": ("romántico", "familiar", "aventura"), "en": ("romantic", "family", "adventure")}


class Case(msgspec.Struct):
    """A conversation: messages of the user; by the place of some, the field that was asked for before; the values."""

    id: str
    lang: Literal["es", "en"]
    said: list[str]
    want: dict[str, str | int]
    asked: dict[str, str] = {}


def cases(file: Path = FILE) -> list[Case]:
    return [msgspec.json.decode(line, type=Case) for line in file.read_bytes().splitlines() if line.strip()]


def fields(lang: Literal["es", "en"]) -> dict[str, StateField]:
    return {
        "city": StateField(type="text", signals=("en", "a", "in", "to")),
        "people": StateField(type="number"),
        "date": StateField(type="date"),
        "style": StateField(type="enum", values=STYLES[lang]),
    }


def values(case: Case) -> dict[str, object]:
    heard, of = Heard(), fields(case.lang)
    for place, text in enumerate(case.said):
        asked = case.asked.get(str(place))
        answered = question(asked, of[asked], case.lang) if asked else ""
        heard = hear(heard, text, at=AT, language=case.lang, fields=of, answered=answered)
    return dict(heard.values)


def main() -> int:
    hits = wrong = missing = total = 0
    for case in cases(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE):
        got = values(case)
        for name in fields(case.lang):
            total += 1
            hits += got.get(name) == case.want.get(name)
            wrong += name in got and got[name] != case.want.get(name)
            missing += name not in got and name in case.want
        if got != case.want:
            print(f"{case.id}: {got}, wanted {case.want}")
    print(f"fields {total}: right {hits}, wrong values {wrong}, missing {missing}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
