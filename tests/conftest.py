"""What holds for all tests."""

import gc
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import certifi
import pytest
from hypothesis import settings

from proxy.embedding import export, exported

# How long an example takes says how busy the machine is, and nothing else. `make test` tries fewer of them.
settings.register_profile("olvido", deadline=None)
settings.register_profile("quick", settings.get_profile("olvido"), max_examples=25)
settings.load_profile("olvido")

# Many images forbid Python to keep bytecode. Here every worker and every server that a test starts would make it again,
# and half of what it takes to collect the tests is that.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The exported embedding model takes ten seconds to make, so one serves every test, worker and run of the same code;
# proxies under test find it as they would find a user's.
_CODE = hashlib.sha256(b"".join(Path(str(module.__file__)).read_bytes() for module in (export, exported)))
_CACHE = Path(tempfile.gettempdir()) / f"olvido-tests-{os.getuid()}-{_CODE.hexdigest()[:12]}"
os.environ["XDG_CACHE_HOME"] = str(_CACHE)

# Every client loads the certificates of all authorities, which takes it 25 ms, and nothing here speaks TLS: one of them
# is enough.
_AUTHORITY = _CACHE / "authority.pem"
if not _AUTHORITY.exists():
    _CACHE.mkdir(parents=True, exist_ok=True)
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    half = _AUTHORITY.with_suffix(f".{os.getpid()}")
    half.write_text(first + end, encoding="utf-8")
    half.replace(_AUTHORITY)
os.environ["SSL_CERT_FILE"] = str(_AUTHORITY)


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


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
