"""Is the proxy well?"""

from grafana.source.panels import UPSTREAM, Graph, Query, Section, counted, dashboard, quantile


def _ours(metric: str) -> str:
    """Of the process: other programs have metrics of the same name."""
    return f"{metric} and on (job, instance) olvido_build_info"


HEALTH = dashboard(
    "olvido-health",
    "Olvido: health",
    "Failures that clients never saw, queues, and what the process needs.",
    [
        Section(
            "Failures",
            [
                Graph(
                    "Fail-opens in the hour before",
                    "A stage of ours failed or was too slow, and the request went on without it.",
                    "short",
                    [
                        Query(
                            counted("olvido_fail_open_total", by="stage, reason"),
                            "{{stage}}: {{reason}}",
                        )
                    ],
                ),
                Graph(
                    "Share of requests with a fail-open",
                    "Of the last five minutes.",
                    "percentunit",
                    [Query("olvido:fail_open_share:5m", "fail-opens")],
                ),
                Graph(
                    "Upstreams left alone",
                    "1 while an upstream's breaker is open.",
                    "short",
                    [Query(f"max by (upstream) (olvido_upstream_breaker_open{{{UPSTREAM}}})", "{{upstream}}")],
                    most=1,
                ),
                Graph(
                    "Upstream attempts that fail",
                    "Share of the last five minutes: 5xx, 429, no answer, or one that broke off.",
                    "percentunit",
                    [Query(f"olvido:upstream_error_share:5m{{{UPSTREAM}}}", "{{upstream}}")],
                ),
            ],
        ),
        Section(
            "Queues",
            [
                Graph(
                    "In flight",
                    "Requests being answered, and work behind them.",
                    "short",
                    [
                        Query("sum(olvido_in_flight)", "requests"),
                        Query("sum(olvido_memory_pending)", "being learnt from"),
                        Query("sum(olvido_tasks)", "background tasks"),
                    ],
                ),
                Graph(
                    "Rows waiting to be written",
                    "And rows that were lost in the last five minutes.",
                    "short",
                    [
                        Query("sum(olvido_writer_queue)", "waiting"),
                        Query('sum(increase(olvido_writer_dropped_rows_total{kind!="cut_links"}[5m]))', "lost"),
                    ],
                ),
                Graph(
                    "Writer lag",
                    "How long the oldest row has been waiting. A batch is written four times a second.",
                    "s",
                    [Query("max by (instance) (olvido_writer_lag_seconds)", "{{instance}}")],
                ),
                Graph(
                    "Time in the database",
                    "Of a query, and of a batch of writes.",
                    "s",
                    [
                        Query(quantile(0.5, "olvido_storage_seconds", by="operation"), "{{operation}}: median"),
                        Query(quantile(0.99, "olvido_storage_seconds", by="operation"), "{{operation}}: 99 %"),
                    ],
                ),
            ],
        ),
        Section(
            "Process",
            [
                Graph(
                    "Event loop lag",
                    "How late the loop is: whatever holds it up holds up every request.",
                    "s",
                    [
                        Query("max by (instance) (olvido_loop_lag_max_seconds)", "{{instance}}: worst of a minute"),
                        Query(quantile(0.99, "olvido_loop_lag_seconds"), "99 %"),
                    ],
                ),
                Graph(
                    "Time in our stages, 99 %",
                    "What the overhead is made of, in the hour before.",
                    "s",
                    [Query(quantile(0.99, "olvido_stage_seconds", by="stage", of=counted), "{{stage}}")],
                ),
                Graph(
                    "Memory",
                    "Resident, and what is known to take it; of all workers.",
                    "bytes",
                    [
                        Query(_ours("process_resident_memory_bytes"), "{{instance}}: resident"),
                        Query("sum(olvido_memory_index_bytes)", "indexes of old turns"),
                        Query("sum(olvido_reuse_index_bytes)", "questions and their vectors"),
                    ],
                ),
                Graph(
                    "CPU",
                    "Cores in use, by all workers.",
                    "short",
                    [
                        Query(
                            _ours("rate(process_cpu_seconds_total[$__rate_interval])"),
                            "{{instance}}",
                        )
                    ],
                ),
                Graph(
                    "Open files",
                    "A stream needs two sockets.",
                    "short",
                    [
                        Query(_ours("process_open_fds"), "{{instance}}: open"),
                        Query(_ours("process_max_fds"), "{{instance}}: allowed"),
                    ],
                ),
                Graph(
                    "Versions",
                    "How many instances run which.",
                    "short",
                    [Query("count by (version, python) (olvido_build_info)", "{{version}} (Python {{python}})")],
                ),
            ],
        ),
    ],
)
