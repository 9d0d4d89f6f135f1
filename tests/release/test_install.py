"""The wheel as people install it: into an empty environment, by pipx, by uvx; then used from a folder of its own.

pip, pipx and uv fetch as they are configured on this machine. No host is named here."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.release import artifacts
from tests.release.artifacts import ROOT, Distributions
from tests.release.versions import current

pytestmark = pytest.mark.long

_PAGE = re.compile(r"what happens is shown at (http://\S+?)/ui")


def elsewhere(home: Path, **more: str) -> Mapping[str, str]:
    """The environment of somebody who has never seen the repository."""
    ours = ("PYTHONPATH", "XDG_CACHE_HOME", "VIRTUAL_ENV", "SSL_CERT_FILE")
    kept = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith("OLVIDO")}
    return {**kept, "HOME": str(home), "NO_COLOR": "1", **more}


def run(command: list[str | Path], home: Path, **more: str) -> str:
    done = subprocess.run(
        command, cwd=home, env=elsewhere(home, **more), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def serving(program: Path, home: Path) -> Iterator[str]:
    """`olvido serve` on any port; gives its address once it says it."""
    process = subprocess.Popen(
        [program, "serve", "--port", "0"], cwd=home, env=elsewhere(home), stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if found := _PAGE.search(line):
                yield found[1]
                break
        else:
            pytest.fail(f"it does not serve: {said}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)


def assert_is_whole(program: Path, home: Path) -> None:
    """It says its version, plays the demonstration, serves, and shows page and documents."""
    assert run([program, "--version"], home).split() == ["olvido", current(ROOT)]
    played = run([program, "demo", "--short", "--exit", "--port", "0"], home)
    assert "answered from memory" in played
    assert "the next prompt had it" in played
    with (
        serving(program, home) as url,
        httpx.Client(base_url=url, trust_env=False, follow_redirects=True, timeout=60) as client,
    ):
        assert client.get("/readyz").status_code == 200
        page = client.get("/ui")
        assert "<html" in page.text
        scripts = re.findall(r'(?:src|href)="([^"]+\.(?:js|css|svg))"', page.text)
        assert scripts
        assert [name for name in scripts if client.get(str(page.url.join(name))).status_code != 200] == []
        documents = client.get("/ui/docs")
        assert documents.status_code == 200
        linked = set(re.findall(r'href="([^"#:]+)"', documents.text))
        assert linked
        assert [name for name in linked if client.get(str(documents.url.join(name))).status_code != 200] == []
        assert client.get("/olvido/openapi.yaml").status_code == 200


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def test_from_the_wheel_in_an_empty_environment_it_is_whole(built: Distributions, tmp_path: Path, home: Path) -> None:
    programs = artifacts.installed(built.wheel, tmp_path / "environment", ROOT)
    run([programs / "python", "-m", "pip", "--disable-pip-version-check", "check"], home)
    assert_is_whole(programs / "olvido", home)


def test_from_the_sdist_it_installs(built: Distributions, tmp_path: Path, home: Path) -> None:
    programs = artifacts.installed(built.sdist, tmp_path / "environment", ROOT)
    assert run([programs / "olvido", "--version"], home).split() == ["olvido", current(ROOT)]


def test_pipx_installs_it_and_its_command_plays(built: Distributions, tmp_path: Path, home: Path) -> None:
    folders = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    run([sys.executable, "-m", "pipx", "install", "--quiet", "--python", sys.executable, built.wheel], home, **folders)
    assert "answered from memory" in run(
        [tmp_path / "bin" / "olvido", "demo", "--short", "--exit", "--port", "0"], home
    )


def test_uvx_plays_it_with_the_newest_of_everything(built: Distributions, tmp_path: Path, home: Path) -> None:
    uv = [sys.executable, "-m", "uv", "tool", "run", "--python", sys.executable, "--from", str(built.wheel)]
    cache = {"UV_CACHE_DIR": str(tmp_path / "uv"), "UV_NO_PROGRESS": "1"}
    assert run([*uv, "olvido", "--version"], home, **cache).split() == ["olvido", current(ROOT)]
    played = run([*uv, "olvido", "demo", "--short", "--exit", "--port", "0"], home, **cache)
    assert "answered from memory" in played
