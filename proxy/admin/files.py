"""Memory as files, for whoever runs the proxy to see and to decide about.

    GET    /admin/api/files
            every person's folder as its last sync left it: in step, waiting for a confirmation, or with a problem
    GET    /admin/api/files/syncs?scope=
            the last syncs that have changed a person's MEMORY.md, as differences, newest first
    POST   /admin/api/files {scope, action}
            `sync`: now; `confirm`: a large deletion that waits is carried out; `restore`: its lines come back

Where there are no files there are no folders, and the other two are 404.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import Literal

from proxy.admin.codec import Asked, as_json
from proxy.admin.parts import Admin
from proxy.errors import BadRequest, UnknownRoute
from proxy.files.looking import syncs
from proxy.files.merging import Deletions
from proxy.files.syncing import Synced
from proxy.files.unusable import Unusable
from proxy.files.watching import Watcher
from proxy.http.exchange import Call
from proxy.types import Answer, Json

_DELETIONS: Mapping[str, Deletions] = {"sync": "ask", "confirm": "carry out", "restore": "undo"}


class SyncsAsked(Asked, frozen=True):
    """Parameters of the list of syncs."""

    scope: str


class FilesAction(Asked, frozen=True):
    """The body of a decision about a person's file."""

    scope: str
    action: Literal["sync", "confirm", "restore"]


async def folders(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with the state of every folder."""
    files = admin.services.files
    last = {} if files is None else files.watcher.last
    return as_json({"folders": [_told(each) for _, each in sorted(last.items())]})


async def last_syncs(call: Call, admin: Admin, asked: SyncsAsked) -> Answer:
    """Answers with the last syncs of a person's file."""
    watcher = _watcher(admin)
    _check(watcher, asked.scope)
    try:
        found = await asyncio.to_thread(syncs, watcher.syncs.root, asked.scope)
    except Unusable as error:
        return as_json({"syncs": [], "problem": str(error)})
    return as_json({"syncs": [{"at": each.at, **asdict(each.difference), "problem": None} for each in found]})


async def act(call: Call, admin: Admin, asked: FilesAction) -> Answer:
    """Syncs a person's file, and decides what becomes of a deletion that waits."""
    watcher = _watcher(admin)
    _check(watcher, asked.scope)
    return as_json(_told(await watcher.sync(asked.scope, _DELETIONS[asked.action])))


def _watcher(admin: Admin) -> Watcher:
    found = admin.services.files
    if found is None:
        raise UnknownRoute("There are no files: memory.files names no folder.")
    return found.watcher


def _check(watcher: Watcher, scope: str) -> None:
    if scope not in watcher.last:
        raise BadRequest("nobody's file has that scope", param="scope")


def _told(synced: Synced) -> Json:
    """Returns what the page shows of a sync."""
    state = "problem" if synced.problem else "waits" if synced.waiting else "in step"
    return {
        "scope": synced.scope,
        "folder": synced.folder,
        "state": state,
        "waiting": synced.waiting and asdict(synced.waiting),
        "synced_at": synced.at,
        "problem": synced.problem or None,
    }
