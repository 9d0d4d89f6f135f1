"""Conversations: who asks, in which one, and how far it has come.

identify.py   the scope (who asks) and the session, recognised by the hash chain of its messages
resume.py     the history of a named session whose client sends only what is new
progress.py   what is new since the state that the last request left; that state as bytes
turns.py      turns as memory keeps them
topics.py     changes of topic, and the part of life that a message is about
blocks.py     our own text in a prompt: written, recognised, taken off
"""
