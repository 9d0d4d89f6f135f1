"""The documents are right: what they link to, call and name is there. And whatever were not would be found."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proxy.protocol.chat import SESSION_METADATA
from proxy.protocol.headers import SESSION_HEADERS, USER_HEADERS
from tests.docs import commands, links, names, settings_named
from tests.docs.__main__ import problems
from tests.docs.documents import ROOT, Document, documents, read

DOCUMENTS = {document.name: document for document in documents()}
README_LINES = 150

Check = Callable[[Document], Iterator[str]]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_right(name: str) -> None:
    assert list(problems(DOCUMENTS[name])) == []


def test_the_readme_is_short_and_every_document_can_be_reached_from_it() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        path = path / "README.md" if path.is_dir() else path
        if path in reached or path.suffix != ".md" or not path.exists():
            continue
        reached.add(path)
        waiting += [(path.parent / link.target.partition("#")[0]).resolve() for link in read(path).links()]
    assert {ROOT / name for name in DOCUMENTS} <= reached


def test_words_are_defined_before_they_are_used() -> None:
    text = (ROOT / "deploy" / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    words, _, rest = text.partition("\n## The way of a request")
    for word in ("scope", "fold", "memory head", "plan", "turn", "recall", "prefix cache", "window"):
        assert f"\n| {word} | " in words
        assert word in rest


def test_how_clients_are_recognised_is_told_as_it_is_done() -> None:
    text = (ROOT / "deploy" / "docs" / "clients.md").read_text(encoding="utf-8")
    told = text.partition("## How conversations and people are recognised")[2].partition("**Tools.**")[0]
    session, user = (line for line in told.splitlines() if line.startswith(("| session", "| user")))
    expected = ["x-olvido-session", *SESSION_HEADERS, "prompt_cache_key", *SESSION_METADATA, "metadata"]
    assert re.findall(r"`([\w-]+)`", session) == expected
    assert re.findall(r"`([\w-]+)`", user) == ["x-olvido-user", *USER_HEADERS, "safety_identifier", "user"]


def test_the_figures_of_the_readme_s_table_are_those_of_the_measurement() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| straight to the provider |")[2].partition("`olvido demo --exit`")[0]
    measured = (ROOT / "deploy" / "docs" / "measured.md").read_text(encoding="utf-8")
    demonstration = measured.partition("## The demonstration")[2].partition("\n## ")[0]
    figures = re.findall(r"\d+(?:,\d{3})+|\d\.\d{4}|39 %|48 of 48", table)
    assert len(figures) >= 8
    assert [each for each in figures if each not in demonstration] == []


@pytest.mark.parametrize(
    ("check", "text", "wrong"),
    [
        (links.problems, "[a](gone.md)", "no such file"),
        (links.problems, "[a](#gone)", "no such heading"),
        (links.problems, "[a](other.md#gone)", "no such heading"),
        (links.problems, "![a](gone.png)", "no such file"),
        (links.problems, "[a](ftp://example.com)", "not an address"),
        (commands.problems, "`olvido sreve`", "has no sreve"),
        (commands.problems, "`olvido serve --prot 1`", "has no --prot"),
        (commands.problems, "`olvido memory list|lose`", "has no lose"),
        (commands.problems, "`olvido memory list | lose`", "has no lose"),
        (commands.problems, "`olvido memory files stats`", "has no stats"),
        (commands.problems, "```sh\ncd x && .venv/bin/olvido gone   # why\n```", "has no gone"),
        (commands.problems, "```sh\nuvx --from . olvido gone\n```", "has no gone"),
        (commands.problems, "`make gone`", "no such target"),
        (commands.problems, "```sh\nmake gone\n```", "no such target"),
        (commands.problems, "`python -m tests.gone`", "no such module"),
        (commands.problems, "`tests/gone.py`", "no such file"),
        (settings_named.problems, "`memory.gone`", "no setting"),
        (settings_named.problems, "`auth: {gone: keys}`", "no setting"),
        (settings_named.problems, "```yaml\nserver: {gone: 1}\n```", "gone"),
        (settings_named.problems, "```yaml\nmemory: {archive_ttl: soon}\n```", "archive_ttl"),
        (names.problems, "`x-olvido-gone: 1`", "no such header"),
        (names.problems, "`olvido_gone_total`", "no such metric"),
        (names.problems, "`OLVIDO_GONE`", "no such variable"),
        (names.problems, "`GET /admin/api/gone`", "no such route"),
    ],
)
def test_what_is_wrong_is_found(check: Check, text: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Other\n", encoding="utf-8")
    (found,) = check(Document(tmp_path / "a.md", f"# A\n\n{text}\n"))
    assert wrong in found


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (links.problems, "[a](#a) [b](other.md#other) [c](https://example.com/gone)"),
        (commands.problems, "```sh\nsudo useradd --shell /bin/sh olvido\npip install olvido\n```"),
        (commands.problems, "```sh\ndocker run olvido\ndocker compose exec olvido olvido doctor\n```"),
        (commands.problems, "`olvido serve [--config FILE] [--port]`, `olvido memory list\\|show`, `olvido`"),
        (settings_named.problems, "`auth: {mode: keys}`, `profiles.mine.window.turns`, `numpy.float`"),
        (settings_named.problems, "```yaml\nauth: {mode: keys}\n```\n\n```yaml client\nserver: {gone: 1}\n```"),
        (names.problems, "`x-olvido-session: NAME`, `olvido_requests_total`, `GET /admin/api/requests?scope&limit`"),
        (names.problems, "`/admin/api/requests/{id}`, `/ui/docs/{name}`, `/v1/anything`"),
    ],
)
def test_what_is_right_is_not(check: Check, text: str, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Other\n", encoding="utf-8")
    assert list(check(Document(tmp_path / "a.md", f"# A\n\n{text}\n"))) == []
