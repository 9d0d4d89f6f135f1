"""The API for whoever runs the proxy, under /admin/api, which the page at /ui is made from.

routes.py     all routes; which are behind the door, and the three that are not
door.py       admission: the token, or the cookie that a browser got for it
parts.py      what all of it shares, built from the services: the door, the live feed, work beside the requests
codec.py      queries and bodies as typed structs, ledger rows and sums as JSON

scrape.py     the route `/metrics`, and how late the event loop is
login.py      logging in and out, and what a client is told about itself
summary.py    sums over time, and by what requests have in common
requests.py   requests and conversations, in lists, as they happen, and looked into: what became of each message
feed.py       one look at the storage for all who watch
what_if.py    the last requests once more with other numbers; aside.py: beside the requests
facts.py      what is remembered of people: look, add, change, confirm, forget
reuse.py      answers that were reused: why, and that one was wrong
"""
