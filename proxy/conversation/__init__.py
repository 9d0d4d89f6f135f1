"""Conversations: the scope and session of a request, and the progress of its conversation.

identify.py   the scope (who asks) and the session, recognised by the hash chain of its messages
names.py      for it: the names that clients give people and sessions
resuming.py   the history of a named session whose client sends only what is new
progress.py   the state that the last request left, brought up to this one; that state as bytes
turns.py      turns, as ranges of messages, and as memory archives them
blocks.py     our own blocks in a prompt: rendered, recognised, removed
whole_commands.py  messages that are nothing but a command (/clear, …), and what remains of a conversation without them
lists.py      the lists that an answer gives, and their items; list_forms.py: where each form of a list begins and ends
topics.py     changes of topic, and the domain (part of life) of a message
"""
