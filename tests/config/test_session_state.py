from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from proxy.config.session_state import MOST_FIELDS, SessionState, StateField

READ = TypeAdapter(SessionState).validate_python
TEXT = {"type": "text"}


def test_a_field_needs_no_more_than_its_type() -> None:
    assert READ({"city": TEXT}) == {"city": StateField(type="text")}
    assert READ({"style": {"type": "enum", "values": ["a", "b"]}})["style"].values == ("a", "b")
    assert READ({}) == {}


@pytest.mark.parametrize(
    "given",
    [
        {"city": {}},
        {"city": {"type": "place"}},
        {"style": {"type": "enum"}},
        {"city": {"type": "text", "values": ["Lugo"]}},
        {"city": {"type": "text", "signal": ["en"]}},
        {"city": {"type": "text", "signals": [""]}},
        {"city": {"type": "text", "signals": "en"}},
        {"city": {"type": "text", "ask": "?" * 301}},
        {"date": {"type": "date", "timezone": "Mars/Olympus"}},
        {"date": {"type": "date", "timezone": "../etc/passwd"}},
        {"a b": TEXT},
        {"": TEXT},
        {f"f{at}": TEXT for at in range(MOST_FIELDS + 1)},
    ],
)
def test_fields_that_cannot_be_are_refused(given: Any) -> None:
    with pytest.raises(ValidationError):
        READ(given)
