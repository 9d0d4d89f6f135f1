"""The configuration: `load` reads it once, refuses unknown settings, and explains every problem in one error.

    source.py    bytes → plain values, lines, ${NAME}
    model.py     plain values → frozen models
    settings.py  types of settings with their checks: durations, secrets, URLs
    providers.py providers that are known: addresses, dialects, names of models
    upstreams.py an upstream; prices of models, prefix caches
    reuse.py     reuse of answers
    storage.py   where things are kept, and for how long
    memory.py    memory: files, a model's help, tools
    observe.py   traces of requests, for other systems
    shared.py    the Redis that processes share, and the environment's variables for it
    profiles.py  the numbers of context management; builtin_profiles.py: their values, as a table
    texts.py     texts for a model, which files of a folder of the configuration replace
    session_state.py  fields of a conversation that are read from what its user says
    fingerprint.py   whether two processes mean the same configuration and storage
    mending.py   what is right in a file that has mistakes, so that all of them can be told at once
    reading.py   which settings a rule reads
    rules.py     rules between settings
    cautions.py  settings that are right, and do less than they seem to
    problems.py  settings that are given wrong, in the file's own words
    redacting.py secrets in any text, struck out

Secrets come from the environment alone, and no error, log or repr shows one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proxy.config.cautions import cautions
from proxy.config.mending import Mended, broken_rules, mended
from proxy.config.model import Config, is_loopback, shows_content
from proxy.config.problems import explained, is_secret, schema_at
from proxy.config.redacting import redact
from proxy.config.settings import key_hash
from proxy.config.shared import from_environment
from proxy.config.source import MAX_BYTES, ConfigError, Problem, Source, Where, read, required, substituted
from proxy.config.upstreams import Upstream, price_for

__all__ = [
    "Checked",
    "Config",
    "ConfigError",
    "Upstream",
    "checked",
    "is_loopback",
    "json_schema",
    "key_hash",
    "load",
    "load_copy",
    "load_for_storage",
    "price_for",
    "shows_content",
]

_PLACEHOLDER = "placeholder-for-"
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}")


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings about a file. `config`: of the settings that are right; None if that is not known. `cautions`: what
    should be known of it although nothing is wrong; none where something is."""

    source: str  # the name of the file, for people
    config: Config | None
    problems: tuple[Problem, ...]
    cautions: tuple[Problem, ...] = ()


def load(path: Path | None, environ: Mapping[str, str], **server: str | int | None) -> Config:
    """Returns the configuration of a file, or the defaults without one. `server`: settings of that section (host, port,
    workers) which replace the file's before the rules are checked, unless they are None. Raises ConfigError, with every
    problem, and nothing else."""
    found = checked(path, environ, **server)
    if found.config and not found.problems:
        return found.config
    # Raised outside the handler: the library's error holds the values, and must not hang on ours as its context.
    raise ConfigError(found.source, list(found.problems))


def checked(path: Path | None, environ: Mapping[str, str] | None, **server: str | int | None) -> Checked:
    """Returns what a file says with all of its problems: see `load`. `environ`: None for a check that does without:
    what stands for a variable is taken to be right."""
    raw = read(path) if path else Source({})
    given = _placeholders(raw) if environ is None else environ
    raw = replace(raw, tree=from_environment(raw.tree, given))
    unreadable = bool(raw.problems) and not raw.tree
    source = substituted(raw, given)
    tree = _with_server(_without_empty_secrets(source.tree), server)
    problems = [*source.problems, *_secret_problems(raw, source)]
    found = Mended(None, frozenset(), ()) if unreadable else mended(tree)
    known = {problem.where for problem in problems}
    if environ is None:
        known.update(source.from_env)
    problems += [problem for problem in explained(list(found.errors), source) if problem.where not in known]
    problems += broken_rules(found)
    told = cautions(found.config) if found.config and not problems else []
    located, careful = (
        tuple(Problem(p.where, redact(p.text), p.line if p.line is not None else source.line(p.where)) for p in each)
        for each in (problems, told)
    )
    return Checked(str(path) if path else "configuration", found.config, located, careful)


