"""`olvido serve --workers N`: several processes of one machine serve one port.

    supervisor.py  the parent: listens, hands connections to workers in turn, restarts, drains and reloads them
    generations.py the workers that serve one version of the configuration
    worker.py      a worker: serves the connections that it is handed
    channel.py     what both say to each other, on a socket of their own
    restarts.py    the pause before a worker that dies again and again is started anew

The supervisor accepts, since a listening socket that workers share is unfair: of 8 connections that come at once one of
two workers got all, of 400 one of four got 260 (uvloop); and one for each (SO_REUSEPORT) loses what waits for a worker
that is killed. Node's cluster does the same, for the same reason. It costs about 0.1 ms a connection, and nothing a
request.

Workers share the storage, nothing else: single flight, breakers, throttles and open turns are each worker's own. Their
metrics are one (`proxy/observe/siblings.py`). The end of the supervisor, however it comes, closes the channel: then the
workers finish what they have, and end.
"""
