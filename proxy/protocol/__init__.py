"""The chat completions protocol: bytes to types and back. Pure: no I/O, and no decisions about a request.

chat.py        the neutral request, read from a chat completion's body; message.py: its messages
fields.py      the names of request fields by their meaning, and the canonical form of a request
request.py     parses the body once; writes a changed body, every untouched byte kept
content.py     changed messages: a block before or behind, shorter texts, another content
answers.py     reads completions: texts, finish reasons, `usage`
turns.py       turns, units that must not be cut, and the hash chain that recognises a history
headers.py     filters headers in both directions; reads a client's directives from them
sse.py         parses and writes server-sent events
accumulate.py  adds up the chunks of a stream to one completion
merge.py       merges one fragment of a stream into the value so far
replay.py      writes a stored completion as JSON or as a stream of chunks
disclaimer.py  adds, recognises and removes the line that says an answer is from memory
dialects.py    the demands of each kind of upstream: the table of dialects
order.py       validates a list of messages against a dialect
"""
