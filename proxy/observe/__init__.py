"""Metrics and logs.

catalogue.py  every Prometheus metric: name, meaning, labels; labels.py: what those can say
metrics.py    what is counted when, and several processes told as one
table.py      the documentation of the metrics, made from the catalogue
logs.py       structured logs, without contents or keys
"""
