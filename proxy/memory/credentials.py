"""Credentials in a statement: passwords, keys, codes and numbers of cards. What has one is never kept as a fact.

By its name and what stands behind it ("my password is hunter2"), or by its shape alone: the prefixes that providers
give their keys, a private key's head, a number of a card by its check digit, words with digits too mixed to be any
name.
"""

import re

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.memory.signals import folded

NEVER_KEPT = (
    "A password, a key, a code of access or the number of a card is never kept as a fact: every prompt that it fits "
    "would take it to the provider. Write down where it is kept instead."
)
_TABLES = union("credentials")
_NAMED = expression(_TABLES, r"(?<![\w-]){credential}(?![\w-])(?P<rest>[^\n]*)")
_NUMBERED = expression(_TABLES, r"(?<![\w-]){numbered}(?![\w-])[^\d\n]{0,40}(?:\d[ -]?){8,}")
# Behind the name: what it is, if not a word that says something of it; "PIN 4471", without any word between.
_GIVEN = expression(
    _TABLES, r"[^\w\n]{0,3}(?:{is})[\s:='\"\u201c\u00ab(]*(?!{harmless})(?P<thing>\S{3,})|[\s:=]+(?P<code>\S*\d\S*)"
)
# Shapes that nothing else has.
_SHAPED = re.compile(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|hf|npm|pypi|whsec|ya29|shpat)[-_][A-Za-z0-9_-]{12,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|(?<![\w/.-])(?=[A-Za-z0-9_-]*[A-Z])(?=[A-Za-z0-9_-]*[a-z])(?=(?:[A-Za-z0-9_-]*\d){4})[A-Za-z0-9_-]{24,}(?![\w/.-])"
)
_DIGITS = re.compile(r"(?<![\d.,-])(?=[3-6])(?:\d[ -]?){12,18}\d(?!\d|[.,-]\d)")


def has_credential(text: str) -> bool:
    """Tells whether a text tells a password, a key, a code of access or the number of a card."""
    if _SHAPED.search(text) or any(_is_card(found.group()) for found in _DIGITS.finditer(text)):
        return True
    plainly = folded(text)
    if _NUMBERED.search(plainly):
        return True
    return any(_GIVEN.match(named["rest"]) is not None for named in _NAMED.finditer(plainly))


def _is_card(written: str) -> bool:
    """Checks the digit by Luhn's formula, ISO/IEC 7812-1."""
    digits = [int(each) for each in written if each.isdigit()]
    doubled = (digit if at % 2 == 0 else sum(divmod(2 * digit, 10)) for at, digit in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0
