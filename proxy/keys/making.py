"""The making of a key, and the hashes by which keys and their owners are kept. Every hash is keyed with the secret of
the tenants: whoever has the database alone can neither use a key nor tell whether a guess is one."""

import secrets
from hashlib import blake2b

from proxy.types.keys import ApiKey, Limits

PREFIX = "sk-olvido-"  # clients expect `sk-`, and what looks like this is struck out of every log
_BYTES = 32


def new_key() -> str:
    """Returns a key: 43 characters that nobody can guess, behind a prefix by which people and scanners know it."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def made(key: str, name: str, team: str, limits: Limits, at: float, secret: bytes) -> ApiKey:
    """Returns the record of a new key."""
    return ApiKey(secrets.token_hex(8), name, hash_of(key, secret), team, limits, created_at=at)


def hash_of(key: str, secret: bytes) -> bytes:
    """Returns the hash by which a key is kept."""
    return _hashed("own", key, secret, 32).digest()


def tenant_of(kind: str, value: str, secret: bytes) -> str:
    """Returns the tenant of a key (`kind` key) or of the name of one of our own (`kind` name): 32 hex digits."""
    return _hashed(kind, value, secret, 16).hexdigest()


def _hashed(kind: str, value: str, secret: bytes, size: int) -> blake2b:
    return blake2b(f"{kind}:{value}".encode("utf-8", "replace"), key=secret, digest_size=size)
