"""Sentences by the thousand out of templates: `{a|b}` is one of the two, `@team` one of a slot's fillers.

A file of templates (`bypass_frames_es.txt`, `bypass_frames_en.txt`) names its slots first, then, under `# class`, the
templates of each class.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

VARIANTS = 6  # of a template
_CHOICE = re.compile(r"\{([^{}]*)\}")
_SLOT = re.compile(r"@[a-z]+")
_LOWERED, _UNMARKED = 0.07, 0.05  # shares of sentences typed without capitals, and without marks


class Labelled(NamedTuple):
    text: str
    label: str
    language: str


def sentences(templates: Path, language: str) -> Iterator[Labelled]:
    drawn = random.Random(7)
    slots: dict[str, list[str]] = {}
    section = ""
    for line in templates.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line.removeprefix("# ")
        elif section == "slots":
            name, fillers = line.split(" = ")
            slots[name] = [filler.strip() for filler in fillers.split("|")]
        else:
            found = {_typed(_filled(line, slots, drawn), drawn) for _ in range(VARIANTS)}
            yield from (Labelled(text, section, language) for text in sorted(found))


def _filled(template: str, slots: dict[str, list[str]], drawn: random.Random) -> str:
    text, before = template, ""
    while text != before:
        before = text
        text = _CHOICE.sub(lambda choice: drawn.choice(choice[1].split("|")), text)
        text = _SLOT.sub(lambda slot: drawn.choice(slots[slot[0]]), text)
    return text


def _typed(text: str, drawn: random.Random) -> str:
    opening = text.find("¿") + 1
    text = text[:opening] + text[opening : opening + 1].upper() + text[opening + 1 :]
    luck = drawn.random()
    if luck < _LOWERED:
        return text.lower()
    return text.replace("¿", "").rstrip("?.") if luck < _LOWERED + _UNMARKED else text
