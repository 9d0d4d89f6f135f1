"""What is saved, and what does it cost? The first dashboard to look at."""

from grafana.source.panels import (
    MODEL,
    UPSTREAM,
    Graph,
    Number,
    Query,
    Section,
    dashboard,
    either,
    per_second,
    quantile,
)

_HOUR = 3600
_SENT, _ORIGINAL, _REUSED = 'kind="sent"', 'kind="original"', 'source!="upstream"'
_LEFT_OUT = 'mechanism=~"window|capped|tools|elided|pruned"'
_ADDED = 'mechanism=~"summaries|facts|recall|desk"'


def _in_range(metric: str, *matching: str) -> str:
    return either(f"sum(increase({metric}{{{', '.join(matching)}}}[$__range]))")


def _an_hour(metric: str, *matching: str) -> str:
    return f"{_HOUR} * " + either(per_second(metric, *matching))


_SPENT = _in_range("olvido_cost_dollars_total", MODEL)
_SAVED = (
    f"{_in_range('olvido_saved_cost_dollars_total', MODEL)} - {_in_range('olvido_added_cost_dollars_total', MODEL)}"
)
_SAVED_BY = per_second("olvido_saved_cost_dollars_total", MODEL, by="mechanism")
_ADDED_BY = per_second("olvido_added_cost_dollars_total", MODEL, by="mechanism")


OVERVIEW = dashboard(
    "olvido-overview",
    "Olvido: overview",
    "What Olvido saves against plain pass-through, and how the requests fare.",
    [
        Section(
            "Over the whole time range",
            [
                Number(
                    "Saved",
                    "Dollars against plain pass-through, less what folds and memory cost. What the provider's own "
                    "prefix cache saves is not counted.",
                    "currencyUSD",
                    _SAVED,
                ),
                Number("Spent", "What the upstreams' prices make of the billed tokens.", "currencyUSD", _SPENT),
                Number(
                    "Cost against pass-through",
                    "What was spent, as a share of what plain pass-through would have cost. Above 100 %: dearer.",
                    "percentunit",
                    f"{_SPENT} / ({_SPENT} + {_SAVED})",
                    1,
                ),
                Number(
                    "Prompt tokens sent",
                    "Of those that clients sent to us, as many went upstream.",
                    "percentunit",
                    f"{_in_range('olvido_tokens_total', _SENT, MODEL)} / "
                    f"{_in_range('olvido_tokens_total', _ORIGINAL, MODEL)}",
                    1,
                ),
                Number(
                    "Requests",
                    "To the managed route.",
                    "short",
                    _in_range("olvido_requests_total", MODEL, UPSTREAM),
                    0,
                ),
                Number(
                    "Answered from memory",
                    "Share of requests that no upstream was asked for.",
                    "percentunit",
                    f"{_in_range('olvido_requests_total', _REUSED, MODEL, UPSTREAM)} / "
                    f"{_in_range('olvido_requests_total', MODEL, UPSTREAM)}",
                    1,
                ),
            ],
        ),
        Section(
            "Money",
            [
                Graph(
                    "Dollars saved an hour, by mechanism",
                    "exact: the same request again; intent: the same question in other words; context: a shorter "
                    "prompt, less what folding it and adding memory to it cost. Below 0, that was paid in advance.",
                    "currencyUSD",
                    [Query(f"{_HOUR} * ({_SAVED_BY} - ({_ADDED_BY} or 0 * {_SAVED_BY}))", "{{mechanism}}")],
                ),
                Graph(
                    "Dollars an hour, against pass-through",
                    "What is spent, and what it would have been had every request been passed on as it came.",
                    "currencyUSD",
                    [
                        Query(_an_hour("olvido_cost_dollars_total", MODEL), "spent"),
                        Query(
                            f"{_an_hour('olvido_cost_dollars_total', MODEL)} + "
                            f"{_an_hour('olvido_saved_cost_dollars_total', MODEL)} - "
                            f"{_an_hour('olvido_added_cost_dollars_total', MODEL)}",
                            "pass-through",
                        ),
                    ],
                ),
            ],
        ),
        Section(
            "Tokens",
            [
                Graph(
                    "Tokens saved a second, by mechanism",
                    "Prompt and completion tokens that were not billed. measured=false: as we count them.",
                    "short",
                    [
                        Query(
                            per_second("olvido_saved_tokens_total", MODEL, by="mechanism, measured"),
                            "{{mechanism}} (measured={{measured}})",
                        )
                    ],
                    stacked=True,
                ),
                Graph(
                    "Tokens a second",
                    "original: as clients sent them; sent: as they went upstream; cached: of these, held by the "
                    "provider's prefix cache. measured=false: the upstream told no usage, or the prompt was not sent "
                    "like that; then it is our estimate.",
                    "short",
                    [
                        Query(
                            per_second("olvido_tokens_total", MODEL, by="kind, measured"),
                            "{{kind}} (measured={{measured}})",
                        )
                    ],
                ),
                Graph(
                    "Left out of prompts, tokens a second",
                    "window: turns that left it; capped: the middle of long old answers; tools: old tool results; "
                    "elided: what need not be repeated.",
                    "short",
                    [
                        Query(
                            per_second("olvido_context_tokens_total", _LEFT_OUT, MODEL, by="mechanism"),
                            "{{mechanism}}",
                        )
                    ],
                    stacked=True,
                ),
                Graph(
                    "Added to prompts, tokens a second",
                    "What memory costs: summaries and facts in the head, recalled turns and facts for the newest "
                    "question. And the tokens that the prefix cache held and that a fold had billed anew.",
                    "short",
                    [
                        Query(
                            per_second("olvido_context_tokens_total", _ADDED, MODEL, by="mechanism"),
                            "{{mechanism}}",
                        ),
                        Query(
                            per_second("olvido_prefix_busted_tokens_total", MODEL),
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
                    "Requests a second, by source",
                    "upstream: asked for; exact and intent: answered from memory.",
                    "reqps",
                    [
                        Query(
                            per_second("olvido_requests_total", MODEL, UPSTREAM, by="source"),
                            "{{source}}",
                        )
                    ],
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
                    "Upstream errors a second",
                    "By HTTP status, or by why there was no answer.",
                    "reqps",
                    [
                        Query(
                            per_second("olvido_upstream_errors_total", UPSTREAM, by="upstream, kind"),
                            "{{upstream}}: {{kind}}",
                        )
                    ],
                ),
                Graph(
                    "Retries and fallbacks a second",
                    "Requests that were sent again, to the same upstream or to the one that stands in for it.",
                    "reqps",
                    [
                        Query(
                            per_second("olvido_upstream_retries_total", UPSTREAM, by="upstream"),
                            "{{upstream}}: again",
                        ),
                        Query(
                            per_second("olvido_upstream_fallbacks_total", UPSTREAM, by="upstream"),
                            "{{upstream}}: handed on",
                        ),
                    ],
                ),
            ],
        ),
    ],
)
