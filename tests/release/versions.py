"""The version: where it is stated, what may follow it, and the step that a release is in the changelog.

pyproject.toml is its one place; whoever asks a running proxy is told what is installed. A few files of deploy/ name the
image by it, and follow. Versions are MAJOR.MINOR.PATCH (SemVer): CONTRIBUTING.md says what counts as a change of which.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

PROJECT = "pyproject.toml"
# File → patterns that have the version as their group, each at least once.
PLACES: Mapping[str, tuple[str, ...]] = {
    PROJECT: (r'^version = "([^"]+)"$',),
    "deploy/compose.yaml": (r"^ *image: olvido:(\S+)",),
    "deploy/openwebui/compose.yaml": (r"^ *image: olvido:(\S+)",),
    "deploy/cluster/compose.yaml": (r"^ *image: olvido:(\S+)",),
    "deploy/helm/olvido/Chart.yaml": (r"^version: (\S+)", r'^appVersion: "([^"]+)"'),
    "deploy/helm/olvido/README.md": (r"registry\.example\.com/olvido:(\S+)",),
}
UNRELEASED = "## Unreleased"

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_SECTION = re.compile(r"^## ", re.MULTILINE)


class Refused(Exception):
    """A release that must not be; the message says why."""


def numbers(version: str) -> tuple[int, int, int]:
    """The three numbers of a version. Raises Refused if it has others."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise Refused(f"{version!r} is no version: MAJOR.MINOR.PATCH, such as 1.4.0")
    return int(found[1]), int(found[2]), int(found[3])


def stated(root: Path) -> Mapping[str, set[str]]:
    """The versions that each file states. Raises Refused if one of them states none where it should."""
    found: dict[str, set[str]] = {}
    for name, patterns in PLACES.items():
        text = (root / name).read_text(encoding="utf-8")
        for pattern in patterns:
            versions = re.findall(pattern, text, re.MULTILINE)
            if not versions:
                raise Refused(f"{name} does not state the version: {pattern}")
            found.setdefault(name, set()).update(versions)
    return found


def current(root: Path) -> str:
    """The version that all places state. Raises Refused if they differ."""
    found = stated(root)
    (version,) = found[PROJECT]
    if others := sorted(name for name, versions in found.items() if versions != {version}):
        raise Refused(f"{PROJECT} states {version}, but not {', '.join(others)}")
    return version


def state(root: Path, version: str) -> None:
    """Writes the version into every place."""
    for name, patterns in PLACES.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        for pattern in patterns:
            text = re.sub(pattern, lambda found: found[0].replace(found[1], version), text, flags=re.MULTILINE)
        path.write_text(text, encoding="utf-8")


def check_next(version: str, now: str, released: Iterable[str]) -> None:
    """Raises Refused unless `version` may follow: it is not below the one that is stated, and above all that were
    released."""
    if numbers(version) < numbers(now):
        raise Refused(f"{version} is below {now}, which {PROJECT} states")
    known = [each.removeprefix("v") for each in released]
    if higher := [each for each in known if _VERSION.fullmatch(each) and numbers(each) >= numbers(version)]:
        raise Refused(f"{version} is not above {max(higher, key=numbers)}, which is released")


def stepped(changelog: str, version: str, day: str) -> str:
    """The changelog with what was unreleased under the version and its day, and nothing unreleased. Raises Refused if
    there was nothing."""
    if not notes(changelog, UNRELEASED):
        raise Refused(f"CHANGELOG.md has nothing under {UNRELEASED!r}")
    return changelog.replace(f"{UNRELEASED}\n", f"{UNRELEASED}\n\n## {version} ({day})\n", 1)


def notes(changelog: str, heading: str) -> str:
    """What stands under a heading, which begins with these words; "" if there is none."""
    _, found, rest = changelog.partition(f"\n{heading}")
    if not found:
        return ""
    text = rest.partition("\n")[2]
    end = _SECTION.search(text)
    return text[: end.start() if end else len(text)].strip()
