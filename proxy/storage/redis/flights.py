"""Single flight across processes: one upstream call for identical requests, whichever process they reach.

Inside a process requests share a local flight, so of any number that wait one asks Redis. It takes the lease of the
key, or waits for the process that has it: that one writes what its flight brought and tells those that wait, and they
look from time to time too, in case the news is lost. The lease ends by itself unless its process renews it, so a
process that dies holds nobody up for long. Between requests of one process the lease stays: if a leader leaves, the
next one that waits there leads at once.

With Redis gone each process has its own flights.
"""

import asyncio
from dataclasses import dataclass, replace
from itertools import count

from proxy.storage.base import SharedUnavailable
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.records import Codec
from proxy.storage.shared.flights import MOST_FAILURES, LocalSingleFlight
from proxy.types import Answer, StoredAnswer

PART = "flights"
LEASE = (
    6.0  # seconds that a lease holds without being renewed: a process that stands still for longer is not waited for
)
RENEWED = 2.0  # seconds between two renewals
LOOK = 0.5  # seconds between two looks at a flight of another process
HAND_OVER = 0.01  # seconds that a lease waits for the next one in its process
KEPT = 10.0  # seconds that what a flight brought is kept for those who wait
LANDED = 5.0  # seconds during which who leads next is told that an answer has landed: it may have looked too early

# Takes the lease, or joins those who wait for it. ARGV: my token, lease in ms, my inbox, the token that I waited for.
_JOIN = """
if ARGV[4] ~= '' then
  local told = redis.call('GET', KEYS[1] .. ':' .. ARGV[4])
  if told then return {'told', told} end
end
local token = redis.call('HGET', KEYS[1], 'token')
if token and token ~= ARGV[1] then
  redis.call('HSET', KEYS[1], 'to ' .. ARGV[3], '1')
  return {'wait', token}
end
local landed = redis.call('HGET', KEYS[1], 'landed') or '0'
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'token', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {'lead', landed}
"""
# Ends a lease. ARGV: its token, what it brought, ms that this is kept, ms that it counts as landed (0: it has not).
_END = """
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
local fields = redis.call('HKEYS', KEYS[1])
redis.call('DEL', KEYS[1])
if ARGV[4] ~= '0' then
  redis.call('HSET', KEYS[1], 'landed', '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
local told = 0
for _, field in ipairs(fields) do
  if string.sub(field, 1, 3) == 'to ' then
    if told == 0 then redis.call('SET', KEYS[1] .. ':' .. ARGV[1], ARGV[2], 'PX', ARGV[3]) end
    redis.call('PUBLISH', string.sub(field, 4), ARGV[1])
    told = told + 1
  end
end
return told
"""
_RENEW = """
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
"""


@dataclass(frozen=True, slots=True)
class _Error:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class _Brought:
    """The end of a flight, as other processes get it. Neither answer nor error: each goes upstream alone; `failures`
    not None: it came to nothing, after so many failures in a row, and one of those who wait leads next."""

    completion: StoredAnswer | None = None
    error: _Error | None = None
    failures: int | None = None

    @property
    def result(self) -> StoredAnswer | Answer | None:
        if self.error is not None:
            return Answer(self.error.status, self.error.headers, self.error.body)
        return self.completion


_NOTHING = _Brought()
_codec = Codec(_Brought)  # the scope of a flight is its key, which contains one


@dataclass(slots=True)
class _Lease:
    token: str
    lead: int  # number of the local flight that has it now


class _Here(LocalSingleFlight):
    """The flights of this process, which may be told how one of another process ended."""

    def failures(self, key: str, lead: int | None) -> int | None:
        """Returns the failures in a row before this flight; None if it is not under way."""
        flight = self._under_way.get(key)
        return None if flight is None or flight.lead != lead else flight.failures

    def is_led(self, key: str) -> bool:
        return key in self._under_way

    def carry(self, key: str, lead: int, failures: int) -> None:
        """Sets the failures in a row before this flight: those of other processes."""
        flight = self._under_way.get(key)
        if flight is not None and flight.lead == lead:
            self._under_way[key] = replace(flight, failures=failures)

    def bring(self, key: str, lead: int, brought: StoredAnswer | Answer | None) -> None:
        """Ends the flight with the result of another process's."""
        if isinstance(brought, Answer):
            if (flight := self._take(key, lead)) is not None:
                flight.brought.set_result(brought)
        else:
            self.land(key, lead, brought)


