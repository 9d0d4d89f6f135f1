"""The Dockerfile, read: its stages, their instructions, and what each of them sets."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCKERFILE = Path(__file__).parents[2] / "deploy" / "Dockerfile"

_MOUNT = re.compile(r"--mount=\S+\s+")


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its instructions in order, without comments, each on a line of its own."""

    name: str  # "" if it has none
    instructions: tuple[tuple[str, str], ...]  # such as ("RUN", "true")

    def of(self, name: str) -> list[str]:
        """What stands behind each instruction of this name."""
        return [rest for each, rest in self.instructions if each == name]

    def list_of(self, name: str) -> list[str]:
        """The words of the last instruction of this name, which is written as a JSON list."""
        words: list[str] = json.loads(self.of(name)[-1])
        return words

    def environment(self) -> Mapping[str, str]:
        """All that ENV sets."""
        pairs = [pair.partition("=") for rest in self.of("ENV") for pair in rest.split()]
        return {name: value for name, _, value in pairs}


def stages(path: Path = DOCKERFILE) -> Sequence[Stage]:
    """The stages of a Dockerfile. What stands before the first of them are its arguments."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    found: list[Stage] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append(Stage(rest.partition(" AS ")[2], ()))
        elif found:
            last = found.pop()
            found.append(Stage(last.name, (*last.instructions, (name, rest.strip()))))
    return found


def command(rest: str) -> str:
    """What a RUN runs: without mounts, which only make it faster."""
    return _MOUNT.sub("", rest)
