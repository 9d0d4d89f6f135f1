"""What the proxy tells about itself.

catalogue.py  every Prometheus metric: name, meaning, labels; labels.py: what those can say
metrics.py    what is counted when
shared.py     several processes, told as one
pulse.py      how late the event loop is
table.py      the documentation of the metrics, made from the catalogue
logs.py       structured logs, without contents or keys
"""
