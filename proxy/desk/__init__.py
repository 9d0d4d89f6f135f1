"""The desk: memory that the model manages itself, with tools that the proxy runs and the client never sees. Pure.

running.py   who runs the tools in an answer: the interface that the loop calls
planned.py   what planning is told of the desk
"""
