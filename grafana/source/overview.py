"""What is saved, and what does it cost? The first dashboard to look at.

Money, tokens and requests are the ledger's own totals, so they are right after the first burst, and after a restart.
"""

from grafana.source.panels import (
    HOUR,
    MODEL,
    RANGE,
    UPSTREAM,
    Graph,
    Number,
    Query,
    Section,
    counted,
    dashboard,
    either,
    quantile,
    total,
)

_SENT, _ORIGINAL, _REUSED = 'kind="sent"', 'kind="original"', 'source!="upstream"'
_LEFT_OUT = 'mechanism=~"window|capped|tools|elided|pruned"'
_ADDED = 'mechanism=~"summaries|facts|recall|desk"'


def _saved(over: str) -> str:
    """Dollars against pass-through, less what folds and memory cost."""
    return (
        f"({total('olvido_ledger_saved_cost_dollars', MODEL, over=over)} - "
        f"{total('olvido_ledger_added_cost_dollars', MODEL, over=over)})"
    )


def _tokens(kind: str, over: str = RANGE) -> str:
    return total("olvido_ledger_tokens", kind, MODEL, over=over)


def _context(mechanisms: str, by: str = "") -> str:
    """Tokens of the hour before that context management left out, or added."""
    return total("olvido_ledger_context_tokens", mechanisms, MODEL, by=by, over=HOUR)


_SPENT = total("olvido_ledger_cost_dollars", MODEL)
_REQUESTS = total("olvido_ledger_requests", MODEL)
_UNMANAGED = total("olvido_ledger_unmanaged_requests")
_SPENT_AN_HOUR = total("olvido_ledger_cost_dollars", MODEL, over=HOUR)
_SAVED_BY = total("olvido_ledger_saved_cost_dollars", MODEL, by="mechanism", over=HOUR)
_ADDED_BY = total("olvido_ledger_added_cost_dollars", MODEL, by="mechanism", over=HOUR)


_DOWN = either('count(up{job="olvido"} == 0)')
_NOT_READY = either("count(olvido_ready == 0)")
_STORAGE = either("sum(olvido_storage_failing)")
_USED, _OPEN = 'sum(olvido_pool_connections{state="used"})', "sum(olvido_pool_connections)"
_POOL = either(f"{_USED} / ({_OPEN} > 0)")
_SPOOL = either("sum(olvido_spool_rows)")
_REDIS = either('sum(olvido_shared_state{state="down"})')
_BREAKERS = either("sum(max by (upstream) (olvido_upstream_breaker_open))")
_FAIL_OPENS = either(counted("olvido_fail_open_total"))


