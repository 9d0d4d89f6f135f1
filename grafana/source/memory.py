"""What is remembered, and what of it is sent?"""

from grafana.source.panels import MODEL, Graph, Query, Section, dashboard, mean, per_second, quantile

_SENT, _NONE = 'kind="sent"', 'le="0.0"'

MEMORY = dashboard(
    "olvido-memory",
    "Olvido: memory",
    "What leaves prompts, what stands in its place, and what is remembered.",
    [
        Section(
            "Prompts",
            [
                Graph(
                    "Requests a second, by what was made of them",
                    "untouched: sent to the byte; managed: rewritten; over-budget: what must be sent is more than the "
                    "limit; fail-open: planning failed.",
                    "reqps",
                    [Query(per_second("olvido_plans_total", by="kind"), "{{kind}}")],
                    stacked=True,
                ),
                Graph(
                    "Prompts above their limit",
                    "In the last five minutes: system, tools and the newest turn alone were more than the budget, or "
                    "than the upstream's context.",
                    "short",
                    [Query('sum(increase(olvido_plans_total{kind="over-budget"}[5m]))', "over budget")],
                ),
                Graph(
                    "Turns in a prompt",
                    "Complete turns before the newest message.",
                    "short",
                    [
                        Query(mean("olvido_window_turns"), "mean"),
                        Query(quantile(0.5, "olvido_window_turns"), "median"),
                        Query(quantile(0.9, "olvido_window_turns"), "90 %"),
                    ],
                ),
                Graph(
                    "Topic shifts a second, by what says so",
                    "phrase: announced; flush: the user asks to leave a topic; similarity and domain: it is about "
                    "something else.",
                    "cps",
                    [Query(per_second("olvido_topic_shifts_total", by="cause"), "{{cause}}")],
                    stacked=True,
                ),
            ],
        ),
        Section(
            "Folds",
            [
                Graph(
                    "Folds a second, by reason",
                    "economic: it pays; pressure: the prompt nears its limit; limit: it would pass it; flush: the user "
                    "closed the topic; strict: the profile folds whenever the window is exceeded.",
                    "cps",
                    [Query(per_second("olvido_folds_total", by="reason"), "{{reason}}")],
                    stacked=True,
                ),
                Graph(
                    "Turns that a fold takes",
                    "How many old turns leave at once.",
                    "short",
                    [
                        Query(
                            f"{per_second('olvido_folded_turns_total')} / {per_second('olvido_folds_total')}",
                            "mean",
                        )
                    ],
                ),
                Graph(
                    "Cached tokens that folds had billed anew",
                    "As a share of all that were sent: what folding costs with a prefix cache.",
                    "percentunit",
                    [
                        Query(
                            f"{per_second('olvido_prefix_busted_tokens_total', MODEL)} / "
                            f"{per_second('olvido_tokens_total', _SENT, MODEL)}",
                            "billed anew",
                        )
                    ],
                ),
                Graph(
                    "Summaries in a prompt",
                    "Of those that old turns have left.",
                    "short",
                    [
                        Query(mean("olvido_summaries"), "mean"),
                        Query(quantile(0.9, "olvido_summaries"), "90 %"),
                    ],
                ),
            ],
        ),
        Section(
            "Remembered",
            [
                Graph(
                    "Recalled tokens in a prompt",
                    "Old turns that the newest question needs.",
                    "short",
                    [
                        Query(mean("olvido_recall_tokens"), "mean"),
                        Query(quantile(0.9, "olvido_recall_tokens"), "90 %"),
                        Query(quantile(0.99, "olvido_recall_tokens"), "99 %"),
                    ],
                ),
                Graph(
                    "Prompts with recalled turns",
                    "Share of those that were looked into. Most questions need none.",
                    "percentunit",
                    [
                        Query(
                            f"1 - {per_second('olvido_recall_tokens_bucket', _NONE)} / "
                            f"{per_second('olvido_recall_tokens_count')}",
                            "with recall",
                        )
                    ],
                    most=1,
                ),
                Graph(
                    "Facts, by status",
                    "Of the scopes that are held in memory. active: goes with prompts; retrieval-only: if a question "
                    "asks for it; stale: never, until confirmed; superseded and deleted: history.",
                    "short",
                    [Query("sum by (status) (olvido_facts)", "{{status}}")],
                    stacked=True,
                ),
                Graph(
                    "Held in memory",
                    "Scopes whose facts and index of old turns are in memory, and requests that are being learnt from.",
                    "short",
                    [
                        Query("sum(olvido_memory_scopes)", "scopes"),
                        Query("sum(olvido_memory_pending)", "being learnt from"),
                    ],
                ),
            ],
        ),
    ],
)
