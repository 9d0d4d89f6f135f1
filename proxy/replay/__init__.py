"""`olvido replay`: estimates what would have been saved on requests that were made already. No upstream is called, and
nothing is written to anyone's storage.

    reading.py    parses the lines of a log into requests, in order, with their answers (pure)
    running.py    replays a log through the pipeline under any configuration
    resources.py  the tokenizer and the embedder of a replay, loaded once
    pricing.py    simulates the provider's prefix cache (pure)
    report.py     the result of each request, and sums of them (pure)
    rendering.py  the report as text and as JSON (pure)
    command.py    the command

`running.replayed(requests, config)` is all that another part of the proxy needs.
"""
