"""Evidence: does a quotation state a value?"""


def supports(quote: str, value: str, message: str) -> str:
    """Returns "" if the user's own words in the quotation state the value, else a reason."""
    return "" if " ".join(quote.split()) in " ".join(message.split()) else "not said"
