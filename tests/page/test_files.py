"""The files of the page: all of them, and nothing else."""

import re
from pathlib import Path

import pytest

from proxy.errors import UnknownRoute
from proxy.page.files import FOLDER, INDEX, POLICY, TYPES, answered, read
from proxy.types import Headers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """static/ with a file and a folder in it, and something beside it that is nobody's business."""
    static = tmp_path / "static"
    (static / "lib").mkdir(parents=True)
    (static / INDEX).write_text("<!doctype html>ñ", encoding="utf-8")
    (static / "lib" / "dom.js").write_text("export {}", encoding="utf-8")
    (static / "lib" / "LICENSE").write_text("MIT", encoding="utf-8")
    (static / ".hidden").write_text("x", encoding="utf-8")
    (static / ".git").mkdir()
    (static / ".git" / "config").write_text("x", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("x", encoding="utf-8")
    (static / "link.txt").symlink_to(tmp_path / "secret.txt")
    return static


def test_files_are_known_by_their_path_and_what_is_hidden_or_elsewhere_is_not(folder: Path) -> None:
    assert sorted(read(folder)) == [INDEX, "lib/LICENSE", "lib/dom.js"]


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        (INDEX, "text/html; charset=utf-8"),
        ("lib/dom.js", "text/javascript; charset=utf-8"),
        ("lib/LICENSE", "text/plain; charset=utf-8"),
    ],
)
def test_a_file_is_told_with_its_type_and_all_that_keeps_it_to_itself(name: str, type_: str, folder: Path) -> None:
    answer = answered(read(folder), name, ())
    headers = dict(answer.headers)
    assert (answer.status, answer.body) == (200, (folder / name).read_bytes())
    assert headers["content-type"] == type_
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-cache"


def test_nothing_from_elsewhere_and_nothing_inline_may_run() -> None:
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in POLICY


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "nothing.js",
        "lib",
        "lib/",
        "/index.html",
        "./index.html",
        "lib/../index.html",
        "../secret.txt",
        "../../../etc/passwd",
        "..%2fsecret.txt",
        "..\\secret.txt",
        "/etc/passwd",
        "link.txt",
        ".hidden",
        ".git/config",
        "index.html\x00.js",
        "INDEX.HTML",
    ],
)
def test_what_is_not_among_them_is_not_there(name: str, folder: Path) -> None:
    with pytest.raises(UnknownRoute):
        answered(read(folder), name, ())


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("{tag}", 304),
        ("W/{tag}", 304),
        ('"other", {tag}', 304),
        ("*", 304),
        ('"other"', 200),
        ("", 200),
        (None, 200),
    ],
)
def test_a_copy_that_is_the_newest_is_not_sent_again(asked: str | None, status: int, folder: Path) -> None:
    files = read(folder)
    tag = files[INDEX].tag
    headers: Headers = () if asked is None else (("if-none-match", asked.format(tag=tag)),)
    answer = answered(files, INDEX, headers)
    assert (answer.status, dict(answer.headers)["etag"]) == (status, tag)
    assert bool(answer.body) == (status == 200)


def test_another_content_has_another_tag(folder: Path) -> None:
    before = read(folder)[INDEX].tag
    (folder / INDEX).write_text("changed", encoding="utf-8")
    assert read(folder)[INDEX].tag != before


def test_every_file_of_the_page_has_a_type_and_is_packed_with_it() -> None:
    names = list(read(FOLDER))
    assert INDEX in names
    assert [name for name in names if Path(name).suffix not in TYPES and Path(name).name != "LICENSE"] == []
    settings = (FOLDER.parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert "page/static/**/*" in settings


def test_the_page_names_no_other_site() -> None:
    # A policy would stop it; what is not even asked for says nothing to anybody.
    for name, file in read(FOLDER).items():
        if Path(name).suffix in (".html", ".css"):
            text = file.body.decode()
            assert re.findall(r"(?:src|href|url\()\s*=?\s*[\"']?(?:https?:)?//", text) == [], name
