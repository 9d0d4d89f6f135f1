"""The prefix cache of the demonstration's upstream."""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from proxy.lru import Lru
from proxy.types import PrefixCache


class PromptCache:
    """Blocks of tokens under the hash of everything before them, per API key and model."""

    def __init__(self, spec: PrefixCache, clock: Callable[[], float], bound: int) -> None:
        self._spec = spec
        self._clock = clock
        self._expiry: Lru[bytes, float] = Lru(bound)

    def __len__(self) -> int:
        return len(self._expiry)

    def admit(self, api_key: str, model: str, tokens: Sequence[int]) -> int:
        """Adds a prompt; returns how many tokens of its beginning were cached before, in whole blocks."""
        if self._spec.ttl <= 0 or len(tokens) < max(self._spec.minimum, self._spec.block):
            return 0
        now = self._clock()
        links = list(self._links(api_key, model, tokens))
        cached = sum(1 for _ in takewhile(lambda link: self._expiry.get(link, 0.0) > now, links))
        for link in links:
            self._expiry.put(link, now + self._spec.ttl)
        return cached * self._spec.block

    def _links(self, api_key: str, model: str, tokens: Sequence[int]) -> Iterator[bytes]:
        link = hashlib.blake2b(f"{api_key}\n{model}".encode(), digest_size=16).digest()
        for start in range(0, len(tokens) - self._spec.block + 1, self._spec.block):
            block = array("Q", tokens[start : start + self._spec.block]).tobytes()
            link = hashlib.blake2b(link + block, digest_size=16).digest()
            yield link
