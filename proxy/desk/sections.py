"""The sections of a person's folder: their files, and their texts as a memory head tells them."""

import re
from collections.abc import Iterable

from proxy.desk.schemas import SECTIONS
from proxy.types.desk import SectionName

BY_PROJECT: frozenset[SectionName] = frozenset({"project_context", "current_task"})
LONGEST_PROJECT = 40  # characters: a file's name has at most 64

_OTHERS = re.compile(r"[^a-z0-9]+")


def project_of(name: str) -> str:
    """Returns a project's name as files have it, of a-z, 0-9 and hyphens; "" for none."""
    return _OTHERS.sub("-", name.lower()).strip("-")[:LONGEST_PROJECT].rstrip("-")


def file_of(section: SectionName, project: str) -> str:
    """Returns the name of a section's file: of the project where the section is a project's. `project`: of
    `project_of`."""
    return f"{section}-{project}.md" if project and section in BY_PROJECT else f"{section}.md"


def files(project: str) -> dict[SectionName, str]:
    """Returns the names of the files of all sections, in the order of a head."""
    return {section: file_of(section, project) for section in SECTIONS}


def told(texts: Iterable[tuple[SectionName, str]]) -> str:
    """Returns the texts of sections as a head tells them; "" if there are none."""
    return "\n".join(f"[{section}]\n{text.strip()}" for section, text in texts if text.strip())
