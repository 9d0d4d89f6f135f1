"""What holds for all tests."""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from proxy.embed import export, exported, source

# How long an example takes says how busy the machine is, and nothing else.
settings.register_profile("olvido", deadline=None)
settings.load_profile("olvido")

# The exported embedding model takes ten seconds to make, so one serves every test, worker and run of the same code;
# proxies under test find it as they would find a user's.
_CODE = hashlib.sha256(b"".join(Path(str(module.__file__)).read_bytes() for module in (export, exported, source)))
_CACHE = Path(tempfile.gettempdir()) / f"olvido-tests-{os.getuid()}-{_CODE.hexdigest()[:12]}"
os.environ["XDG_CACHE_HOME"] = str(_CACHE)


@pytest.fixture(scope="session")
def embedding_folder() -> Path:
    """A folder that holds the export of the built-in embedding model. Only to be read."""
    folder = _CACHE / "olvido" / "embedding"
    builtin = source.source_of(source.BUILTIN)
    command = (sys.executable, "-m", "proxy.embed.export", builtin.model, str(folder / builtin.folder))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder
