"""New keys, and the hashes by which they are kept."""

from proxy.config.redacting import redact
from proxy.keys.making import hash_of, made, new_key, tenant_of
from proxy.types.keys import Limits

SECRET = b"s" * 32


def test_keys_differ_and_are_struck_out_of_every_text() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(key not in redact(f"the key {key} was refused") for key in keys)


def test_a_record_has_a_keyed_hash_and_nothing_of_the_key() -> None:
    key = new_key()
    record = made(key, "ana", "design", Limits(), 5.0, SECRET)
    assert record.hash == hash_of(key, SECRET)
    assert record.hash != hash_of(key, b"t" * 32)
    assert key not in repr(record)
    assert key.removeprefix("sk-olvido-")[:8] not in repr(record)


def test_the_tenant_of_a_name_is_not_that_of_a_key_which_says_the_same() -> None:
    assert tenant_of("name", "ana", SECRET) != tenant_of("key", "ana", SECRET)
    assert len(tenant_of("name", "ana", SECRET)) == 32
