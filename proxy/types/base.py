"""Aliases and literals that every module uses."""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Json: TypeAlias = Any
Headers: TypeAlias = tuple[tuple[str, str], ...]  # lower-case names, in the order received
Vector: TypeAlias = npt.NDArray[np.float32]  # an embedding: one dimension, of length 1; or a matrix of them, a row each

# The scope, and the session, of ledger rows of requests whose own scope no upstream has answered yet.
UNANSWERED = "unanswered/"

Source = Literal["upstream", "exact", "intent"]
Mode = Literal["on", "meter", "off"]
PlanKind = Literal["untouched", "managed", "over-budget", "fail-open"]
SessionSource = Literal["header", "client", "prompt_cache_key", "metadata", "chain", "new"]
Continuity = Literal["new", "continued", "branched", "regenerated"]
# Kinds of stored rows. cut_links: links that are not stored, since a request has too many.
RowKind = Literal["links", "cut_links", "turns", "states", "contents", "reuse", "ledger", "facts", "deletions"]
Outcome = Literal["complete", "client_gone", "upstream_broken", "upstream_error", "our_error"]
