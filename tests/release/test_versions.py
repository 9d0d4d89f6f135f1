"""The version is stated in one place and followed by a few; a release steps all of them, and the changelog."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.release import versions
from tests.release.artifacts import ROOT
from tests.release.versions import PLACES, Refused

CHANGELOG = """# Changelog

## Unreleased

**Memory**

- Remembers.

## 0.1.0 (2026-01-31)

- Began.
"""
# These have versions of others, or of the past.
NOT_OURS = ("constraints.txt", "CHANGELOG.md", "tests/", "package-lock.json")


@pytest.fixture
def places(tmp_path: Path) -> Path:
    for name in PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_every_place_states_the_same_version() -> None:
    assert versions.numbers(versions.current(ROOT)) >= (0, 1, 0)


def test_nothing_else_states_it() -> None:
    version = versions.current(ROOT)
    command = ["git", "grep", "--name-only", "--fixed-strings", "--untracked", f"olvido:{version}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not (ROOT / ".git").exists():
        pytest.skip("needs the repository")
    assert found
    assert [name for name in found if name not in PLACES and not name.startswith(NOT_OURS)] == []


def test_a_step_reaches_every_place_and_changes_nothing_else(places: Path) -> None:
    now = versions.current(places)
    before = {name: (places / name).read_text(encoding="utf-8") for name in PLACES}
    versions.state(places, "12.34.56")
    assert versions.current(places) == "12.34.56"
    assert {each for found in versions.stated(places).values() for each in found} == {"12.34.56"}
    versions.state(places, now)
    assert {name: (places / name).read_text(encoding="utf-8") for name in PLACES} == before


def test_a_place_that_differs_or_states_nothing_is_refused(places: Path) -> None:
    compose = places / "deploy/compose.yaml"
    text = compose.read_text(encoding="utf-8")
    compose.write_text(text.replace(f"olvido:{versions.current(places)}", "olvido:9.9.9"), encoding="utf-8")
    with pytest.raises(Refused, match=r"but not deploy/compose\.yaml"):
        versions.current(places)
    compose.write_text(text.replace("image: olvido", "image: other"), encoding="utf-8")
    with pytest.raises(Refused, match="does not state the version"):
        versions.current(places)


@pytest.mark.parametrize(
    ("version", "now", "released", "why"),
    [
        ("0.1.0", "0.1.0", [], ""),  # the first
        ("0.2.0", "0.1.0", ["v0.1.0"], ""),
        ("0.10.0", "0.9.0", ["v0.9.0", "something"], ""),
        ("0.1.0", "0.1.0", ["v0.1.0"], "is not above 0.1.0, which is released"),
        ("0.2.0", "0.1.0", ["v0.1.0", "v0.10.0"], "is not above 0.10.0"),
        ("0.0.9", "0.1.0", [], "is below 0.1.0"),
        ("1.0", "0.1.0", [], "no version"),
        ("v1.0.0", "0.1.0", [], "no version"),
        ("1.0.0-rc.1", "0.1.0", [], "no version"),
        ("01.0.0", "0.1.0", [], "no version"),
    ],
)
def test_which_version_may_follow(version: str, now: str, released: list[str], why: str) -> None:
    if not why:
        versions.check_next(version, now, released)
        return
    with pytest.raises(Refused, match=why):
        versions.check_next(version, now, released)


def test_what_was_unreleased_gets_its_version_and_nothing_is_unreleased() -> None:
    text = versions.stepped(CHANGELOG, "0.2.0", "2026-02-28")
    assert versions.notes(text, "## 0.2.0 ") == "**Memory**\n\n- Remembers."
    assert versions.notes(text, "## 0.1.0 ") == "- Began."
    assert versions.notes(text, "## Unreleased") == ""
    with pytest.raises(Refused, match="nothing under"):
        versions.stepped(text, "0.3.0", "2026-03-31")


def test_our_changelog_has_what_a_release_steps() -> None:
    assert versions.notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), "## ") != ""
