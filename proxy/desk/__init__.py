"""The desk: memory that the model manages itself, with tools that the proxy runs and the client never sees. Pure.

state.py       the desk of a session, as events and the tape tell it
view.py        a request's messages with what the client never saw put back
planned.py     the desk of a request, for planning
offering.py    requests that can carry the tools, and their names there
identity.py    the rules by which the model uses them (identity.*.md)
sections.py    the sections: their files, their text in a memory head
dashboard.py   the context measured, and told to the model
boarding.py    the desk once a prompt is planned: the dashboard added, what is kept of the plan
running.py     who runs the tools in an answer: the interface that the loop calls

schemas.py     the eight tools as they are offered
tools.py       their calls, read: typed orders
memory_tool.py Anthropic's memory tool in their place: its commands, read, and what they do to a text
sentences.py   their answers to the model
wishes.py      prunes and summaries, checked: marks
marking.py     marks as changes of a view: which messages leave, which are replaced
protecting.py  messages that stay whatever the model wishes
trust.py       quotations of handed-over text
merging.py     the three-way merge of a text that model and person edit
undoing.py     undoing the edits of a session
repeated.py    repeated calls of the client's tools; edits that go round in circles
looking.py     the desk as people look at it: marks, pins, edits; hidden rounds of an answer
"""
