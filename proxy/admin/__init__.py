"""The API for whoever runs the proxy, under /admin/api, which the page at /ui is made from.

routes.py    the table of all routes
login.py     logging in and out, and what a visitor is told of this proxy
metrics.py   the route `/metrics`, and the lag of the event loop
auth.py      authentication: the token, or the cookie that a browser got for it; checks of the sender's site
parts.py     what the handlers share: authentication, the live feed, a thread for long work
codec.py     decodes queries and bodies to typed structs; encodes ledger rows and sums as JSON

ledger.py    sums over time; conversations; the live stream
finding.py   requests as a list: filtered and searched
exporting.py the same requests for `olvido replay`
seeking.py   search in texts as a person means it
naming.py    names that people know: of scopes, by key or alias
request.py   one request, message by message
verdict.py   what it came to beside pass-through, and why
attempts.py  requests that an SDK made again after a failure
facts.py     remembered facts: list, add, change, confirm, forget
reuse.py     the log of reuse, and reports that an answer was wrong
files.py     folders of memory as files: their state, their last syncs, deletions that wait
jobs.py      memory with a model's help: its jobs, their undoing, what it costs; digests and events
keys.py      keys of this proxy: list, create, revoke
desk.py      the desk of a conversation, which its model manages itself: to look at, and to correct
desk_json.py its parts as JSON; hidden rounds of a request
quality.py   did quality hold? managed answers beside those of the same request as it was
presets.py   three directions in which a profile's numbers can be moved at once
what_if.py   replays the last requests with other numbers
"""
