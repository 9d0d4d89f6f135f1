"""Fields of a conversation that are read from what its user says: `session_state` of the configuration."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, model_validator

from proxy.config.settings import Section, setting

MOST_FIELDS = 32
MOST_WORDS = 100  # signals, or values, of a field

FieldName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
Words: TypeAlias = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=60)], ...], Field(max_length=MOST_WORDS)
]


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"no time zone is named {name!r}, like Europe/Madrid or UTC") from None
    return name


class StateField(Section):
    """A field of a conversation."""

    type: Literal["text", "number", "date", "enum"] = Field(
        description="Kind of its value. A date is told as ISO 8601."
    )
    signals: Words = setting(
        (),
        "Words that stand before the value, or behind a number (`people`). Absent: the field's name for a text, words "
        "for people for a number; dates and values of an enum need none.",
    )
    values: Words = setting((), "The values of an enum.")
    ask: str = setting("", "Question that asks for it. Absent: one in the conversation's language.", max_length=300)
    timezone: Annotated[str, AfterValidator(_known_zone)] = setting(
        "UTC", "Time zone of the user's today and tomorrow, for a date."
    )

    @model_validator(mode="after")
    def _values_belong_to_an_enum(self) -> "StateField":
        if (self.type == "enum") != bool(self.values):
            raise ValueError("`values` go with `type: enum`, which needs them")
        return self


SessionState: TypeAlias = Annotated[Mapping[FieldName, StateField], Field(max_length=MOST_FIELDS)]