def load_for_storage(path: Path | None, environ: Mapping[str, str]) -> Config:
    """Returns the configuration as `load` does, for a command that looks at what is stored and asks nobody: that
    variables are not set, such as keys of upstreams, is no obstacle, unless the storage's place depends on them. Raises
    ConfigError."""
    found = checked(path, environ)
    if found.problems and path is not None:
        again = checked(path, {**_placeholders(read(path)), **environ})
        if again.config and not again.problems and not _is_made_up(again.config):
            return again.config
    if found.config and not found.problems:
        return found.config
    raise ConfigError(found.source, list(found.problems))


def _is_made_up(config: Config) -> bool:
    files = config.memory.files
    places = [config.storage.path, *([files.path] if files is not None else [])]
    return config.storage.url is not None or any(_PLACEHOLDER in str(each) for each in places)


def _placeholders(raw: Source) -> Mapping[str, str]:
    """Values for the variables that a file needs: each its own, and long enough for a token."""
    needed = {name for _, value in _leaves(raw.tree, ()) if isinstance(value, str) for name in required(value)}
    return {name: f"{_PLACEHOLDER}{name}-{'0' * 32}" for name in {*needed, "REDIS_URL"}}


def load_copy(path: Path | None, copy: Path, environ: Mapping[str, str], **server: str | int | None) -> Config:
    """Returns the configuration of a file as `load` does, and leaves what was read in `copy`, for other processes: the
    file may be changed meanwhile. It holds no secrets. Raises ConfigError; OSError if the copy cannot be written."""
    if path is None:
        return load(None, environ, **server)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError:
        return load(path, environ, **server)  # says why it cannot be read
    copy.write_bytes(content)
    try:
        return load(copy, environ, **server)
    except ConfigError as error:
        problems = list(error.problems)
    raise ConfigError(str(path), problems)


def json_schema() -> dict[str, Any]:
    """Returns the JSON Schema (2020-12) of the file, for editors. Every setting has a description."""
    schema = Config.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Olvido configuration"}


def _with_server(tree: dict[str, Any], settings: Mapping[str, str | int | None]) -> dict[str, Any]:
    given = {key: value for key, value in settings.items() if value is not None}
    server = tree.get("server", {})
    return {**tree, "server": {**server, **given}} if given and isinstance(server, dict) else tree


def _secret_problems(raw: Source, source: Source) -> Iterator[Problem]:
    """Yields the problems of secrets that are in the file itself, or whose variable is empty."""
    for (where, value), (_, meant) in zip(_leaves(raw.tree, ()), _leaves(source.tree, ()), strict=True):
        if value == "" or not is_secret(where):
            continue
        options = (schema_at(where) or {}).get("anyOf", [schema_at(where) or {}])
        allowed = next((option["pattern"] for option in options if "pattern" in option), "")
        hashed = "sha256:" in allowed
        as_it_is = isinstance(value, str) and (
            value.startswith("sha256:") if hashed else allowed and re.search(allowed, value)
        )
        if isinstance(value, str) and (_REFERENCE.fullmatch(value) or as_it_is):
            if value.endswith("}") and not value.endswith(":-}") and meant == "":
                name = source.from_env[where]
                yield Problem(
                    where, f"the environment variable {name} is empty; write {name[:-1]}:-}} if it is optional"
                )
            continue
        instead = "${NAME} or sha256:<hex>" if hashed else "${NAME}"
        yield Problem(
            where, f"a secret must not stand in the file: put it into the environment and write {instead} here"
        )


def _without_empty_secrets(tree: Any, where: Where = ()) -> Any:
    if isinstance(tree, dict):
        kept = {key: item for key, item in tree.items() if item != "" or not is_secret((*where, key))}
        return {key: _without_empty_secrets(item, (*where, key)) for key, item in kept.items()}
    if isinstance(tree, list):
        return [_without_empty_secrets(item, (*where, index)) for index, item in enumerate(tree)]
    return tree


def _leaves(tree: Any, where: Where) -> Iterator[tuple[Where, Any]]:
    items: Any = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in items:
        yield from _leaves(item, (*where, key))
    if not isinstance(tree, dict | list):
        yield where, tree
