"""The protocols of conversations: bytes to types and back. Pure: no I/O, and no decisions about a request. Chat
completions are here; `responses/` and `messages/` are adapters of two other APIs to the same neutral request.

apis.py        the table of APIs: what an upstream gets of a request in another one, and how its answer is read
origin.py      the request of another API behind a neutral one
fitting.py     its messages, as an upstream of chat completions takes them

chat.py        the neutral request, read from a chat completion's body; its canonical form
chains.py      its history as a hash chain
calls.py        calls of tools, read however an upstream has written them
message.py     the neutral message; changed messages: a block before or behind, shorter texts, another content
newest.py      the newest words of a user in a kept body, read without parsing the rest
request.py     parses the body once; writes a changed body, every untouched byte kept
answers.py     reads completions: texts, finish reasons, `usage`; the disclaimer: added, recognised, removed
routes.py      routes that are passed through: their names; model and usage of a request, read in passing
headers.py     filters headers in both directions; reads a client's directives from them
sse.py         parses server-sent events; writes a stored completion as a stream of chunks
accumulate.py  adds up the chunks of a stream to one completion
in_order.py    the deltas of a stream one block after another, for APIs that tell an answer so
splicing.py    splices the streams of several rounds into one answer
rounds.py      for it: reads one round, and holds back what the client is not to see, or not yet
by_index.py    the same for answers that are told by index: blocks, items
whole_rounds.py  the same for answers that are not streamed
spliced.py     the same by the API in which the upstream answers
tool_results.py  follow-up messages of an answer whose tools the proxy runs
merging.py     merges the values of chunks, and neighbouring chunks of text
dialects.py    the demands of each kind of upstream: the table of dialects, and the check of messages against it
"""
