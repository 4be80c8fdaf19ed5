"""How many cases a hostile test tries: all of them by `make hostile`, a twentieth by `make test`."""

import os

FULL = os.environ.get("STEELYARD_HOSTILE") == "full"


def cases(full: int, part: int = 20) -> int:
    """Return the number of cases to try: `full` where STEELYARD_HOSTILE is "full", else a twentieth or another part."""
    return full if FULL else max(1, full // part)
