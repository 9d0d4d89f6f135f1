"""What is built fits together, and is closed so that nothing is lost."""

import asyncio
import gc
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from proxy.errors import UnknownModel
from proxy.observe.metrics import Metrics
from proxy.services import COLLECTING, build
from proxy.storage.answers import MemoryAnswers
from proxy.storage.base import SecretUnsafe
from proxy.storage.redis.answers import RedisAnswers
from proxy.storage.redis.flights import RedisSingleFlight
from tests.builders import NOW, config, encoding, ledger_row, stored
from tests.redis_server import PATIENT_MS, fresh_redis
from tests.servers import eventually


async def test_every_part_is_the_one_that_the_others_know() -> None:
    services = await build(config(storage={"kind": "memory"}), encoding=encoding)
    assert [upstream.name for upstream in services.router.upstreams] == ["kimi"]
    assert services.counter.text("hello world") == 2
    await services.close()


@pytest.mark.parametrize(("unknown", "refused"), [("first", False), ("reject", True)])
async def test_the_router_does_with_unknown_models_what_is_configured(unknown: str, refused: bool) -> None:
    settings = config(
        storage={"kind": "off"},
        server={"unknown_model": unknown},
        upstreams=[{"name": "up", "base_url": "http://127.0.0.1:1/v1", "models": ["known-*"]}],
    )
    services = await build(settings, encoding=encoding)
    with pytest.raises(UnknownModel) if refused else nullcontext():
        services.router.route("another")
    await services.close()


@pytest.mark.parametrize(("thresholds", "frozen"), [(COLLECTING, 1), ((700, 10, 10), 0)], ids=["serves", "does not"])
async def test_what_a_process_that_serves_has_warmed_up_is_not_looked_through_for_garbage(
    thresholds: tuple[int, int, int], frozen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    froze: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: froze.append(True))
    before = gc.get_threshold()
    gc.set_threshold(*thresholds)
    try:
        services = await build(config(storage={"kind": "memory"}), encoding=encoding)
        await services.tasks.drain(10)
        await services.close()
    finally:
        gc.set_threshold(*before)
    assert len(froze) == frozen


async def test_closing_lets_what_runs_finish_and_writes_what_is_queued(tmp_path: Path) -> None:
    settings = config(storage={"path": str(tmp_path)}, server={"drain": 5})
    services = await build(settings, encoding=encoding)
    begun = asyncio.Event()

    async def late() -> None:
        begun.set()
        await asyncio.sleep(0.02)
        services.storage.ledger.append(ledger_row(scope="a"))
        await services.storage.answers.put("a", "key", stored(), 60.0)

    services.tasks.spawn(late(), name="late")
    await begun.wait()
    await services.close()
    again = await build(settings, encoding=encoding)
    assert len(await again.storage.ledger.recent("a")) == 1
    assert await again.storage.answers.get("a", "key", NOW) == stored()
    await again.close()


async def test_what_processes_share_is_in_redis_where_it_is_configured(tmp_path: Path) -> None:
    url = fresh_redis().url
    settings = config(storage={"path": str(tmp_path)}, shared={"url": url, "timeout_ms": PATIENT_MS})
    services = await build(settings, encoding=encoding)
    assert services.storage.shared is not None
    assert services.storage.shared.state == "ready"
    assert isinstance(services.storage.answers, RedisAnswers)
    assert isinstance(services.shared.flights, RedisSingleFlight)
    assert value_of(services.metrics, state="ready") == 1
    await services.storage.answers.put("a", "key", stored(), 60.0)
    await services.close()
    again = await build(settings, encoding=encoding)  # the secret is the folder's, and so is its name in Redis
    assert await again.storage.answers.get("a", "key", NOW) == stored()
    await again.close()
    elsewhere = await build(config(storage={"kind": "memory"}, shared={"url": url}), encoding=encoding)
    assert await elsewhere.storage.answers.get("a", "key", NOW) is None
    await elsewhere.close()


def value_of(metrics: Metrics, **labels: str) -> float | None:
    return metrics.registry.get_sample_value("olvido_shared_state", labels)


async def test_without_redis_at_its_address_it_is_built_all_the_same(tmp_path: Path) -> None:
    settings = config(storage={"kind": "off"}, shared={"url": f"unix://{tmp_path}/none"})
    services = await build(settings, encoding=encoding)
    assert services.storage.shared is not None
    assert services.storage.shared.status == "down"
    assert isinstance(services.storage.answers, MemoryAnswers)  # `off` keeps nothing, there neither
    await services.close()


@pytest.mark.long
def test_the_client_library_is_only_there_where_it_is_used() -> None:
    code = "import sys, proxy.cli, proxy.app; sys.exit('redis' in sys.modules or 'hiredis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_closing_does_not_wait_for_ever() -> None:
    services = await build(config(storage={"kind": "off"}, server={"drain": 0}), encoding=encoding)
    hanging = services.tasks.spawn(asyncio.Event().wait(), name="hanging")
    await services.close()
    assert hanging.cancelled()


async def test_after_closing_no_thread_is_left_working() -> None:
    services = await build(config(storage={"kind": "off"}), encoding=encoding)
    working = services.executor.submit(lambda: None)
    await services.close()
    eventually(working.done)
    with pytest.raises(RuntimeError):
        services.executor.submit(lambda: None)


async def test_what_cannot_be_built_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SecretUnsafe):
        await build(config(storage={"path": str(tmp_path / "file")}), encoding=encoding)
