"""Keys that this proxy gives out: whose a request is, by what name people know it, what it may use.

making.py    a new key, and the hashes by which keys and their owners are kept
limits.py    the decision whether a request may go on
limiting.py  requests counted before they go on, and settled once they are recorded
spending.py  days and months, by which budgets count, and what was spent in them
book.py      all keys as one process knows them: those of the configuration, and those in the database
"""
