"""The API for whoever runs the proxy, under /admin/api, and what the page at /ui is made from.

routes.py     all of it; what is behind the door, and the three routes that are not
access.py     who may use it: the token, or the cookie that a browser got for it
parts.py      what all of it shares, built from the services: the door, the live feed, work beside the requests
form.py       how questions are read and answers written

scrape.py     the route `/metrics`
login.py      who asks, logging in and out
summary.py    sums over time, and by what requests have in common
requests.py   requests in a list, and one looked into; explained.py: what became of each of its messages
live.py       what happens now; feed.py: one look at the storage for all who watch
sessions.py   conversations, and the tree of their turns
what_if.py    the last requests once more with other numbers; changes.py: those numbers; aside.py: beside the requests
facts.py      what is remembered of people: look, add, change, confirm, forget
reuse.py      answers that were reused: why, and that one was wrong

rows.py       ledger rows and sums as they are told
"""
