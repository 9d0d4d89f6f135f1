"""Whose requests are they, and what do they cost? By key, team and end user."""

from grafana.source.panels import HOUR, Graph, Number, Query, Section, counted, dashboard, total

_COST, _SAVED = "olvido_ledger_key_cost_dollars", "olvido_ledger_key_saved_cost_dollars"
_REQUESTS, _TOKENS = "olvido_ledger_key_requests", "olvido_ledger_key_tokens"
_OF_KEYS = "None where the upstream judges its clients' keys (`auth.mode: passthrough`)."


def _section(title: str, label: str, legend: str) -> Section:
    """What a label of the totals of keys tells apart."""
    return Section(
        title,
        [
            Graph(
                f"Dollars of the hour before, {title.lower()}",
                f"What the upstreams' prices make of the billed tokens. {_OF_KEYS}",
                "currencyUSD",
                [Query(total(_COST, by=label, over=HOUR), legend)],
                stacked=True,
            ),
            Graph(
                f"Dollars saved in the hour before, {title.lower()}",
                "Against plain pass-through, less what folds and memory cost: below 0, that was paid in advance.",
                "currencyUSD",
                [Query(total(_SAVED, by=label, over=HOUR, falls=True), legend)],
            ),
            Graph(
                f"Requests in the hour before, {title.lower()}",
                "To any route, the unmanaged ones too.",
                "short",
                [Query(total(_REQUESTS, by=label, over=HOUR), legend)],
                stacked=True,
            ),
            Graph(
                f"Tokens of the hour before, {title.lower()}",
                "Prompt and completion tokens that an upstream billed.",
                "short",
                [Query(total(_TOKENS, by=label, over=HOUR), legend)],
                stacked=True,
            ),
        ],
    )


KEYS = dashboard(
    "olvido-keys",
    "Olvido: keys",
    "What keys, teams and end users ask for, and what it costs.",
    [
        Section(
            "Over the whole time range",
            [
                Number("Spent by keys", f"Of all keys of this proxy. {_OF_KEYS}", "currencyUSD", total(_COST)),
                Number("Saved by keys", "Against plain pass-through.", "currencyUSD", total(_SAVED, falls=True)),
                Number("Requests of keys", "To any route, the unmanaged ones too.", "short", total(_REQUESTS), 0),
                Number(
                    "Keys that asked",
                    "Of those that there are.",
                    "short",
                    f"count({total(_REQUESTS, by='key')} > 0) or vector(0)",
                    0,
                ),
                Number(
                    "Refused, at a limit",
                    "Requests of keys and end users that had used what they may.",
                    "short",
                    counted("olvido_limited_total", over="$__range"),
                    0,
                ),
            ],
        ),
        _section("By key", "key", "{{key}}"),
        _section("By team", "team", "{{team}}"),
        Section(
            "By end user",
            [
                Graph(
                    "Dollars of the hour before, by end user",
                    "Of those whom `observe.users` names, and of all others together. None unless it names any.",
                    "currencyUSD",
                    [Query(counted("olvido_user_cost_dollars_total", by="user"), "{{user}}")],
                    stacked=True,
                ),
                Graph(
                    "Dollars saved in the hour before, by end user",
                    "Of requests that were cheaper than plain pass-through.",
                    "currencyUSD",
                    [Query(counted("olvido_user_saved_cost_dollars_total", by="user"), "{{user}}")],
                    stacked=True,
                ),
                Graph(
                    "Requests in the hour before, by end user",
                    "Of those whom `observe.users` names, and of all others together.",
                    "short",
                    [Query(counted("olvido_user_requests_total", by="user"), "{{user}}")],
                    stacked=True,
                ),
                Graph(
                    "Tokens of the hour before, by end user",
                    "Prompt and completion tokens that an upstream billed.",
                    "short",
                    [Query(counted("olvido_user_tokens_total", by="user"), "{{user}}")],
                    stacked=True,
                ),
            ],
        ),
        Section(
            "Limits",
            [
                Graph(
                    "Refused in the hour before, by limit",
                    "Requests that got a 429, since their key or their end user was at this limit.",
                    "short",
                    [Query(counted("olvido_limited_total", by="whose, limit"), "{{whose}}: {{limit}}")],
                    stacked=True,
                )
            ],
        ),
    ],
)
