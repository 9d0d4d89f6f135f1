"""`olvido replay`: estimates what would have been saved on requests that were made already. No upstream is called, and
nothing is written to anyone's storage.

    files.py      parses whole files, of lines or arrays, compressed or not, into one log (pure)
    reading.py    parses an entry of a log into a request; puts them in order, with their answers (pure)
    gateways.py   formats of logs that name things their own way: Helicone, Langfuse, LiteLLM, batches, ours (pure)
    providers.py  upstreams for the models of a log, where no configuration names any (pure)
    running.py    replays a log through the pipeline under any configuration; the tokenizer and the embedder for it
    report.py     the provider's prefix cache, simulated; the result of each request, and sums of them (pure)
    headline.py   the report in a few sentences (pure)
    progress.py   percent and time left, on a terminal
    command.py    the command, which renders the report as text or JSON

`running.replayed` is all that another part of the proxy needs.
"""
