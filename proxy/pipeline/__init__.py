"""The way of a request, and the record of what became of it.

chat.py         the way itself, from bytes to answer, a stage a line (start reading here)
parts.py        the parts that a request is handled with
assemble.py     the plan as bytes
record.py       after the answer: ledger, metrics, session, stored answer, what was said
ledger.py       for it: what the request cost and saved, and its contents where they are kept
verify.py       what the upstream would have answered instead, for a sample of the answers that were reused
passthrough.py  every route that is not managed, streamed through
"""
