from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest

from tests.shape import (
    Arrow,
    back,
    between,
    circles,
    code_lines,
    data_entries,
    entries,
    imports,
    layers,
    modules,
    repeated_lines,
    same_functions,
    same_names,
    shape,
    twins,
    up,
)

ABC = "abcdefg"


def package(folder: Path, **sources: str) -> Path:
    """A package `small`. In the names of its modules `_in_` stands for a slash, `init` for `__init__`."""
    root = folder / "small"
    for name, source in sources.items():
        path = root / f"{name.replace('_in_', '/').replace('init', '__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(source), encoding="utf-8")
    return root


def test_comments_blank_lines_and_docstrings_are_no_code() -> None:
    source = '''\
"""What it is.

Two lines of it."""

import os  # this is code

# this is none


class A:
    """A class."""

    text = """not a docstring
    but a value"""

    def b(self):
        "Neither is this."
        return (
            os.name

        )
'''
    said = source.splitlines()
    assert [said[line - 1].strip() for line in code_lines(source)] == [
        "import os  # this is code",
        "class A:",
        'text = """not a docstring',
        'but a value"""',
        "def b(self):",
        "return (",
        "os.name",
        ")",
    ]


def test_an_import_is_of_the_module_if_there_is_one_of_that_name_and_else_of_what_it_is_in(tmp_path: Path) -> None:
    root = package(
        tmp_path,
        init="",
        a_in_b="from small.c import d, e\nimport small.f.g\nimport os\nfrom smaller import x",
        c_in_d="",
        f_in_g="def late():\n    from small import f",
        f_in_init="from . import g\nfrom .g import late\nfrom ..a import b",
    )
    assert imports(modules(root)) == {
        ("small.a.b", "small.c.d"),
        ("small.a.b", "small.c"),
        ("small.a.b", "small.f.g"),
        ("small.f.g", "small.f"),
        ("small.f", "small.f.g"),
        ("small.f", "small.a.b"),
    }


def test_arrows_between_parts_are_counted_once_and_not_inside_one() -> None:
    arrows = {("p.a.x", "p.b.y"), ("p.a.z", "p.b"), ("p.a.x", "p.a.z"), ("p.c", "p.a.x"), ("p.c", "p")}
    assert between(arrows) == {("p.a", "p.b"), ("p.c", "p.a")}


def chain(*names: str) -> set[Arrow]:
    return {(one, other) for way in names for one, other in pairwise(way)}


@pytest.mark.parametrize(
    ("arrows", "groups", "fewest"),
    [
        (chain("abc", "ac"), [], 0),
        (chain("aba"), [("a", "b")], 1),
        (chain("abca", "cd"), [("a", "b", "c")], 1),
        (chain("aba", "cdc", "ac"), [("a", "b"), ("c", "d")], 2),
        (chain("abca", "acba"), [("a", "b", "c")], 3),
        (chain("abcda", "ca"), [("a", "b", "c", "d")], 1),
        (chain("abcda", "acbda"), [("a", "b", "c", "d")], 2),
    ],
)
def test_circles_are_found_and_how_many_arrows_make_them(
    arrows: set[Arrow], groups: list[tuple[str, ...]], fewest: int
) -> None:
    assert circles(arrows) == groups
    assert back(arrows) == fewest


LAYERS = [["p.top"], ["p.mid.special"], ["p.mid", "p.beside"], ["p.low"]]


def test_layers_are_read_from_the_projects_own_list() -> None:
    contracts = [
        {"type": "forbidden"},
        {"type": "layers", "layers": ["p.top", "p.mid.special", "p.mid | p.beside", "p.low"]},
    ]
    assert layers({"tool": {"importlinter": {"contracts": contracts}}}) == LAYERS


@pytest.mark.parametrize(
    ("arrow", "is_up"),
    [
        (("p.top", "p.low.x"), False),
        (("p.low.x", "p.top.y"), True),
        (("p.mid.x", "p.beside"), True),
        (("p.mid.x", "p.mid.y"), False),
        (("p.mid.special.x", "p.mid.y"), False),
        (("p.mid.y", "p.mid.special"), True),
        (("p.middle", "p.top"), False),  # in no layer
    ],
)
def test_an_import_of_a_layer_above_or_beside_goes_up(arrow: Arrow, is_up: bool) -> None:
    assert up([arrow], LAYERS) == [arrow] * is_up


