"""`olvido replay`: estimates what would have been saved on requests that were made already. No upstream is called, and
nothing is written to anyone's storage.

    reading.py    parses the lines of a log into requests, in order, with their answers (pure)
    running.py    replays a log through the pipeline under any configuration; the tokenizer and the embedder for it
    report.py     the provider's prefix cache, simulated; the result of each request, and sums of them (pure)
    command.py    the command, which renders the report as text or JSON

`running.replayed` is all that another part of the proxy needs.
"""
