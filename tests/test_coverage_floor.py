"""The coverage of a folder: lines and branches of all its modules together."""

from tests.coverage_floor import below, by_folder


def file(lines: int, of_lines: int, branches: int = 0, of_branches: int = 0) -> dict[str, dict[str, int]]:
    covered = {"covered_lines": lines, "num_statements": of_lines}
    return {"summary": {**covered, "covered_branches": branches, "num_branches": of_branches}}


def test_lines_and_branches_of_a_folder_are_one_figure() -> None:
    files = {
        "proxy/reuse/a.py": file(10, 10, 3, 4),
        "proxy/reuse/standing/b.py": file(5, 5, 0, 1),
        "proxy/lru.py": file(1, 2),
        "proxy/page/__init__.py": file(0, 0),
    }
    assert by_folder({"files": files}) == {".": 50.0, "reuse": 90.0}


def test_a_folder_below_its_floor_is_named_and_one_that_was_not_measured() -> None:
    assert below({"reuse": 94.9, "memory": 95.0}, {"reuse": 95.0, "memory": 95.0, "context": 95.0}) == [
        "reuse",
        "context",
    ]
