"""Profiles of context management: the numbers that say how much of a conversation is kept."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field

# A configuration is merged into a built-in profile before it is validated: so no field is required.
_OVERRIDABLE = ConfigDict(
    extra="forbid", allow_inf_nan=False, json_schema_extra=lambda schema: schema.pop("required", None)
)

MOST_COUNT, MOST_TOKENS = 10_000, 10_000_000
Count: TypeAlias = Annotated[int, Field(ge=0, le=MOST_COUNT)]
Tokens: TypeAlias = Annotated[int, Field(ge=0, le=MOST_TOKENS)]
Cosine: TypeAlias = Annotated[float, Field(ge=-1, le=1)]


def _about(description: str, **bounds: Any) -> Any:
    """Returns the description and the bounds of a number, for its annotation."""
    return Field(description=description, **bounds)


@dataclass(frozen=True, slots=True)
class Window:
    """The newest turns, which a fold keeps."""

    __pydantic_config__ = _OVERRIDABLE

    turns: Annotated[Count, _about("Turns that a fold keeps.", ge=1)]
    min_turns: Annotated[Count, _about("Turns that a fold keeps when continuity is low.", ge=1)]
    max_turns: Annotated[Count, _about("Turns that a fold keeps when continuity is high.", ge=1)]
    tokens: Annotated[Tokens, _about("Tokens of the window; the newest turn is whole even above it.")]
    answer_tokens: Annotated[
        Tokens, _about("Older answers lose their middle beyond this, where the window is full. 0: never.")
    ]
    high_continuity: Annotated[
        Cosine, _about("Continuity above which turns belong together: their cosine, less that of unrelated ones.")
    ]
    low_continuity: Annotated[Cosine, _about("Continuity of neighbouring turns below which it is chitchat.")]
    continuity_turns: Annotated[Count, _about("Turns over which continuity must hold to count.", ge=1)]
    shift: Annotated[
        float, _about("How likely a change of topic must be, to be taken for one. 1: only if said.", ge=0, le=1)
    ]

    def __post_init__(self) -> None:
        if not self.min_turns <= self.turns <= self.max_turns:
            got = f"min_turns {self.min_turns}, turns {self.turns}, max_turns {self.max_turns}"
            raise ValueError(f"min_turns ≤ turns ≤ max_turns must hold (here: {got})")
        if self.low_continuity > self.high_continuity:
            got = f"{self.low_continuity} and {self.high_continuity}"
            raise ValueError(f"low_continuity ≤ high_continuity must hold (here: {got})")


@dataclass(frozen=True, slots=True)
class Summaries:
    """Summaries of segments that left the window."""

    __pydantic_config__ = _OVERRIDABLE

    segment_turns: Annotated[Count, _about("Turns that become one summary, unless a topic shift cuts.", ge=1)]
    slots: Annotated[Count, _about("Summaries kept at most; the oldest leaves. 0: none.")]
    tokens: Annotated[Tokens, _about("Tokens of one summary.")]


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that go with a prompt."""

    __pydantic_config__ = _OVERRIDABLE

    tokens: Annotated[Tokens, _about("Tokens of all facts in one prompt. 0: none.")]
    said_turns: Annotated[Count, _about("A fact that the last this many turns already say is left out.")]


@dataclass(frozen=True, slots=True)
class Recall:
    """Old turns that go with a question."""

    __pydantic_config__ = _OVERRIDABLE

    tokens: Annotated[
        Tokens | Literal["rest"],
        _about("Tokens of recalled old turns in one prompt. `rest`: what the budget leaves, up to `cap`."),
    ]
    cap: Annotated[Tokens, _about("Tokens that recall never exceeds. 0: no recall.")]
    passage_tokens: Annotated[Tokens, _about("Long assistant turns are indexed in passages this long.", ge=1)]


@dataclass(frozen=True, slots=True)
class ToolResults:
    """Results of tools inside the window."""

    __pydantic_config__ = _OVERRIDABLE

    fold_first: Annotated[bool, _about("Old tool results are folded before anything else is.")]
    keep: Annotated[Count, _about("Newest tool results that stay whole.")]


@dataclass(frozen=True, slots=True)
class Elide:
    """Instructions that are left out while the last answer had the structure that was asked for."""

    __pydantic_config__ = _OVERRIDABLE

    tools: Annotated[bool, _about("Descriptions of tools that were called already are left out.")]
    format: Annotated[bool, _about("`<format>` of the system prompt is left out.")]
    examples: Annotated[bool, _about("`<examples>` of the system prompt is left out.")]


@dataclass(frozen=True, slots=True)
class Profile:
    """All numbers of context management."""

    __pydantic_config__ = _OVERRIDABLE

    base: Annotated[
        Literal[
            "lean",
            "balanced",
            "agent",
            "conversation",
            "conversation-short",
            "conversation-long",
            "conversation-few-workers",
        ],
        _about("The built-in profile that every number not given here comes from."),
    ]
    budget: Annotated[
        Annotated[int, Field(ge=1, le=MOST_TOKENS)] | Literal["economic"],
        _about(
            "Tokens of the whole prompt; a prompt is above it only where keeping it would cost more than pass-through "
            "(`fold: strict` keeps it at any price). `economic`: only the price of folding decides."
        ),
    ]
    context_share: Annotated[float, _about("Share of the model's context that a prompt never exceeds.", gt=0, le=1)]
    pressure: Annotated[float, _about("Share of the limit above which a prompt is folded without waiting.", gt=0, le=1)]
    head_share: Annotated[
        float, _about("Share of the limit that the memory head, its summaries and facts, never exceeds.", ge=0, le=1)
    ]
    fold: Annotated[
        Literal["economic", "strict"],
        _about("`economic`: fold when it pays or a limit forces it. `strict`: as soon as the window is full."),
    ]
    window: Annotated[Window, _about("The recent turns that are kept in the client's own bytes.")]
    summaries: Annotated[Summaries, _about("Key-value summaries of turns that left the window.")]
    facts: Annotated[Facts, _about("Standing facts about the user.")]
    recall: Annotated[Recall, _about("Old turns that the newest question needs.")]
    tool_results: Annotated[ToolResults, _about("What tools answered.")]
    elide: Annotated[Elide, _about("Instructions that need not be repeated.")]

    def __post_init__(self) -> None:
        if self.budget == "economic":
            return
        # In a small budget the window shrinks; summaries and facts do not.
        held = self.summaries.slots * self.summaries.tokens + self.facts.tokens
        if held > self.budget:
            raise ValueError(f"summaries and facts hold {held} tokens together, above the budget {self.budget}")
