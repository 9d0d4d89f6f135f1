"""`python -m tests.docs.copies [--write]`: the table of deploy/docs/operations.md that says of every copy of what is
kept of a person where it is, for how long, what erases and what exports it. `--write` writes it; without it the command
ends with 1 if it is out of date."""

import sys
from pathlib import Path

from proxy.config import Config
from proxy.storage.copies import COPIES, Copy
from tests.docs.settings import duration

DOCUMENT = Path(__file__).parents[2] / "deploy" / "docs" / "operations.md"
BEGINS = "<!-- copies: made by `make config-docs` -->\n"
ENDS = "<!-- end of copies -->\n"
_PLACES = {
    "database": "database",
    "answers": "`answers/` of the storage folder, or Redis",
    "Redis": "Redis",
    "spool": "`spool/` of the storage folder",
    "files": "folder of `memory.files`",
    "aside": "folders `aside-…`",
    "memory": "processes",
}
_SECONDS = ("ttl", "keep", "undo")


def table() -> str:
    """The table, as the document has it."""
    lines = ["| copy | what | where | kept | also ended by | `olvido export` |", "|---|---|---|---|---|---|"]
    for copy in COPIES:
        exported = copy.not_exported and f"no: {copy.not_exported}"
        if not exported:
            exported = "`files/`" if copy.place == "files" else f"{copy.name}.jsonl"
        ends = ", ".join(copy.ends) or "—"
        cells = (copy.name, copy.what, _PLACES[copy.place], _kept(copy), ends, exported)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _kept(copy: Copy) -> str:
    told = [f"`{setting}` ({_default(setting)})" for setting in copy.settings]
    return "; ".join([*told, *([copy.kept] if copy.kept else [])])


def _default(setting: str) -> str:
    value: object = Config(shared={"url": "redis://localhost"})  # type: ignore[arg-type]  # validated
    for name in setting.split("."):
        value = getattr(value, name)
    assert isinstance(value, int | float)
    is_time = not setting.endswith(("_mb", "_rows"))
    return duration(value) if is_time else f"{value:g} {'MiB' if setting.endswith('_mb') else 'lines'}"


def whole(text: str) -> str:
    """The document with the table in its place."""
    before, _, rest = text.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    return f"{before}{BEGINS}\n{table()}\n{ENDS}{after}"


def main() -> int:
    """Writes the table, or tells whether it is up to date."""
    text = DOCUMENT.read_text(encoding="utf-8")
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(whole(text), encoding="utf-8")
        return 0
    return int(whole(text) != text)


if __name__ == "__main__":
    sys.exit(main())
