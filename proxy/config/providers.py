"""Providers that are known: by the address of their API, and by the names of their models where nothing else tells."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider. `names`: patterns of its models, beside those that have a list price; none: a name tells nothing."""

    name: str
    dialect: str  # "generic": none of its own
    base_url: str
    names: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """The host of its API."""
        return urlsplit(self.base_url).netloc


PROVIDERS = (
    Provider("Kimi", "kimi", "https://api.moonshot.ai/v1", ("kimi-*", "moonshot-*")),
    Provider("OpenAI", "openai", "https://api.openai.com/v1", ("gpt-*", "chatgpt-*", "o[0-9]*")),
    Provider("DeepSeek", "deepseek", "https://api.deepseek.com/v1", ("deepseek-*",)),
    Provider(
        "Mistral",
        "mistral",
        "https://api.mistral.ai/v1",
        ("mistral-*", "magistral-*", "ministral-*", "codestral-*"),
    ),
    Provider("Anthropic", "anthropic", "https://api.anthropic.com/v1"),
    Provider("OpenRouter", "generic", "https://openrouter.ai/api/v1"),
    Provider("Groq", "generic", "https://api.groq.com/openai/v1"),
    Provider("Together", "generic", "https://api.together.xyz/v1"),
    Provider("Fireworks", "generic", "https://api.fireworks.ai/inference/v1"),
    Provider("xAI", "generic", "https://api.x.ai/v1"),
    Provider("Gemini", "generic", "https://generativelanguage.googleapis.com/v1beta/openai"),
)
OPTIONAL = frozenset({"api.deepseek.com"})  # hosts that answer without the path as well


@lru_cache(256)
def provider_at(base_url: str) -> Provider | None:
    """Returns the provider whose API has this address, whatever path is given; None if it is not known."""
    host = urlsplit(base_url).netloc.lower()
    return next((each for each in PROVIDERS if each.host == host), None)


@lru_cache(256)
def dialect_at(base_url: str) -> str:
    """Returns the dialect of the provider whose API has this address; "generic" if it is not known."""
    found = provider_at(base_url)
    return "generic" if found is None else found.dialect
