"""The way of a request, from bytes to answer, and the record of its outcome.

chat.py         the way itself, from bytes to answer, a stage a line (start reading here)
parts.py        the services that handle a request
assemble.py     the body that is sent, from the plan
record.py       after the answer: ledger, metrics, session, stored answer, what was said
ledger.py       for it: the row of costs and savings, and the contents where they are kept
verify.py       the upstream's own answer, for a sample of the answers that were reused
judge.py        a model of an upstream as the judge of whether two questions are the same
passthrough.py  every route that is not managed, streamed through
"""
