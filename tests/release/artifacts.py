"""The files of a release: wheel and sdist, the list of all that is installed with them (SBOM, CycloneDX), checksums.

All of it is made from a folder that holds what git knows and nothing else. What pip fetches it fetches as it is
configured on this machine.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.release.versions import Refused

ROOT = Path(__file__).parents[2]
MOST_BYTES = 5_000_000  # of the wheel, and of the sdist
EXTRAS = "cluster"  # what the image has as well


@dataclass(frozen=True, slots=True)
class Distributions:
    """What `python -m build` makes."""

    wheel: Path
    sdist: Path


def exported(into: Path, root: Path = ROOT) -> Path:
    """Copies the files that git knows, or would if they were added, into an empty folder."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], root).split("\0")
    for name in filter(None, listed):
        source, target = root / name, into / name
        if source.is_symlink() or source.is_file():  # one that was deleted is still known
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return into


def build(source: Path, into: Path) -> Distributions:
    """Builds the sdist, and the wheel out of it. Raises Refused if one is too large."""
    run([sys.executable, "-m", "build", "--outdir", str(into), str(source)], source)
    (wheel,), (sdist,) = into.glob("*.whl"), into.glob("*.tar.gz")
    check_size(wheel)
    check_size(sdist)
    return Distributions(wheel, sdist)


def check_size(path: Path) -> None:
    """Raises Refused if a distribution is too large."""
    if (size := path.stat().st_size) > MOST_BYTES:
        raise Refused(f"{path.name} has {size:,} bytes; at most {MOST_BYTES:,}")


def installed(distribution: Path, into: Path, source: Path, extras: str = "") -> Path:
    """Installs a wheel or an sdist into an empty environment, with the versions of constraints.txt; returns its folder
    of programs."""
    venv.create(into, with_pip=True, symlinks=True)
    wanted = f"olvido{f'[{extras}]' * bool(extras)} @ {distribution.as_uri()}"
    pip = [str(into / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    run([*pip, "--constraint", str(source / "constraints.txt"), wanted], into)
    return into / "bin"


def list_of_parts(environment: Path, source: Path, into: Path) -> Path:
    """Writes the SBOM of an environment, without the pip that is in it."""
    python = str(environment / "bin" / "python")
    run(
        [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "uninstall", "--yes", "setuptools", "pip"],
        into.parent,
    )
    tool = [sys.executable, "-m", "cyclonedx_py", "environment", python]
    how = ["--pyproject", str(source / "pyproject.toml"), "--mc-type", "application", "--output-reproducible"]
    run([*tool, *how, "--output-format", "JSON", "--output-file", str(into)], into.parent)
    return into


def checksums(files: Iterable[Path], into: Path) -> Path:
    """Writes the sha256 of files, in the form that `sha256sum --check` reads."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(files)]
    into.write_text("".join(lines), encoding="utf-8")
    return into


def run(command: Sequence[str], folder: Path) -> str:
    """Runs a command where nothing of a checkout is seen, and returns what it prints. Raises Refused if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"{' '.join(command[:6])} …: {done.returncode}\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    return done.stdout
