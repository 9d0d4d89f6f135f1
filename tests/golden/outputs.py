"""Golden outputs as a text that people can read, and how two of them differ."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path

PATH = Path(__file__).with_name("outputs.txt")
SHOWN = 5  # outputs that differ
LINES = 24  # of each
_HEADING = "## "


def written(outputs: Mapping[str, Sequence[str]]) -> str:
    return "".join("\n".join((f"{_HEADING}{name}", *lines, "", "")) for name, lines in outputs.items())


def read(text: str) -> dict[str, list[str]]:
    outputs: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(_HEADING):
            outputs[line.removeprefix(_HEADING)] = lines = []
        elif line:
            lines.append(line)
    return outputs


def differing(known: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of the outputs that are not the same in both, in their order."""
    names = [*known, *(name for name in found if name not in known)]
    return [name for name in names if known.get(name) != found.get(name)]


def report(known: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[str]]) -> str:
    """How many differ, and the first of them line by line."""
    names = differing(known, found)
    parts = [f"{len(found)} outputs, {len(names)} differ"]
    for name in names[:SHOWN]:
        lines = list(unified_diff(known.get(name, ()), found.get(name, ()), "known", "found", lineterm="", n=1))[2:]
        more = [f"… and {len(lines) - LINES} lines more"] if len(lines) > LINES else []
        parts += ["", f"{_HEADING}{name}", *lines[:LINES], *more]
    if len(names) > SHOWN:
        parts += ["", f"… and {len(names) - SHOWN} outputs more: {', '.join(names[SHOWN : SHOWN + 20])}"]
    return "\n".join(parts)
