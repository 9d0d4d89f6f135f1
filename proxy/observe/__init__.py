"""What the proxy tells about itself.

metrics.py   every Prometheus metric, and the only code that touches one
logs.py      structured logs, without contents or keys
"""
