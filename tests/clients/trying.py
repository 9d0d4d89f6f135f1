"""A client tried: its program runs as the document has it, through a proxy, in front of an upstream that writes down
what arrives."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.builders import config
from tests.clients import upstream
from tests.clients.upstream import Asked
from tests.docs.documents import Block
from tests.servers import eventually, run_proxy

ADDRESS = "127.0.0.1:8484"  # as documents have it
KEY = "sk-test-0123456789abcdef"
CHAT = "/v1/chat/completions"
CONVERSATIONS = (CHAT, "/v1/responses", "/v1/messages", "/v1/completions")
SECONDS = 120.0

_RUN = frozenset({"python", "js"})


@dataclass(frozen=True, slots=True)
class Place:
    """A proxy, and what has arrived behind it."""

    url: str
    asked: list[Asked]
    folder: Path  # for programs to run in, and to be at home

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_API_KEY": KEY,
            "NO_PROXY": "*",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "CI": "1",
        }

    def here(self, text: str) -> str:
        """A text of a document with the address of this proxy, and a key."""
        return text.replace(ADDRESS, self.url.removeprefix("http://")).replace("sk-...", KEY)

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """What the ledger tells, newest first."""
        told: Sequence[Mapping[str, Any]] = httpx.get(
            f"{self.url}/admin/api/requests", params={"limit": 100}, trust_env=False
        ).json()["requests"]
        return told


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of it."""

    status: int
    said: str  # the end of what it printed, of either kind if it failed
    asked: Sequence[Asked]

    @property
    def paths(self) -> Sequence[str]:
        return [each.path for each in self.asked]


@contextmanager
def trial(folder: Path) -> Iterator[Place]:
    """Serves a proxy, and an upstream behind it that takes any model."""
    with upstream.running() as (behind, asked):
        common = {"base_url": f"{behind}/v1", "retries": 0}
        entries = [
            {"name": "claude", "dialect": "anthropic", "models": ["claude-*"], **common},
            {"name": "openai", "dialect": "openai", "models": ["gpt-*"], **common},
            {"name": "kimi", "dialect": "kimi", **common},  # has chat completions alone
        ]
        settings = config(
            server={"port": 0},
            storage={"path": str(folder / "storage")},
            embedding={"enabled": False},
            upstreams=entries,
        )
        home = folder / "home"
        home.mkdir()
        with run_proxy(settings) as url:
            yield Place(url, asked, home)


def is_program(block: Block) -> bool:
    """True for a block that runs as it stands."""
    return block.language in _RUN and "part" not in block.words


def imports(block: Block) -> Sequence[str]:
    """The packages that a program wants, without its language's own."""
    if block.language == "js":
        return re.findall(r'from "((?:@[\w-]+/)?[\w-]+)', block.text)
    return re.findall(r"^(?:from|import) (\w+)", block.text, re.MULTILINE)


def run(block: Block, place: Place, *, python: Path, modules: Path) -> Tried:
    """Runs a program. `python`: the interpreter that has its packages; `modules`: the folder whose node_modules has
    them."""
    if block.language == "python":
        return execute([str(python), "-c", place.here(block.text)], place)
    # Node looks for packages from the file on.
    file = modules / f"snippet-{os.getpid()}.mjs"
    file.write_text(place.here(block.text), encoding="utf-8")
    try:
        return execute(["node", str(file)], place)
    finally:
        file.unlink()


def execute(command: Sequence[str], place: Place, environment: Mapping[str, str] | None = None) -> Tried:
    """Runs a command in the place's folder."""
    before = len(place.asked)
    try:
        ran = subprocess.run(
            command,
            cwd=place.folder,
            env={**place.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        status, said = ran.returncode, ran.stdout if ran.returncode == 0 else ran.stdout + ran.stderr
    except subprocess.TimeoutExpired:
        status, said = -1, f"not done after {SECONDS:.0f} s"
    return Tried(status, said.strip()[-400:], place.asked[before:])


def rows_of(place: Place, tried: Tried) -> Sequence[Mapping[str, Any]]:
    """The ledger's rows of these requests, newest first, once they are written. The route of one that was managed is
    that of chat completions, whichever API it came by."""
    asked = [each for each in place.asked if each.path in CONVERSATIONS]
    eventually(lambda: len(place.rows()) >= len(asked))
    return place.rows()[: sum(each.path in CONVERSATIONS for each in tried.asked)]


def managed(place: Place, tried: Tried) -> Sequence[Mapping[str, Any]]:
    """Those of them that were managed."""
    return [row for row in rows_of(place, tried) if row["route"] == CHAT]
