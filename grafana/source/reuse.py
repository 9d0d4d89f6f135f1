"""Which questions are answered from memory, and is it the right answer?"""

from grafana.source.panels import HOUR, MODEL, Graph, Query, Section, counted, dashboard, mean, quantile, total
from proxy.reuse.cacheable import BYPASSES

_BYPASS = "|".join(BYPASSES)
_OFF = "disabled|client_off|warming|unavailable"


def _misses(kind: str) -> str:
    told = counted("olvido_reuse_total", f'kind="{kind}"', f'result!~"hit|{_BYPASS}|{_OFF}"', by="result")
    return f"topk(10, {told})"


REUSE = dashboard(
    "olvido-reuse",
    "Olvido: reuse",
    "Which requests are answered from memory, why others are not, and whether the answers were right.",
    [
        Section(
            "Hits",
            [
                Graph(
                    "Hits in the hour before",
                    "exact: the same request; intent: the same question in other words.",
                    "short",
                    [
                        Query(
                            counted("olvido_reuse_total", 'result="hit"', by="kind"),
                            "{{kind}}",
                        )
                    ],
                    stacked=True,
                ),
                Graph(
                    "Hit rates, last hour",
                    "Share of look-ups that found an answer.",
                    "percentunit",
                    [Query("olvido:hit_share:1h", "{{kind}}")],
                ),
                Graph(
                    "Tokens not billed, in the hour before",
                    "Prompt and completion tokens of answers from memory.",
                    "short",
                    [
                        Query(total("olvido_ledger_reused_tokens", MODEL, over=HOUR), "not billed"),
                    ],
                ),
                Graph(
                    "Questions in memory",
                    "That may be answered by intent.",
                    "short",
                    [Query("sum(olvido_reuse_entries)", "questions")],
                ),
            ],
        ),
        Section(
            "Misses",
            [
                Graph(
                    "Exact: why not, in the hour before",
                    "absent: asked for the first time; not_deterministic: a temperature above 0 and no seed.",
                    "short",
                    [Query(_misses("exact"), "{{result}}")],
                ),
                Graph(
                    "Intent: why not, in the hour before",
                    "far: nothing near was asked; absent: nothing was asked in this partition; the others say "
                    "what differs.",
                    "short",
                    [Query(_misses("intent"), "{{result}}")],
                ),
                Graph(
                    "Must not be reused, in the hour before",
                    "What is asked depends on the time or on feelings, changes something, or is no text.",
                    "short",
                    [
                        Query(
                            counted("olvido_reuse_total", f'result=~"{_BYPASS}"', by="kind, result"),
                            "{{kind}}: {{result}}",
                        )
                    ],
                    stacked=True,
                ),
                Graph(
                    "Off, or not ready, in the hour before",
                    "Switched off, by the configuration or the client; or the embedding model is not loaded.",
                    "short",
                    [
                        Query(
                            counted("olvido_reuse_total", f'result=~"{_OFF}"', by="kind, result"),
                            "{{kind}}: {{result}}",
                        )
                    ],
                    stacked=True,
                ),
            ],
        ),
        Section(
            "Was it right?",
            [
                Graph(
                    "Reports of the last hour",
                    "wrong: reported; rephrased: asked again in other words right after; regenerated: another answer "
                    "was wanted.",
                    "short",
                    [Query(counted("olvido_reuse_reports_total", by="kind"), "{{kind}}")],
                ),
                Graph(
                    "Agreement with fresh answers",
                    "Mean cosine between a reused answer and what the upstream answers now, of the sample that "
                    "`reuse.intent.verify` asks for.",
                    "percentunit",
                    [Query(mean("olvido_reuse_agreement"), "mean")],
                    most=1,
                ),
                Graph(
                    "Partitions that are stopped",
                    "One entry answered too many questions there: reuse by intent pauses.",
                    "short",
                    [Query("max(olvido_reuse_breaker_open)", "stopped")],
                ),
                Graph(
                    "Time of the embedding model",
                    "Of one run, for one or more texts.",
                    "s",
                    [
                        Query(quantile(0.5, "olvido_embed_seconds", of=counted), "median"),
                        Query(quantile(0.99, "olvido_embed_seconds", of=counted), "99 %"),
                    ],
                ),
            ],
        ),
    ],
)
