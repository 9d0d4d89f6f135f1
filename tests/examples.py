"""The numbers of random examples that properties are tried with."""

from typing import Final

from hypothesis import settings

QUICK: Final = 10  # of a property that does not say how many: the profile of `make test`


def examples(whole: int) -> int:
    """Returns how many examples a property is tried with for which the whole is `whole`: in the quick tests a tenth of
    them, though not fewer than `QUICK`."""
    is_quick = settings.get_profile(settings.get_current_profile_name()).max_examples == QUICK
    return min(whole, max(QUICK, whole // 10)) if is_quick else whole
