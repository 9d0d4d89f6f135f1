"""`python -m tests.notes [--write]`: the tables of the notes name the tests that hold each item.

An item is `SECTION/NUMBER`, as in the table's first column. A test says which ones it holds, where it stands:

    @pytest.mark.note("1.1/4", "7 SÍ/5")

The tables' last column is made of that. `--write` writes it; without it the command ends with 1 if one is out of date.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
MEMORY, FILES, DESK = (ROOT / "proxy" / room / "README.md" for room in ("memory", "files", "desk"))
NOTES = (MEMORY, FILES, DESK)
HEADING = "| § "
NO_TEST = "—"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. `says` and `where` are written by hand."""

    item: str
    says: str
    where: str
    tests: str

    @property
    def section(self) -> str:
        return self.item.rsplit("/", 1)[0]

    @property
    def line(self) -> str:
        return f"| {self.item} | {self.says} | {self.where} | {self.tests} |"


def row(line: str) -> Row | None:
    if not line.startswith("| ") or line.startswith(HEADING):
        return None
    return Row(*(cell.strip() for cell in line.strip("|").split(" | ")))


def table(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        if (found := row(line)) is not None:
            yield found


def marked(root: Path) -> Mapping[str, Sequence[str]]:
    """By item the tests that are marked with it, as `tests/a/test_b.py::test_c`, in the order of files and lines."""
    tests: dict[str, list[str]] = defaultdict(list)
    for path in sorted((root / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "mark.note" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for item in _items(node):
                    name = f"{path.relative_to(root).as_posix()}::{node.name}"
                    if name not in tests[item]:
                        tests[item].append(name)
    return dict(tests)


def _items(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for decorator in test.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.note":
            yield from (ast.literal_eval(argument) for argument in decorator.args)


def written(text: str, tests: Mapping[str, Sequence[str]]) -> str:
    """The text with the last column of its table made of `tests`."""
    lines = []
    for line in text.splitlines():
        found = row(line)
        if found is not None:
            named = "<br>".join(f"`{name}`" for name in tests.get(found.item, ())) or NO_TEST
            lines.append(Row(found.item, found.says, found.where, named).line)
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    tests, status = marked(ROOT), 0
    for note in NOTES:
        is_now = note.read_text(encoding="utf-8")
        shall_be = written(is_now, tests)
        if "--write" in arguments:
            note.write_text(shall_be, encoding="utf-8")
        elif is_now != shall_be:
            print(f"{note.relative_to(ROOT)} is out of date: make notes-table")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
