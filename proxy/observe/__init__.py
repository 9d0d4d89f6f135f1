"""Metrics and logs.

catalogue.py  every Prometheus metric: name, meaning, labels and their values
metrics.py    counts events; adds up the metrics of several processes
logs.py       structured logs, without contents or keys
"""
