"""Between bytes and types. Nothing here does I/O, and nothing decides.

chat.py        the neutral request and message, read from a chat completion's body
fields.py      which field means what, and the canonical form by which two requests are the same
request.py     the body, parsed once; a changed body, every untouched byte kept; bodies that strict parsers refuse
content.py     changed messages: a block before or behind, shorter texts, another content
answers.py     what a completion says, how it ended, and what the upstream counted
turns.py       turns, units that must not be cut, and the hash chain that recognises a history
headers.py     which headers pass, in which direction, and what a client asks of us by them
sse.py         server-sent events, parsed and written
accumulate.py  a stream of chunks → the completion it amounts to
merge.py       how a fragment of one joins what is there
replay.py      a completion → a stream of chunks
disclaimer.py  the line that says an answer is from memory: put in front, recognised, taken off
dialects.py    what each kind of upstream demands
order.py       is this order of messages one the upstream accepts?
"""
