"""Metrics and logs.

catalogue.py  every Prometheus metric: name, meaning, labels and their values
metrics.py    counts events; adds up the metrics of several processes
tally.py      adds up the events of requests until somebody looks
logs.py       structured logs, without contents or keys
"""
