"""The benchmark, `olvido bench`: what the proxy costs on this machine, beside the least that a gateway can cost.

    command.py      options, configuration, progress; the table or the JSON
    measuring.py    rows and the numbers of their rounds; rounds, measured in turns
    load.py         the load, a process of its own: requests as fast as they go, then at a fixed rate
    connections.py  its keep-alive connections
    bodies.py       what it sends
    processes.py    processes: started, looked at from outside, gone in any case
    floor.py        the least that a gateway in Python can cost; a file that stays as it is
    upstream.py     an upstream that does next to nothing

Nothing that serves imports it. `tests/bench/proxy.py` measures more rows, and holds them against limits.
"""
