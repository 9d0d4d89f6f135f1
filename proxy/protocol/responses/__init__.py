"""The Responses API (`POST /v1/responses`) as an adapter to the neutral request. Pure.

request.py     reads a request: its fields and tools as those of a chat completion; writes a changed one
tools.py       its tools, and the choice among them
items.py       items of its input as messages, and messages as items
reasoning.py   reasoning items, and those that the proxy hands out itself
output.py      a completion as a response object, and back
events.py      chunks of a completion as the events of a response
reading.py     events of a response as the completion that they are
keeping.py     what is kept of a response, so that a later request can go on from it
rounds.py      a response out of several rounds, as a stream
whole_rounds.py  the same for one that is not streamed
spoken.py      for it: what the model has said in a round, as it goes back upstream
item_events.py for it: whole items as events, and the rest of one that was cut off
echoed.py      for it: what a response repeats of its request
bodies.py      a body with tools of ours, or with the items of a further round
"""
