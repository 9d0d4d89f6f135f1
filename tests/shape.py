"""`python -m tests.shape [FOLDER]`: counts how large a package is, how its parts hang together, and what it repeats.

lines          all; and of code: without docstrings, comments and blank lines
parts          the top-level folders and modules of the package
arrows         pairs of parts of which one imports the other, wherever in a module the import stands
circles        groups of parts that import each other, directly or by way of others
arrows back    the fewest arrows to be removed for no circle to be left
arrows up      pairs of modules that import against the layers of the project's import-linter list, excused or not
table entries  of the word tables: string literals that a module or a class of TABLE_FOLDERS assigns, and data files
               there. An entry is what stands between ` | ` or line ends; of a literal without ` | `, a word.
look-up        one by intent, warm: how many frames below `proxy/` it enters, and of how many modules (`tests.lookup`)
twice          functions with the same statements; names of public functions and classes that two modules define;
               classes with the same public methods as another; lines of code in runs of RUN or more that recur
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TABLE_FOLDERS = ("context", "conversation", "language", "memory", "reuse")
TABLE_SUFFIXES = (".csv", ".json", ".toml", ".txt", ".yaml", ".yml")
LEARNED = "learned"  # data files of this name are weights, not words
SHORT = 100  # lines: a module below is small
RUN = 6  # lines of code that are repeated together
METHODS = 3  # public methods that two classes share with each other, and no more
STATEMENTS = 3  # of a function that is worth comparing

Arrow = tuple[str, str]  # who imports, what is imported
_UNCOUNTED = frozenset(
    (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ENCODING,
    )
)
_ENTRIES = re.compile(r"\s\|\s|\n")
_WORD = re.compile(r"[^\W\d_]")
_SECTION = re.compile(r"\[[^\[\]|]+\]")
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    name: str  # dotted, with the package's own name
    source: str
    tree: ast.Module
    is_package: bool

    @property
    def part(self) -> str:
        return ".".join(self.name.split(".")[:2])


def modules(package: Path) -> tuple[Module, ...]:
    """Every module of the package, in the order of their names."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        source = path.read_text(encoding="utf-8")
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, source, ast.parse(source), parts[-1] == "__init__"))
    return tuple(found)


# --- lines -----------------------------------------------------------------------------------------------------------


def code_lines(source: str) -> list[int]:
    """Numbers of the lines that are neither blank, nor comment, nor part of a docstring."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, _Documented) and (said := docstring(node)) is not None
        for line in range(said.lineno, (said.end_lineno or said.lineno) + 1)
    }
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _UNCOUNTED
        for line in range(token.start[0], token.end[0] + 1)
    }
    return sorted(lines - docstrings)


def docstring(node: _Documented) -> ast.Expr | None:
    first = node.body[0] if node.body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return first if is_text and isinstance(first, ast.Expr) else None


# --- imports ---------------------------------------------------------------------------------------------------------


def imports(found: Sequence[Module]) -> set[Arrow]:
    """Which module imports which, of this package alone. `from package.a import b` imports the module `package.a.b` if
    there is one, else `package.a`."""
    names = {module.name for module in found}
    package = found[0].name.split(".")[0]
    arrows = set()
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                source = _source(module, node)
                wanted = [whole if (whole := f"{source}.{alias.name}") in names else source for alias in node.names]
            else:
                continue
            arrows |= {(module.name, name) for name in wanted if name.split(".")[0] == package and name != module.name}
    return arrows


def _source(module: Module, node: ast.ImportFrom) -> str:
    """What stands behind `from`, as a whole name."""
    if not node.level:
        return node.module or ""
    package = module.name.split(".")[: (1 if module.is_package else 0) - node.level or None]
    return ".".join([*package, *([node.module] if node.module else [])])


def between(arrows: Iterable[Arrow], depth: int = 2) -> set[Arrow]:
    """The same between parts, `depth` names deep."""
    cut = {(".".join(a.split(".")[:depth]), ".".join(b.split(".")[:depth])) for a, b in arrows}
    return {(a, b) for a, b in cut if a != b and "." in b}


def circles(arrows: Iterable[Arrow]) -> list[tuple[str, ...]]:
    """Groups of two or more that reach each other."""
    after = defaultdict(set)
    for one, other in arrows:
        after[one].add(other)
    reached = {name: _reachable(name, after) for name in list(after)}
    groups = {
        tuple(sorted({name, *(other for other in reached[name] if name in reached.get(other, ()))})) for name in reached
    }
    return sorted(group for group in groups if len(group) > 1)


def _reachable(start: str, after: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in after.get(waiting.pop(), set()) - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def back(arrows: set[Arrow]) -> int:
    """The fewest arrows against any order of the parts: of each circle, over all orders of its members."""
    return sum(_fewest(group, arrows) for group in circles(arrows))


def _fewest(group: Sequence[str], arrows: set[Arrow]) -> int:
    """By sets of members that stand below all others: 2 to the power of their number."""
    best = {0: 0}
    into = [sum(1 << at for at, other in enumerate(group) if (other, name) in arrows) for name in group]
    for below in range(1, 1 << len(group)):
        members = [at for at in range(len(group)) if below >> at & 1]
        best[below] = min(best[below ^ 1 << at] + ((into[at] & (below ^ 1 << at)).bit_count()) for at in members)
    return best[(1 << len(group)) - 1]


def layers(project: Mapping[str, Any]) -> list[list[str]]:
    """The import-linter list of a parsed pyproject.toml, highest first; those of one line stand side by side."""
    contracts = project["tool"]["importlinter"]["contracts"]
    (listed,) = (each["layers"] for each in contracts if each["type"] == "layers")
    return [[name.strip() for name in re.split(r"[|:]", line)] for line in listed]


def layer_of(name: str, listed: Sequence[Sequence[str]]) -> tuple[int, str] | None:
    """The layer whose name is the longest beginning of a module's."""
    fitting = [
        (len(each), at, each)
        for at, line in enumerate(listed)
        for each in line
        if name == each or name.startswith(f"{each}.")
    ]
    return max(fitting)[1:] if fitting else None


