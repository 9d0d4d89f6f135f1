"""Settings that are given wrong, in the file's own words: the path, the value found, the value expected, the nearest
name for an unknown key. They come from the JSON Schema of the model.
"""

import difflib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from proxy.config.model import Config
from proxy.config.redacting import redact
from proxy.config.source import Problem, Source, Where, kind_of

_SHOWN = 60  # characters of a wrong value
_UNKNOWN = {"extra_forbidden", "unexpected_keyword_argument"}
_KINDS = {
    "dictionary": "a mapping",
    "tuple": "a list",
    "list": "a list",
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "False": "false",
    "have at least 1 item after validation, not 0": "at least one",
}


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    return Config.model_json_schema()


def schema_at(where: Where) -> dict[str, Any] | None:
    """Returns the JSON Schema of the setting at `where`; None if there is no such setting."""
    node: dict[str, Any] = _schema()
    for part in where:
        properties = node.get("properties", {})
        below = node.get("items") if isinstance(part, int) else properties.get(part) or node.get("additionalProperties")
        if not isinstance(below, dict):
            return None
        node = below
        for option in node.get("anyOf", [node]):  # an optional section: the half that is not null
            if "$ref" in option:
                node = _schema()["$defs"][option["$ref"].rsplit("/", 1)[1]]
    return node


def is_secret(where: Where) -> bool:
    """Returns True if the setting at `where` holds a key or a token."""
    schema = schema_at(where)
    return schema is not None and any(option.get("format") == "password" for option in schema.get("anyOf", [schema]))


def nearest(name: str, known: Sequence[str]) -> str:
    """Returns the end of a sentence about an unknown name: the most similar known one, if there is one, and all of
    them."""
    near = difflib.get_close_matches(name.lower(), known, n=1) or _with_its_words(name, known)
    hint = f"; did you mean `{near[0]}`?" if near else ";"
    return f"{hint} known here: {', '.join(known)}"


def _with_its_words(name: str, known: Sequence[str]) -> list[str]:
    """The name that has all words of `name`, or whose words `name` has, if it is the only one: `base_url` for `url`."""
    words = set(name.lower().replace("-", "_").split("_"))
    found = [each for each in known if words <= (of := set(each.split("_"))) or of < words]
    return found if len(found) == 1 else []


def explained(errors: list[Any], source: Source) -> list[Problem]:
    """Returns pydantic's errors in our words, one problem per setting: the alternatives of a union are joined."""
    grouped: dict[Where, list[Any]] = {}
    for error in errors:
        if error["type"] == "too_short" and error["input"]:
            continue  # the library counts the valid items only; the others have errors of their own
        where: Where = ()
        for part in error["loc"]:  # a part that no setting has is the library's own mark of a union or a validator
            unknown = error["type"] in _UNKNOWN and part == error["loc"][-1]
            where = (*where, part) if unknown or schema_at((*where, part)) is not None else where
        grouped.setdefault(where, []).append(error)
    return [Problem(where, _sentence(where, found, source)) for where, found in grouped.items()]


def _sentence(where: Where, errors: list[Any], source: Source) -> str:
    schema = schema_at(where) or {}
    if errors[0]["type"] in _UNKNOWN:
        return f"unknown key{nearest(str(where[-1]), list((schema_at(where[:-1]) or {}).get('properties', {})))}"
    if errors[0]["type"] == "missing":
        return f"is required: {schema.get('description', 'nothing is given')}"
    value = errors[0]["input"]
    expected = " or ".join(dict.fromkeys(_expected(error["msg"]) for error in errors))
    if isinstance(value, dict) and errors[0]["type"] == "value_error":
        return expected
    return f"found {_found(where, value, schema, source)}, expected {expected}"


def _expected(message: str) -> str:
    message = re.sub(r"^(Value error, |Input should be |(String|List|Tuple|Dictionary) should )", "", message)
    message = re.sub(r"a valid (dictionary|tuple|list|string|integer|boolean|number).*", r"\1", message)
    return _KINDS.get(message, message)


def _found(where: Where, value: object, schema: dict[str, Any], source: Source) -> str:
    if is_secret(where):
        return "a value that is not shown"
    if where in source.from_env:
        return f"the value of {source.from_env[where]}"
    if isinstance(value, bool):
        return str(value).lower()
    # Text where a section belongs may be a secret that lost its key.
    if not isinstance(value, str | int | float) or schema.get("type") in {"object", "array"} or "properties" in schema:
        return kind_of(value)
    shown = repr(redact(str(value)) if isinstance(value, str) else value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