class RedisSingleFlight:
    """The flights of all processes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._here = _Here()
        self._numbers = count(1)
        self._leases: dict[str, _Lease] = {}
        self._nudges: dict[str, asyncio.Future[None]] = {}  # by the token of the flight that is waited for
        self._landed_elsewhere = 0
        self._renewal: asyncio.TimerHandle | None = None
        self._join, self._end = connection.script(_JOIN), connection.script(_END)
        self._renew_script = connection.script(_RENEW)
        connection.on_letter(self._nudged)

    def __len__(self) -> int:
        return len(self._here)

    @property
    def landed(self) -> int:
        return self._here.landed + self._landed_elsewhere

    async def lead_or_wait(self, key: str, seconds: float) -> int | StoredAnswer | Answer | None:
        until = asyncio.get_running_loop().time() + seconds
        lead = await self._here.lead_or_wait(key, seconds)
        if not isinstance(lead, int):
            return lead
        if (lease := self._leases.get(key)) is not None:  # of one before it in this process
            lease.lead = lead
            return lead
        try:
            brought = await self._elsewhere(key, lead, until)
        except TimeoutError:
            self._here.abandon(key, lead)  # others here may have more patience
            return None
        except BaseException:
            self._here.abandon(key, lead)
            raise
        if brought is None:
            return lead
        self._here.bring(key, lead, brought.result)
        return brought.result

    def share(self, key: str, lead: int | None, answer: StoredAnswer) -> None:
        self._here.share(key, lead, answer)  # for other processes storing takes no longer than telling

    def land(self, key: str, lead: int | None, answer: StoredAnswer | None) -> None:
        self._here.land(key, lead, answer)
        self._tell(key, lead, _Brought(answer), LANDED if answer is not None else 0)

    def abandon(self, key: str, lead: int | None) -> None:
        failures = self._here.failures(key, lead)
        self._here.abandon(key, lead)
        self._hand_over(key, lead, failures or 0)

    def fail(self, key: str, lead: int | None, told: Answer) -> None:
        failures = (self._here.failures(key, lead) or 0) + 1
        self._here.fail(key, lead, told)
        if failures < MOST_FAILURES:
            self._hand_over(key, lead, failures)
        elif isinstance(told.body, bytes):
            self._tell(key, lead, _Brought(error=_Error(told.status, tuple(told.headers), told.body)))
        else:
            self._tell(key, lead, _NOTHING)

    # --- between processes --------------------------------------------------------------------------------------------

    async def _elsewhere(self, key: str, lead: int, until: float) -> _Brought | None:
        """Takes the lease, and returns None; or waits for the flight of another process, and returns what it brought.
        Raises TimeoutError at `until`."""
        loop, name = asyncio.get_running_loop(), self._connection.names.key("flight", key)
        token, waited_for = f"{self._connection.process}.{next(self._numbers)}", ""
        inbox, lease_ms = self._connection.names.inbox(self._connection.process), round(LEASE * 1_000)
        while True:
            try:
                what, said = await self._connection.run(PART, self._join, name, token, lease_ms, inbox, waited_for)
            except SharedUnavailable:  # it may have been done all the same
                what, said = b"lead", b"0"
            except asyncio.CancelledError:
                self._release(key, token, _Brought(failures=0), 0)
                raise
            if what == b"lead":
                self._landed_elsewhere += said == b"1"
                self._hold(key, _Lease(token, lead))
                return None
            if what == b"told":
                brought = _codec.unpack(key, said)
                if brought is not None and brought.failures is None:
                    return brought
                self._here.carry(key, lead, 0 if brought is None else brought.failures or 0)
                waited_for = ""
                continue
            waited_for = said.decode()
            patience = min(LOOK, until - loop.time())
            if patience <= 0:
                raise TimeoutError
            await self._nudge(waited_for, patience)

    async def _nudge(self, token: str, seconds: float) -> None:
        """Returns when the flight of this token has ended, or after `seconds`."""
        nudged = self._nudges[token] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait({nudged}, timeout=seconds)
        finally:
            del self._nudges[token]

    def _nudged(self, letter: bytes) -> None:
        nudged = self._nudges.get(letter.decode("ascii", "replace"))
        if nudged is not None and not nudged.done():
            nudged.set_result(None)

    def _tell(self, key: str, lead: int | None, brought: _Brought, landed: float = 0) -> None:
        lease = self._leases.get(key)
        if lease is not None and lease.lead == lead:
            del self._leases[key]
            self._release(key, lease.token, brought, landed)

    def _release(self, key: str, token: str, brought: _Brought, landed: float) -> None:
        kept, packed = round(KEPT * 1_000), _codec.pack(key, brought)
        name = self._connection.names.key("flight", key)
        self._connection.start(PART, self._end, name, token, packed, kept, round(landed * 1_000))

    def _hand_over(self, key: str, lead: int | None, failures: int) -> None:
        """Leaves the lease to the next one who waits in this process, or else to another process."""
        lease = self._leases.get(key)
        if lease is None or lease.lead != lead:
            return

        def unless_taken() -> None:
            if self._leases.get(key) is lease and lease.lead == lead:
                self._tell(key, lead, _Brought(failures=failures))

        asyncio.get_running_loop().call_later(HAND_OVER, unless_taken)

    def _hold(self, key: str, lease: _Lease) -> None:
        self._leases[key] = lease
        if self._renewal is None:
            self._renewal = asyncio.get_running_loop().call_later(RENEWED, self._renew)

    def _renew(self) -> None:
        """Renews the leases, and ends those whose flight is over: all who waited for it left at once."""
        self._renewal = None
        for key, lease in list(self._leases.items()):
            if self._here.is_led(key):
                name = self._connection.names.key("flight", key)
                self._connection.start(PART, self._renew_script, name, lease.token, round(LEASE * 1_000))
            else:
                self._tell(key, lease.lead, _Brought(failures=0))
        if self._leases:
            self._renewal = asyncio.get_running_loop().call_later(RENEWED, self._renew)