OVERVIEW = dashboard(
    "olvido-overview",
    "Olvido: overview",
    "What Olvido saves against plain pass-through, and how the requests fare.",
    [
        Section(
            "Now",
            [
                Number("Not answering", "Instances that Prometheus cannot reach.", "short", _DOWN, 0, 1),
                Number("Not ready", "Instances that say so: rows may be lost.", "short", _NOT_READY, 0, 1),
                Number("Storage in trouble", "Instances whose storage cannot do its work.", "short", _STORAGE, 0, 1),
                Number(
                    "Pool in use",
                    "Share of the open connections to PostgreSQL that are at work; 0 with another storage.",
                    "percentunit",
                    _POOL,
                    0,
                    1,
                ),
                Number("Rows on a disk", "That wait until PostgreSQL takes them.", "short", _SPOOL, 0, 1),
                Number("Redis away", "Processes that do without what they share.", "short", _REDIS, 0, 1),
                Number("Upstreams left alone", "Their breaker is open.", "short", _BREAKERS, 0, 1),
                Number(
                    "Fail-opens, last hour",
                    "Stages that failed, and requests went on without them.",
                    "short",
                    _FAIL_OPENS,
                    0,
                    1,
                ),
            ],
        ),
        Section(
            "Over the whole time range",
            [
                Number(
                    "Saved",
                    "Dollars against plain pass-through, less what folds and memory cost. What the provider's own "
                    "prefix cache saves is not counted.",
                    "currencyUSD",
                    _saved(RANGE),
                ),
                Number("Spent", "What the upstreams' prices make of the billed tokens.", "currencyUSD", _SPENT),
                Number(
                    "Cost against pass-through",
                    "What was spent, as a share of what plain pass-through would have cost. Above 100 %: dearer.",
                    "percentunit",
                    f"{_SPENT} / ({_SPENT} + {_saved(RANGE)})",
                    1,
                ),
                Number(
                    "Prompt tokens sent",
                    "Of those that clients sent to us, as many went upstream.",
                    "percentunit",
                    f"{_tokens(_SENT)} / {_tokens(_ORIGINAL)}",
                    1,
                ),
                Number(
                    "Requests",
                    "To the managed route.",
                    "short",
                    _REQUESTS,
                    0,
                ),
                Number(
                    "Failed",
                    "Share of the managed requests with an error, or without a whole answer though the client waited.",
                    "percentunit",
                    f"{total('olvido_ledger_errors', MODEL)} / {_REQUESTS}",
                    1,
                ),
                Number(
                    "Passed through unmanaged",
                    "Share of all requests that went to other routes, as they came: nothing is saved of them.",
                    "percentunit",
                    f"{_UNMANAGED} / ({_UNMANAGED} + {_REQUESTS})",
                    1,
                ),
                Number(
                    "Answered from memory",
                    "Share of requests that no upstream was asked for.",
                    "percentunit",
                    f"{total('olvido_ledger_requests', _REUSED, MODEL)} / {_REQUESTS}",
                    1,
                ),
            ],
        ),
        Section(
            "Money",
            [
                Graph(
                    "Dollars saved in the hour before, by mechanism",
                    "exact: the same request again; intent: the same question in other words; context: a shorter "
                    "prompt, less what folding it and adding memory to it cost. Below 0, that was paid in advance.",
                    "currencyUSD",
                    [Query(f"{_SAVED_BY} - ({_ADDED_BY} or 0 * {_SAVED_BY})", "{{mechanism}}")],
                ),
                Graph(
                    "Dollars of the hour before, against pass-through",
                    "What is spent, and what it would have been had every request been passed on as it came.",
                    "currencyUSD",
                    [
                        Query(_SPENT_AN_HOUR, "spent"),
                        Query(f"{_SPENT_AN_HOUR} + {_saved(HOUR)}", "pass-through"),
                    ],
                ),
            ],
        ),
        Section(
            "Tokens",
            [
                Graph(
                    "Tokens saved in the hour before, by mechanism",
                    "Tokens that were not billed. reuse: prompts and completions of answers from memory; context: what "
                    "was left out of prompts, less what was added, as we count it.",
                    "short",
                    [
                        Query(total("olvido_ledger_reused_tokens", MODEL, over=HOUR), "reuse"),
                        Query(f"{_context(_LEFT_OUT)} - {_context(_ADDED)}", "context"),
                    ],
                ),
                Graph(
                    "Tokens in the hour before",
                    "original: as clients sent them; sent: as they went upstream; cached: of these, held by the "
                    "provider's prefix cache; billed: prompt tokens charged for.",
                    "short",
                    [Query(total("olvido_ledger_tokens", MODEL, by="kind", over=HOUR), "{{kind}}")],
                ),
                Graph(
                    "Left out of prompts, tokens in the hour before",
                    "window: turns that left it; capped: the middle of long old answers; tools: old tool results; "
                    "elided: what need not be repeated.",
                    "short",
                    [
                        Query(_context(_LEFT_OUT, by="mechanism"), "{{mechanism}}"),
                    ],
                    stacked=True,
                ),
                Graph(
                    "Added to prompts, tokens in the hour before",
                    "What memory costs: summaries and facts in the head, recalled turns and facts for the newest "
                    "question. And the tokens that the prefix cache held and that a fold had billed anew.",
                    "short",
                    [
                        Query(_context(_ADDED, by="mechanism"), "{{mechanism}}"),
                        Query(
                            total("olvido_ledger_prefix_busted_tokens", MODEL, over=HOUR),
                            "cached, billed anew",
                        ),
                    ],
                ),
            ],
        ),
        Section(
            "Requests",
            [
                Graph(
                    "Requests in the hour before, by source",
                    "upstream: asked for; exact and intent: answered from memory.",
                    "short",
                    [
                        Query(
                            total("olvido_ledger_requests", MODEL, by="source", over=HOUR),
                            "{{source}}",
                        )
                    ],
                    stacked=True,
                ),
                Graph(
                    "Unmanaged requests in the hour before, by route",
                    "Passed through as they came: conversations alone are managed.",
                    "short",
                    [Query(counted("olvido_unmanaged_requests_total", by="route"), "{{route}}")],
                    stacked=True,
                ),
                Graph(
                    "Hit rates, last hour",
                    "Share of look-ups that found an answer, those that were not looked up because they must not be "
                    "reused included.",
                    "percentunit",
                    [Query("olvido:hit_share:1h", "{{kind}}")],
                ),
                Graph(
                    "Time that Olvido adds",
                    "Total time of a request minus the upstream's.",
                    "s",
                    [
                        Query("olvido:overhead_seconds:p50_5m", "median"),
                        Query("olvido:overhead_seconds:p99_5m", "99 %"),
                    ],
                ),
                Graph(
                    "Time of the upstream",
                    "To the answer's headers, and to its last byte.",
                    "s",
                    [
                        Query(
                            quantile(0.5, "olvido_upstream_first_byte_seconds", UPSTREAM, by="upstream"),
                            "{{upstream}}: headers, median",
                        ),
                        Query(
                            quantile(0.5, "olvido_upstream_seconds", UPSTREAM, by="upstream"),
                            "{{upstream}}: last byte, median",
                        ),
                        Query(
                            quantile(0.99, "olvido_upstream_seconds", UPSTREAM, by="upstream"),
                            "{{upstream}}: last byte, 99 %",
                        ),
                    ],
                ),
                Graph(
                    "Upstream errors in the hour before",
                    "By HTTP status, or by why there was no answer.",
                    "short",
                    [
                        Query(
                            counted("olvido_upstream_errors_total", UPSTREAM, by="upstream, kind"),
                            "{{upstream}}: {{kind}}",
                        )
                    ],
                ),
                Graph(
                    "Retries and fallbacks in the hour before",
                    "Requests that were sent again, to the same upstream or to the one that stands in for it.",
                    "short",
                    [
                        Query(
                            counted("olvido_upstream_retries_total", UPSTREAM, by="upstream"),
                            "{{upstream}}: again",
                        ),
                        Query(
                            counted("olvido_upstream_fallbacks_total", UPSTREAM, by="upstream"),
                            "{{upstream}}: handed on",
                        ),
                    ],
                ),
            ],
        ),
    ],
)
