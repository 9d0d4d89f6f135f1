"""The stores of one kind of database, as they are opened."""

from collections.abc import Callable
from dataclasses import dataclass

from proxy.storage.accounts import Accounts
from proxy.storage.base import AliasStore, ContentStore, Ledger, SessionStore
from proxy.storage.database import Database
from proxy.storage.desk import DeskStore
from proxy.storage.jobs import JobStore
from proxy.storage.keys import KeyStore
from proxy.storage.quality import QualityStore
from proxy.storage.recollection import Archive, FactStore, StateStore, WipeStore
from proxy.storage.returns import ReturnStore
from proxy.storage.reuse import ReuseStore
from proxy.storage.stores.contents import ContentLimits


@dataclass(frozen=True, slots=True)
class Kind:
    """A constructor for each store of a kind of database."""

    sessions: Callable[[Database], SessionStore]
    ledger: Callable[[Database], Ledger]
    reuse: Callable[[Database, int], ReuseStore]  # lines of the log that a scope has
    facts: Callable[[Database], FactStore]
    archive: Callable[[Database, float], Archive]  # seconds that a turn is kept
    states: Callable[[Database], StateStore]
    wipes: Callable[[Database], WipeStore]
    jobs: Callable[[Database], JobStore]
    desks: Callable[[Database], DeskStore]
    keys: Callable[[Database], KeyStore]
    returns: Callable[[Database], ReturnStore]
    quality: Callable[[Database], QualityStore]
    accounts: Callable[[Database], Accounts]
    aliases: Callable[[Database], AliasStore]
    contents: Callable[[Database, ContentLimits], ContentStore]
