"""Counts of what is used by the minute, and of requests under way, by all processes that share a Redis. While it is
away each process counts its own."""

from typing import Any

from proxy.storage.base import SharedUnavailable
from proxy.storage.redis.connection import UNREADABLE, Connection
from proxy.storage.shared.counters import ENDED, KEPT, LEASE, SqliteCounters
from proxy.types.keys import Counted, Use

# Counts a use, and what a request is found to use beyond it. ARGV: second, since, id, requests, tokens, dollars, until,
# now; seconds that a count by the second is kept, ms of all, seconds that what has ended is. A request under way is
# `tokens|dollars|until|ended at`.
_ADD = """
local second, since, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[8])
local known = redis.call('HKEYS', KEYS[1])
for _, name in ipairs(known) do
  if tonumber(string.sub(name, 2)) <= second - tonumber(ARGV[9]) then redis.call('HDEL', KEYS[1], name) end
end
redis.call('HINCRBY', KEYS[1], 'r' .. ARGV[1], ARGV[4])
redis.call('HINCRBY', KEYS[1], 't' .. ARGV[1], ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[10])
local mine, worth, before = ARGV[5], ARGV[6], redis.call('HGET', KEYS[2], ARGV[3])
if before then
  local its, cost = string.match(before, '([^|]*)|([^|]*)|')
  mine = string.format('%.0f', tonumber(mine) + tonumber(its))
  worth = string.format('%.17g', tonumber(worth) + tonumber(cost))
end
redis.call('HSET', KEYS[2], ARGV[3], table.concat({mine, worth, ARGV[7], '0'}, '|'))
redis.call('PEXPIRE', KEYS[2], ARGV[10])
local tokens, dollars = 0, 0
local under_way = redis.call('HGETALL', KEYS[2])
for at = 1, #under_way, 2 do
  local its, cost, till, ended = string.match(under_way[at + 1], '([^|]*)|([^|]*)|([^|]*)|([^|]*)')
  if tonumber(till) <= now then
    redis.call('HDEL', KEYS[2], under_way[at])
  elseif ended == '0' or (tonumber(ended) > since and tonumber(ended) <= now + tonumber(ARGV[11])) then
    tokens, dollars = tokens + tonumber(its), dollars + tonumber(cost)
  end
end
return {redis.call('HGETALL', KEYS[1]), string.format('%.0f', tokens), string.format('%.17g', dollars)}
"""
# Ends a request. ARGV: second, id, more tokens than were estimated, tokens, dollars, until, now.
_SETTLE = """
if redis.call('HEXISTS', KEYS[1], 't' .. ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[1], 't' .. ARGV[1], ARGV[3]) end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then
  redis.call('HSET', KEYS[2], ARGV[2], table.concat({ARGV[4], ARGV[5], ARGV[6], ARGV[7]}, '|'))
end
return 1
"""
# Takes a use back. ARGV: second, id, requests, tokens.
_WITHDRAW = """
if redis.call('HDEL', KEYS[2], ARGV[2]) == 0 then return 0 end
if redis.call('HEXISTS', KEYS[1], 'r' .. ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], 'r' .. ARGV[1], '-' .. ARGV[3])
  redis.call('HINCRBY', KEYS[1], 't' .. ARGV[1], '-' .. ARGV[4])
end
return 1
"""
_PART = "limits"


class RedisCounters:
    """The counts of all processes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._here = SqliteCounters()
        self._add = connection.script(_ADD)
        self._settle = connection.script(_SETTLE)
        self._withdraw = connection.script(_WITHDRAW)

    async def add(self, owner: str, use: Use, since: float) -> Counted:
        told = (
            *(int(use.at), repr(since), use.id, use.requests, use.tokens, repr(use.dollars)),
            *(repr(use.at + LEASE), repr(use.at), KEPT, round(LEASE * 1_000), repr(ENDED)),
        )
        try:
            return _counted(await self._connection.ask(_PART, "EVALSHA", self._add.sha, 2, *self._keys(owner), *told))
        except (SharedUnavailable, *UNREADABLE):
            return await self._here.add(owner, use, since)

    def settle(self, owner: str, use: Use, tokens: int, dollars: float, now: float) -> None:
        self._here.settle(owner, use, tokens, dollars, now)
        told = (int(use.at), use.id, tokens - use.tokens, tokens, repr(dollars), repr(now + ENDED), repr(now))
        self._connection.tell(_PART, "EVALSHA", self._settle.sha, 2, *self._keys(owner), *told)

    def withdraw(self, owner: str, use: Use) -> None:
        self._here.withdraw(owner, use)
        told = (int(use.at), use.id, use.requests, use.tokens)
        self._connection.tell(_PART, "EVALSHA", self._withdraw.sha, 2, *self._keys(owner), *told)

    def _keys(self, owner: str) -> tuple[str, str]:
        return self._connection.names.key("rates", owner), self._connection.names.key("under_way", owner)


def _counted(told: Any) -> Counted:
    fields, tokens, dollars = told
    seconds: dict[int, list[int]] = {}
    for name, number in zip(fields[::2], fields[1::2], strict=True):
        at = 0 if name[:1] == b"r" else 1
        seconds.setdefault(int(name[1:]), [0, 0])[at] = int(number)
    return Counted(tuple((each, *seconds[each]) for each in sorted(seconds)), int(tokens), float(dollars))  # type: ignore[misc]  # two numbers each
