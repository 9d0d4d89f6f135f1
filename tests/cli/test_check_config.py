"""`olvido check-config`: what it prints, and the status it exits with."""

import json
from pathlib import Path

import pytest

from proxy.cli import main

VALID = "upstreams: [{name: up, base_url: 'https://up.example/v1'}]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "olvido.yaml"
    path.write_text(VALID)
    return path


def test_a_valid_configuration_is_called_so(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: valid\n"


def test_what_should_be_known_of_a_right_one_is_told_with_its_line(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB", "postgresql://db/olvido")
    file.write_text("storage: {kind: postgres, url: '${DB}'}\nlimits: {keys: {requests_per_minute: 5}}\n")
    assert main(["check-config", str(file)]) == 0
    first, note = capsys.readouterr().out.splitlines()
    assert first == f"{file}: valid"
    assert note.startswith("  note: line 2, limits.keys.requests_per_minute: is counted by each machine for itself")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (VALID + "severs: {port: 1}\n", ["severs", "server"]),
        (VALID + "server: {port: many}\n", ["server.port"]),
        (VALID + "server: {prot: 1}\n", ["server.prot", "port"]),
        ("upstreams: [\n", ["olvido.yaml"]),
        ("upstreams: [{name: up, base_url: 'https://x/v1', api_key: '${NOT_SET_ANYWHERE}'}]\n", ["NOT_SET_ANYWHERE"]),
    ],
)
def test_a_wrong_one_is_refused_with_its_place_and_the_nearest_name(
    text: str, told: list[str], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text)
    assert main(["check-config", str(file)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    for each in told:
        assert each in said.err


def test_prompts_that_cannot_be_read_are_told_before_anything_is_served(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UP_KEY", "secret")
    upstream = "{name: up, base_url: 'https://up.example/v1', api_key: '${UP_KEY}', price: {input: 1, output: 1}}"
    model = f"{{upstream: up, model: small, prompts: {tmp_path}}}"
    file.write_text(f"upstreams: [{upstream}]\nmemory: {{model: {model}}}\n")
    (tmp_path / "extract.es.md").write_bytes(b"")
    for arguments in (["check-config", str(file)], ["serve", "--config", str(file)]):
        assert main(arguments) == 2
        assert "memory.model.prompts" in (said := capsys.readouterr().err)
        assert "extract.es.md" in said
    (tmp_path / "extract.es.md").write_text("Anotá lo importante.")
    assert main(["check-config", str(file)]) == 0


def test_rules_that_cannot_be_read_are_told_before_anything_is_served(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(f"memory: {{tools: {{identity: {tmp_path}}}}}\n")
    (tmp_path / "identity.en.md").write_bytes(b"")
    for arguments in (["check-config", str(file)], ["serve", "--config", str(file)]):
        assert main(arguments) == 2
        assert "memory.tools.identity" in (said := capsys.readouterr().err)
        assert "identity.en.md" in said
    (tmp_path / "identity.en.md").write_text("Keep order.")
    assert main(["check-config", str(file)]) == 0


def test_one_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config", str(tmp_path / "nothing.yaml")]) == 2
    assert "nothing.yaml" in capsys.readouterr().err


def test_without_a_file_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config"]) == 2
    assert "FILE" in capsys.readouterr().err


def test_the_schema_is_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config", "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {"server", "upstreams", "reuse", "storage"} <= schema["properties"].keys()


NEEDY = "upstreams: [{name: up, base_url: 'https://x/v1', api_key: '${NOT_SET_ANYWHERE}'}]\n"


def test_it_can_do_without_the_environment(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(NEEDY)
    assert main(["check-config", str(file)]) == 2
    assert "NOT_SET_ANYWHERE" in capsys.readouterr().err
    assert main(["check-config", "--no-env", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: valid, without the environment\n"
    file.write_text(NEEDY + "context: {mode: perhaps}\n")
    assert main(["check-config", "--no-env", str(file)]) == 2
    assert "1 problem\n" in (said := capsys.readouterr().err)
    assert "context.mode" in said


def test_mistakes_of_every_kind_are_told_at_once(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "identity.en.md").write_bytes(b"")
    (tmp_path / "identity.es.md").write_bytes(b"\xff")
    file.write_text(
        NEEDY + f"severs: 1\nstorage: {{kind: postgres}}\nserver: {{port: many}}\n"
        f"memory: {{tools: {{identity: {tmp_path}}}}}\n"
    )
    assert main(["check-config", str(file)]) == 2
    said = capsys.readouterr().err
    assert "5 problems" in said
    for part in ("NOT_SET_ANYWHERE", "severs", "storage.url", "server.port", "identity.en.md", "identity.es.md"):
        assert part in said
