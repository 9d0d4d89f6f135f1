"""The Messages API (`POST /v1/messages`) as an adapter to the neutral request. Pure.

request.py      reads a request: its fields and tools as those of a chat completion; writes a changed one
fields.py       its fields: what passes as it came, what can be translated, what an answer depends on
blocks.py       messages and their blocks as those of a chat completion, and back
parts.py        what stands in a block as a part of a chat completion's message
breakpoints.py  breakpoints of the prefix cache: the client's, and ours in a rewritten prompt
output.py       a completion as a message object, and back; errors in this API's shape
events.py       chunks of a completion as the events of a message
reading.py      events of a message as the completion that they are
rounds.py       a message out of several rounds, as a stream
whole_rounds.py the same for one that is not streamed
bodies.py       a body with tools of ours, or with the messages of a further round
"""
