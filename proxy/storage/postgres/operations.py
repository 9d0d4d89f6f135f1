"""The writes of the stores by the names under which they wait in a spool: a released name keeps its meaning."""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.storage.postgres import archive, contents, facts, jobs, ledger, quality, reuse, sessions, states, wipes
from proxy.storage.spool import Operation
from proxy.storage.stores.archive import Added
from proxy.storage.stores.facts import FactRow
from proxy.storage.stores.reuse import LogLine, ReuseChange
from proxy.storage.stores.sessions import Passage
from proxy.storage.stores.states import State
from proxy.types import Contents, Fact, LedgerRow
from proxy.types.quality import QualityPair

OPERATIONS: Mapping[str, Operation] = {
    "links.merge": Operation(sessions.STATEMENTS.merge, Passage),
    "states.put": Operation(states.STATEMENTS.put, State),
    "states.forget": Operation(states.STATEMENTS.forget, str),
    "turns.add": Operation(archive.STATEMENTS.add, Added),
    "turns.forget": Operation(archive.STATEMENTS.forget, Sequence[Mapping[str, Any]]),
    "turns.lift": Operation(archive.STATEMENTS.lift, Sequence[Mapping[str, Any]]),
    "turns.prune": Operation(archive.STATEMENTS.prune, tuple[float, int]),
    "facts.put": Operation(facts.STATEMENTS.put, Sequence[FactRow]),
    "facts.forget": Operation(facts.STATEMENTS.forget, Sequence[Mapping[str, str]]),
    "wipes.wipe": Operation(wipes.STATEMENTS.wipe, tuple[Mapping[str, Any], tuple[bytes, ...]]),
    "wipes.restore": Operation(wipes.STATEMENTS.restore, Mapping[str, Any]),
    "wipes.forget": Operation(wipes.STATEMENTS.forget, tuple[str, tuple[Fact, ...]]),
    "wipes.prune": Operation(wipes.STATEMENTS.prune, float),
    "jobs.arm": Operation(jobs.STATEMENTS.arm, Mapping[str, Any]),
    "ledger.add": Operation(ledger.STATEMENTS.add, LedgerRow),
    "reuse.apply": Operation(reuse.STATEMENTS.apply, ReuseChange),
    "reuse.log": Operation(reuse.STATEMENTS.log, LogLine),
    "contents.put": Operation(contents.STATEMENTS.put, tuple[Contents, int]),
    "quality.put": Operation(quality.STATEMENTS.put, QualityPair),
    "quality.forget": Operation(quality.STATEMENTS.forget, str),
    "contents.forget": Operation(contents.STATEMENTS.forget, str),
}
