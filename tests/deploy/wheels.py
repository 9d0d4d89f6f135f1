"""`python -m tests.deploy.wheels`: looks for a wheel of everything, for each machine and each Python that we run on.

pip resolves what constraints.txt pins for another platform, and installs nothing. Where there is no wheel, whoever
installs the proxy would need a compiler, and the image of that platform could not be built.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
ARM64 = (*(f"manylinux_2_{minor}_aarch64" for minor in (28, 27, 26, 24, 17)), "manylinux2014_aarch64")
AMD64 = tuple(each.replace("aarch64", "x86_64") for each in ARM64)
MAC = tuple(f"macosx_{major}_0_arm64" for major in (14, 13, 12, 11))
PLATFORMS = {"linux/arm64": ARM64, "linux/amd64": AMD64, "macos/arm64": MAC}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def wanted() -> Sequence[str]:
    """What the image installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["cluster"]]


def missing(platform: str, python: str) -> str:
    """Returns what pip says is missing for a platform and a Python, or an empty text."""
    tags = [f"--platform={tag}" for tag in PLATFORMS[platform]]
    how = ["--dry-run", "--quiet", "--ignore-installed", "--only-binary=:all:", "--target=none"]
    chosen = [*tags, f"--python-version={python}", f"--constraint={ROOT / 'constraints.txt'}"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *how, *chosen, *wanted()], capture_output=True, text=True, check=False
    )
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return "" if done.returncode == 0 else said[-1] if said else done.stderr[-500:]


def answers() -> Iterator[tuple[str, str, str]]:
    """Each platform and Python with what is missing."""
    for platform, python in product(PLATFORMS, PYTHONS):
        yield platform, python, missing(platform, python)


def main() -> int:
    """Runs the command; returns its exit code."""
    failed = False
    for platform, python, lacking in answers():
        failed |= bool(lacking)
        print(f"{platform}  Python {python}  {lacking or 'every wheel is there'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
