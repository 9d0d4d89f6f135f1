"""The API for whoever runs the proxy, under /admin/api.

access.py   who may use it
facts.py    what is remembered of people: look, add, change, confirm, forget
reuse.py    answers that were reused: why, and that one was wrong
"""
