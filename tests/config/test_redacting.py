"""What looks like a secret is struck out, and nothing else."""

import pytest

from proxy.config.redacting import redact

KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"key {KEY}.", "key sk-***."),
        ("sk-proj-abc_DEF-123", "sk-***"),
        ("Authorization: Bearer abcdefgh.ijk", "Authorization: Bearer ***"),
        ("(b'authorization', b'Bearer tok_12345678')", "(b'authorization', b'Bearer ***')"),
        ("authorization: abcdefgh", "authorization: ***"),
        ("Basic dXNlcjpwYXNz", "Basic ***"),
        ("https://user:pass@host/v1", "https://***@host/v1"),
        ("GET /v1/x?api_key=abcdef&a=1", "GET /v1/x?api_key=***&a=1"),
        ("{'x-api-key': 'abcdef', 'a': 1}", "{'x-api-key': '***', 'a': 1}"),
        ('{"token": "abcdef"}', '{"token": "***"}'),
        ("password=hunter2", "password=***"),
        ("gsk_" + "a1" * 10, "gsk_***"),
        ("hf_" + "a1" * 10, "hf_***"),
    ],
)
def test_what_looks_like_a_secret_is_struck_out(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "prompt_tokens=1200 completion_tokens: 3",
        "max_tokens: 1000",
        "task-force and disk-usage of the skeleton",
        "https://api.moonshot.ai/v1/models?a=1",
        "bearer of news",
        "a token is missing",
        "the environment variable MOONSHOT_API_KEY is not set",
        "x-" * 50_000,
        "token" + " " * 50_000,
    ],
    ids=lambda text: text[:20],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text
