"""The files of a release: all that the proxy needs is in them, and nothing else."""

import hashlib
import re
import subprocess
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.release import artifacts
from tests.release.artifacts import MOST_BYTES, ROOT, Distributions
from tests.release.versions import Refused, current

PICTURES = (".png", ".jpg", ".gif")
# Nothing that serves needs these: notes for who changes the proxy, and what stands beside a document without being one.
NOTES = re.compile(r"proxy/\w+/README\.md|proxy/page/documents/.*(?<!\.md)(?<!\.yaml)(?<!\.png)(?<!\.svg)")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.long
def test_the_wheel_has_every_file_of_the_proxy_and_nothing_else(built: Distributions) -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "proxy"]
    known = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    paths = [path for name in known if name and (path := ROOT / name).exists()]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    wanted = {str(file.relative_to(ROOT)) for file in files}
    wanted = {name for name in wanted if not NOTES.fullmatch(name)}
    had = names(built.wheel)
    assert wanted - had == set()
    assert {name for name in had - wanted if not re.match(r"olvido-[\d.]+\.dist-info/", name)} == set()
    assert len([name for name in had if name.startswith("proxy/page/documents/deploy/docs/")]) > 5


@pytest.mark.long
def test_what_people_unpack_has_the_documents_and_no_tests(built: Distributions) -> None:
    with tarfile.open(built.sdist) as archive:
        members = {name.partition("/")[2] for name in archive.getnames()}
        assert not any(member.issym() or member.islnk() for member in archive.getmembers())
    assert {"README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "constraints.txt"} <= members
    assert [name for name in members if name.startswith("tests")] == []


@pytest.mark.long
def test_both_are_small(built: Distributions) -> None:
    for path in (built.wheel, built.sdist):
        assert 1_000_000 < path.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(built.wheel) as archive:
        pictures = [each for each in archive.infolist() if each.filename.endswith(PICTURES)]
    # Only those that a document shows at /ui/docs.
    assert [each.filename for each in pictures if "/documents/" not in each.filename] == []
    assert sum(each.compress_size for each in pictures) < 1_000_000


@pytest.mark.long
def test_the_metadata_says_what_is_true(built: Distributions) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        folder = f"olvido-{current(ROOT)}.dist-info"
        told = Parser().parsestr(archive.read(f"{folder}/METADATA").decode())
        entry = archive.read(f"{folder}/entry_points.txt").decode()
        top = archive.read(f"{folder}/top_level.txt").decode().split()
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("olvido", current(ROOT), "MIT")
    assert told["Requires-Python"] == ">=3.11"
    assert str(told.get_payload()).startswith("# Olvido")
    assert told["Description-Content-Type"] == "text/markdown"
    assert "olvido = proxy.cli:main" in entry
    assert top == ["proxy"]
    for link in told.get_all("Project-URL", []):
        assert "example" not in link


def test_what_is_too_large_is_no_release(tmp_path: Path) -> None:
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    wheel.write_bytes(bytes(MOST_BYTES))
    artifacts.check_size(wheel)
    wheel.write_bytes(bytes(MOST_BYTES + 1))
    with pytest.raises(Refused, match=r"tiny-1-py3-none-any\.whl has 5,000,001 bytes; at most 5,000,000"):
        artifacts.check_size(wheel)


def test_checksums_are_those_that_sha256sum_reads(tmp_path: Path) -> None:
    one, two = tmp_path / "b.whl", tmp_path / "a.tar.gz"
    one.write_bytes(b"one")
    two.write_bytes(b"two")
    sums = artifacts.checksums([one, two], tmp_path / "SHA256SUMS")
    assert sums.read_text().splitlines() == [
        f"{hashlib.sha256(b'two').hexdigest()}  a.tar.gz",
        f"{hashlib.sha256(b'one').hexdigest()}  b.whl",
    ]
    checked = subprocess.run(["sha256sum", "--check", "--quiet", sums.name], cwd=tmp_path, check=False)
    assert checked.returncode == 0


def test_what_git_does_not_know_is_not_released(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=repository, check=True)
    for name, text in ((".gitignore", "secret"), ("secret", "x"), ("folder/new", "y")):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(text)
    (repository / "link").symlink_to("folder/new")
    source = artifacts.exported(tmp_path / "source", repository)
    assert sorted(str(path.relative_to(source)) for path in source.rglob("*")) == [
        ".gitignore", "folder", "folder/new", "link",
    ]  # fmt: skip
    assert (source / "link").is_symlink()
