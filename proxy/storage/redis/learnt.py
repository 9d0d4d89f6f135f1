"""Lessons of all requests for every process: calibrations, evidence of prefix caches, hit rates of reuse by intent.
Each process answers at once from what it knows; what it observes is passed on in the background, counted once in Redis,
in the order in which it arrives there, and told to all.

With Redis gone each process learns from its own requests; once it is back, what Redis has counts.
"""

from hashlib import blake2b
from typing import Any, Literal

import msgspec

from proxy.storage.redis.connection import Connection
from proxy.storage.shared import Calibrations
from proxy.storage.shared.learnt import (
    ANOMALOUS,
    MISSES,
    MOST_MODELS,
    PAUSE,
    WEIGHT,
    WINDOW,
    LocalCacheEvidence,
    LocalCalibration,
    LocalHitRates,
    misses_after,
    ratio_of,
)
from proxy.types import Usage

KEPT = 30 * 86_400_000  # milliseconds that nothing new is learnt for, after which it is forgotten

# Moves an average towards a ratio, and tells all. ARGV: name, ratio, weight, channel, ms to keep, most names.
_CALIBRATE = """
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[6]) then return 0 end
local ratio = tonumber(ARGV[2])
if known then ratio = tonumber(known) + tonumber(ARGV[3]) * (ratio - tonumber(known)) end
local text = string.format('%.17g', ratio)
redis.call('HSET', KEYS[1], ARGV[1], text)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PUBLISH', ARGV[4], cmsgpack.pack({'', 'calibration', {ARGV[1], text}}))
return 1
"""
# Counts a miss of a prefix cache, or that there are none, and tells all. ARGV: name, most misses (0: none), channel,
# ms to keep, most names.
_MISS = """
local most, misses = tonumber(ARGV[2]), 0
if most == 0 then
  if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
else
  local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
  if known >= most then return known end
  if known == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then return 0 end
  misses = known + 1
  redis.call('HSET', KEYS[1], ARGV[1], tostring(misses))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
redis.call('PUBLISH', ARGV[3], cmsgpack.pack({'', 'misses', {ARGV[1], misses}}))
return misses
"""
# Notes who answered a question, in the window of a partition. ARGV: hash of the question, entry or '', length of the
# window, the number that is anomalous, partition, until when it would be stopped, channel, ms of the pause.
_ANSWERED = """
local asked, entry, most = ARGV[1], ARGV[2], 0
local window = redis.call('LRANGE', KEYS[1], 0, -1)
for _, known in ipairs(window) do
  if string.sub(known, 1, 16) == asked then return 0 end
end
redis.call('RPUSH', KEYS[1], asked .. entry)
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[3]), -1)
redis.call('PEXPIRE', KEYS[1], ARGV[8])
if entry == '' then return 0 end
for _, known in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if string.sub(known, 17) == entry then most = most + 1 end
end
if most < tonumber(ARGV[4]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[5], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[8])
redis.call('PUBLISH', ARGV[7], cmsgpack.pack({'', 'stopped', {ARGV[5], ARGV[6]}}))
return 1
"""

_name = msgspec.json.Encoder().encode
_names = msgspec.json.Decoder(tuple[str, str, str]).decode
_names_of_cache = msgspec.json.Decoder(tuple[str, str]).decode


def redis_calibrations(connection: Connection) -> Calibrations:
    """Builds the calibrations that all processes share."""
    shared = _Calibrations(connection)
    return Calibrations(shared.rough, shared.exact, RedisCacheEvidence(connection))


