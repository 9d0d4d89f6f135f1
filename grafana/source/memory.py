"""What is remembered, and what of it is sent?"""

from grafana.source.panels import HOUR, MODEL, Graph, Query, Section, counted, dashboard, mean, quantile, total

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
                    "Requests in the hour before, by what was made of them",
                    "untouched: sent to the byte; managed: rewritten; over-budget: what must be sent is more than the "
                    "limit; fail-open: planning failed.",
                    "short",
                    [Query(counted("olvido_plans_total", by="kind"), "{{kind}}")],
                    stacked=True,
                ),
                Graph(
                    "Prompts above their limit",
                    "In the hour before: system, tools and the newest turn alone were above the budget, or above the "
                    "upstream's context.",
                    "short",
                    [Query(counted("olvido_plans_total", 'kind="over-budget"'), "over budget")],
                ),
                Graph(
                    "Turns in a prompt",
                    "Complete turns before the newest message.",
                    "short",
                    [
                        Query(mean("olvido_window_turns"), "mean"),
                        Query(quantile(0.5, "olvido_window_turns", of=counted), "median"),
                        Query(quantile(0.9, "olvido_window_turns", of=counted), "90 %"),
                    ],
                ),
                Graph(
                    "Topic shifts in the hour before, by what says so",
                    "phrase: announced; flush: the user asks to leave a topic; similarity and domain: it is about "
                    "something else.",
                    "short",
                    [Query(counted("olvido_topic_shifts_total", by="cause"), "{{cause}}")],
                    stacked=True,
                ),
            ],
        ),
        Section(
            "Folds",
            [
                Graph(
                    "Folds in the hour before, by reason",
                    "economic: it pays; pressure: the prompt nears its limit; limit: it would pass it; flush: the user "
                    "closed the topic; strict: the profile folds whenever the window is exceeded.",
                    "short",
                    [Query(counted("olvido_folds_total", by="reason"), "{{reason}}")],
                    stacked=True,
                ),
                Graph(
                    "Turns that a fold takes",
                    "How many old turns leave at once.",
                    "short",
                    [
                        Query(
                            f"{counted('olvido_folded_turns_total')} / {counted('olvido_folds_total')}",
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
                            f"{total('olvido_ledger_prefix_busted_tokens', MODEL, over=HOUR)} / "
                            f"{total('olvido_ledger_tokens', _SENT, MODEL, over=HOUR)}",
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
                        Query(quantile(0.9, "olvido_summaries", of=counted), "90 %"),
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
                        Query(quantile(0.9, "olvido_recall_tokens", of=counted), "90 %"),
                        Query(quantile(0.99, "olvido_recall_tokens", of=counted), "99 %"),
                    ],
                ),
                Graph(
                    "Prompts with recalled turns",
                    "Share of those that were looked into. Most questions need none.",
                    "percentunit",
                    [
                        Query(
                            f"1 - {counted('olvido_recall_tokens_bucket', _NONE)} / "
                            f"{counted('olvido_recall_tokens_count')}",
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
