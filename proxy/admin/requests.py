"""Requests, as the ledger has them; and one, looked into.

GET /admin/api/requests?scope=&session=&before=&limit=   newest first; `next` is the `before` of the next page
GET /admin/api/requests/{id}?scope=                      how its prompt came to be: what of each message was sent,
                                                         and why; with texts while they are kept
"""

import logging
from collections.abc import Callable
from functools import partial

from proxy.admin import form, rows
from proxy.admin.explained import NOTHING_KEPT, explained
from proxy.call import Call
from proxy.config.rules import shows_content
from proxy.errors import BadRequest, UnknownRoute
from proxy.services import Services
from proxy.types import Contents, Json, LedgerRow, Message

log = logging.getLogger(__name__)

USUAL_REQUESTS, MOST_REQUESTS = 50, 500
MOST_NUMBER = 2**63 - 1  # of SQLite


async def listed(call: Call, services: Services) -> None:
    query = form.Query(call)
    limit = query.whole("limit", USUAL_REQUESTS, most=MOST_REQUESTS)
    before = query.whole("before", 0, most=MOST_NUMBER) or None
    found = await services.storage.accounts.rows(
        scope=query.word("scope"), session=query.word("session"), before=before, limit=limit + 1
    )
    after = found[limit - 1][0] if len(found) > limit else None

    def told() -> Json:
        return {"requests": [rows.told(number, row) for number, row in found[:limit]], "next": after}

    await call.answer(await form.made(services, told))


async def shown(call: Call, services: Services) -> None:
    asked = call.parameters["id"]
    row = await services.storage.accounts.row(asked, form.Query(call).word("scope"))
    if row is None:
        raise UnknownRoute(f"There is no request {asked[:40]!r}.")
    contents: Contents | None = None
    if shows_content(services.config):
        contents = await services.storage.contents.get(row.scope, row.request_id)
    call.watch.start()
    looked_into = partial(_looked_into, row, contents, services.counter.message)
    await call.answer(await form.made(services, looked_into))


def _looked_into(row: LedgerRow, contents: Contents | None, tokens: Callable[[Message], int]) -> Json:
    request = {"request": rows.told(None, row, whole=True)}
    if contents is None:
        return {**request, **NOTHING_KEPT}
    try:
        return {**request, **explained(row, contents, tokens)}
    except BadRequest:  # a body that was recorded is one that was read; its rules may have changed since
        log.warning("a kept request can't be read", extra={"request": row.request_id})
        return {**request, **NOTHING_KEPT}
