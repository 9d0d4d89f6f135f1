"""Do many processes work as one, and do PostgreSQL and Redis keep up?"""

from grafana.source.panels import HOUR, MODEL, Graph, Query, Section, counted, dashboard, per_second, quantile, total

_READ = 'operation="read"'


def _a_request(kind: str) -> str:
    """Mean tokens of this kind of a request that went upstream."""
    tokens = total("olvido_ledger_tokens", f'kind="{kind}"', MODEL, over=HOUR)
    requests = total("olvido_ledger_requests", 'source="upstream"', MODEL, over=HOUR)
    return f"{tokens} / {requests}"


CLUSTER = dashboard(
    "olvido-cluster",
    "Olvido: cluster",
    "Processes that remember as one: what each does, and what PostgreSQL and Redis do for all.",
    [
        Section(
            "Conversations",
            [
                Graph(
                    "Contexts a second, by where they were found",
                    "memory: the process itself had it; hot: Redis; database: it had to be read; failed: it could not "
                    "be, and the request went on without.",
                    "reqps",
                    [Query(per_second("olvido_context_reads_total", by="result"), "{{result}}")],
                    stacked=True,
                ),
                Graph(
                    "Contexts found without the database",
                    "Share of the last 15 minutes. Below 60 %, conversations come back later than they are held, or "
                    "Redis has too little room.",
                    "percentunit",
                    [Query("olvido:context_hit_share:15m", "found")],
                    most=1,
                ),
                Graph(
                    "Requests whose conversation was compressed",
                    "Share of the last hour. Above 10 %, conversations outgrow their budget all the time.",
                    "percentunit",
                    [Query("olvido:context_compressed_share:1h", "compressed")],
                ),
                Graph(
                    "Prompt tokens of a request",
                    "Mean of the hour before: as the client sent it, and as it was sent on upstream.",
                    "short",
                    [
                        Query(_a_request("original"), "asked"),
                        Query(_a_request("sent"), "sent"),
                    ],
                ),
            ],
        ),
        Section(
            "PostgreSQL",
            [
                Graph(
                    "Time of a query",
                    "Of the history of a conversation, mostly. It should stay below 50 ms at 99 %.",
                    "s",
                    [
                        Query(quantile(0.5, "olvido_storage_seconds", _READ), "median"),
                        Query(quantile(0.99, "olvido_storage_seconds", _READ), "99 %"),
                    ],
                ),
                Graph(
                    "Wait for a connection",
                    "More than the time of a query: `storage.pool` is too small, or PostgreSQL too slow.",
                    "s",
                    [
                        Query(quantile(0.5, "olvido_pool_wait_seconds"), "median"),
                        Query(quantile(0.99, "olvido_pool_wait_seconds"), "99 %"),
                    ],
                ),
                Graph(
                    "Connections",
                    "Of all processes, to be compared with PostgreSQL's `max_connections`.",
                    "short",
                    [Query("sum by (state) (olvido_pool_connections)", "{{state}}")],
                    stacked=True,
                ),
                Graph(
                    "Processes, by how they find it",
                    "unreachable: they go on without it. None: everything is kept on one machine.",
                    "short",
                    [Query("sum by (state) (olvido_storage_state)", "{{state}}")],
                    stacked=True,
                ),
                Graph(
                    "Rows that wait on a disk",
                    "Rows that PostgreSQL could not take. They are written when it is back.",
                    "short",
                    [Query("sum by (instance) (olvido_spool_rows)", "{{instance}}")],
                    stacked=True,
                ),
                Graph(
                    "Age of the oldest of them",
                    "How far the database is behind.",
                    "s",
                    [Query("max by (instance) (olvido_spool_seconds)", "{{instance}}")],
                ),
            ],
        ),
        Section(
            "Redis",
            [
                Graph(
                    "Processes, by their connection",
                    "down: they do without it. None: nothing is shared.",
                    "short",
                    [Query("sum by (state) (olvido_shared_state)", "{{state}}")],
                    stacked=True,
                ),
                Graph(
                    "Done without it in the hour before",
                    "What processes would have shared, and why they did not.",
                    "short",
                    [Query(counted("olvido_shared_failures_total", by="part, reason"), "{{part}}: {{reason}}")],
                ),
            ],
        ),
        Section(
            "Processes",
            [
                Graph(
                    "Workers",
                    "That serve, by machine or pod.",
                    "short",
                    [Query("sum by (instance) (olvido_workers)", "{{instance}}")],
                    stacked=True,
                ),
                Graph(
                    "Requests a second, by instance",
                    "They should be even: nothing binds a conversation to one of them.",
                    "reqps",
                    [Query(per_second("olvido_overhead_seconds_count", by="instance"), "{{instance}}")],
                    stacked=True,
                ),
                Graph(
                    "In flight, by instance",
                    "Requests being answered.",
                    "short",
                    [Query("sum by (instance) (olvido_in_flight)", "{{instance}}")],
                    stacked=True,
                ),
                Graph(
                    "Event loop lag, by instance",
                    "The worst of a minute: whatever holds a loop up holds up every request of its process.",
                    "s",
                    [Query("max by (instance) (olvido_loop_lag_max_seconds)", "{{instance}}")],
                ),
            ],
        ),
    ],
)
