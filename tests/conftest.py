"""Settings that all tests share."""

from hypothesis import settings

# Machines are shared and noisy: how long an example takes says nothing about whether it is right.
settings.register_profile("steelyard", deadline=None)
settings.load_profile("steelyard")
