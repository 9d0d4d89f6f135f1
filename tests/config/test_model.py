from typing import Any

import pytest
from pydantic import ValidationError

from proxy.config.builtin_profiles import BUILT_IN
from proxy.config.model import Config, Server, is_loopback, shows_content


def properties(schema: dict[str, Any], name: str = "") -> list[tuple[str, dict[str, Any]]]:
    models = {"Config": schema, **schema["$defs"]}
    return [(f"{model}.{key}", body) for model, at in models.items() for key, body in at.get("properties", {}).items()]


PROPERTIES = properties(Config.model_json_schema())


def test_the_schema_reaches_every_section() -> None:
    assert len(PROPERTIES) > 90
    assert {"Server.port", "Upstream.api_key", "Profile.budget", "Window.turns", "IntentReuse.min_cosine"} <= {
        name for name, _ in PROPERTIES
    }


@pytest.mark.parametrize(("name", "body"), PROPERTIES, ids=[name for name, _ in PROPERTIES])
def test_every_setting_is_documented(name: str, body: dict[str, Any]) -> None:
    assert len(body.get("description", "")) > 10
    assert body["description"].endswith(".")


def test_a_configuration_cannot_be_changed() -> None:
    config = Config()
    with pytest.raises(ValidationError):
        setattr(config, "server", Server())  # noqa: B010 (mypy would refuse the plain assignment)
    with pytest.raises(ValidationError):
        setattr(config.server, "port", 1)  # noqa: B010 (same)


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError):
        Config.model_validate({"servre": {}})


def test_built_in_profiles_are_there_without_being_named() -> None:
    assert set(Config().profiles) == set(BUILT_IN)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True),
        ("LOCALHOST", True), ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("example.com", False),
        ("localhost.example.com", False),
    ],
)  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("host", "given", "shown"),
    [
        ("127.0.0.1", None, True), ("0.0.0.0", None, False), ("127.0.0.1", False, False), ("0.0.0.0", True, True),
    ],
)  # fmt: skip
def test_what_requests_said_is_shown_where_only_this_machine_sees_it_unless_told(
    host: str, given: bool | None, shown: bool
) -> None:
    settings = {"server": {"host": host}, "admin": {"show_content": given}}
    assert shows_content(Config.model_validate(settings)) is shown
