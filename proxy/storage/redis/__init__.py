"""Redis for what processes share: the backend of `../shared/` and of the answer cache for processes on many machines.
Redis is fast memory, never the truth: with Redis gone, slow or full every part goes on with what this process knows,
which is counted, and is back by itself.

connection.py  the connection of a process: commands with a deadline, news between processes, its state and its breaker
names.py       the names of keys and channels, by deployment
links.py       links that one task uses at a time
wire.py        below it: one connection that many commands share, each with its time-out
news.py        below it: the subscription
checks.py      what a server must be, and what whoever runs it should know
errors.py      errors of Redis in our words
records.py     values: msgpack of typed records, each with its scope
answers.py     the cache of exact answers
flights.py     single flight across processes
sessions.py    open turns, last reuses, throttle, logouts
counters.py    counts of what is limited: by the minute, and under way
hot.py         hot contexts of conversations
erasing.py     end users erased; exporting.py their answers, for an export
learnt.py      calibrations, evidence of prefix caches, hit rates
breakers.py    breakers of upstreams

The client library is imported only where the configuration has a section `shared`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from proxy.config import Config
from proxy.storage.base import AnswerCache
from proxy.storage.hot import HotContexts
from proxy.storage.shared import SharedState
from proxy.storage.shared.local import local_state

if TYPE_CHECKING:
    from proxy.storage.redis.connection import Connection


def redis_connection(
    config: Config,
    secret: bytes,
    *,
    failed: Callable[[str, str], None] = lambda _part, _reason: None,
    changed: Callable[[str], None] = lambda _status: None,
) -> "Connection | None":
    """Returns the connection that the configuration asks for, to be opened once its parts are built; None if it asks
    for none. `secret`: the tenants', from which this deployment gets its name in Redis. `failed` is called with the
    part and the reason for everything that does without Redis, `changed` with each new state."""
    if config.shared is None:
        return None
    from proxy.storage.redis.connection import Connection  # noqa: PLC0415 (the client library is an extra)

    return Connection(config.shared, secret, failed=failed, changed=changed)


def shared_state(over: "Connection | None", folder: Path | None, run_time: Path | None = None) -> SharedState:
    """Builds the state that processes share over a connection; without one that of a process that serves alone.
    `folder`: of the storage; None: nothing is kept on disk. `run_time`: one that the workers of a machine share."""
    if over is None:
        return local_state(folder, run_time)
    from proxy.storage.redis import breakers, counters, flights, learnt, sessions  # noqa: PLC0415 (as above)

    return SharedState(
        flights=flights.RedisSingleFlight(over),
        open_turns=sessions.RedisOpenTurns(over),
        last_served=sessions.RedisLastServed(over),
        hit_rates=learnt.RedisHitRates(over),
        calibrations=learnt.redis_calibrations(over),
        breakers=breakers.RedisBreakers(over),
        throttle=sessions.RedisThrottle(over),
        logouts=sessions.RedisLogouts(over, folder),
        counters=counters.RedisCounters(over),
    )


def redis_answers(over: "Connection", max_entry_bytes: int) -> AnswerCache:
    """Builds the cache of exact answers over a connection."""
    from proxy.storage.redis.answers import RedisAnswers  # noqa: PLC0415 (as above)

    return RedisAnswers(over, max_entry_bytes=max_entry_bytes)


def redis_hot_contexts(over: "Connection", ttl: float) -> HotContexts:
    """Builds the hot contexts over a connection, kept for `ttl` seconds."""
    from proxy.storage.redis.hot import RedisHotContexts  # noqa: PLC0415 (as above)

    return RedisHotContexts(over, ttl)
