"""Sections: files by project, texts as a head tells them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.desk.sections import file_of, files, project_of, told
from proxy.desk.tools import section_of
from proxy.types.desk import SectionName


@pytest.mark.parametrize(
    ("name", "project"),
    [
        ("", ""),
        ("olvido", "olvido"),
        ("AI Task/Orchestrator", "ai-task-orchestrator"),
        ("../../etc", "etc"),
        ("--", ""),
        ("ñandú 2", "and-2"),
        ("x" * 60, "x" * 40),
    ],
)
def test_a_project_is_named_by_letters_digits_and_hyphens(name: str, project: str) -> None:
    assert project_of(name) == project


@pytest.mark.note("SMMA 4/1", "SMMA 4/4")
@given(st.text())
def test_files_of_any_project_have_names_that_stay_in_the_folder(name: str) -> None:
    for section, file in files(project_of(name)).items():
        assert re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}\.md", file)
        assert section_of(file) == section


@pytest.mark.note("SMMA 2/4")
@pytest.mark.parametrize(
    ("section", "alone", "of_project"),
    [
        ("user_profile", "user_profile.md", "user_profile.md"),
        ("project_context", "project_context.md", "project_context-olvido.md"),
        ("current_task", "current_task.md", "current_task-olvido.md"),
        ("agent_notes", "agent_notes.md", "agent_notes.md"),
    ],
)
def test_context_and_task_are_a_projects_own(section: SectionName, alone: str, of_project: str) -> None:
    assert file_of(section, "") == alone
    assert file_of(section, "olvido") == of_project


@pytest.mark.note("SMMA 2/3")
def test_a_head_tells_each_section_by_its_name_without_empty_ones() -> None:
    texts: list[tuple[SectionName, str]] = [("user_profile", "# Ana\nlikes tea\n"), ("agent_notes", " \n")]
    assert told(texts) == "[user_profile]\n# Ana\nlikes tea"
    assert told([]) == ""
