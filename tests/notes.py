"""`python -m tests.notes [--write]`: the tables of the notes name the tests that hold each item.

An item is `SECTION/NUMBER`, as in the table's first column. A test says which ones it holds, where it stands:

    @pytest.mark.note("1.1/4", "7 SÍ/5")

The tables' last column is made of that, and `deploy/docs/notes.md` of the tables. `--write` writes them; without it the
command ends with 1 if one is out of date.
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
INDEX = ROOT / "deploy" / "docs" / "notes.md"


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


def index(texts: Mapping[Path, str]) -> str:
    """The document that leads to the tables: the sections of each, how many items they have, how many a test holds."""
    lines = [
        "# Notes",
        "",
        "Olvido is built from written notes. Each is a table, an item a line: what the note says, where the code does",
        "it or why it does not, and the tests that hold it. Here are their sections; `make notes-table` writes this",
        "page and the tables' last column.",
    ]
    for path, text in texts.items():
        title = text.partition("\n")[0].removeprefix("# ")
        place = Path("../..") / path.relative_to(ROOT)
        lines += ["", f"## {title}", "", f"[`{path.relative_to(ROOT)}`]({place})", ""]
        lines += ["| section | items | held by tests |", "|---|---:|---:|"]
        sections: dict[str, list[Row]] = defaultdict(list)
        for each in table(text):
            sections[each.section].append(each)
        for name, rows in sections.items():
            lines.append(f"| § {name} | {len(rows)} | {sum(each.tests != NO_TEST for each in rows)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    tests, status = marked(ROOT), 0
    tables = {note: written(note.read_text(encoding="utf-8"), tests) for note in NOTES}
    for path, shall_be in (*tables.items(), (INDEX, index(tables))):
        if "--write" in arguments:
            path.write_text(shall_be, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != shall_be:
            print(f"{path.relative_to(ROOT)} is out of date: make notes-table")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
