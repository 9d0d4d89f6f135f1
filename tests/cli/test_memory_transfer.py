"""Everybody's facts in one file, and back. Those of one scope: tests/cli/test_memory.py."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.memory_transfer import Everybody, dumped, loaded
from proxy.memory.interchange import Malformed
from proxy.storage.folder import SECRET
from tests.builders import TENANT
from tests.cli.test_memory import ANA, BETO, Olvido, fact

SHARED = f"{TENANT}/~s-1"  # of one conversation of somebody without a name


@pytest.fixture
def olvido(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Olvido:
    made = Olvido(tmp_path, capsys)
    made.path.parent.mkdir(mode=0o700)
    made.configured(f"storage: {{path: {made.path.parent}}}\n")
    made.known(ANA, fact(1, superseded_by=fact(2).id), fact(2, value="vivo en Córdoba «ñ»"))
    made.known(BETO, fact(3, key="perro", value="se llama Ñata"))
    return made


def everybody(olvido: Olvido) -> dict[str, set[str]]:
    return {scope: {each.id for each in olvido.facts(scope)} for scope in (ANA, BETO)}


def test_everybodys_facts_come_back_as_they_were(olvido: Olvido, tmp_path: Path) -> None:
    lines, secret = tmp_path / "facts.jsonl", None
    assert olvido("export", "--all-scopes", str(lines)) == (0, "", "")
    assert lines.stat().st_mode & 0o777 == 0o600
    head, *rest = [json.loads(line) for line in lines.read_text().splitlines()]
    assert head["scopes"] == 2
    assert [each["scope"] for each in rest] == [ANA, ANA, BETO]
    before, secret = everybody(olvido), (olvido.path.parent / SECRET).read_bytes()

    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "elsewhere" / SECRET).write_bytes(secret)
    (tmp_path / "elsewhere" / SECRET).chmod(0o600)
    olvido.configured(f"storage: {{path: {tmp_path / 'elsewhere'}}}\n")
    assert olvido("import", str(lines))[:2] == (0, "Imported: 3 facts new, 0 changed, of 3 in 2 scopes.\n")
    assert olvido("import", str(lines))[:2] == (0, "Imported: 0 facts new, 0 changed, of 3 in 2 scopes.\n")
    assert olvido("export", "--all-scopes")[1] == lines.read_text()
    assert before == {ANA: {fact(1).id, fact(2).id}, BETO: {fact(3).id}}


def test_what_was_forgotten_comes_back_for_whom_it_was(olvido: Olvido, tmp_path: Path) -> None:
    lines = tmp_path / "facts.jsonl"
    olvido("export", "--all-scopes", str(lines))
    before = everybody(olvido)
    olvido("forget", "--all", "--yes", "--scope", ANA)
    assert everybody(olvido)[ANA] != before[ANA]
    assert olvido("import", str(lines))[0] == 0
    assert everybody(olvido) == before


def test_scopes_of_another_storage_are_refused_unless_they_are_wanted(olvido: Olvido, tmp_path: Path) -> None:
    lines = tmp_path / "facts.jsonl"
    olvido("export", "--all-scopes", str(lines))
    olvido.configured(f"storage: {{path: {tmp_path / 'elsewhere'}}}\n")
    status, told, complaint = olvido("import", str(lines))
    assert (status, told) == (2, "")
    assert "another tenants' secret" in complaint
    assert olvido("import", "--force", str(lines))[:2] == (0, "Imported: 3 facts new, 0 changed, of 3 in 2 scopes.\n")


@pytest.mark.parametrize("options", [["--scope", ANA], ["--key", "sk-of-a-client"]])
def test_everybody_is_nobody_in_particular(options: list[str], olvido: Olvido, tmp_path: Path) -> None:
    lines = tmp_path / "facts.jsonl"
    assert olvido("export", "--all-scopes", *options)[0] == 2
    olvido("export", "--all-scopes", str(lines))
    status, _, complaint = olvido("import", str(lines), *options)
    assert status == 2
    assert "the file says whose each fact is" in complaint


def test_standard_input_is_imported(olvido: Olvido, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = olvido("export", "--all-scopes")[1].encode()
    olvido("forget", "--all", "--yes", "--scope", BETO)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines), encoding="ascii"))
    assert olvido("import", "-")[0] == 0
    assert [each.id for each in olvido.facts(BETO)] == [fact(3).id]


def lines_of(*values: Any) -> bytes:
    return b"\n".join(each if isinstance(each, bytes) else json.dumps(each).encode() for each in values)


def test_what_is_written_is_read() -> None:
    given = Everybody({ANA: (fact(1), fact(2)), SHARED: (fact(3),)}, "fingerprint")
    assert loaded(dumped(given)) == given
    assert loaded(b"\xef\xbb\xbf" + dumped(given).replace(b"\n", b"\n\n")) == given
    assert loaded(dumped(Everybody({}, "f"))) == Everybody({}, "f")


def test_lines_without_a_scope_are_not_everybodys() -> None:
    assert loaded(b'{"id": "f-1"}\n') is None
    assert loaded(b"") is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"scope": "ana", "id": "f-1"}, "line 2: a scope is"),
        ({"scope": 3}, "line 2: a scope is"),
        ({"scope": ANA, "id": "f-1"}, "line 2: "),
        ({"id": "f-1"}, "line 2: it does not say whose"),
        (b"{", "line 2: it does not say whose"),
        (b"\xff", "line 2: it does not say whose"),
    ],
)
def test_a_line_that_is_wrong_is_told_by_its_number(line: Any, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        loaded(lines_of({"storage": "f", "scopes": 1}, line))


def test_a_wrong_line_imports_nothing(olvido: Olvido, tmp_path: Path) -> None:
    lines = tmp_path / "facts.jsonl"
    lines.write_text(olvido("export", "--all-scopes")[1].replace("f-0", "f-1") + "{\n")
    before = everybody(olvido)
    status, told, complaint = olvido("import", str(lines))
    assert (status, told) == (1, "")
    assert "line 5" in complaint
    assert everybody(olvido) == before
