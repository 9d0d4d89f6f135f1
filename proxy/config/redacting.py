"""Secrets in any text, struck out: bearer tokens, API keys, passwords in URLs, `secret=…`. For logs, problems of a
configuration, and reports that people send on."""

import re

STRUCK = "***"  # in place of a secret
# Patterns of secrets in any text.
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=:-]{6,}"), rf"\1 {STRUCK}"),
    (re.compile(r"(?i)\bsk-[\w-]{4,}"), f"sk-{STRUCK}"),
    (re.compile(r"\b(gsk_|xai-|hf_|ghp_|AIza)[\w-]{16,}"), rf"\1{STRUCK}"),
    (re.compile(r"://[^/\s@]+@"), f"://{STRUCK}@"),
    (
        re.compile(r"(?i)(api[_-]?key|token|secret|password|authorization)(['\"]?\s*[:=]\s*)"
                   r"(?!(?:bearer|basic) \*)(b?['\"])?[^\s'\"&;,)}\]]{4,}"),
        rf"\1\2\3{STRUCK}",
    ),
)  # fmt: skip
# A text without one of these has no secret; looking for them costs a third of trying the patterns.
_MARKS = (
    *("bearer", "basic", "sk-", "gsk_", "xai-", "hf_", "ghp_", "aiza", "://"),
    *("key", "token", "secret", "password", "authorization"),
)


def redact(text: str) -> str:
    """Returns the text with everything that looks like a bearer token, an API key, a password in a URL or a `secret=…`
    replaced by `***`."""
    lower = text.lower()
    if not any(mark in lower for mark in _MARKS):
        return text
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
