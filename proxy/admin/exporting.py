"""The export of requests, for `olvido replay`.

    GET /admin/api/requests/export?…
            the requests of a list as JSON Lines, which `olvido replay` reads: body, answer, time, conversation, end
            user. Of those whose bodies are not kept the last line tells how many there are

The filters are those of the list (`finding.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from proxy.admin.codec import KEPT_BY_NOBODY
from proxy.admin.finding import CHUNK, Found, Key, Scan, Wanted, contents_of, matched
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.errors import Conflict
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.types import Answer, Contents, Headers, Json, LedgerRow

EXPORTED: Headers = (
    ("content-type", "application/x-ndjson"),
    ("content-disposition", 'attachment; filename="olvido-requests.jsonl"'),
    *KEPT_BY_NOBODY,
)


async def export(call: Call, admin: Admin, asked: Wanted) -> Answer:
    """Answers with requests as JSON Lines."""
    if not shows_content(admin.services.config):
        raise Conflict("What requests said is not kept, so there is nothing to replay: see admin.show_content.")
    if call.method == "HEAD":
        return Answer(200, EXPORTED, b"")
    call.watch.start()
    return Answer(200, EXPORTED, _Export(admin.services, asked))


class _Export:
    """The lines of an export, as a stream."""

    def __init__(self, services: Services, wanted: Wanted) -> None:
        self._services = services
        self._wanted = wanted

    async def __aiter__(self) -> AsyncIterator[bytes]:
        services, scan = self._services, Scan(self._services, self._wanted, None)
        await scan.begin()
        exported = left_out = 0
        while not scan.is_over():
            found, _ = await matched(services, await scan.next(CHUNK), self._wanted.text)
            contents = await contents_of(services, [(each.number, each.row) for each in found])
            lines = await asyncio.get_running_loop().run_in_executor(services.executor, _lines, found, contents)
            exported, left_out = exported + len(lines), left_out + len(found) - len(lines)
            if lines:
                yield b"".join(lines)
        if left_out:
            yield msgspec.json.encode({"exported": exported, "without_body": left_out}) + b"\n"

    async def aclose(self) -> None:
        """Nothing is open between two chunks."""


def _lines(found: Sequence[Found], contents: Mapping[Key, Contents]) -> list[bytes]:
    rows = (each.row for each in found)
    return [line(row, said) for row in rows if (said := contents.get((row.scope, row.request_id))) is not None]


def line(row: LedgerRow, said: Contents) -> bytes:
    """Encodes a request as a line that `olvido replay` reads."""
    tenant, _, user = row.scope.partition("/")
    told: dict[str, Json] = {
        "request_id": row.request_id,
        "at": row.at,
        "session": row.session,
        "key": tenant,
        "headers": said.headers,
        "body": msgspec.Raw(_on_one_line(said.body)),
    }
    if user:
        told["user"] = user
    if said.answer:
        told["answer"] = msgspec.Raw(_on_one_line(said.answer))
    return msgspec.json.encode(told) + b"\n"


def _on_one_line(raw: bytes) -> bytes:
    """Line ends in JSON stand between values alone: in a text they are escaped."""
    return raw.replace(b"\r", b" ").replace(b"\n", b" ")
