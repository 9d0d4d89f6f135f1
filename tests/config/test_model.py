from typing import Any

import pytest
from pydantic import ValidationError

from proxy.config.model import Config, Server
from proxy.config.profiles import BUILT_IN


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
