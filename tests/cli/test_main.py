"""The command: what it prints, and the status it exits with."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.server import listen
from tests.builders import config

VALID = "upstreams: [{name: up, base_url: 'https://up.example/v1'}]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "olvido.yaml"
    path.write_text(VALID)
    return path


def test_a_valid_configuration_is_called_so(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: valid\n"


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


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("olvido 0.")


@pytest.mark.parametrize("arguments", [[], ["fly"], ["serve", "--port", "many"], ["demo", "--fly"], ["replay"]])
def test_what_is_no_command_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: olvido" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--workers", "300"],
        ["serve", "--port", "-1"],
        ["serve", "--host", "0.0.0.0"],
        ["serve", "--config", "/nothing.yaml"],
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_runs(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize("workers", ["0", "-1", "two"])
def test_there_is_at_least_one_worker(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--workers", workers])
    assert "--workers" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_that_is_taken_is_told_in_one_line(workers: str, tmp_path: Path) -> None:
    with contextlib.closing(listen(config(server={"port": 0}))) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "olvido.yaml").write_text(f"storage: {{path: {tmp_path / 'storage'}}}\n")
        command = [sys.executable, "-m", "proxy", "serve", "--config", str(tmp_path / "olvido.yaml")]
        command += ["--port", str(port), "--workers", workers]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    said = json.loads(line)
    assert (said["level"], said["message"], said["port"]) == ("error", "cannot listen", port)
    assert not (tmp_path / "storage").exists()


def test_so_it_is_by_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    from proxy.demo import show

    with contextlib.closing(listen(config(server={"port": 0}))) as taken:
        assert show.run(taken.getsockname()[1], stay=False) == 1
    assert "--port 0" in capsys.readouterr().err
