"""How much is tried: little by `make test`, where each fact is tested once; all of it by `make study`."""

import os

FULL = os.environ.get("STEELYARD_STUDY") == "full"


def repeats(few: int, full: int) -> int:
    """Return how often a simulation or a comparison is repeated: `full` times where STEELYARD_STUDY is "full"."""
    return full if FULL else few
