"""Quotations beside values, as the checks of `proxy/memory/support.py` read them."""

from proxy.language.detect import language
from proxy.memory.claim_words import spoken_in_claims
from proxy.memory.support_quoted import Quoted, said_in


def quoted(message: str, value: str, others: str = "") -> Quoted:
    """The quotation that stands between asterisks in a message, or all of it."""
    before, mark, rest = message.partition("*")
    quote, _, behind = rest.partition("*") if mark else (message, "", "")
    text, start = before + quote + behind if mark else message, len(before) if mark else 0
    code = language(text) or spoken_in_claims(f"{text} {value}")
    return Quoted(said_in(text, start, start + len(quote), others), value, code)
