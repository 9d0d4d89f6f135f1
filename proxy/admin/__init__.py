"""The API for whoever runs the proxy, under /admin/api, which the page at /ui is made from.

routes.py     the table of all routes
auth.py       authentication: the token, or the cookie that a browser got for it; checks of the sender's site
parts.py      what the handlers share: authentication, the live feed, the background thread
codec.py      decodes queries and bodies to typed structs; encodes ledger rows and sums as JSON

scrape.py     the route `/metrics`, and the lag of the event loop
login.py      logging in and out, and what a client is told about itself
summary.py    sums over time, and by what requests have in common
requests.py   requests and conversations: lists, one request message by message, the live stream
feed.py       polls the storage once for all listeners of the live stream
what_if.py    replays the last requests with other numbers; worker.py: the thread that does it
facts.py      remembered facts: list, add, change, confirm, forget
reuse.py      the reuse log, and reports that an answer was wrong
"""
