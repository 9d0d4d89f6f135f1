"""The labels of metrics: the possible values of each, taken from where they are decided, or what they are."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import TypeAlias, get_args

from proxy.quality.choosing import Skipped
from proxy.reuse.cacheable import BYPASSES
from proxy.reuse.question import UNSUITED
from proxy.reuse.verdict import REASONS
from proxy.types import FactStatus, Mechanisms, RowKind
from proxy.types.curation import OperationName
from proxy.types.keys import Limits
from proxy.types.quality import Way

# All are bounded.
Values: TypeAlias = Sequence[str] | str  # all values; or a description of them
Labels: TypeAlias = Mapping[str, Values]  # by the names of a metric's labels
NONE: Labels = MappingProxyType({})
MOST_MODELS = 100
MOST_KEYS = 500

UPSTREAM = "its `name` in the configuration"
MODEL = f"as the client names it, once an upstream has answered for it; `other` beyond {MOST_MODELS} of them"
LIMIT = tuple(each.name for each in fields(Limits))
KEY = f"a name of a key of this proxy: configured, or created; `other` beyond {MOST_KEYS} of them"
TEAM = "of this key; empty: none"
USER = "an end user whom `observe.users` names; `other`: anybody else who is named"
LEDGER = "a name of the database: the same for all processes and machines that share it"
TOKENS = ("original", "sent", "cached", "billed", "completion")
MEASURED = ("true", "false")
SAVED_BY = ("exact", "intent", "context")
ADDED_BY = ("context",)
MECHANISM = tuple(each.name for each in fields(Mechanisms))
RESULT = tuple(
    sorted(
        {"hit", "disabled", "client_off", "refresh", "absent", "failed", "no_identity", "verify", "judge", "memory"}
        | {"quality", "quality_judge"}
        | {"command", "tools"}
        | {"unreadable", "not_deterministic", "warming", "unavailable", "no_vector", "leans_on_context", "far"}
        | {"answer_gone", "reported", "context", "breaker", "regenerated", "rephrased", *BYPASSES, *UNSUITED, *REASONS}
    )
)
STAGE = (
    *("identify", "resume", "command", "obey", "exact", "intent", "desk", "plan", "assemble"),
    *("read_stream", "record", "store", "remember", "count", "ledger", "learn"),
    *("archive", "contents", "retention", "verify", "judge", "memory", "end", "files", "tools", "totals", "limits"),
    "quality",
)
UPSTREAM_ERROR = "an HTTP status; `upstream_unreachable`, `upstream_broken`, `upstream_timeout`; `cut`: broke off"
FACT: Sequence[str] = get_args(FactStatus)
JOB_RESULT = ("done", "nothing", "put-off", "unaffordable", "given-up", "left")
TOOL_CALL = ("ok", "refused", "unreached")
TOOL_ROUND = ("continued", "mixed", "stripped", "failed")
OPERATION = (*get_args(OperationName), "event", "summary", "slug", "unreadable")
ROWS: Sequence[str] = get_args(RowKind)
SHARED_PART = (
    *("answers", "flights", "open_turns", "last_served", "hit_rates", "calibrations", "breakers"),
    *("throttle", "logouts", "limits", "hot_context", "connection"),
)
SHARED_REASON = (
    *("down", "timeout", "overload", "lost", "auth", "loading", "readonly", "cluster", "memory", "version"),
    *("protocol", "error", "held"),
)
QUALITY_WAY: Sequence[str] = get_args(Way)
QUALITY_SKIPPED: Sequence[str] = get_args(Skipped)
SHARED_STATE = ("connecting", "ready", "down")
