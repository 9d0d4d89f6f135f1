"""What happens now, as server-sent events.

    GET /admin/api/live   `requests`: the new ones, oldest first; `totals`: of the minute that runs, and of the last
                          sixty; a comment now and then, so that nobody takes a quiet stream for a dead one

It ends when the client goes, and when the server stops: whoever watches connects again, to the next one.
"""

from proxy.admin.parts import Admin
from proxy.call import Call
from proxy.types import Answer, Headers

HEADERS: Headers = (
    ("content-type", "text/event-stream"),
    ("cache-control", "no-store"),
    ("x-accel-buffering", "no"),  # nginx would keep events until they fill a buffer
    ("x-content-type-options", "nosniff"),
)


async def stream(call: Call, admin: Admin) -> None:
    if call.method == "HEAD":
        await call.answer(Answer(200, HEADERS, b""))
        return
    call.watch.start()
    listener = admin.feed.listen()
    call.watch.when_leaving(listener.end)
    await call.answer(Answer(200, HEADERS, listener))
