"""The API for whoever runs the proxy, under /admin/api.

access.py   who may use it
reuse.py    answers that were reused: why, and that one was wrong
"""
