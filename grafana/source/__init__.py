"""The dashboards as code. `python -m grafana.source` writes them to grafana/dashboards, one JSON file each;
`python -m grafana.source.metrics` prints METRICS.md, from the proxy's catalogue.

panels.py     what every panel and dashboard has in common
overview.py memory.py reuse.py keys.py health.py cluster.py    a dashboard each
"""