def up(arrows: Iterable[Arrow], listed: Sequence[Sequence[str]]) -> list[Arrow]:
    """Imports of something in a layer above, or beside."""
    wrong = []
    for one, other in arrows:
        here, there = layer_of(one, listed), layer_of(other, listed)
        if here and there and (there[0] < here[0] or (there[0] == here[0] and there[1] != here[1])):
            wrong.append((one, other))
    return sorted(wrong)


# --- word tables -----------------------------------------------------------------------------------------------------


def entries(literal: str) -> int:
    """How many entries a literal of a word table has."""
    apart = _ENTRIES.split(literal) if " | " in literal else literal.split()
    return sum(_WORD.search(entry) is not None for entry in apart)


def table_entries(module: Module) -> int:
    """Of all literals that a module or its classes assign; not of what functions say."""
    return sum(entries(text) for value in _assigned(module.tree.body) for text in _literals(value))


def _assigned(body: Iterable[ast.stmt]) -> Iterator[ast.expr]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _assigned(node.body)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            yield node.value


def _literals(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def data_entries(path: Path) -> int:
    """Of a data file: those of each `[section]`, as of a literal, comments apart; of a file that has none, those of its
    lines, whatever its format."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    if not any(map(_SECTION.fullmatch, lines)):
        return sum(entries(line if " | " in line else f"{line} | ") for line in lines)
    sections: list[str] = []
    for line in lines:
        if _SECTION.fullmatch(line) or not sections:
            sections.append("")
        else:
            sections[-1] += f" {line.strip()}" if line[:1].isspace() else f"\n{line}"
    return sum(map(entries, sections))


# --- what is there twice ---------------------------------------------------------------------------------------------


def same_functions(found: Iterable[Module]) -> list[list[str]]:
    """Functions whose statements are the same, docstrings apart, and are STATEMENTS or more lines of them."""
    bodies = defaultdict(list)
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, _Function):
                body = node.body[1:] if docstring(node) else node.body
                if sum(isinstance(each, ast.stmt) for one in body for each in ast.walk(one)) >= STATEMENTS:
                    bodies["\n".join(map(ast.dump, body))].append(f"{module.name}.{node.name}")
    return sorted(names for names in bodies.values() if len(names) > 1)


def same_names(found: Iterable[Module]) -> list[str]:
    """Names of public functions and classes that two modules or more define."""
    defined = Counter(
        node.name
        for module in found
        for node in module.tree.body
        if isinstance(node, _Function | ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, times in defined.items() if times > 1)


def twins(found: Iterable[Module]) -> list[list[str]]:
    """Classes that have the same public methods, METHODS or more."""
    alike = defaultdict(list)
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                public = {each.name for each in node.body if isinstance(each, _Function) and each.name[0] != "_"}
                if len(public) >= METHODS:
                    alike[frozenset(public)].append(f"{module.name}.{node.name}")
    return sorted(names for names in alike.values() if len(names) > 1)


def repeated_lines(found: Iterable[Module]) -> int:
    """Lines of code that stand in a run of RUN or more which occurs elsewhere, too. Imports do not count."""
    runs = defaultdict(list)
    for module in found:
        said = module.source.splitlines()
        imported = {
            line
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        code = [(line, said[line - 1].strip()) for line in code_lines(module.source) if line not in imported]
        for at in range(len(code) - RUN + 1):
            run = code[at : at + RUN]
            runs[tuple(text for _, text in run)].append([(module.name, line) for line, _ in run])
    return len({line for places in runs.values() if len(places) > 1 for run in places for line in run})


# --- the table -------------------------------------------------------------------------------------------------------


def shape(package: Path, listed: Sequence[Sequence[str]]) -> dict[str, int]:
    """Every count, by what it is of."""
    found = modules(package)
    arrows = imports(found)
    parts = between(arrows)
    sizes = [len(module.source.splitlines()) for module in found]
    folders = [folder for name in TABLE_FOLDERS if (folder := package / name).is_dir()]
    tables = [module for module in found if module.part.split(".")[-1] in TABLE_FOLDERS]
    files = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in TABLE_SUFFIXES and not path.stem.startswith(LEARNED)
    ]
    return {
        "lines": sum(sizes),
        "lines of code": sum(len(code_lines(module.source)) for module in found),
        "modules": len(found),
        f"modules below {SHORT} lines": sum(size < SHORT for size in sizes),
        "parts": len({module.part for module in found if "." in module.name}),
        "arrows between parts": len(parts),
        "arrows between folders": len({arrow for arrow in parts if all(_is_folder(package, name) for name in arrow)}),
        "arrows between modules": len(arrows),
        "circles of parts": len(circles(parts)),
        "parts in circles": sum(map(len, circles(parts))),
        "arrows back": back(parts),
        "layers": len(listed),
        "names in layers": sum(map(len, listed)),
        "arrows up": len(up(arrows, listed)),
        "modules in no layer": sum(layer_of(module.name, listed) is None for module in found),
        "table entries": sum(map(table_entries, tables)) + sum(map(data_entries, files)),
        "functions twice": sum(len(names) - 1 for names in same_functions(found)),
        "public names twice": len(same_names(found)),
        "classes with another's methods": sum(len(names) - 1 for names in twins(found)),
        "lines of code twice": repeated_lines(found),
    }


def _is_folder(package: Path, part: str) -> bool:
    return package.joinpath(*part.split(".")[1:]).is_dir()


def details(package: Path, listed: Sequence[Sequence[str]]) -> Iterator[str]:
    """What the short counts are made of."""
    found = modules(package)
    arrows = imports(found)
    for group in circles(between(arrows)):
        yield f"circle: {' '.join(group)}"
    for one, other in up(arrows, listed):
        yield f"up: {one} -> {other}"
    for names in same_functions(found):
        yield f"same function: {' '.join(names)}"
    for names in twins(found):
        yield f"same methods: {' '.join(names)}"


def main(arguments: Sequence[str]) -> None:
    package = Path(arguments[0]) if arguments else ROOT / "proxy"
    listed = layers(tomllib.loads((package.parent / "pyproject.toml").read_text(encoding="utf-8")))
    for name, number in shape(package, listed).items():
        print(f"{name:32}{number:>8,}")
    if package == ROOT / "proxy":
        from tests.lookup import measured  # loads the proxy, which a count of another package need not

        for name, number in measured().items():
            print(f"{name:32}{number:>8,}")
    print()
    print("\n".join(details(package, listed)))


if __name__ == "__main__":
    main(sys.argv[1:])
