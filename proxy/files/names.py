"""Names in the files of memory: the folder of a person, the code of a fact.

Both are functions of what they name: nothing has to be stored, and nothing can be lost. A name stays itself on every
file system: lower case, no reserved word, no separator.
"""

import re
from base64 import b32encode
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from hashlib import blake2b

CODE = r"[a-z2-7]{4}(?:[a-z2-7]{9})?"  # of a fact in a file
SHORT = 4  # characters of a code: a million; two facts of a person that share theirs have long ones
NOBODY = "me"  # folder of a tenant that names no end users

_TENANT = 8  # characters of a tenant's folder
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_HASHED = re.compile(r".*-[0-9a-f]{12}")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")  # on Windows, whatever follows the dot
_FOREIGN = re.compile(r"[^a-z0-9._-]+|\.{2,}")
_MOST = 40  # characters of a name that was made plain, without its hash


@lru_cache(2**14)
def folder_of(scope: str) -> str:
    """Returns the folder of a person's scope, relative: of the tenant, then of the end user. A name that some file
    system cannot bear, or takes for another's, is made plain and followed by a hash of itself."""
    tenant, _, user = scope.partition("/")
    return f"{tenant[:_TENANT]}-{_hash(tenant)[:4]}/{_folder(user)}"


def _folder(user: str) -> str:
    if not user:
        return NOBODY
    is_plain = _PLAIN.fullmatch(user) and user != NOBODY and ".." not in user
    if is_plain and not _HASHED.fullmatch(user) and not _RESERVED.fullmatch(user):
        return user
    plain = _FOREIGN.sub("-", user.lower())[:_MOST].strip("-._") or "person"
    return f"{plain}-{_hash(user)}"


def _hash(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


@lru_cache(2**15)
def long_code(fact_id: str) -> str:
    """Returns all of the code of a fact: 13 characters. The id is "f-" and 16 hex digits."""
    return b32encode(bytes.fromhex(fact_id[2:])).decode().rstrip("=").lower()


def codes(fact_ids: Collection[str]) -> dict[str, str]:
    """Returns the codes of the facts of a person, by id: short ones, but for those that would be the same."""
    every = {fact_id: long_code(fact_id) for fact_id in fact_ids}
    often = Counter(code[:SHORT] for code in every.values())
    return {fact_id: code[:SHORT] if often[code[:SHORT]] == 1 else code for fact_id, code in every.items()}


def meant(code: str, fact_ids: Collection[str]) -> list[str]:
    """Returns the ids that a code may mean: one, but where a short one was written before another fact shared it."""
    return [fact_id for fact_id in fact_ids if long_code(fact_id).startswith(code)]
