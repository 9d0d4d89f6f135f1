"""Settings in documents: each block of YAML is a configuration that the proxy takes, each path like `memory.files.path`
and each mapping like `auth: {mode: keys}` names settings that there are."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from proxy.config import Config, ConfigError, json_schema, load
from tests.docs.documents import Document
from tests.docs.settings import Reader

# What an excerpt may lean on: upstreams with a key and a price, which models of memory and judges need.
PRICE = {"input": 1.0, "output": 2.0}
UPSTREAMS = [
    {"name": name, "base_url": "https://llm.example.com/v1", "api_key": "${UPSTREAM_KEY}", "price": PRICE}
    for name in ("kimi", "openai")
]
KEYS = [{"name": "ana", "key": "${ANA_KEY}"}]

_PATH = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
_NAME = re.compile(r"\$\{(\w+)")
_REST = ("…", "...")
_FILES = frozenset({"admin.logouts"})  # of the storage folder, which look like settings


def problems(document: Document) -> Iterator[str]:
    """Each setting that there is not."""
    for block in document.blocks():
        if block.language in ("yaml", "yml") and "client" not in block.words:
            yield from (f"{document.name}:{block.line}: {wrong}" for wrong in refusals(block.text))
    for code in document.codes():
        for path in _paths(code.text):
            if path.partition(".")[0] in Config.model_fields and path not in _FILES and not is_known(path):
                yield f"{document.name}:{code.line}: {code.text}: there is no setting {path}"


def refusals(text: str) -> Iterator[str]:
    """What is wrong with an excerpt of a configuration."""
    given = yaml.safe_load(text)
    if not isinstance(given, Mapping):
        yield "not a mapping"
        return
    keyed = given.get("auth", {}).get("mode") == "keys" and not given["auth"].get("keys")
    auth = {"auth": {**given["auth"], "keys": KEYS}} if keyed else {}
    whole = yaml.safe_dump({"upstreams": UPSTREAMS, **given, **auth})
    secrets = {name: f"{name.lower()}-0123456789abcdef" for name in _NAME.findall(whole)}
    secrets |= {"DATABASE_URL": "postgresql://olvido@db/olvido", "REDIS_URL": "redis://cache:6379/0"}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "olvido.yaml"
        file.write_text(whole, encoding="utf-8")
        try:
            load(file, secrets)
        except ConfigError as error:
            yield " ".join(str(error).split())


def _paths(text: str) -> Iterator[str]:
    if _PATH.fullmatch(text):
        yield text
    elif re.match(r"[a-z_]+: \S", text):
        try:
            yield from (path for path in _below(yaml.safe_load(text)) if not path.endswith(_REST))
        except yaml.YAMLError:
            return


def _below(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _below(each, f"{path}.{name}" if path else str(name))
    elif path:
        yield path


def is_known(path: str) -> bool:
    """True if a setting, a section, or what stands below one whose names are free, has this path."""
    known = _known()
    return path in known or any(path.startswith(f"{free}.") for free in known if free in _free())


@cache
def _known() -> frozenset[str]:
    found = set[str]()
    for _, settings in Reader(json_schema()).sections():
        for each in settings:
            words = each.path.replace("[]", "").split(".")
            found |= {".".join(words[:length]) for length in range(1, len(words) + 1)}
    return frozenset(found)


@cache
def _free() -> frozenset[str]:
    """The settings whose names a file chooses: profiles, prices, fields of a session."""
    told = (each for _, settings in Reader(json_schema()).sections() for each in settings)
    return frozenset(each.path.replace("[]", "") for each in told if each.type in ("by name", "text by name"))
