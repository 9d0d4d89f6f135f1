"""The section `shared`: where Redis is, who says so, and that no secret is ever shown."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from proxy.config import Config, ConfigError, load
from proxy.config.shared import Shared

SECRET = "hunter2-hunter2"
URL = f"redis://user:{SECRET}@redis.example.com:6380/3"


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., Config]:
    def loaded(text: str, **environ: str) -> Config:
        file = tmp_path / "olvido.yaml"
        file.write_text(text)
        return load(file, environ)

    return loaded


def shared(config: Config) -> Shared:
    assert config.shared is not None
    return config.shared


ENVIRONMENT = {"REDIS_URL": URL, "REDIS_HOST": "elsewhere", "REDIS_PORT": "1", "REDIS_PASSWORD": SECRET}


@pytest.mark.note("v2 Configuración/1")
@pytest.mark.parametrize("text", ["", "server: {port: 0}", "shared:"])
def test_the_environment_alone_connects_nothing(text: str, loaded: Callable[..., Config]) -> None:
    assert loaded(text, **ENVIRONMENT).shared is None
    assert load(None, ENVIRONMENT).shared is None


@pytest.mark.note("v2 Configuración/1")
@pytest.mark.parametrize(
    ("text", "environ", "place"),
    [
        ("shared: {}", ENVIRONMENT, "redis.example.com:6380"),
        ("shared: {timeout_ms: 20}", {"REDIS_HOST": "h"}, "h:6379"),
        ("shared: {}", {"REDIS_HOST": "h", "REDIS_PORT": "1", "REDIS_PASSWORD": SECRET}, "h:1"),
        ("shared: {}", {"REDIS_HOST": "h", "REDIS_PORT": "tcp://10.0.0.1:6379"}, "h:6379"),
        ("shared: {host: mine}", ENVIRONMENT, "mine:6379"),
        ("shared: {url: 'redis://mine'}", ENVIRONMENT, "mine:6379"),
        ("shared: {url: '${REDIS_URL}'}", ENVIRONMENT, "redis.example.com:6380"),
        ("shared: {host: '${REDIS_HOST}', port: '${REDIS_PORT}'}", ENVIRONMENT, "elsewhere:1"),
        ("shared: {url: 'redis://:${REDIS_PASSWORD}@mine:7'}", ENVIRONMENT, "mine:7"),
        ("shared: {url: '${ABSENT:-rediss://mine/2}'}", {}, "mine:6379"),
        ("shared: {url: 'unix:///run/redis.sock?db=2'}", {}, "/run/redis.sock"),
    ],
)
def test_the_file_says_that_there_is_one_and_either_says_where(
    text: str, environ: Mapping[str, str], place: str, loaded: Callable[..., Config]
) -> None:
    assert shared(loaded(text, **environ)).place == place


def test_its_parts_reach_the_client_whole(loaded: Callable[..., Config]) -> None:
    given = shared(loaded("shared: {}", REDIS_HOST="h", REDIS_PORT="1", REDIS_PASSWORD=SECRET)).options
    assert (given.scheme, given.url, dict(given.parts)) == (
        "redis",
        "",
        {"host": "h", "port": 1, "password": SECRET},
    )
    assert shared(loaded("shared: {}", REDIS_URL=URL)).options.url == URL


def test_no_secret_is_shown(loaded: Callable[..., Config]) -> None:
    for environ in ({"REDIS_URL": URL}, {"REDIS_HOST": "h", "REDIS_PASSWORD": SECRET}):
        config = loaded("shared: {}", **environ)
        shown = repr(config) + repr(shared(config).options) + shared(config).place + config.model_dump_json()
        assert SECRET not in shown


def refused(loaded: Callable[..., Config], text: str, **environ: str) -> str:
    with pytest.raises(ConfigError) as error:
        loaded(text, **environ)
    told = str(error.value)
    assert SECRET not in told
    return told


@pytest.mark.parametrize(
    ("text", "environ", "told"),
    [
        ("shared: {}", {}, "shared: names no server: set `url`, or `host`"),
        ("shared: {url: '${REDIS_URL}'}", {}, "REDIS_URL is not set"),
        (
            "shared: {url: '${REDIS_URL}'}",
            {"REDIS_URL": f"http://:{SECRET}@h"},
            "expected a URL like redis://host:6379/0",
        ),
        ("shared: {}", {"REDIS_URL": f"redis://:{SECRET}@"}, "expected a URL like redis://host:6379/0"),
        ("shared: {}", {"REDIS_URL": f"redis://:{SECRET}@h:99999"}, "expected a URL like redis://host:6379/0"),
        ("shared: {}", {"REDIS_URL": f"redis://:{SECRET}@h/name"}, "is the number of a database"),
        ("shared: {}", {"REDIS_URL": f"redis://:{SECRET}@h?protocol=3"}, "not 'protocol'"),
        (f"shared: {{url: '{URL}'}}", {}, "a secret must not stand in the file"),
        (f"shared: {{host: h, password: {SECRET}}}", {}, "a secret must not stand in the file"),
        (f"shared: {{url: '${{A:-{URL}}}'}}", {}, "a secret must not stand in the file"),
        ("shared: {url: 'redis://h', host: h}", {}, "is said by `shared.url` already"),
        ("shared: {host: h, timeout_ms: 0}", {}, "timeout_ms"),
        ("shared: {host: h, hot_context_ttl: 0}", {}, "hot_context_ttl"),
        ("shared: {hots: h}", {}, "did you mean `host`?"),
        ("shared: redis", {}, "expected a mapping"),
    ],
)
def test_what_is_wrong_is_named(
    text: str, environ: Mapping[str, str], told: str, loaded: Callable[..., Config]
) -> None:
    assert told in refused(loaded, text, **environ)


def test_without_the_client_library_it_says_which_extra_is_missing(
    loaded: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(_name: str) -> Any:
        return None

    monkeypatch.setattr("proxy.config.rules.find_spec", nothing)
    assert "pip install 'olvido[cluster]'" in refused(loaded, "shared: {host: h}")
    told = refused(loaded, "storage: {kind: postgres, url: '${DB}'}", DB="postgresql://h/olvido")
    assert "storage.kind: is postgres, which needs the extra olvido[cluster]" in told
    assert "in a checkout pip install -e '.[cluster]'" in told
    assert loaded("").shared is None
