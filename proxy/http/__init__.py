"""HTTP before and around the pipeline.

edge.py      what is settled first: the key, the size of a body, how long a client may take
exchange.py  one request and its answer, between ASGI's messages and our types
origins.py   which web sites may ask through their visitors' browsers
"""
