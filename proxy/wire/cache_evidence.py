"""Whether an upstream has shown that it has no prefix cache.

A provider that does not report cached tokens shows nothing; one that reports none of them, time and again, for prompts
whose beginning it had just seen, has none. What is known is of an upstream and a model, never of who asked.
"""

from collections import OrderedDict

from proxy.types import Usage

MISSES = 3  # reports in a row that nothing was cached, each where it should have been, that show that there is no cache
# Tokens: the longest minimum of OpenAI's models ("1,024 to 2,048",
# developers.openai.com/api/docs/guides/prompt-caching, November 2026). Where fewer repeat, no find says nothing.
LEAST_REPEATED = 2_048
# Seconds: the shortest time that a provider documents for its cache (Kimi, Anthropic). Later it may be gone.
MOST_IDLE = 300.0
MOST_MODELS = 200


class CacheEvidence:
    """What usage has shown of each upstream's and model's prefix cache. Bounded: the least recently seen leaves. Worker
    threads read it while the event loop writes: each step is one."""

    def __init__(self, most: int = MOST_MODELS) -> None:
        self._misses: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._most = most

    def __len__(self) -> int:
        return len(self._misses)

    def shows_none(self, upstream: str, model: str) -> bool:
        return self._misses.get((upstream, model), 0) >= MISSES

    def observe(self, upstream: str, model: str, usage: Usage, *, repeated: int) -> None:
        """`repeated`: tokens of the prompt's beginning that the upstream had seen within `MOST_IDLE`; 0 if the prompt
        is shorter than what it caches."""
        key = (upstream, model)
        if usage.cached_tokens:
            self._misses.pop(key, None)
        elif usage.reports_none_cached and repeated >= LEAST_REPEATED:
            self._misses[key] = min(MISSES, self._misses.pop(key, 0) + 1)
            while len(self._misses) > self._most:
                self._misses.popitem(last=False)
