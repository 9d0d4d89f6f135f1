"""Several processes over one PostgreSQL and one Redis send what one over SQLite sends."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from proxy.storage.folder import SECRET
from tests import postgres, talks
from tests.golden.play import Upstream
from tests.redis_server import PATIENT_MS, fresh_redis
from tests.servers import run_app
from tests.talks import Lane

PROCESSES = 4


async def prompts(conversations: int, folder: Path, seed: int = 1) -> tuple[Sequence[Lane], Sequence[Lane]]:
    """The same conversations with one process, and with several of which each request gets a random one."""
    upstream, choose = Upstream(), random.Random(seed)
    one, several = talks.lanes(conversations), talks.lanes(conversations)
    with run_app(upstream.app) as url:
        async with talks.running(talks.settings(url, storage={"path": folder / "one"})) as proxies:
            await talks.in_rounds(one, upstream, proxies, lambda: 0)
        (folder / "several").mkdir()
        shutil.copy(folder / "one" / SECRET, folder / "several")  # ids of facts are made of it, and order those alike
        sections = {
            "storage": {"kind": "postgres", "url": postgres.database(), "path": folder / "several", "pool": 4},
            "shared": {"url": fresh_redis().url, "timeout_ms": PATIENT_MS},
        }
        configured = [talks.settings(url, **sections)] * PROCESSES
        async with talks.running(*configured) as proxies:
            await talks.in_rounds(several, upstream, proxies, lambda: choose.randrange(PROCESSES))
    return one, several


@pytest.mark.parametrize("conversations", [15, pytest.param(200, marks=pytest.mark.long)])
async def test_nobody_can_tell_which_process_answered(conversations: int, tmp_path: Path) -> None:
    one, several = await prompts(conversations, tmp_path)
    assert sum(len(lane.talks) for lane in one) == conversations
    assert any(b"<memory>" in prompt for lane in one for prompt in lane.arrived)
    for here, there in zip(one, several, strict=True):
        assert here.arrived == there.arrived, here.talks[0].name
