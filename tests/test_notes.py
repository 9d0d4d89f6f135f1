from pathlib import Path

import pytest

from tests.notes import ROOT, index, marked, table, written

TEXT = """\
# Memory

| § | what the note says | where | test |
|---|---|---|---|
| 1.1/1 | It is kept | `proxy/a.py` | `tests/test_old.py::test_gone` |
| 1.1/2 | It is small | `a` = 1 | — |
| 7 NO/1 | Never | not ours | — |

The end.
"""
TESTS = """\
import pytest


@pytest.mark.note("1.1/2", "1.1/1")
@pytest.mark.parametrize("a", [1])
def test_both(a): ...


class TestIt:
    @pytest.mark.note("1.1/2")
    async def test_in_a_class(self): ...


@pytest.mark.long
def test_none(): ...
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "b").mkdir(parents=True)
    (tmp_path / "tests" / "b" / "test_c.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "tests" / "test_a.py").write_text(TESTS.replace("1.1/2", "7 NO/1"), encoding="utf-8")
    (tmp_path / "tests" / "helper.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_the_tests_of_an_item_are_those_that_are_marked_with_it(root: Path) -> None:
    assert marked(root) == {
        "1.1/1": ["tests/b/test_c.py::test_both", "tests/test_a.py::test_both"],
        "1.1/2": ["tests/b/test_c.py::test_both", "tests/b/test_c.py::test_in_a_class"],
        "7 NO/1": ["tests/test_a.py::test_both", "tests/test_a.py::test_in_a_class"],
    }


def test_the_last_column_is_written_and_nothing_else() -> None:
    found = written(TEXT, {"1.1/1": ["tests/a.py::b"], "1.1/2": ["tests/a.py::b", "tests/a.py::c"]})
    assert found == TEXT.replace("`tests/test_old.py::test_gone`", "`tests/a.py::b`").replace(
        "`a` = 1 | —", "`a` = 1 | `tests/a.py::b`<br>`tests/a.py::c`"
    )
    assert written(found, {}) == TEXT.replace("`tests/test_old.py::test_gone`", "—")


def test_a_row_knows_its_section() -> None:
    assert [(row.section, row.item) for row in table(TEXT)] == [("1.1", "1.1/1"), ("1.1", "1.1/2"), ("7 NO", "7 NO/1")]


def test_the_index_leads_to_each_table_and_counts_what_tests_hold() -> None:
    told = index({ROOT / "proxy" / "a" / "README.md": TEXT})
    assert "## Memory\n\n[`proxy/a/README.md`](../../proxy/a/README.md)" in told
    assert "| § 1.1 | 2 | 1 |\n| § 7 NO | 1 | 0 |" in told
