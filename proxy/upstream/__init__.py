"""The providers behind the proxy.

routing.py   which upstream serves a model, and who stands in for it
client.py    one upstream: its connections, timeouts, and the bytes in both directions
retry.py     try again, fall back, or give up: a pure decision
"""