class _Calibrations:
    """Both calibrations, which have one hash in Redis."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.key = connection.names.key("calibrations")
        self.script = connection.script(_CALIBRATE)
        self.rough, self.exact = RedisCalibration(self, "rough"), RedisCalibration(self, "exact")
        self._kinds = {"rough": self.rough, "exact": self.exact}
        connection.on_news("calibration", lambda told: self._heard(*told))
        connection.on_ready(self._read)

    def _heard(self, name: str | bytes, factor: str | bytes) -> None:
        kind, upstream, model = _names(name)
        self._kinds[kind].here.set(upstream, model, float(factor))

    async def _read(self) -> None:
        for name, factor in pairs_of(await self.connection.ask("calibrations", "HGETALL", self.key)):
            self._heard(name, factor)


class RedisCalibration:
    """A moving average of the ratio over the requests of all processes."""

    def __init__(self, shared: _Calibrations, kind: Literal["rough", "exact"]) -> None:
        self._shared = shared
        self._kind = kind
        self.here = LocalCalibration()

    def factor(self, upstream: str, model: str) -> float | None:
        return self.here.factor(upstream, model)

    def observe(self, upstream: str, model: str, *, counted: int, measured: int) -> None:
        ratio = ratio_of(counted, measured)
        if ratio is None:
            return
        self.here.observe(upstream, model, counted=counted, measured=measured)
        to, shared, name = self._shared.connection, self._shared, _name((self._kind, upstream, model))
        to.start(
            *("calibrations", shared.script, shared.key),
            *(name, repr(ratio), repr(WEIGHT), to.names.news, KEPT, 2 * MOST_MODELS),
        )


class RedisCacheEvidence:
    """Misses in a row over the requests of all processes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._key = connection.names.key("misses")
        self._script = connection.script(_MISS)
        self._here = LocalCacheEvidence()
        connection.on_news("misses", lambda told: self._heard(*told))
        connection.on_ready(self._read)

    def shows_none(self, upstream: str, model: str) -> bool:
        return self._here.shows_none(upstream, model)

    def observe(self, upstream: str, model: str, usage: Usage, *, repeated: int) -> None:
        known = self._here.misses(upstream, model)
        after = misses_after(known, usage, repeated=repeated)
        if after == known:  # what most reports say
            return
        self._here.set(upstream, model, after)
        name, channel = _name((upstream, model)), self._connection.names.news
        most = MISSES if after else 0
        self._connection.start("calibrations", self._script, self._key, name, most, channel, KEPT, MOST_MODELS)

    def _heard(self, name: str | bytes, misses: float | str | bytes) -> None:
        upstream, model = _names_of_cache(name)
        self._here.set(upstream, model, int(misses))

    async def _read(self) -> None:
        for name, misses in pairs_of(await self._connection.ask("calibrations", "HGETALL", self._key)):
            self._heard(name, misses)


class RedisHitRates:
    """Windows of the questions that all processes were asked. Each process has its own as well, in case Redis goes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stopped = connection.names.key("stopped")
        self._script = connection.script(_ANSWERED)
        self._here = LocalHitRates()
        connection.on_news("stopped", lambda told: self._heard(*told))
        connection.on_ready(self._read)

    def is_open(self, partition: str, now: float) -> bool:
        return self._here.is_open(partition, now)

    def open_partitions(self, now: float) -> int:
        return self._here.open_partitions(now)

    def note(self, partition: str, question: str, entry_id: str | None, now: float) -> None:
        self._here.note(partition, question, entry_id, now)
        asked = blake2b(question.encode("utf-8", "replace"), digest_size=8).hexdigest()
        key, milliseconds = self._connection.names.key("window", partition), round(PAUSE * 1_000)
        self._connection.tell(
            *(
                "hit_rates",
                "EVALSHA",
                self._script.sha,
                2,
                key,
                self._stopped,
                asked,
                entry_id or "",
                WINDOW,
                ANOMALOUS,
            ),
            *(partition, repr(now + PAUSE), self._connection.names.news, milliseconds),
        )

    def _heard(self, partition: str | bytes, until: str | bytes) -> None:
        name = partition if isinstance(partition, str) else partition.decode()
        self._here.stop(name, float(until))

    async def _read(self) -> None:
        for partition, until in pairs_of(await self._connection.ask("hit_rates", "HGETALL", self._stopped)):
            self._heard(partition, until)


def pairs_of(told: Any) -> list[tuple[bytes, bytes]]:
    """Returns the fields of a hash, as Redis tells them."""
    return list(zip(told[::2], told[1::2], strict=True)) if isinstance(told, list) else []
