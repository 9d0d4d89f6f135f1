"""The providers behind us.

routing.py   which upstream serves a model, and who stands in for it
client.py    one upstream: its connections, timeouts, and the bytes in both directions
breaker.py   stop knocking at a door that does not open
retry.py     try again, fall back, or give up: a pure decision
"""
