"""What the upstream says it counted: the same few numbers, in every provider's own places.

| number | where |
|---|---|
| cached tokens, OpenAI | `prompt_tokens_details.cached_tokens` |
| cached tokens, Kimi | `cached_tokens` |
| cached tokens, DeepSeek | `prompt_cache_hit_tokens` |
| tokens written to that cache, OpenAI, OpenRouter | `prompt_tokens_details.cache_write_tokens` |
| tokens written to that cache, LiteLLM | `cache_creation_input_tokens` |
| reasoning tokens | `completion_tokens_details.reasoning_tokens` |
| the usage itself | the body's `usage`; streamed by Kimi: `choices[0].usage` as well |
"""

from collections.abc import Iterable, Mapping

from proxy.types import Json, Usage

_TOO_MANY = 2**53  # no prompt is that long; the ledger's integers and JSON's end somewhere too


def parse_usage(usage: Json) -> Usage | None:
    """A `usage` object, or None when it has neither a prompt nor a completion count. Never raises.

    Several spellings of the cached count name one number, so the largest counts; a part never exceeds its whole.
    """
    if not isinstance(usage, Mapping):
        return None
    prompt = _count(usage.get("prompt_tokens"))
    completion = _count(usage.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    told = (
        _count(_detail(usage, "prompt_tokens_details", "cached_tokens")),
        _count(usage.get("cached_tokens")),
        _count(usage.get("prompt_cache_hit_tokens")),
    )
    cached = max(count or 0 for count in told)
    written = (
        _count(_detail(usage, "prompt_tokens_details", "cache_write_tokens")),
        _count(usage.get("cache_creation_input_tokens")),
    )
    reasoning = _count(_detail(usage, "completion_tokens_details", "reasoning_tokens")) or 0
    prompt, completion = prompt or 0, completion or 0
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=min(cached, prompt),
        reasoning_tokens=min(reasoning, completion),
        written_tokens=_most(written, prompt - min(cached, prompt)),
        reports_none_cached=cached == 0 and any(count is not None for count in told),
    )


def find_usage(body: Json) -> Usage | None:
    """The usage of a completion or of one chunk: the body's own, else that of its first choice that has one."""
    if not isinstance(body, Mapping):
        return None
    if usage := parse_usage(body.get("usage")):
        return usage
    choices = body.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and (usage := parse_usage(choice.get("usage"))):
            return usage
    return None


def _most(counts: Iterable[int | None], whole: int) -> int | None:
    """Several spellings of one number, a part of `whole`; None if there is none."""
    told = [count for count in counts if count is not None]
    return min(max(told), whole) if told else None


def _count(value: Json) -> int | None:
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _TOO_MANY
    return value if valid else None


def _detail(usage: Mapping[str, Json], group: str, key: str) -> Json:
    details = usage.get(group)
    return details.get(key) if isinstance(details, Mapping) else None
