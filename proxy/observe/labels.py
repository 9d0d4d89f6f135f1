"""The possible values of each label of our metrics, or their source. All are bounded.

Taken from where the values are decided, so a new one is documented as soon as it exists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TypeAlias, get_args

from proxy.reuse.cacheable import BYPASSES
from proxy.reuse.partition import UNSUITED
from proxy.reuse.verdict import REASONS
from proxy.types import FactStatus, FoldReason, Mechanisms, Outcome, PlanKind, RowKind, ShiftCause, Source

Values: TypeAlias = Sequence[str] | str  # all values; or a description of them
Labels: TypeAlias = Mapping[str, Values]

MOST_MODELS = 100

UPSTREAM = "its `name` in the configuration"
MODEL = f"as the client names it, once an upstream has answered for it; `other` beyond {MOST_MODELS} of them"
SOURCE: Sequence[str] = get_args(Source)
OUTCOME: Sequence[str] = get_args(Outcome)
PLAN: Sequence[str] = get_args(PlanKind)
TOKENS = ("original", "sent", "cached", "billed", "completion")
MEASURED = ("true", "false")
REUSE = ("exact", "intent")
SAVED_BY = ("exact", "intent", "context")
MECHANISM = tuple(each.name for each in fields(Mechanisms))
RESULT = tuple(
    sorted(
        {"hit", "disabled", "client_off", "refresh", "absent", "failed", "no_identity", "verify", "judge"}
        | {"command", "unreadable"}
        | {"not_deterministic"}  # exact
        | {"warming", "unavailable", "no_vector", "leans_on_context", "far", "answer_gone", "reported", "context"}
        | {"breaker", "regenerated", "rephrased"}
        | set(BYPASSES)
        | set(UNSUITED)
        | REASONS
    )
)
JUDGED = ("same", "different", "failed", "capped")
REPORT = ("wrong", "rephrased", "regenerated")
STAGE = (
    *("identify", "resume", "obey", "exact", "intent", "plan", "assemble"),
    *(
        "read_stream",
        "record",
        "store",
        "remember",
        "count",
        "ledger",
        "learn",
        "archive",
        "contents",
        "retention",
        "verify",
        "judge",
    ),
)
FAIL_OPEN = "`deadline`, or the class of the exception"
UPSTREAM_ERROR = "an HTTP status; `upstream_unreachable`, `upstream_broken`, `upstream_timeout`; `cut`: broke off"
FOLD: Sequence[str] = get_args(FoldReason)
SHIFT: Sequence[str] = get_args(ShiftCause)
FACT: Sequence[str] = get_args(FactStatus)
ROWS: Sequence[str] = get_args(RowKind)
OPERATION = ("read", "write")
REFUSED = ("foreign_host", "foreign_origin")
