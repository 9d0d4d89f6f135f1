"""The providers behind the proxy.

routing.py   which upstream serves a model, and who stands in for it
client.py    one upstream: its connections, timeouts, and the bytes in both directions
forward.py   to the upstream and back: retries and fallback before the first byte
relay.py     its body on its way to the client, read along the way
retry.py     try again, fall back, or give up: a pure decision
"""
