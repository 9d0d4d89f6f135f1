"""The stages of a request, one public function each; `proxy/pipeline.py` is where they are in order.

identify.py     who asks (scope), in which conversation (session, hash chain)
resume.py       the history of a named session whose client sends only what is new
obey.py         commands to forget: carried out whatever becomes of their request
exact.py        the answer to this very request, if it may be reused
intent.py       the answer to the same question in other words
verify.py       what the upstream would have answered instead, for a sample; in the background
plan.py         what of the conversation the upstream shall see
recollect.py    for it: what the scope remembers that may matter
assemble.py     the plan as bytes
forward.py      to the upstream and back: retries, fallback, streaming
relay.py        the upstream's body on its way to the client, read along the way
record.py       after the answer: ledger, metrics, session, answer cache, what was said
ledger_row.py   for it: what the request cost and saved
keep.py         what was said, for whoever runs the proxy to look at
learn.py        after the answer: its turns, the facts in them, the state for the next request
reading.py      for it: what of a request is new, step by step
reports.py      a reused answer was wrong: somebody says so, or the next question does
"""
