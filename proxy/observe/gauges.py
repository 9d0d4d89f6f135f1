"""The gauges of the ledger's totals, set anew whenever the totals were read."""

from collections.abc import Mapping, Sequence

from proxy.observe.labels import MECHANISM, SAVED_BY
from proxy.observe.metrics import Metrics
from proxy.observe.totals import KeyTotal, Total
from proxy.storage.accounts import OTHER
from proxy.types import Sums


class TotalGauges:
    """The gauges of one ledger's totals, by model and by key."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics, self._of = metrics, metrics.of
        self._told: set[tuple[str, str, str]] = set()  # labels of keys

    def models(self, ledger: str, found: Mapping[str, Total]) -> None:
        """Sets the totals of the ledger of this name, by model; those of configured models and of all others are told
        before their first request."""
        for name in {*self._metrics.expected, OTHER} - found.keys():
            self._set(ledger, name, Total(0.0, Sums()))
        for name, total in found.items():
            self._set(ledger, name, total)

    def _set(self, ledger: str, model: str, total: Total) -> None:
        metrics, sums, whose = self._metrics, total.sums, (ledger, model)
        reused = sums.reused_exact + sums.reused_intent
        for source, count in (
            ("upstream", sums.requests - reused),
            ("exact", sums.reused_exact),
            ("intent", sums.reused_intent),
        ):
            self._of(metrics.ledger_requests, source, *whose).set(count)
        for kind, tokens in (
            ("original", sums.tokens_original + sums.tokens_reused_prompt),
            ("sent", sums.tokens_sent),
            ("cached", sums.tokens_cached),
            ("billed", sums.tokens_billed),
            ("completion", sums.tokens_completion),
        ):
            self._of(metrics.ledger_tokens, kind, *whose).set(tokens)
        for mechanism in SAVED_BY:
            self._of(metrics.ledger_saved, mechanism, *whose).set(getattr(sums, f"saved_{mechanism}"))
        self._of(metrics.ledger_reused_tokens, *whose).set(sums.tokens_reused)
        for mechanism in MECHANISM:
            self._of(metrics.ledger_context_tokens, mechanism, *whose).set(getattr(sums, mechanism))
        self._of(metrics.ledger_busted, *whose).set(sums.tokens_busted)
        self._of(metrics.ledger_unmanaged, *whose).set(sums.unmanaged)
        self._of(metrics.ledger_errors, *whose).set(sums.errors)
        self._of(metrics.ledger_cost, *whose).set(sums.cost)
        self._of(metrics.ledger_added, "context", *whose).set(sums.added_context)
        self._of(metrics.ledger_since, *whose).set(total.since)

    def keys(self, ledger: str, found: Sequence[KeyTotal]) -> None:
        """Sets the totals of keys in the ledger of this name, in place of those that were told before: a key may have
        come to another team."""
        metrics, told = self._metrics, {(ledger, each.name, each.team): each for each in found}
        every = (metrics.key_requests, metrics.key_tokens, metrics.key_cost, metrics.key_saved, metrics.key_since)
        for labels in self._told - told.keys():
            for metric in every:
                metrics.drop(metric, *labels)
        for labels, each in told.items():
            sums = each.sums
            values = (sums.requests, sums.tokens, sums.dollars, sums.saved, each.since)
            for metric, value in zip(every, values, strict=True):
                self._of(metric, *labels).set(value)
        self._told = set(told)
