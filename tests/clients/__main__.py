"""`python -m tests.clients [--folder FOLDER] [NAME …]`: tries what deploy/docs/clients.md says. Each of its programs,
and each application for a terminal, runs through a proxy in front of an upstream that writes down what arrives.

Its packages are installed into FOLDER (build/clients), from PyPI and npm, unless they are there: some 2 GB, minutes.
NAME: sections to be tried alone.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.clients import applications
from tests.clients.applications import APPLICATIONS
from tests.clients.trying import CHAT, Place, Tried, is_program, rows_of, run, trial
from tests.docs.documents import ROOT, read

HERE = Path(__file__).parent
DOCUMENT = ROOT / "deploy" / "docs" / "clients.md"
AIDER = "aider-chat==0.86.2"  # in an environment of its own: it wants other versions of nearly everything
HEADERS = ("session-id", "x-session-id", "x-session-affinity", "x-claude-code-session-id", "x-openwebui-chat-id")


def main(arguments: Sequence[str]) -> int:
    """Tries them, prints a line for each, and returns how many failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "clients")
    parser.add_argument("names", nargs="*", metavar="NAME", help="sections of the document")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    install(folder)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="olvido-clients-") as place, trial(Path(place)) as proxy:
        for name, tried in all_of(folder, proxy, options.names):
            failed += tried.status != 0
            print(told(name, tried, proxy), flush=True)
    return failed


def install(folder: Path) -> None:
    """Installs what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, wanted in (("venv", ["-r", str(HERE / "requirements.txt")]), ("aider", [AIDER])):
        if not (folder / name).exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
            subprocess.run([str(folder / name / "bin" / "pip"), "install", "--quiet", *wanted], check=True)
    if not (folder / "npm" / "node_modules").exists():
        (folder / "npm").mkdir(exist_ok=True)
        (folder / "npm" / "package.json").write_bytes((HERE / "package.json").read_bytes())
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=folder / "npm", check=True)


def all_of(folder: Path, place: Place, names: Sequence[str]) -> Iterator[tuple[str, Tried]]:
    """Each program and application of the document, tried; those of these sections alone, if any is named."""
    blocks = list(read(DOCUMENT).blocks())
    python = folder / "venv" / "bin" / "python"
    for block in blocks:
        if is_program(block) and (not names or block.section in names):
            yield f"{block.section} ({block.language})", run(block, place, python=python, modules=folder / "npm")
    programs = (folder / "npm" / "node_modules" / ".bin", folder / "aider" / "bin")
    for each in APPLICATIONS:
        if not names or each.section in names:
            yield each.section, applications.run(each, blocks, place, programs)


def told(name: str, tried: Tried, place: Place) -> str:
    """A line: what was asked, whether it was managed, how it was recognised."""
    rows = rows_of(place, tried)
    known = sorted({_told(row) for row in rows})
    headers = sorted({header for each in tried.asked for header in HEADERS if header in each.headers})
    parts = [
        f"{name}:",
        "failed:" if tried.status else "answered,",
        *known,
        f"as {', '.join(sorted(set(tried.paths)))}",
    ]
    parts += [f"sends {', '.join(headers)}"] if headers else []
    return " ".join(parts) + (f"\n{tried.said}" if tried.status else "")


def _told(row: Mapping[str, Any]) -> str:
    if row["route"] != CHAT:
        return f"unmanaged {row['route']} {row['plan_reason']}".strip()
    return f"managed (session {row['session']}, user {row['scope'].rpartition('/')[2] or '-'})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
