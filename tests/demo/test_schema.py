from typing import Any

import pytest

from proxy.demo.schema import fit

NODE = {
    "$ref": "#/$defs/Node",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
        }
    },
}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "the weather in 'Lisboa' please", "Lisboa"),
        ({"type": "string"}, "el clima de Lisboa", "Lisboa"),
        ({"type": "string"}, "nothing here", "demo"),
        ({"type": "string", "maxLength": 3}, "'abcdef'", "abc"),
        ({"type": "string", "format": "date"}, "tomorrow", "2025-01-31"),
        ({"type": "integer"}, "for 3 days", 3),
        ({"type": "integer", "minimum": 1, "maximum": 7}, "for 30 days", 7),
        ({"type": "integer", "minimum": 5}, "for 3 days", 5),
        ({"type": "number"}, "about 2.5 km", 2.5),
        ({"type": "number"}, "no number", 1.0),
        ({"type": "boolean"}, "", True),
        ({"type": "null"}, "", None),
        ({"type": ["null", "integer"]}, "7", 7),
        ({"enum": ["low", "high"]}, "make it HIGH", "high"),
        ({"enum": ["low", "high"]}, "", "low"),
        ({"const": 4}, "", 4),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, "4", [4, 4]),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "9", 9),
        ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, "1", 2),
        ({"properties": {"a": {"type": "integer"}}}, "1", {"a": 1}),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"const": 1}}}, "", {"a": 1}),
    ],
)
def test_the_first_value_that_fits(schema: dict[str, Any], text: str, value: Any) -> None:
    assert fit(schema, text) == value


def test_a_schema_that_refers_to_itself_ends() -> None:
    value, depth = fit(NODE, ""), 0
    while value["next"] is not None:
        value, depth = value["next"], depth + 1
    assert 0 < depth < 20
    assert value["children"] == []
