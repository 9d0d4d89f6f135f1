import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from proxy.config import Config, ConfigError, Upstream, json_schema, key_hash, load, load_copy, price_for
from proxy.types import Price

EXAMPLE = Path(__file__).parents[2] / "deploy" / "olvido.example.yaml"
SECRET = "sk-0123456789abcdefXYZ"
ENVIRON = {"KEY": SECRET, "OWN": "olv-0123456789abcdef", "TOKEN": "admin-0123456789abcdef", "EMPTY": "", "PORT": "9000"}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "olvido.yaml"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        return path

    return write


def refusal(path: Path | None, **options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(path, ENVIRON, **options)
    assert caught.value.__context__ is None  # what the library raised holds the values
    return str(caught.value)


def outcome(path: Path) -> Config | ConfigError:
    try:
        return load(path, ENVIRON)
    except ConfigError as error:
        return error


@pytest.mark.note("1.3/1")
def test_without_a_file_it_serves_kimi_on_loopback_with_the_clients_key() -> None:
    config = load(None, {})
    (upstream,) = config.upstreams
    assert (config.server.host, config.server.port) == ("127.0.0.1", 8484)
    assert (upstream.name, upstream.base_url, upstream.dialect) == ("kimi", "https://api.moonshot.ai/v1", "kimi")
    assert (upstream.api_key, upstream.models) == (None, ("*",))
    assert config.log.contents is False


def test_an_empty_file_is_the_defaults(write: Any) -> None:
    assert load(write(""), {}) == load(None, {})
    assert load(write("server:\nupstreams:\n"), {}) == load(None, {})


def test_values_come_from_the_environment(write: Any) -> None:
    config = load(
        write("server: {port: '${PORT}'}\nupstreams: [{name: a, base_url: http://a/v1, api_key: '${KEY}'}]"), ENVIRON
    )
    assert config.server.port == 9000
    assert config.upstreams[0].api_key is not None
    assert config.upstreams[0].api_key.get_secret_value() == SECRET


def test_an_optional_secret_that_is_empty_counts_as_absent(write: Any) -> None:
    config = load(write("admin: {token: '${EMPTY:-}'}\nembedding: {api_key: '${ABSENT:-}'}"), ENVIRON)
    assert (config.admin.token, config.embedding.api_key) == (None, None)


def test_secrets_show_in_no_repr_or_dump(write: Any) -> None:
    text = (
        "upstreams: [{name: a, base_url: http://a/v1, api_key: '${KEY}'}]\n"
        "auth: {mode: keys, keys: [{name: ana, key: '${OWN}'}]}\nadmin: {token: '${TOKEN}'}"
    )
    config = load(write(text), ENVIRON)
    shown = f"{config!r} {config} {config.model_dump()} {config.model_dump_json()}"
    assert not [name for name in ("KEY", "OWN", "TOKEN") if ENVIRON[name] in shown]
    assert config.auth.keys[0].key == key_hash(ENVIRON["OWN"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("server:\n  prot: 1", "line 2, server.prot: unknown key; did you mean `port`?"),
        ("server:\n\n  port: x", "line 3, server.port: found 'x', expected a whole number"),
        ("tenancy: ${KEY}", "line 1, tenancy: found the value of ${KEY}, expected 'personal' or 'shared'"),
        ("tenancy: ${NOPE}", "line 1, tenancy: the environment variable NOPE is not set"),
        ("admin: {token: hunter2}", "line 1, admin.token: a secret must not stand in the file"),
        ("admin: {token: 123456}", "line 1, admin.token: a secret must not stand in the file"),
        ("admin: {token: 'Bearer ${TOKEN}'}", "line 1, admin.token: a secret must not stand in the file"),
        ("admin: {token: '${NOPE:-hunter2}'}", "line 1, admin.token: a secret must not stand in the file"),
        ("admin: {token: '${EMPTY}'}", "variable ${EMPTY} is empty; write ${EMPTY:-} if it is optional"),
        ("auth: {keys: [{name: a, key: hunter2}]}", "auth.keys[0].key: a secret must not stand in the file"),
        ("auth: {keys: [{name: a, key: hunter2}]}", "write ${NAME} or sha256:<hex> here"),
        ("auth: {keys: [{name: a, key: 'sha256:12'}]}", "auth.keys[0].key: found a value that is not shown"),
        ("server: {host: 0.0.0.0}\nadmin: {}", "line 2, admin.token: must be set"),
        ("a: 1\na: 2", "line 2, a: is given twice, first in line 1"),
        ("[", "line 1: is not YAML"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_line_the_path_and_the_reason(write: Any, text: str, expected: str) -> None:
    told = refusal(write(text))
    assert expected in told
    assert "hunter2" not in told
    assert SECRET not in told


def test_a_refusal_lists_every_problem_once(write: Any) -> None:
    told = refusal(write("server: {port: x, hots: y}\nadmin: {token: '${NOPE}'}\nlog: {level: '${NOPE}'}\nlog: {}"))
    assert told.splitlines()[0].endswith("olvido.yaml: 5 problems")
    assert len(told.splitlines()) == 6


def test_an_unreadable_file_is_a_refusal(tmp_path: Path) -> None:
    told = refusal(tmp_path / "none.yaml", host="0.0.0.0")
    assert told == f"{tmp_path / 'none.yaml'}: 1 problem\n  cannot be read: No such file or directory"


def test_host_and_port_from_outside_replace_the_files(write: Any) -> None:
    config = load(write("server: {port: 1, drain: 3}"), {}, host="::1", port=0)
    assert (config.server.host, config.server.port, config.server.drain) == ("::1", 0, 3.0)


def test_what_was_read_is_left_as_a_copy_that_a_later_change_does_not_reach(write: Any, tmp_path: Path) -> None:
    file, copy = write("server: {port: 1234}"), tmp_path / "copy.yaml"
    assert load_copy(file, copy, {}).server.port == 1234
    write("server: {port: 5678}")
    assert load(copy, {}).server.port == 1234
    assert load_copy(file, copy, {}, workers=3, port=None).server == load(file, {}, workers=3).server
    assert load_copy(None, tmp_path / "none", {}) == load(None, {})
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("text", ["server: {prot: 1}", "x" * 200_000])
def test_problems_of_a_copy_are_told_as_those_of_the_file(text: str, write: Any, tmp_path: Path) -> None:
    file = write(text)
    with pytest.raises(ConfigError) as caught:
        load_copy(file, tmp_path / "copy.yaml", {})
    assert str(caught.value) == str(outcome(file))
    assert caught.value.__context__ is None


def test_a_file_that_is_not_there_is_a_problem_and_no_copy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_copy(tmp_path / "absent.yaml", tmp_path / "copy.yaml", {})
    assert not (tmp_path / "copy.yaml").exists()


def test_a_public_host_from_outside_obeys_the_same_rules() -> None:
    told = refusal(None, host="0.0.0.0")
    assert "tenancy: must be set" in told
    assert "admin.token: must be set" in told


def test_the_example_loads_and_fits_the_schema() -> None:
    config = load(EXAMPLE, {"SPARE_API_KEY": SECRET, "OLVIDO_ADMIN_TOKEN": ENVIRON["TOKEN"]})
    assert [upstream.name for upstream in config.upstreams] == ["kimi", "spare"]
    text = EXAMPLE.read_text()
    assert set(yaml.safe_load(text)) == set(Config.model_fields)
    tree = yaml.load(text, Loader=yaml.BaseLoader)
    assert tree["context"]["mode"] == "on"


def test_what_the_example_calls_a_default_is_one(write: Any) -> None:
    text = EXAMPLE.read_text().split("upstreams:")[0] + "auth:" + EXAMPLE.read_text().split("\nauth:")[1]
    kept = [line for line in text.splitlines() if "not a default" not in line]
    assert load(write("\n".join(kept)), {}) == load(None, {})


def settings_below(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[str]:
    """Names of all settings that a schema has at any depth."""
    if "$ref" in schema:
        yield from settings_below(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    for name, below in schema.get("properties", {}).items():
        yield name
        yield from settings_below(below, definitions)
    for below in (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(below, dict):
            yield from settings_below(below, definitions)


@pytest.mark.parametrize("section", sorted(Config.model_fields))
def test_the_example_names_every_setting(section: str) -> None:
    whole = json_schema()
    text = re.split(r"\n(?=\w)", EXAMPLE.read_text())
    (part,) = [each for each in text if each.startswith(f"{section}:")]
    wanted = set(settings_below(whole["properties"][section], whole["$defs"]))
    assert [name for name in wanted if not re.search(rf"\b{name}:", part)] == []


WITH_KEY = {"name": "a", "base_url": "http://a/v1", "api_key": "${KEY}"}
SCHEMA = jsonschema_rs.validator_for(json_schema())


@pytest.mark.parametrize(
    ("tree", "valid"),
    [
        ({}, True),
        ({"server": {"drain": "20s"}}, True),
        ({"server": {"drain": 20}}, True),
        ({"profiles": {"lean": {"window": {"turns": 5}}}}, True),
        ({"upstreams": [WITH_KEY]}, True),
        ({"auth": {"mode": "keys", "keys": [{"name": "a", "key": "${OWN}"}]}, "upstreams": [WITH_KEY]}, True),
        ({"auth": {"keys": [{"name": "a", "key": "literal-literal-literal"}]}}, False),
        ({"server": {"drain": "soon"}}, False),
        ({"server": {"prot": 1}}, False),
        ({"upstreams": [{"name": "a"}]}, False),
        ({"profiles": {"lean": {"window": {"turn": 5}}}}, False),
    ],
)
def test_the_schema_judges_as_loading_does(tree: dict[str, Any], valid: bool, write: Any) -> None:
    assert SCHEMA.is_valid(tree) is valid
    assert isinstance(outcome(write(yaml.safe_dump(tree))), Config) is valid


KIMI = {"name": "kimi", "base_url": "https://k/v1", "dialect": "kimi"}
FLAT = {"input": 1, "output": 2}


@pytest.mark.parametrize(
    ("upstream", "model", "price"),
    [
        (KIMI, "kimi-k2.6", Price(0.95, 0.16, 0.95, 4.0)),
        (KIMI, "kimi-k2.7-code", Price(0.95, 0.19, 0.95, 4.0)),
        (KIMI, "kimi-k3", Price(3.0, 0.3, 3.0, 15.0)),
        (KIMI, "kimi-k3.1-pro", Price(2.0, 0.2, 2.0, 10.0)),
        (KIMI, "unheard-of", Price()),
        ({**KIMI, "dialect": "vllm"}, "kimi-k2.6", Price()),
        ({**KIMI, "price": FLAT}, "kimi-k2.6", Price(1, 0.25, 1, 2)),
        ({**KIMI, "price": {**FLAT, "cached": 0, "write": 3}}, "x", Price(1, 0, 3, 2)),
        ({**KIMI, "price": {**FLAT, "cached": 1}}, "x", Price(1, 1, 1, 2)),
        ({**KIMI, "price": FLAT, "prices": {"kimi-*": {"input": 5, "output": 6}}}, "kimi-k3", Price(5, 1.25, 5, 6)),
        ({**KIMI, "price": FLAT, "prices": {"kimi-*": {"input": 5, "output": 6}}}, "other", Price(1, 0.25, 1, 2)),
        ({**KIMI, "prices": {"k*": {"input": 5, "output": 6}, "kimi": FLAT}}, "kimi", Price(1, 0.25, 1, 2)),
        ({**KIMI, "aliases": {"gpt": "kimi-k3"}}, "gpt", Price(3.0, 0.3, 3.0, 15.0)),
        ({**KIMI, "aliases": {"gpt": "kimi-k3"}, "prices": {"gpt": FLAT}}, "gpt", Price(1, 0.25, 1, 2)),
    ],
)
def test_the_nearest_price_is_the_one_that_counts(upstream: dict[str, Any], model: str, price: Price) -> None:
    assert price_for(Upstream.model_validate(upstream), model) == price


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20),
    st.sampled_from(["${KEY}", "${NOPE}", "${", "${EMPTY}", "${EMPTY:-}", "24h", "lean", "sha256:" + "0" * 64, "a"]),
)  # fmt: skip
TREES = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=8,
)


def near(schema: dict[str, Any]) -> SearchStrategy[Any]:
    """Values around what a schema asks for: its own keys, with anything below some of them."""
    definitions = json_schema()["$defs"]

    def build(node: dict[str, Any], depth: int) -> SearchStrategy[Any]:
        options = [definitions[o["$ref"].rsplit("/", 1)[1]] if "$ref" in o else o for o in node.get("anyOf", [node])]
        shaped: list[SearchStrategy[Any]] = [TREES]
        for option in options if depth else []:
            if "properties" in option:
                below = {key: build(item, depth - 1) for key, item in option["properties"].items()}
                shaped.append(st.fixed_dictionaries({}, optional=below))
            elif isinstance(option.get("additionalProperties"), dict):
                names = st.sampled_from(["lean", "x", "kimi-*"])
                shaped.append(st.dictionaries(names, build(option["additionalProperties"], depth - 1), max_size=2))
            elif "items" in option:
                shaped.append(st.lists(build(option["items"], depth - 1), max_size=3))
            elif "enum" in option:
                shaped.append(st.sampled_from(option["enum"]))
        return st.one_of(shaped)

    return build(schema, 4)


@settings(deadline=None)
@given(st.one_of(near(json_schema()), TREES))
def test_whatever_the_file_says_it_is_a_configuration_or_a_config_error(tmp_path_factory: Any, tree: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(yaml.safe_dump(tree, allow_unicode=False).encode("utf-8", "surrogatepass"))
    assert SECRET not in str(outcome(path))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_whatever_the_bytes_are_it_is_a_configuration_or_a_config_error(tmp_path_factory: Any, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(data)
    result = outcome(path)
    assert isinstance(result, Config) or result.problems
