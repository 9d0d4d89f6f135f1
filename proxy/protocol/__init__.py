"""The chat completions protocol: bytes to types and back. Pure: no I/O, and no decisions about a request.

chat.py        the neutral request, read from a chat completion's body; its canonical form; its history as a hash chain
message.py     the neutral message; changed messages: a block before or behind, shorter texts, another content
request.py     parses the body once; writes a changed body, every untouched byte kept
answers.py     reads completions: texts, finish reasons, `usage`; the disclaimer: added, recognised, removed
routes.py      routes that are passed through: their names; model and usage of a request, read in passing
headers.py     filters headers in both directions; reads a client's directives from them
sse.py         parses server-sent events; writes a stored completion as a stream of chunks
accumulate.py  adds up the chunks of a stream to one completion
splicing.py    splices the streams of several rounds into one answer
rounds.py      for it: reads one round, and holds back what the client is not to see, or not yet
whole_rounds.py  the same for answers that are not streamed
tool_results.py  follow-up messages of an answer whose tools the proxy runs
merging.py     merges the values of chunks, and neighbouring chunks of text
dialects.py    the demands of each kind of upstream: the table of dialects, and the check of messages against it
"""
