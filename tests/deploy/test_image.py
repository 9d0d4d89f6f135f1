"""The image, made by the Dockerfile's own steps in clean roots, and run as a container is: as nobody special, on a root
that cannot be written, with no way to anywhere."""

import json
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from signal import SIGTERM

import pytest

from tests.deploy import image
from tests.deploy.dockerfile import command, stages

pytestmark = pytest.mark.long

ADMIN = "an-admin-token-0123456789"
# Prints one JSON object: what is asked over HTTP from inside of the container, and what of its files can be written.
ASKING = """
import json, os, proxy.app
from http.client import HTTPConnection
def ask(path, body=None):
    connection = HTTPConnection("127.0.0.1", 8484, timeout=60)
    headers = {"authorization": "Bearer sk-x", "content-type": "application/json"}
    connection.request("POST" if body else "GET", path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()
while (ready := json.loads(ask("/readyz")[1]))["parts"]["embedding"] == "warming":
    pass
def writable(folder):
    try:
        open(os.path.join(folder, "tried"), "w").close()
    except OSError:
        return False
    return True
hello = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
print("TOLD " + json.dumps({
    "who": [os.getuid(), os.getgid()],
    "ready": ready,
    "page": ask("/ui")[0],
    "admin": ask("/admin/api/summary")[0],
    "upstream": ask("/v1/chat/completions", hello),
    "writable": [each for each in ("/", "/opt/olvido", "/etc/olvido", "/tmp", os.environ["HOME"]) if writable(each)],
    "compiled": os.path.exists(proxy.app.__cached__),
}))
"""


@pytest.fixture(scope="module")
def built() -> Iterator[image.Built]:
    if reason := image.why_not():
        pytest.skip(f"the Dockerfile's steps: {reason}")
    folder = Path(tempfile.mkdtemp(prefix="olvido-image-", dir="/var/tmp"))  # on a disk: it is too large for memory
    try:
        yield image.build(folder, image.debian(folder / "base"), image.fetched(folder / "wheels"))
    finally:
        image.remove(folder)


def test_it_takes_400_megabytes_at_most(built: image.Built) -> None:
    assert 100 < built.megabytes <= image.LIMIT_MB


def test_it_serves_as_nobody_special_on_a_root_that_cannot_be_written(built: image.Built, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    volume.mkdir(mode=0o700)
    served = image.serve(built, f"python -c {shlex.quote(ASKING)}", volume, OLVIDO_ADMIN_TOKEN=ADMIN)
    assert served.returncode == 128 + SIGTERM, served.stderr  # as whatever ends by this signal
    assert "Application shutdown complete" in served.stderr
    (told,) = [
        json.loads(line.removeprefix("TOLD ")) for line in served.stdout.splitlines() if line.startswith("TOLD ")
    ]
    assert told["who"] == [10001, 10001]
    assert told["ready"]["parts"]["embedding"] == "ready"
    assert told["writable"] == ["/tmp", "/var/lib/olvido"]
    assert told["compiled"]
    assert (told["page"], told["admin"]) == (200, 401)
    status, answer = told["upstream"]  # there is no way to any
    assert status in (502, 503)
    assert json.loads(answer)["error"]["message"]
    kept = {path.name for path in volume.rglob("*")}
    assert "olvido.db" in kept
    assert not any("embedding" in name for name in kept)  # the model is in the image


def test_it_plays_the_demonstration_without_a_network(built: image.Built, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    volume.mkdir(mode=0o700)
    played = image.run(built, ["demo", "--short", "--exit"], volume)
    assert played.returncode == 0, played.stderr
    assert "answered from memory" in played.stdout


def test_nothing_in_it_is_another_users_to_write(built: image.Built) -> None:
    ours = built.root / "opt/olvido"
    assert [path for path in ours.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o022] == []
    assert (built.root / "var/lib/olvido").stat().st_mode & 0o777 == 0o700


def test_each_step_is_told_from_its_mounts_and_comments() -> None:
    builder, final = stages()
    assert builder.name == "builder"
    assert len(builder.of("RUN")) >= 3
    assert not any("--mount" in command(rest) or "#" in rest for rest in builder.of("RUN"))
    assert final.environment()["OLVIDO_CONFIG"] == "/etc/olvido/olvido.yaml"
