"""`python -m tests.deploy.image`: runs the Dockerfile's steps without a container engine, and says how large it gets.

Each stage is a folder with Debian's smallest system and its Python in it (`debootstrap`), which stands for the image
that the Dockerfile begins with. COPY copies; RUN runs in there, with no network at all: the packages that pip asks for
are those that pip on this machine was told to fetch before, with the versions of constraints.txt. `serve` then starts
what the image starts, as its user, on a root that cannot be written, and asks it what one asks a container.

It takes root, `debootstrap` and a mirror of Debian: `why_not` says what is missing.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.dockerfile import Stage, command, stages

ROOT = Path(__file__).parents[2]
LIMIT_MB = 400
PYTHON = "3.11"
SUITE = "bookworm"
NOT_IN_SLIM = ("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian",
               "var/cache/apt", "var/lib/apt/lists")  # fmt: skip
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
WHEELS = "/wheels"

# In namespaces of its own: the root, what a container engine mounts over it, and no network but itself.
_ENTER = """
mount --make-rprivate /
mount --bind "$ROOT_FOLDER" "$ROOT_FOLDER"
for each in $MOUNTED; do mkdir -p "$ROOT_FOLDER${each##*:}"; mount --bind "${each%%:*}" "$ROOT_FOLDER${each##*:}"; done
test -z "$READ_ONLY" || mount -o remount,ro,bind "$ROOT_FOLDER"
mount -t proc proc "$ROOT_FOLDER/proc"
mount --rbind /sys "$ROOT_FOLDER/sys"
mount -t tmpfs -o mode=755 dev "$ROOT_FOLDER/dev"
for each in null zero full random urandom; do
    touch "$ROOT_FOLDER/dev/$each"
    mount --bind "/dev/$each" "$ROOT_FOLDER/dev/$each"
done
ln -s /proc/self/fd "$ROOT_FOLDER/dev/fd"
mkdir -m 1777 "$ROOT_FOLDER/dev/shm"
mount -t tmpfs -o mode=1777,size=64m tmp "$ROOT_FOLDER/tmp"
"$PYTHON" -c "$LOOPBACK"
exec chroot --userspec="$WHO" "$ROOT_FOLDER" /usr/bin/env -i "$@"
"""

# 0x8914 is SIOCSIFFLAGS, 1 is IFF_UP.
_LOOPBACK = "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 1))"


@dataclass(frozen=True, slots=True)
class Built:
    """What came out of the last stage."""

    root: Path
    base_bytes: int  # of what stands for the image that it begins with
    bytes: int

    @property
    def megabytes(self) -> float:
        """The size of all files."""
        return self.bytes / 1e6


def why_not() -> str:
    """Returns the reason why it cannot be done here, or an empty text."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux"
    if missing := [name for name in ("debootstrap", "unshare", "chroot") if shutil.which(name) is None]:
        return f"needs {', '.join(missing)}"
    tried = subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "may not make namespaces"


