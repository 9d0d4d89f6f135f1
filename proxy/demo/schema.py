"""A value that fits a JSON Schema, for structured answers and tool arguments. Simple schemas only: what SDKs generate
from a model class or a function signature (objects, arrays, enums, references, unions, formats, bounds)."""

import re
from collections.abc import Mapping
from typing import Any

_QUOTED = re.compile(r"[\"'«“]([^\"'»”]+)[\"'»”]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NAME = re.compile(r"(?<=[\s¿¡(])[A-ZÁÉÍÓÚÑ][\wáéíóúñ]+")  # a capital inside a sentence

_FORMATS = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "demo@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_DEEPEST = 12  # a schema that refers to itself ends here


def fit(schema: Mapping[str, Any], text: str) -> Any:
    """The first value that fits, with the strings and numbers that `text` mentions where they do."""
    return _fit(schema, text, schema, 0)


def _fit(schema: Mapping[str, Any], text: str, root: Mapping[str, Any], depth: int) -> Any:
    schema = _narrow(schema, root, depth)
    if "const" in schema:
        return schema["const"]
    if options := schema.get("enum"):
        return next((option for option in options if str(option).lower() in text.lower()), options[0])
    match _type(schema):
        case "object":
            properties = schema.get("properties", {})
            return {name: _fit(value, text, root, depth + 1) for name, value in properties.items()}
        case "array":
            count = schema.get("minItems", 1) if depth <= _DEEPEST else 0
            return [_fit(schema.get("items", {}), text, root, depth + 1) for _ in range(count)]
        case "integer":
            return int(_number(schema, text))
        case "number":
            return _number(schema, text)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _string(schema, text)


def _narrow(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """One schema in place of a reference, a union (its first option that isn't null) or an intersection."""
    if reference := schema.get("$ref"):
        return _narrow(_resolve(root, str(reference)), root, depth)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        concrete = [option for option in options if option.get("type") != "null"]
        nullable = len(concrete) < len(options)
        return {"type": "null"} if nullable and depth > _DEEPEST else _narrow(concrete[0], root, depth)
    if parts := schema.get("allOf"):
        return {key: value for part in parts for key, value in _narrow(part, root, depth).items()}
    return schema


def _type(schema: Mapping[str, Any]) -> str:
    declared = schema.get("type")
    if isinstance(declared, list):
        declared = next((name for name in declared if name != "null"), "null")
    return str(declared or ("object" if "properties" in schema else "string"))


def _resolve(root: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    found: Any = root
    for step in reference.removeprefix("#").split("/"):
        found = found[step] if step else found
    return found if isinstance(found, dict) else {}


def _number(schema: Mapping[str, Any], text: str) -> float:
    mentioned = _NUMBER.search(text)
    value = float(mentioned.group()) if mentioned else float(schema.get("minimum", 1))
    if "minimum" in schema:
        value = max(value, float(schema["minimum"]))
    if "maximum" in schema:
        value = min(value, float(schema["maximum"]))
    return value


def _string(schema: Mapping[str, Any], text: str) -> str:
    if (form := schema.get("format")) in _FORMATS:
        return _FORMATS[form]
    mentioned = _QUOTED.findall(text) or _NAME.findall(text)
    value = str(mentioned[0]) if mentioned else "demo"
    return value[: schema["maxLength"]] if "maxLength" in schema else value
