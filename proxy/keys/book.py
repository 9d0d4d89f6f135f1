"""All keys of this proxy as one process knows them: those of the configuration, and those in the database.

Another process may create and revoke keys at any time. This one looks twice a second whether any has changed, and reads
them if so: what is revoked is refused within a second everywhere, and no request waits for a look. While the database
is away, what is known goes on to hold.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from proxy.config import Config, key_hash
from proxy.errors import Conflict
from proxy.keys.making import hash_of, made, new_key, tenant_of
from proxy.storage.keys import KeyStore, Version
from proxy.storage.looking import Looking
from proxy.tasks import Tasks
from proxy.types.keys import ApiKey, Limits, TenantName

log = logging.getLogger(__name__)

LOOK = 0.5  # seconds between two looks
USED = 60.0  # seconds: the precision of the last use
_NOTHING: Version = (0, 0, 0.0)


class KeyBook:
    """The keys that hold, and the names of all tenants that ever had one. `store`: None: the configuration's alone."""

    def __init__(
        self, config: Config, secret: bytes, store: KeyStore | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.checks = config.auth.mode == "keys"  # False: the upstream judges the client's key
        self._default = config.limits.keys.limits()
        self._secret = secret
        self._store = store if self.checks and store is not None and store.keeps else None
        self._clock = clock
        self._configured = {
            own.key: ApiKey(
                id=blake2b(own.key.encode(), key=secret, digest_size=8).hexdigest(),
                name=own.name,
                hash=b"",
                team=own.team,
                limits=own.limits.limits(),
                source="configured",
            )
            for own in (config.auth.keys if self.checks else ())
        }
        self._version: Version = _NOTHING
        self._created: Sequence[ApiKey] = ()
        self._by_hash: Mapping[bytes, ApiKey] = {}
        self._by_tenant: Mapping[str, ApiKey] = {}
        self.limits_any = False  # some key has a limit
        self._used: dict[str, float] = {}
        self._looking = Looking(self.look, LOOK, "keys")
        self._fill(())

    # --- whose a request is ---

    def find(self, key: str) -> ApiKey | None:
        """Returns the key that a client has sent, if it holds."""
        own = self._configured.get(key_hash(key))
        return own or (self._by_hash.get(hash_of(key, self._secret)) if self._by_hash else None)

    def whose(self, key: str) -> str | None:
        """Returns the tenant of a key that a client sends alone; None if it is none that this proxy accepts."""
        if not self.checks:
            return tenant_of("key", key, self._secret)
        found = self.find(key)
        return None if found is None else self.tenant(found)

    def by_id(self, key_id: str) -> ApiKey | None:
        """Returns the key of this id, if it holds."""
        return next((key for key in self.all() if key.id == key_id and key.is_active), None)

    def tenant(self, key: ApiKey) -> str:
        """Returns the tenant of a key: that of its name, so that a key can be replaced without losing what is
        remembered."""
        return tenant_of("name", key.name, self._secret)

    def use(self, key: ApiKey) -> None:
        """Notes that a key is used, to the minute."""
        now = self._clock()
        if self._store is None or key.source != "created" or now - self._used.get(key.id, key.last_used_at) < USED:
            return
        self._used[key.id] = now
        self._store.used(key.id, now)

    # --- what people and limits call it ---

    def named(self, scope: str) -> TenantName | None:
        """Returns the name and the team of a scope's tenant, or of a tenant; None if no key of ours is its own."""
        found = self._by_tenant.get(scope.partition("/")[0])
        return None if found is None else TenantName(found.name, found.team)

    def tenants(self) -> Mapping[str, TenantName]:
        """Returns the names of all tenants."""
        return {tenant: TenantName(key.name, key.team) for tenant, key in self._by_tenant.items()}

    def limits(self, tenant: str) -> Limits:
        """Returns the limits of a tenant."""
        found = self._by_tenant.get(tenant)
        return self._default if found is None else found.limits.over(self._default)

    def all(self) -> list[ApiKey]:
        """Returns all keys, revoked ones included: the configuration's first, then oldest first."""
        return [*self._configured.values(), *self._created]

    async def used(self) -> list[ApiKey]:
        """Returns the same with their last uses, wherever that was. Raises StorageError."""
        created = self._created if self._store is None else await self._store.all()
        return [
            *self._configured.values(),
            *(replace(key, last_used_at=max(key.last_used_at, self._used.get(key.id, 0.0))) for key in created),
        ]

    # --- changes ---

    @property
    def creates(self) -> bool:
        """True if keys can be created."""
        return self._store is not None

    async def create(self, name: str, team: str, limits: Limits) -> tuple[str, ApiKey]:
        """Makes a key; returns it, which is not kept, and its record. Raises Conflict if a key of this name holds, or
        keys do not count here; StorageError."""
        if self._store is None:
            raise Conflict("Keys are created where `auth.mode` is keys and a storage keeps them.")
        if any(key.name == name and key.is_active for key in self.all()):
            raise Conflict(f"A key named {name!r} exists already: revoke it first, or take another name.", param="name")
        key = new_key()
        record = made(key, name, team, limits, self._clock(), self._secret)
        if not await self._store.create(record):
            await self.look()
            raise Conflict(f"A key named {name!r} exists already: revoke it first, or take another name.", param="name")
        await self.look()
        return key, record

    async def revoke(self, key: ApiKey) -> bool:
        """Revokes a key; False if it does not hold any more. Raises Conflict for one of the configuration, and
        StorageError."""
        if key.source == "configured" or self._store is None:
            raise Conflict(f"The key {key.name!r} is in the configuration: it is revoked by taking it out there.")
        is_done = await self._store.revoke(key.id, self._clock())
        await self.look()
        return is_done

    # --- what other processes change ---

    async def look(self) -> None:
        """Reads the keys if any has changed since the last look. Raises StorageError."""
        if self._store is None:
            return
        version = await self._store.version()
        if version != self._version:
            self._fill(await self._store.all())
            self._version = version

    def start(self, tasks: Tasks) -> None:
        """Begins to look, where others may change keys."""
        if self._store is not None:
            self._looking.start(tasks)

    def stop(self) -> None:
        """Ends it."""
        self._looking.stop()

    def _fill(self, created: Sequence[ApiKey]) -> None:
        self._created = created
        self._by_hash = {key.hash: key for key in created if key.is_active}
        self._by_tenant = {self.tenant(key): key for key in _in_order(created, self._configured.values())}
        self.limits_any = any(True for _ in self._default.items()) or any(
            True for key in self._by_tenant.values() for _ in key.limits.items()
        )


def _in_order(created: Iterable[ApiKey], configured: Iterable[ApiKey]) -> list[ApiKey]:
    """Returns keys so that of those of one name the one that holds, or the newest, comes last."""
    return [*sorted(created, key=lambda key: (key.is_active, key.created_at)), *configured]
