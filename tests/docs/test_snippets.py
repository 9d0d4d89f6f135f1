"""The programs of the documents run as they stand, through a real proxy; `python -m tests.clients` runs those, too,
whose packages are not among this project's."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.trying import CHAT, Place, imports, is_program, managed, run, trial
from tests.docs.documents import ROOT, Block, documents

RESPONSES = "/v1/responses"
MODULES = ROOT / "tests" / "e2e"


def programs() -> Iterator[tuple[str, Block]]:
    for document in documents():
        for block in document.blocks():
            if is_program(block):
                yield f"{document.name}:{block.line}", block


PROGRAMS = dict(programs())
# Packages of this project's tests: pyproject.toml, tests/e2e/package.json.
OURS = {"python": {"openai"}, "js": set(json.loads((MODULES / "package.json").read_text())["dependencies"])}
RUN_HERE = [name for name, block in PROGRAMS.items() if set(imports(block)) <= OURS[block.language]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with trial(tmp_path_factory.mktemp("snippets")) as proxy:
        yield proxy


def test_there_are_programs_and_all_of_python_s_can_be_read() -> None:
    assert {PROGRAMS[name].language for name in RUN_HERE} == {"python", "js"}
    for name, block in PROGRAMS.items():
        if block.language == "python":
            compile(block.text, name, "exec")


@pytest.mark.long
@pytest.mark.parametrize("name", RUN_HERE)
def test_a_program_runs_and_is_managed_where_the_document_says_so(name: str, place: Place) -> None:
    block = PROGRAMS[name]
    wanted = [MODULES / "node_modules" / name for name in imports(block)] if block.language == "js" else []
    if wanted and (shutil.which("node") is None or not all(package.exists() for package in wanted)):
        pytest.skip("needs node, and `npm ci` in tests/e2e")
    tried = run(block, place, python=Path(sys.executable), modules=MODULES)
    assert tried.status == 0, tried.said
    assert tried.said
    assert tried.paths == [RESPONSES if "responses" in block.text or "openai(" in block.text else CHAT]
    assert len(managed(place, tried)) == 1
    if "x-olvido-session" in block.text:
        (row,) = managed(place, tried)
        assert row["session"] == "blue"
        assert row["scope"].endswith("/ana")
