"""HTTP before and around the pipeline.

edge.py      checks of a request: API key, size and time of the body; detection of a client that disconnects
exchange.py  one request and its answer, between ASGI's messages and our types
origins.py   web sites whose pages may call the API: CORS, and protection against DNS rebinding
"""
