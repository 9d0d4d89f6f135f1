"""What holds for all tests."""

import gc
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import certifi
import httpx._config
import pytest
from hypothesis import settings

from proxy.embedding import export, exported
from tests.examples import QUICK

# How long an example takes says how busy the machine is, and nothing else. `make test` tries fewer of them.
settings.register_profile("olvido", deadline=None)
settings.register_profile("quick", settings.get_profile("olvido"), max_examples=QUICK)
settings.load_profile("olvido")

# Many images forbid Python to keep bytecode. Here every worker and every server that a test starts would make it again,
# and half of what it takes to collect the tests is that.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The exported embedding model takes ten seconds to make, so one serves every test, worker and run of the same code;
# proxies under test find it as they would find a user's. Workers have it from the process that started them.
_IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
_CODE = hashlib.sha256(b"".join(Path(str(module.__file__)).read_bytes() for module in (export, exported)))
_CACHE = (
    Path(os.environ["XDG_CACHE_HOME"])
    if _IS_WORKER
    else Path(tempfile.gettempdir()) / f"olvido-tests-{os.getuid()}-{_CODE.hexdigest()[:12]}"
)
os.environ["XDG_CACHE_HOME"] = str(_CACHE)

# What tests keep on a disk is gone with them, and most of what a database's test takes is to wait for the disk: it is
# kept in memory where there is room (a whole run needs 2 GB). PostgreSQL's databases of all tests go there too.
_IN_MEMORY = Path("/dev/shm")
_ROOM = 6 * 2**30  # bytes


def _has_room(folder: Path) -> bool:
    try:
        found, memory = os.statvfs(folder), Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return False
    unfit = os.ST_NOEXEC | os.ST_NODEV | os.ST_RDONLY  # programs are run there, and an image is made
    available = int(memory.partition("MemAvailable:")[2].split()[0]) * 1024
    return not found.f_flag & unfit and min(found.f_bavail * found.f_frsize, available) > _ROOM


if not _IS_WORKER and "TMPDIR" not in os.environ and _has_room(_IN_MEMORY):
    os.environ["TMPDIR"] = str(_IN_MEMORY)
    tempfile.tempdir = None  # it is looked for again

# Every client loads the certificates of all authorities, which takes it 25 ms, and nothing here speaks TLS: one of them
# is enough. A client that trusts no environment asks certifi.
_AUTHORITY = _CACHE / "authority.pem"
if not _AUTHORITY.exists():
    _CACHE.mkdir(parents=True, exist_ok=True)
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    half = _AUTHORITY.with_suffix(f".{os.getpid()}")
    half.write_text(first + end, encoding="utf-8")
    half.replace(_AUTHORITY)
os.environ["SSL_CERT_FILE"] = str(_AUTHORITY)
certifi.where = lambda: str(_AUTHORITY)


# A client that says nothing gives up after five seconds, which many a process may be starved for. What is to be given
# up says so itself.
for _waited_for in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, _waited_for, 100.0)  # noqa: SLF001 (all clients share this one)


def _export(model: str) -> Path:
    folder = _CACHE / "olvido" / "embedding"
    chosen = exported.source_of(model)
    command = (sys.executable, "-m", "proxy.embedding.export", chosen.model, str(folder / chosen.folder))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def embedding_folder() -> Path:
    """A folder that holds the export of the built-in embedding model. Only to be read."""
    return _export(exported.BUILTIN)


@pytest.fixture(scope="session")
def multilingual_folder() -> Path:
    """The same, of the model of the extra `multilingual`."""
    if importlib.util.find_spec(exported.E5.name) is None:
        pytest.skip("the extra olvido[multilingual] is not installed")
    return _export(exported.MULTILINGUAL)


# Ten thousand tests are a heap that only grows until they are collected, and stays: nothing in it is garbage.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("markexpr") == "not long":
        settings.load_profile("quick")


# What takes longest, the longest first: begun at the end it would leave the other processes with nothing to do.
LONGEST = (
    "deploy/test_image.py",
    "release/",
    "files/test_interleavings.py",
    "files/test_desk_interleavings.py",
    "files/test_desk_syncing.py",
    "e2e/test_prompts.py",
    "demo/",
    "docs/test_demonstration.py",
    "golden/",
    "grafana/test_burst.py",
    "bench/test_command.py",
    "e2e/test_workers.py",
    "page/",
    "e2e/",
)


@lru_cache(2_048)  # of a file: twenty thousand tests are in some hundred of them
def _place(path: Path) -> int:
    below = path.relative_to(Path(__file__).parent).as_posix()
    return next((place for place, begun in enumerate(LONGEST) if below.startswith(begun)), len(LONGEST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _place(item.path))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
