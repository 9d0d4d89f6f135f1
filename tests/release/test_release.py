"""`make release`: refused where something is wrong, and then nothing has changed; else a commit, a tag and files."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.release import artifacts
from tests.release.__main__ import git, main, release
from tests.release.artifacts import ROOT
from tests.release.versions import Refused, current

NEXT = "88.0.0"

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is checked out here, as a repository of its own with one commit. Only to be copied."""
    root = artifacts.exported(tmp_path_factory.mktemp("committed") / "repository")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "config", "user.name", "Somebody")
    git(root, "config", "user.email", "somebody@example.com")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "All")
    return root


@pytest.fixture
def repository(committed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(committed, tmp_path / "repository", symlinks=True)


def state(root: Path) -> tuple[str, str, str]:
    return git(root, "rev-parse", "HEAD"), git(root, "tag"), git(root, "status", "--porcelain")


def one_file(clone: Path, version: str, into: Path) -> list[Path]:
    """In place of all files: one, which has what the clone states."""
    path = into / "olvido.txt"
    path.write_text(f"{current(clone)} {version}")
    return [path]


def broken(_clone: Path, _version: str, _into: Path) -> list[Path]:
    raise Refused("it does not build")


def test_a_release_is_a_commit_a_tag_and_files(repository: Path, tmp_path: Path) -> None:
    before, _, _ = state(repository)
    (path,) = release(repository, NEXT, tmp_path / "dist", is_dry=False, make=one_file)
    assert path.read_text() == f"{NEXT} {NEXT}"
    assert current(repository) == NEXT
    assert git(repository, "log", "--format=%s", f"{before}..") == f"Release {NEXT}"
    assert git(repository, "cat-file", "-t", f"v{NEXT}") == "tag"
    assert git(repository, "rev-parse", f"v{NEXT}^{{commit}}") == git(repository, "rev-parse", "HEAD")
    told = git(repository, "tag", "--list", "--format=%(contents)", f"v{NEXT}")
    assert told.startswith(f"Olvido {NEXT}\n\n")
    assert len(told.splitlines()) > 10
    assert f"\n## Unreleased\n\n## {NEXT} (" in (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    with pytest.raises(Refused, match="nothing under"):
        release(repository, "88.0.1", tmp_path / "again", is_dry=False, make=one_file)


def dirty(root: Path) -> None:
    (root / "README.md").write_text("changed")


def tagged(root: Path) -> None:
    git(root, "tag", f"v{NEXT}")


def detached(root: Path) -> None:
    git(root, "checkout", "--quiet", "--detach")


def differing(root: Path) -> None:
    path = root / "deploy/compose.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("olvido:", "olvido:7"), encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "--message", "Differs")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (dirty, "the tree is not clean"),
        (tagged, "is not above"),
        (detached, "no branch"),
        (differing, "but not deploy/compose.yaml"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_where_something_is_wrong_nothing_is_released(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: object, why: str
) -> None:
    assert callable(wrong)
    wrong(repository)
    before = state(repository)
    assert main([NEXT, "--into", str(tmp_path / "dist")], repository) == 1
    assert why in capsys.readouterr().err
    assert state(repository) == before


def test_what_does_not_build_leaves_nothing_behind(repository: Path, tmp_path: Path) -> None:
    before = state(repository)
    with pytest.raises(Refused, match="does not build"):
        release(repository, NEXT, tmp_path / "dist", is_dry=False, make=broken)
    assert state(repository) == before


def test_files_of_another_release_are_not_mixed_with_these(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "olvido-0.0.1.whl").touch()
    with pytest.raises(Refused, match="is not empty"):
        release(repository, NEXT, tmp_path, is_dry=True, make=one_file)


def test_a_dry_run_makes_all_files_and_changes_nothing(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, into = state(repository), tmp_path / "dist"
    assert main([NEXT, "--dry-run", "--into", str(into)], repository) == 0
    assert f"v{NEXT} is neither committed nor tagged" in capsys.readouterr().out
    assert state(repository) == before
    assert sorted(path.name for path in into.iterdir()) == [
        "SHA256SUMS", f"olvido-{NEXT}-py3-none-any.whl", f"olvido-{NEXT}.cdx.json", f"olvido-{NEXT}.tar.gz",
    ]  # fmt: skip
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=into, check=False).returncode == 0
    told = (into / f"olvido-{NEXT}.cdx.json").read_text(encoding="utf-8")
    bom = json.loads(told)
    assert (bom["bomFormat"], bom["metadata"]["component"]["name"]) == ("CycloneDX", "olvido")
    parts = {part["name"].lower(): part["version"] for part in bom["components"]}
    pinned = dict(
        line.lower().split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line
    )
    assert {"starlette", "onnxruntime", "tiktoken", "psycopg", "redis"} <= parts.keys()
    assert {"pip", "setuptools", "pytest", "torch"} & parts.keys() == set()
    assert {name: version for name, version in parts.items() if pinned.get(name, version) != version} == {}
    assert str(tmp_path) not in told  # nothing of this machine
    assert "file:" not in told
