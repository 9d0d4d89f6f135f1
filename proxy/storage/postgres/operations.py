"""The writes of the stores by the names under which they wait in a spool: a released name keeps its meaning."""

from collections.abc import Mapping, Sequence

from proxy.storage.postgres import facts
from proxy.storage.spool import Operation
from proxy.storage.stores.facts import FactRow

OPERATIONS: Mapping[str, Operation] = {
    "facts.put": Operation(facts.STATEMENTS.put, Sequence[FactRow]),
    "facts.forget": Operation(facts.STATEMENTS.forget, Sequence[Mapping[str, str]]),
}
