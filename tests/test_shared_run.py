"""Tests that several forked processes share come to the same as in one process, and none is lost with a process."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_run import PART, parts

TESTS = """
import os
import pytest

@pytest.fixture(scope="module")
def made():
    yield os.getpid()
    print("torn down", os.getpid())

@pytest.mark.parametrize("number", range(60))
def test_holds(number, made, tmp_path):
    assert made == os.getpid()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")

@pytest.mark.parametrize("number", [1, 2])
def test_fails(number):
    print(f"said by {number}")
    assert number == 3

@pytest.mark.skip(reason="not here")
def test_is_skipped():
    pass

@pytest.mark.xfail(strict=True)
def test_is_known_to_fail():
    assert False

@pytest.fixture
def broken():
    raise OSError("no fixture")

def test_has_no_fixture(broken):
    pass
"""
WITHOUT = "-p no:schemathesis -p no:hypothesispytest -p no:asyncio -p no:anyio -p no:xdist -p no:pytest_cov"
DYING = """
import os
import pytest

@pytest.mark.parametrize("number", range(40))
def test_dies_once(number):
    if number == 17:
        os._exit(9)
"""


def told(folder: Path, *options: str) -> tuple[int, str]:
    """The exit status of a run over the tests of a folder, and what it prints."""
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = -q -p no:cacheprovider {WITHOUT}\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.shared_run", *options, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


def summary(output: str) -> tuple[dict[str, int], list[str]]:
    """Counts by outcome; the names of what failed."""
    counts = {what: int(number) for number, what in re.findall(r"(\d+) (\w+)", output.strip().splitlines()[-1])}
    return counts, sorted(re.findall(r"(?m)^(?:FAILED|ERROR) (\S+)", output))


@pytest.mark.long
def test_they_come_to_the_same_as_in_one_process(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"test_{number}.py").write_text(TESTS)
    status, shared = told(tmp_path, "--processes", "3")
    alone = told(tmp_path)
    assert (status, summary(shared)) == (alone[0], summary(alone[1]))
    assert summary(shared)[0] == {"failed": 4, "passed": 120, "skipped": 2, "xfailed": 2, "errors": 2}
    assert sorted(re.findall(r"said by \d", shared)) == ["said by 1", "said by 1", "said by 2", "said by 2"]
    assert "OSError: no fixture" in shared


@pytest.mark.long
def test_a_process_that_dies_fails_the_test_that_it_ran_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "test_dying.py").write_text(DYING)
    status, output = told(tmp_path, "--processes", "2")
    assert status == 1
    assert summary(output)[0] == {"failed": 1, "passed": 39}
    assert "the process that ran it has ended, with status 9" in output
    assert summary(output)[1][0].endswith("test_dies_once[17]")


@pytest.mark.long
def test_it_stops_after_as_many_failures_as_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(TESTS)
    status, output = told(tmp_path, "--processes", "2", "-x")
    assert status == 1
    assert "stopping after 1 failures" in output


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ("", []),
        ("a", [(0,)]),
        ("aab", [(0, 1), (2,)]),
        ("a" * (PART + 1) + "b", [tuple(range(PART)), (PART,), (PART + 1,)]),
    ],
)
def test_parts_are_of_one_module_each(modules: str, expected: list[tuple[int, ...]]) -> None:
    assert list(parts(modules)) == expected
