"""The section `observe`: off unless it is there, and no secret of it is ever shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.config import Config, ConfigError, load
from proxy.config.observe import Tracing

SECRET = "Bearer hunter2-hunter2"


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., Config]:
    def loaded(text: str, **environ: str) -> Config:
        file = tmp_path / "olvido.yaml"
        file.write_text(text)
        return load(file, environ)

    return loaded


@pytest.mark.parametrize("text", ["", "observe: {}", "observe: {tracing: null}"])
def test_nothing_is_traced_unless_it_is_said(text: str, loaded: Callable[..., Config]) -> None:
    assert loaded(text, OTEL_EXPORTER_OTLP_ENDPOINT="http://elsewhere:4318").observe.tracing is None


def test_an_empty_section_sends_a_tenth_to_this_machine(loaded: Callable[..., Config]) -> None:
    assert loaded("observe: {tracing: {}}").observe.tracing == Tracing(
        endpoint="http://127.0.0.1:4318", sample=0.1, callers_per_minute=60, headers={}, service="olvido", timeout=10
    )


def test_a_header_may_have_a_space_and_comes_from_the_environment(loaded: Callable[..., Config]) -> None:
    config = loaded("observe: {tracing: {headers: {authorization: '${OTEL}'}}}", OTEL=SECRET)
    assert config.observe.tracing is not None
    assert config.observe.tracing.headers["authorization"].get_secret_value() == SECRET
    assert SECRET not in repr(config)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("observe: {tracing: {sample: 1.5}}", "observe.tracing.sample"),
        ("observe: {tracing: {sample: -1}}", "observe.tracing.sample"),
        ("observe: {tracing: {endpoint: 'localhost:4318'}}", "observe.tracing.endpoint"),
        ("observe: {tracing: {headers: {'a b': '${OTEL}'}}}", "observe.tracing.headers"),
        ("observe: {tracing: {ratio: 1}}", "observe.tracing.ratio"),
        ('observe: {tracing: {headers: {a: "${OTEL}"}}}', "observe.tracing.headers"),
    ],
)
def test_what_cannot_be_is_told_where_it_stands(text: str, where: str, loaded: Callable[..., Config]) -> None:
    with pytest.raises(ConfigError) as refused:
        loaded(text, OTEL="two\nlines")
    assert where in str(refused.value)
    assert "two" not in str(refused.value)


def test_end_users_are_named_and_few(loaded: Callable[..., Config]) -> None:
    assert loaded("").observe.users == ()
    assert loaded("observe: {users: [ana, luis]}").observe.users == ("ana", "luis")
    with pytest.raises(ConfigError, match=r"observe\.users"):
        loaded(f"observe: {{users: [{', '.join(f'u{n}' for n in range(51))}]}}")