@pytest.mark.parametrize(
    ("literal", "count"),
    [
        ("que q k ke", 4),
        ("\none two | three\nfour five six\n", 3),
        ("(de|desde) ahora | recorda(lo|la)", 2),
        ("", 0),
        (" | ", 0),
        (r"[.,?]", 0),
    ],
)
def test_an_entry_stands_between_bars_and_line_ends_or_else_is_a_word(literal: str, count: int) -> None:
    assert entries(literal) == count


def test_every_line_of_a_data_file_is_an_entry_or_more(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("one two\nthree | four\n\n# ---\n", encoding="utf-8")
    assert data_entries(path) == 3


def test_of_a_file_with_sections_each_counts_as_a_literal_does(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text(
        "# of it\n\n# words\n[a]\none two\nthree\n\n# phrases\n[b-c]\nd e | f\n  g\nh i\n", encoding="utf-8"
    )
    assert data_entries(path) == 3 + 3


SAME = """
def {name}(a, b):
    {doc}
    if a:
        return b
    return a
"""


def test_functions_with_the_same_statements_are_found_whatever_their_names_and_docstrings(tmp_path: Path) -> None:
    root = package(
        tmp_path,
        a=SAME.format(name="one", doc="'Says it.'"),
        b=SAME.format(name="_two", doc="'Says it otherwise.'"),
        c="def three(a, b):\n    return a\n\ndef four(a, b):\n    return a",
    )
    assert same_functions(modules(root)) == [["small.a.one", "small.b._two"]]


def test_public_names_of_two_modules_are_found(tmp_path: Path) -> None:
    root = package(
        tmp_path, a="def b(): ...\ndef _c(): ...\nclass D: ...", e="class b: ...\ndef _c(): ...\ndef f(): ..."
    )
    assert same_names(modules(root)) == ["b"]


def test_classes_with_the_same_public_methods_are_found(tmp_path: Path) -> None:
    methods = "\n".join(f"    def {name}(self): ..." for name in ("get", "put", "close"))
    root = package(
        tmp_path,
        a=f"class Files:\n    def _own(self): ...\n{methods}",
        b=f"class Memory:\n{methods}",
        c=f"class More:\n{methods}\n    def more(self): ...",
        d="class Few:\n    def get(self): ...\nclass Too:\n    def get(self): ...",
    )
    assert twins(modules(root)) == [["small.a.Files", "small.b.Memory"]]


def test_lines_are_repeated_if_six_of_them_recur_together(tmp_path: Path) -> None:
    imported = "import os, sys\n" * 9
    six, five = ([f"{name} = {name}{name}" for name in ABC[:size]] for size in (6, 5))
    root = package(
        tmp_path,
        a=imported + "\n".join([*six, "x = 1"]),
        b=imported + "\n\n# with a comment\n".join(["y = 1", *six]),
        c="\n".join([*five, "z = 1"]),
    )
    assert repeated_lines(modules(root)) == 12


TABLES = '''\
"""Tables."""

TABLE = """
hello | good morning
bye
"""

def f():
    return "no entry"
'''


def test_a_package_is_counted_as_a_whole(tmp_path: Path) -> None:
    root = package(
        tmp_path,
        init='"""A map."""',
        app="from small.language import words\nfrom small.store import rows\n",
        language_in_words=TABLES,
        store_in_rows="from small import app\n",
    )
    (root / "language" / "learned.json").write_text('{"weight": 1}', encoding="utf-8")
    (root / "language" / "more.txt").write_text("one\ntwo\n", encoding="utf-8")
    counted = shape(root, [["small.app"], ["small.store"]])
    assert counted["lines"] == 13
    assert counted["lines of code"] == 9
    assert counted["modules"] == 4
    assert counted["parts"] == 3
    assert counted["arrows between parts"] == 3
    assert counted["arrows between folders"] == 0
    assert counted["circles of parts"] == 1
    assert counted["arrows back"] == 1
    assert counted["arrows up"] == 1
    assert counted["modules in no layer"] == 2
    assert counted["table entries"] == 5
