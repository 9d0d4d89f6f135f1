"""Metrics and logs.

catalogue.py  every Prometheus metric: name, meaning, labels; labels.py: the values of the labels
metrics.py    counts events; adds up the metrics of several processes
table.py      prints the documentation of the metrics, from the catalogue
logs.py       structured logs, without contents or keys
"""
