"""Fingerprints by which two processes find out that they mean the same configuration and the same storage, and nothing
else."""

from hashlib import blake2b

from proxy.config.model import Config

_BYTES = 8
# Settings that the command line replaces: the same file may be served on another port.
_OUTSIDE = {"server": {"host", "port", "workers"}}


def of_config(config: Config) -> str:
    """Returns a fingerprint of all settings but those of the command line. Secrets count as given or not."""
    return blake2b(config.model_dump_json(exclude=_OUTSIDE).encode(), digest_size=_BYTES).hexdigest()


def of_storage(secret: bytes) -> str:
    """Returns a fingerprint of a storage, by the tenants' secret that it was given at its first start."""
    return blake2b(b"storage", key=secret, digest_size=_BYTES).hexdigest()
