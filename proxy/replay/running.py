"""Requests that were made already, one after another, under any configuration. Nothing is sent, and what is remembered
on the way is forgotten at the end.

Reuse of answers is left out: it would take the request away from everything that is measured here.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from proxy.config import Config
from proxy.config.model import Keep, PriceSetting, Storage
from proxy.replay.course import Course
from proxy.replay.following import answered, in_order
from proxy.replay.means import Means, Memo, opened
from proxy.replay.reading import Logged
from proxy.replay.report import Replayed, Report, total
from proxy.storage.opening import open_storage
from proxy.tasks import Tasks

FOR_EVER = Keep(requests=0, contents=0, minutes=0, hours=0, links=0)  # a log may be older than any limit
RATIOS = (0.1, 0.17, 0.25, 0.5, 1.0)  # of a cached token's price to an uncached one's: what providers charge

Progress = Callable[[int, int], None]  # requests done, of how many


async def replayed(
    requests: Sequence[Logged],
    config: Config,
    *,
    means: Means | None = None,
    ratios: Sequence[float] = RATIOS,
    now: float = 0.0,
    details: bool = False,
    progress: Progress = lambda _done, _of: None,
) -> Report:
    """What would have become of `requests` under `config`, whatever it says of mode and storage. If none has a time,
    the first was made at `now`. For each of `ratios` all is decided anew. `details`: look into every prompt."""
    config = aside(config)
    if means is None:
        async with opened(config) as made:
            return await replayed(
                requests, config, means=made, ratios=ratios, now=now, details=details, progress=progress
            )
    embedding = means.embedder.version if means.embedder.state == "ready" else ""
    means = replace(means, embedder=Memo(means.embedder))
    ordered = answered(in_order(requests, now))
    configs = [config, *(at_ratio(config, ratio) for ratio in ratios)]
    runs: list[tuple[Replayed, ...]] = []
    for each in configs:
        course = Course(each, means, await open_storage(each, Tasks()))
        rows: list[Replayed] = []
        try:
            for number, logged in enumerate(ordered):
                rows.append(await course.take(logged, number, details=details and each is config))
                progress(len(runs) * len(ordered) + len(rows), len(configs) * len(ordered))
        finally:
            await course.close()
        runs.append(tuple(rows))
    return Report(runs[0], dict(zip(ratios, map(total, runs[1:]), strict=True)), embedding)


def aside(config: Config) -> Config:
    """Nothing of the user's is touched, context is managed, and no answer is reused."""
    context = config.context.model_copy(update={"mode": "on"})
    # Requests of long ago are recent to each other, and the archive goes by the clock on the wall.
    memory = config.memory.model_copy(update={"archive_ttl": inf if config.memory.archive_ttl else 0})
    admin = config.admin.model_copy(update={"show_content": False})
    off = {"enabled": False}
    exact, intent = config.reuse.exact.model_copy(update=off), config.reuse.intent.model_copy(update=off)
    changes = {
        "storage": Storage(kind="memory", keep=FOR_EVER),
        "server": config.server.model_copy(update={"unknown_model": "first"}),
        "context": context,
        "memory": memory,
        "admin": admin,
        "reuse": config.reuse.model_copy(update={"exact": exact, "intent": intent}),
    }
    return config.model_copy(update=changes)


def at_ratio(config: Config, ratio: float) -> Config:
    """All upstreams charge `ratio` for a token that their prefix cache holds."""
    upstreams = []
    for upstream in config.upstreams:
        changes: dict[str, Any] = {
            "price": PriceSetting(input=1, cached=ratio, output=1),
            "prices": {},
            "cache": "assumed",
        }
        upstreams.append(upstream.model_copy(update=changes))
    return config.model_copy(update={"upstreams": tuple(upstreams)})
