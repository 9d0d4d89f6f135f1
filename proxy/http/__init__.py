"""HTTP before and around the pipeline.

access.py    access to the API: by key; from web sites (CORS), with protection against DNS rebinding
connection.py a connection: bounds and deadlines of heads, and errors for what is no HTTP
exchange.py  one request and its answer, between ASGI's messages and our types; a client that disconnects
"""
