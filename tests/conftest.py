"""What holds for all tests."""

from hypothesis import settings

# How long an example takes says how busy the machine is, and nothing else.
settings.register_profile("olvido", deadline=None)
settings.load_profile("olvido")
