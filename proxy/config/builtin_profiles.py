"""The built-in profiles: a number for each setting of context management, and where it is from.

`lean` is the architecture note "Arquitectura de Memoria y Contexto" to the letter (its sections 1.2, 2.1, 2.2 and 3.2
are named beside the numbers). `balanced` lets the economics choose the budget, `agent` is for requests with tools.
`conversation` and those that begin with its name have the three levels of the note "Sistema de Memoria de Conversación"
(v2.0): working memory is the newest turn, short-term memory so many turns in full, long-term memory the turns before
those as summaries. Their numbers are its defaults and its presets ("Tuning de Parámetros").
Numbers marked "chosen" are starting values that no measurement supports yet. A configuration overrides any
number of a built-in profile, or adds a profile that starts from one of them.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any, Literal

from proxy.config.profiles import Elide, Facts, Profile, Recall, Summaries, ToolResults, Window

_LEAN = Profile(
    base="lean",
    budget=4_000,  # §2.1 MAX_CONTEXT_TOTAL
    context_share=1.0,  # the budget is the limit
    pressure=0.75,  # §2.2: summarise aggressively above 3,000 of 4,000
    head_share=0.0925,  # §2.1, §3.2: of 4,000 tokens 200 are summaries and 150 facts; 20 for the tags around them
    fold="economic",  # `strict` is the note's own rule; it rewrites the prefix, and pays for it, at every turn
    window=Window(
        turns=6,  # §2.1 VENTANA_ACTIVA_DEFAULT
        min_turns=4,  # §2.1 VENTANA_ACTIVA_MIN
        max_turns=8,  # §2.1 VENTANA_ACTIVA_MAX
        tokens=1_200,  # §2.1 MAX_TOKENS_VENTANA
        answer_tokens=200,  # a sixth of the window: so a full window still holds six turns
        # §1.2, §2.2 and §2.3 give cosines of a generic model: .7 and .3, and .4 for a shift. With all-MiniLM-L6-v2
        # messages that have nothing in common have .05 in English, .43 in Spanish; so continuity is counted from there
        # (0) to the same text (1). On 8 labelled conversations (283 turns, 48 shifts) 28 % of the turns within a topic
        # and 4 % of the shifts are above .2; 23 % and 56 % are no nearer than unrelated ones.
        high_continuity=0.2,
        low_continuity=0.0,
        continuity_turns=2,  # §1.2, §2.2
        # A likelihood: by a cosine alone F1 was .60 at its best. Weighed with the message's words and form it is .75,
        # on conversations that were not learned from (tests/bench/shifts_train.py).
        shift=0.4,
    ),
    summaries=Summaries(segment_turns=3, slots=4, tokens=50),  # §2.1: 200 in all
    facts=Facts(tokens=150, said_turns=3),  # §3.2: 50-150; §3.3: not if said in the last 3 turns
    # Evidence recall on LoCoMo is 85 / 90 / 94 % at 1k / 2k / 4k tokens: beyond 2k little is bought.
    # Passages of 120: long assistant turns drown the words that match (BEAM).
    recall=Recall(tokens="rest", cap=4_000, passage_tokens=120),
    tool_results=ToolResults(fold_first=False, keep=1),  # §3.2: results of the call under way
    elide=Elide(tools=False, format=False, examples=False),  # §3.3, opt-in: it changes what the client demands
)

_BALANCED = replace(
    _LEAN,
    base="balanced",
    budget="economic",
    context_share=0.5,  # chosen
    window=replace(_LEAN.window, turns=8, min_turns=6, max_turns=12, tokens=6_000, answer_tokens=1_000),  # chosen
    summaries=Summaries(segment_turns=3, slots=8, tokens=80),  # chosen
    facts=Facts(tokens=300, said_turns=3),  # chosen
    tool_results=ToolResults(fold_first=True, keep=3),  # chosen
)

_AGENT = replace(
    _BALANCED,
    base="agent",
    context_share=0.6,  # chosen
    window=replace(_LEAN.window, tokens=32_000, answer_tokens=0),  # turns of §2.1; tokens chosen
    recall=replace(_BALANCED.recall, cap=2_000),
    tool_results=ToolResults(fold_first=True, keep=5),  # chosen
)

_SEGMENT = 5  # turns of a summary: long-term turns of every preset are a multiple of it
_FRAME = 20  # tokens of the tags and titles around summaries and facts
_LONGEST_SUMMARY = 50  # tokens, as in `lean`
_FACTS_SHARE = 0.0375  # as in `lean`: 150 of 4,000


def _three_levels(
    name: Literal["conversation", "conversation-short", "conversation-long", "conversation-few-workers"],
    *,
    short_term: int,
    long_term: int,
    budget: int,
    pressure: float,
) -> Profile:
    """Returns a profile of three levels. `short_term`, `long_term`: turns in full, and turns as summaries; `budget`:
    tokens. Summaries and facts together hold at most 21 % of the budget."""
    slots = long_term // _SEGMENT
    facts = round(_FACTS_SHARE * budget)
    return replace(
        _LEAN,
        base=name,
        budget=budget,
        pressure=pressure,
        head_share=(slots * _LONGEST_SUMMARY + facts + _FRAME) / budget,  # so that every summary has its place
        window=replace(
            _LEAN.window,
            turns=short_term,
            min_turns=short_term,  # that note knows no continuity
            max_turns=short_term,
            tokens=round(0.625 * pressure * budget),  # chosen: less than pressure, else each turn would fold again
            answer_tokens=0,  # "en detalle completo"
        ),
        summaries=Summaries(segment_turns=_SEGMENT, slots=slots, tokens=_LONGEST_SUMMARY),
        facts=replace(_LEAN.facts, tokens=facts),
    )


_CONVERSATION = _three_levels(
    "conversation",
    short_term=10,  # DEFAULT_SHORT_TERM_TURNS
    long_term=50,  # DEFAULT_LONG_TERM_TURNS
    budget=4_000,  # DEFAULT_MAX_TOKENS
    pressure=0.8,  # COMPRESSION_THRESHOLD
)
_SHORT = _three_levels(
    "conversation-short",  # "conversaciones cortas (< 10 mensajes)"
    short_term=5,  # max_short_term_turns
    long_term=20,  # max_long_term_turns
    budget=2_000,  # max_tokens
    pressure=0.8,
)
_LONG = _three_levels(
    "conversation-long",  # "conversaciones largas (> 30 mensajes)"
    short_term=15,  # max_short_term_turns
    long_term=100,  # max_long_term_turns
    budget=6_000,  # max_tokens
    pressure=0.8,
)
_FEW_WORKERS = _three_levels(
    "conversation-few-workers",  # "workers limitados"; its TTL of 600 s is the setting `shared.hot_context_ttl`
    short_term=5,  # "Reducir max_short_term_turns a 5"
    long_term=50,
    budget=4_000,
    pressure=0.5,  # "compresión agresiva"; the number is chosen
)

BUILT_IN: Mapping[str, Profile] = MappingProxyType(
    {profile.base: profile for profile in (_LEAN, _BALANCED, _AGENT, _CONVERSATION, _SHORT, _LONG, _FEW_WORKERS)}
)
DEFAULT_BASE = "balanced"  # the base of an added profile that names none


def with_overrides(given: Any) -> Any:
    """Returns the built-in profiles and the given ones as mappings, not validated yet: a given one is merged into the
    built-in profile of its name, or into its `base`. A value of the wrong type stays as it is."""
    if not isinstance(given, Mapping):
        return given
    merged: dict[Any, Any] = {name: asdict(profile) for name, profile in BUILT_IN.items()}
    for name, changes in given.items():
        if not isinstance(changes, Mapping):
            merged[name] = changes
            continue
        base = changes.get("base", name)
        start = BUILT_IN.get(base if isinstance(base, str) else "") or BUILT_IN[DEFAULT_BASE]
        merged[name] = _merged(asdict(start), changes)
    return merged


def _merged(base: dict[Any, Any], changes: Mapping[Any, Any]) -> dict[Any, Any]:
    result = dict(base)
    for key, value in changes.items():
        under = base.get(key)
        result[key] = _merged(under, value) if isinstance(under, dict) and isinstance(value, Mapping) else value
    return result
