"""Metrics, traces and logs.

catalogue.py  every Prometheus metric: name, meaning, labels
register.py   for it: how a metric is documented, and its series found
labels.py     the possible values of the labels
metrics.py    counts events
merging.py    the metrics of several processes as one
totals.py     the totals of the ledger, by model
gauges.py     for it: the gauges of those totals
ledger.py     their reader, at each scrape
siblings.py   the workers of one machine: whichever is scraped asks the others
tally.py      adds up the events of requests until somebody looks
tracing.py    traces: the spans of a request
sampling.py   which requests are traced
otlp.py       their sender, by OpenTelemetry's protocol
logs.py       structured logs, without contents or keys
"""
