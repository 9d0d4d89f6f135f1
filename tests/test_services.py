"""What is built fits together, and is closed so that nothing is lost."""

import asyncio
from contextlib import nullcontext
from pathlib import Path

import pytest

from proxy.errors import UnknownModel
from proxy.services import build
from proxy.storage.base import SecretUnsafe
from tests.builders import NOW, config, encoding, ledger_row, stored
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
