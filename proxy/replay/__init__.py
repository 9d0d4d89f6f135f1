"""`olvido replay`: what would have been saved on requests that were made already. No upstream is called, and nothing is
written to anyone's storage.

    reading.py    lines of a log → requests, in order, each with what the log says of it and its answer (pure)
    running.py    a log under any configuration, through the pipeline; means.py: what takes long, done once
    pricing.py    what prompts cost where the provider's prefix cache holds what was sent before (pure)
    report.py     what became of each request, and sums of that (pure)
    rendering.py  the report as text and as JSON (pure)
    command.py    the command

`running.replayed(requests, config)` is all that another part of the proxy needs.
"""
