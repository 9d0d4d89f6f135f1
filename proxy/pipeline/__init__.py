"""The way of a request, from bytes to answer, and the record of its outcome.

chat.py         the way itself, from bytes to answer, a stage a line (start reading here)
parts.py        the services that handle a request, and its context
record.py       after the answer: ledger, metrics, session, stored answer, what was said; scopes that were answered
ledger.py       for it: the row of costs and savings, and the contents where they are kept
own_requests.py requests of our own: the upstream's answer for a sample of the reused ones; the judge of reuse
"""
