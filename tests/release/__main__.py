"""`make release VERSION=1.4.0`, or `python -m tests.release 1.4.0 [--dry-run]`: a release, made in a clone.

    check     a clean tree; a version that may follow; a changelog that says something
    step      the version in every place that states it, the changelog's heading, a commit
    make      wheel, sdist, SBOM and checksums, out of what was committed
    tag       v1.4.0, with what the changelog says
    take      the commit and the tag from the clone, the files into dist/; not in a dry run

Whatever fails leaves nothing behind, since all but the last step happens in the clone. Nothing is published: that is
for whoever has the keys, and the last lines say how.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from tests.release import artifacts, versions
from tests.release.versions import Refused

CHANGELOG = "CHANGELOG.md"

Make: TypeAlias = Callable[[Path, str, Path], list[Path]]  # of a clone, a version, an empty folder


def git(root: Path, *words: str, said: str = "") -> str:
    """Runs git; returns what it prints. Raises Refused with what it complains of."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, input=said, check=False)
    if done.returncode:
        raise Refused(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def make(clone: Path, version: str, into: Path) -> list[Path]:
    """Makes the files of a release, as of the moment of its commit, in a folder; returns them. Raises Refused."""
    os.environ["SOURCE_DATE_EPOCH"] = git(clone, "log", "-1", "--format=%ct")
    source = artifacts.exported(clone.parent / "source", clone)
    made = artifacts.build(source, into)
    environment = clone.parent / "environment"
    programs = artifacts.installed(made.wheel, environment, source, artifacts.EXTRAS)
    told = artifacts.run([str(programs / "olvido"), "--version"], clone.parent)
    if told.split() != ["olvido", version]:
        raise Refused(f"what was installed says {told.strip()!r}")
    parts = artifacts.list_of_parts(environment, source, into / f"olvido-{version}.cdx.json")
    files = [made.wheel, made.sdist, parts]
    return [*files, artifacts.checksums(files, into / "SHA256SUMS")]


def release(root: Path, version: str, into: Path, *, is_dry: bool, make: Make = make) -> list[Path]:
    """Makes a release of the repository `root`, its files in `into`; returns these. Raises Refused."""
    if git(root, "status", "--porcelain"):
        raise Refused("the tree is not clean: commit or stash first")
    branch = git(root, "branch", "--show-current")
    if not branch:
        raise Refused("no branch is checked out")
    versions.check_next(version, versions.current(root), git(root, "tag").split())
    into.mkdir(parents=True, exist_ok=True)
    if old := sorted(path.name for path in into.iterdir()):
        raise Refused(f"{into} is not empty: {', '.join(old[:3])}")
    with tempfile.TemporaryDirectory(prefix="olvido-release-") as folder:
        clone = Path(folder) / "olvido"
        git(root, "clone", "--quiet", "--branch", branch, str(root), str(clone))
        for name in ("user.name", "user.email"):
            git(clone, "config", name, git(root, "config", name))
        _step(clone, version)
        files = make(clone, version, into)
        tag = f"v{version}"
        text = versions.notes((clone / CHANGELOG).read_text(encoding="utf-8"), f"## {version} ")
        git(clone, "tag", "--annotate", "--cleanup=verbatim", "--file=-", tag, said=f"Olvido {version}\n\n{text}\n")
        if not is_dry:
            git(root, "pull", "--quiet", "--ff-only", str(clone), branch)
            git(root, "fetch", "--quiet", str(clone), "tag", tag)
    return files


def _step(clone: Path, version: str) -> None:
    """Commits the version, and the changelog's step to it."""
    path = clone / CHANGELOG
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    path.write_text(versions.stepped(path.read_text(encoding="utf-8"), version, day), encoding="utf-8")
    versions.state(clone, version)
    if (now := versions.current(clone)) != version:
        raise Refused(f"{now} is stated after the step to {version}")
    git(clone, "commit", "--quiet", "--all", "--message", f"Release {version}")


def main(arguments: list[str] | None = None, root: Path = artifacts.ROOT) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description="Makes a release.")
    parser.add_argument("version", help="MAJOR.MINOR.PATCH")
    parser.add_argument("--dry-run", action="store_true", help="all of it, but the repository stays as it is")
    parser.add_argument("--into", type=Path, help="folder of the files (default: dist/VERSION)")
    chosen = parser.parse_args(arguments)
    into = chosen.into or root / "dist" / chosen.version
    try:
        files = release(root, chosen.version, into, is_dry=chosen.dry_run)
    except Refused as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    for path in files:
        print(f"{path.stat().st_size:>10,}  {path}")
    tag = f"v{chosen.version}"
    if chosen.dry_run:
        print(f"A dry run: {tag} is neither committed nor tagged.")
        return 0
    print(f"""{tag} is committed and tagged here. To publish it:

    git push --atomic origin HEAD {tag}
    python -m twine upload {into}/olvido-*.whl {into}/olvido-*.tar.gz
    docker buildx build --platform linux/amd64,linux/arm64 -f deploy/Dockerfile -t olvido:{chosen.version} .""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
