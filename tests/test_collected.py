"""What tests there are does not depend on the time, on chance, or on the order of a set: processes that share a run
collect for themselves, and refuse to begin if one has found other tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def collected(seed: int) -> list[str]:
    """The names of all tests, as a process with this seed of hashes finds them."""
    command = (sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider")
    env = {**os.environ, "PYTHONHASHSEED": str(seed)}
    for name in [name for name in env if name.startswith("PYTEST_")]:
        del env[name]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.long
def test_the_same_tests_are_found_again() -> None:
    once, again = collected(1), collected(2)
    assert len(once) > 1_000
    assert once == again