def debian(folder: Path) -> Path:
    """Makes the smallest Debian that has Python and pip, as slim as the image's: no documents, no languages."""
    packages = "--include=ca-certificates,python3,python3-pip"
    _run(["debootstrap", "--variant=minbase", packages, SUITE, str(folder)])
    for name in NOT_IN_SLIM:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    (folder / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    return folder


def fetched(folder: Path) -> Path:
    """Fetches, as pip here is configured, what the image installs: wheels only, as nothing is compiled there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["cluster"],
        "async-timeout",  # redis wants it below Python 3.11.3, which Debian's is and the image's is not
    ]
    pinned = ["--constraint", str(ROOT / "constraints.txt"), "--only-binary=:all:", f"--python-version={PYTHON}"]
    _run([sys.executable, "-m", "pip", "download", "--quiet", *pinned, "--dest", str(folder), *wanted])
    return folder


def build(folder: Path, base: Path, wheels: Path) -> Built:
    """Runs all stages, each in a copy of `base`; returns the last."""
    roots: dict[str, Path] = {}
    root = base
    for number, stage in enumerate(stages()):
        root = folder / f"stage-{number}"
        _run(["cp", "--archive", str(base), str(root)])
        _carry_out(stage, root, roots, wheels)
        roots[stage.name] = root
    return Built(root, size(base), size(root))


def _carry_out(stage: Stage, root: Path, roots: Mapping[str, Path], wheels: Path) -> None:
    shell, folder = ["/bin/sh", "-c"], "/"
    # Only what pip would fetch is handed in; a cache that a RUN mounts is only faster.
    environment = {"PATH": PATH, "HOME": "/root", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": WHEELS}
    for name, rest in stage.instructions:
        match name:
            case "SHELL":
                shell = stage.list_of("SHELL")
            case "WORKDIR":
                folder = rest
                (root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "ENV":
                environment |= {key: value.replace("$PATH", PATH) for key, value in stage.environment().items()}
            case "COPY":
                _copy(rest.split(), root, folder, roots)
            case "RUN":
                words = [*_pairs(environment), *shell, f"cd {folder}; {command(rest)}"]
                _run(entering(root, words, mounted={wheels: WHEELS}))
            case "ARG":
                argument, _, default = rest.partition("=")
                environment[argument] = default
            case "LABEL" | "VOLUME" | "USER" | "EXPOSE" | "STOPSIGNAL" | "HEALTHCHECK" | "ENTRYPOINT" | "CMD":
                pass  # what `serve` reads, or what says something about the image
            case _:
                raise ValueError(f"nobody has said how to carry out {name}")
    with suppress(FileNotFoundError):
        (root / WHEELS.lstrip("/")).rmdir()


def _copy(words: Sequence[str], root: Path, folder: str, roots: Mapping[str, Path]) -> None:
    *sources, target = words
    origin = ROOT
    if sources[0].startswith("--from="):
        origin = roots[sources.pop(0).removeprefix("--from=")]
    into = root / (Path(folder) / target).as_posix().lstrip("/")
    for source in (origin / each.lstrip("/") for each in sources):
        if source.is_dir():
            ours = shutil.ignore_patterns("__pycache__") if origin is ROOT else None  # .dockerignore
            shutil.copytree(source, into, symlinks=True, ignore=ours)
        else:
            aim = into / source.name if target.endswith("/") else into
            aim.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, aim)


def entering(
    root: Path, words: Iterable[str], *, mounted: Mapping[Path, str], who: str = "0:0", read_only: bool = False
) -> list[str]:
    """The command that runs `words` (pairs of the environment first) inside of a root: `mounted` has folders of this
    machine and where they are seen. Nothing of the environment here is seen there."""
    given = {
        "ROOT_FOLDER": str(root),
        "MOUNTED": " ".join(f"{source}:{target}" for source, target in mounted.items()),
        "READ_ONLY": "1" if read_only else "",
        "WHO": who,
        "PYTHON": sys.executable,
        "LOOPBACK": _LOOPBACK,
        "PATH": PATH,
    }
    spaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    return ["env", "-i", *_pairs(given), *spaces, "/bin/sh", "-euc", _ENTER, "sh", *words]


def serve(built: Built, asked: str, volume: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Starts what the image starts, waits until its health check is content, runs the shell script `asked` beside it,
    then ends it with the image's signal; returns what was said and how it ended."""
    stage = stages()[-1]
    check = shlex.join(json.loads(stage.of("HEALTHCHECK")[-1].partition("CMD ")[2]))
    start = shlex.join([*stage.list_of("ENTRYPOINT"), *stage.list_of("CMD")])
    signal = stage.of("STOPSIGNAL")[-1].removeprefix("SIG")
    script = f"""
        {start} & served=$!
        timeout 60 bash -c {shlex.quote(f"until {check} 2>/dev/null; do :; done")} || exit 90
        {asked} || exit 91
        kill -{signal} $served; wait $served
    """
    return _contained(built, ["/bin/bash", "-c", script], volume, environment)


def run(built: Built, arguments: Sequence[str], volume: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command of the image, as one does with `docker run`, and returns what was said and how it ended."""
    return _contained(built, [*stages()[-1].list_of("ENTRYPOINT"), *arguments], volume, {})


def _contained(
    built: Built, words: Sequence[str], volume: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """All that can be written is `volume`, which is mounted where the image has its own, and /tmp."""
    stage = stages()[-1]
    who = stage.of("USER")[-1]
    os.chown(volume, *map(int, who.split(":")))
    own = {name: value.replace("$PATH", PATH) for name, value in stage.environment().items()}
    seen = {**own, **environment}
    mounted = {volume: stage.of("VOLUME")[-1]}
    entered = entering(built.root, [*_pairs(seen), *words], mounted=mounted, who=who, read_only=True)
    return subprocess.run(entered, capture_output=True, text=True, timeout=300, check=False)


def remove(folder: Path) -> None:
    """Removes what was built: half a gigabyte for each stage."""
    shutil.rmtree(folder)


def size(root: Path) -> int:
    """The sum of the bytes of all files, one that has two names once."""
    seen: dict[tuple[int, int], int] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            state = (Path(folder) / name).lstat()
            seen[state.st_dev, state.st_ino] = state.st_size
    return sum(seen.values())


def _pairs(values: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in values.items()]


def _run(words: Sequence[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"{shlex.join(words)[-400:]}: {done.returncode}\n{done.stdout[-3_000:]}{done.stderr[-3_000:]}"
        )


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.deploy.image", description=__doc__)
    parser.add_argument("--base", type=Path, help="a folder for Debian, made if it is not there, and kept")
    parser.add_argument("--wheels", type=Path, help="the same for what pip fetches")
    parser.add_argument("--keep", type=Path, help="where the stages are kept")
    chosen = parser.parse_args()
    if reason := why_not():
        print(f"The Dockerfile's steps cannot be run here: {reason}")
        return 1
    with tempfile.TemporaryDirectory(prefix="olvido-image-") as scratch:
        base = chosen.base or Path(scratch) / "base"
        wheels = chosen.wheels or Path(scratch) / "wheels"
        built = build(
            chosen.keep or Path(scratch),
            base if base.is_dir() else debian(base),
            wheels if wheels.is_dir() else fetched(wheels),
        )
        for name in ("opt/olvido/venv", "opt/olvido/cache"):
            print(f"{size(built.root / name) / 1e6:7.1f} MB  /{name}")
        packages = next((built.root / "opt/olvido/venv/lib").glob("python3*")) / "site-packages"
        for each in sorted(packages.iterdir(), key=size, reverse=True)[:12]:
            print(f"{size(each) / 1e6:7.1f} MB    {each.name}")
        print(f"{built.base_bytes / 1e6:7.1f} MB  Debian with Python, which stands for the image that it begins with")
        print(f"{built.megabytes:7.1f} MB  in all; at most {LIMIT_MB}")
    return 0 if built.megabytes <= LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
