"""Types of settings: what each takes, and what it refuses without repeating it."""

import hashlib
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from proxy.config.settings import BaseUrl, Folder, Host, KeyHash, LongSecret, Origin, Period, Seconds, Secret, key_hash

KEY = "olv-0123456789abcdef"


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (0, 0), (1.5, 1.5), ("60", 60), ("500ms", 0.5), ("10s", 10), ("30m", 1_800), ("24h", 86_400), ("7d", 604_800),
        ("1.5h", 5_400), (" 2 m ", 120),
    ],
)  # fmt: skip
def test_a_duration_is_a_number_of_seconds_or_a_number_with_a_unit(given: object, seconds: float) -> None:
    assert TypeAdapter(Seconds).validate_python(given) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "given", ["", "soon", "10 parsecs", "-5s", -1, True, None, float("nan"), float("inf"), [1], "1e400", "9" * 400]
)
def test_anything_else_is_not_a_duration(given: object) -> None:
    with pytest.raises(ValidationError, match="a duration: seconds as a number, or text like"):
        TypeAdapter(Seconds).validate_python(given)


@pytest.mark.parametrize("nothing", [0, "0s", "0.0ms"])
def test_a_period_cannot_be_nothing(nothing: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Period).validate_python(nothing)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://api.moonshot.ai/v1", "https://api.moonshot.ai/v1"),
        ("http://127.0.0.1:9000/v1/", "http://127.0.0.1:9000/v1"),
        ("http://[::1]:9000", "http://[::1]:9000"),
    ],
)
def test_a_base_url_loses_its_trailing_slash(given: object, kept: str) -> None:
    assert TypeAdapter(BaseUrl).validate_python(given) == kept


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "with a host"), ("api.moonshot.ai/v1", "with a host"), ("ftp://x", "with a host"),
        ("http://", "with a host"), ("http://x:99999", "with a host"), ("http://x:0", "with a host"),
        ("http://[hunter2]", "with a host"), ("http://x:hunter2", "with a host"), ("http://a b/", "with a host"),
        ("http://ñ.example/", "with a host"), ("http://x\n/", "with a host"),
        ("http://u:hunter2@x", "without user"), ("http://@x", "without user"),
        ("http://x?key=hunter2", "without query"), ("http://x#", "without query"),
    ],
)  # fmt: skip
def test_a_bad_base_url_is_refused_without_being_repeated(given: object, reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(BaseUrl).validate_python(given)
    (error,) = caught.value.errors()
    assert reason in error["msg"]
    assert "hunter2" not in error["msg"]


def test_an_own_key_is_kept_as_its_hash() -> None:
    expected = "sha256:" + hashlib.sha256(KEY.encode()).hexdigest()
    assert TypeAdapter(KeyHash).validate_python(KEY) == expected == key_hash(KEY)


def test_the_hash_of_an_own_key_may_be_given_in_either_case() -> None:
    given = key_hash(KEY)
    assert TypeAdapter(KeyHash).validate_python(f"sha256:{given[7:].upper()}") == given


@pytest.mark.parametrize("given", ["short", "has a space in its middle", "sha256:0123456789abcdef", "ñ" * 20, 5, ""])
def test_a_weak_or_unsendable_own_key_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(KeyHash).validate_python(given)


@pytest.mark.parametrize("given", ["", "two words", "line\nbreak", "ñandú", "trailing "])
def test_a_key_that_no_header_can_carry_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Secret).validate_python(given)


def test_a_long_secret_has_at_least_sixteen_characters() -> None:
    assert TypeAdapter(LongSecret).validate_python("x" * 16).get_secret_value() == "x" * 16
    with pytest.raises(ValidationError):
        TypeAdapter(LongSecret).validate_python("x" * 15)


def test_a_folder_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert TypeAdapter(Folder).validate_python("~/olvido") == tmp_path / "olvido"


@pytest.mark.parametrize("given", ["~no-such-user-here/x", "a\0b"])
def test_a_folder_that_cannot_be_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Folder).validate_python(given)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://Chat.Example.com", "https://chat.example.com"),
        ("https://chat.example.com:443/", "https://chat.example.com"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:443", "http://localhost:443"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ("app://obsidian.md", "app://obsidian.md"),
    ],
)
def test_an_origin_is_kept_as_browsers_write_it(given: str, kept: str) -> None:
    assert TypeAdapter(Origin).validate_python(given) == kept


@pytest.mark.parametrize(
    "given", ["", "*", "null", "chat.example.com", "https://*.example.com", "https://x/path", "a b"]
)
def test_what_is_no_origin_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="an origin like"):
        TypeAdapter(Origin).validate_python(given)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Proxy.Internal", "proxy.internal"),
        ("proxy:8443", "proxy:8443"),
        ("[::1]:80", "[::1]:80"),
        ("10.0.0.7", "10.0.0.7"),
    ],
)
def test_a_host_is_a_name_with_or_without_a_port(given: str, kept: str) -> None:
    assert TypeAdapter(Host).validate_python(given) == kept


@pytest.mark.parametrize("given", ["", "*", "*.example.com", "http://x", "x/path", "a b", "x:port", "::1", "u@x"])
def test_what_is_no_host_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="a name like"):
        TypeAdapter(Host).validate_python(given)
