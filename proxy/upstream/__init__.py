"""Upstreams: the providers behind the proxy.

routing.py   the upstream that serves a model, its fallbacks; the decision to retry, to fall back or to give up
client.py    one upstream: its connections, timeouts, and the bytes in both directions
forward.py   forwarding: retries and fallback before the first byte
relay.py     the body on its way to the client, read along the way
"""
