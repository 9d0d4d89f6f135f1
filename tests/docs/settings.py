"""`python -m tests.docs.settings [--write]`: the part "Every setting" of deploy/docs/configuration.md, from the model
of the configuration. `--write` writes it; without it the command ends with 1 if it is out of date. What stands above
that heading is written by hand."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from proxy.config import json_schema
from proxy.config.builtin_profiles import BUILT_IN

DOCUMENT = Path(__file__).parents[2] / "deploy" / "docs" / "configuration.md"
HEADING = "## Every setting\n"
INTRODUCTION = """
Made from the configuration's own model (`make config-docs`). `[]` is an entry of a list, `<name>` a name of your
choice. A duration is seconds as a number, or text like `500ms`, `10s`, `30m`, `24h`, `7d`. A secret is `${NAME}`, from
the environment alone. `olvido check-config --schema` prints the same as a JSON Schema, for editors.
"""
COLUMNS = ("setting", "type", "default", "what")
PROFILES = "profiles"
_INHERITED = "of its `base`"

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))
_PLAIN = {"integer": "whole number", "number": "number", "boolean": "true, false", "string": "text"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A line of the table."""

    path: str
    type: str
    default: str
    what: str


class Reader:
    """The JSON Schema of the configuration, as lines of tables."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._known = schema.get("$defs", {})

    def sections(self) -> Iterator[tuple[str, Sequence[Setting]]]:
        """Each key of the file with its settings; those that are no section stand together under ""."""
        alone = []
        for name, given in self._schema["properties"].items():
            lines = list(self.settings(name, given))
            if len(lines) == 1 and lines[0].path == name:
                alone += lines
            else:
                yield name, lines
        yield "", alone

    def settings(self, path: str, given: Mapping[str, Any]) -> Iterator[Setting]:
        """The settings at `path` and below."""
        schema = self._resolved(given)
        what = given.get("description") or schema.get("description", "")
        below, place = self._below(schema, path)
        if below is None:
            yield Setting(path, self._type(given), _default(given, schema), what)
            return
        if place != path or _is_optional(given):
            yield Setting(path, "section" if place == path else "list" if place.endswith("[]") else "by name",
                          _default(given, schema, hides=place == path), what)  # fmt: skip
        for name, each in below["properties"].items():
            more = {"required": name in below.get("required", ()), "inherits": path.startswith(PROFILES)}
            yield from self.settings(f"{place}.{name}", {**each, **more})

    def _below(self, schema: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any] | None, str]:
        """The section that a schema is or holds, and where its settings are."""
        if "properties" in schema:
            return schema, path
        held = schema.get("items") or schema.get("additionalProperties") or next(
            iter(schema.get("patternProperties", {}).values()), None
        )  # fmt: skip
        if isinstance(held, Mapping) and "properties" in (found := self._resolved(held)):
            return found, f"{path}[]" if "items" in schema else f"{path}.<name>"
        return None, path

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema that is meant: of a reference its target, of "this or null" this."""
        options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
        if len(options) == 1:
            return self._resolved({**options[0], "default": schema.get("default")})
        if "$ref" in schema:
            return self._resolved(self._known[schema["$ref"].rpartition("/")[2]])
        return schema

    def _type(self, given: Mapping[str, Any]) -> str:
        schema = self._resolved(given)
        if "enum" in schema:
            return " \\| ".join(f"`{_scalar(each)}`" for each in schema["enum"])
        if "const" in schema:
            return f"`{_scalar(schema['const'])}`"
        if _is_duration(schema):
            return "duration"
        if options := schema.get("anyOf"):
            return " or ".join(self._type(each) for each in options)
        if schema.get("format") == "password":
            return "secret"
        if schema.get("format") == "path":
            return "path"
        if schema.get("type") == "array":
            held = schema.get("items", {})
            return f"list of {self._type(held)}" if held else "list"
        if schema.get("type") == "object":
            return "text by name"
        return _PLAIN.get(schema.get("type", ""), "any") + _bounds(schema)


def _is_optional(given: Mapping[str, Any]) -> bool:
    return any(each.get("type") == "null" for each in given.get("anyOf", ()))


def _is_duration(schema: Mapping[str, Any]) -> bool:
    return any("ms|s|m|h|d" in str(each.get("pattern")) for each in schema.get("anyOf", ()))


def _bounds(schema: Mapping[str, Any]) -> str:
    least = schema.get("minimum")
    above, most = schema.get("exclusiveMinimum"), schema.get("maximum")
    told = [f"≥ {least:,}"] if least not in (None, 0) else []
    told += [f"> {above:,}"] if above is not None else []
    told += [f"≤ {most:,}"] if most is not None else []
    return f", {', '.join(told)}" if told and schema.get("type") in ("integer", "number") else ""


def _default(given: Mapping[str, Any], schema: Mapping[str, Any], *, hides: bool = False) -> str:
    if given.get("required"):
        return "required"
    value = given.get("default")
    if value is None or (hides and value):
        return _INHERITED if given.get("inherits") else "absent"
    if _is_duration(schema):
        return f"`{duration(value)}`"
    if isinstance(value, list):
        return (
            " ".join(f"`{_scalar(each)}`" if not isinstance(each, dict) else f"`{each['name']}`" for each in value)
            or "none"
        )
    if isinstance(value, dict):
        return "<br>".join(f"`{name}: {_scalar(each)}`" for name, each in value.items()) or "none"
    return f"`{_scalar(value)}`" if value != "" else "empty"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def duration(seconds: float) -> str:
    """A duration as the configuration has it."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"


def numbers(profile: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers of a profile, by their paths in it."""
    for name, value in profile.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _profiles() -> Iterator[str]:
    named = {name: dict(numbers(asdict(profile))) for name, profile in BUILT_IN.items()}
    yield "The numbers of the built-in profiles:"
    yield ""
    yield f"| number | {' | '.join(named)} |"
    yield f"|---|{'---|' * len(named)}"
    for path in next(iter(named.values())):
        if path != "base":
            told = " | ".join(_scalar(each[path]) for each in named.values())
            yield f"| `{path}` | {told} |"
    yield ""


def _table(lines: Sequence[Setting]) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|{'---|' * len(COLUMNS)}"
    for each in lines:
        yield f"| `{each.path}` | {each.type} | {each.default} | {_cell(each.what)} |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(re.sub(r"<(?=\w+>)", "&lt;", text).replace("|", "\\|").split())


def lines() -> Iterator[str]:
    """The lines of the generated part."""
    yield INTRODUCTION
    for name, settings in Reader(json_schema()).sections():
        yield f"### {name or 'Settings of one line'}"
        yield ""
        yield from _table(settings)
        if name == PROFILES:
            yield from _profiles()


def written(text: str) -> str:
    """The document with its generated part anew."""
    by_hand = text.partition(HEADING)[0].rstrip()
    return f"{by_hand}\n\n{HEADING}" + "\n".join(lines()).rstrip() + "\n"


def main(arguments: Sequence[str]) -> int:
    is_now = DOCUMENT.read_text(encoding="utf-8")
    shall_be = written(is_now)
    if "--write" in arguments:
        DOCUMENT.write_text(shall_be, encoding="utf-8")
    elif is_now != shall_be:
        print(f"{DOCUMENT.name} is out of date: make config-docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
