"""Upstreams: the providers behind the proxy.

client.py    one upstream: its connections, timeouts, bytes in both directions; the router: which one serves a model
forward.py   forwarding: retries and fallback before the first byte, and the decisions about them
outage.py    an upstream that fails, as the log is told of it
relay.py     the body on its way to the client, read along the way
"""
