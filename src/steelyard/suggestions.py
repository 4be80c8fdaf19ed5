"""The nearest name that there is, for one that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from .errors import LONG, quoted

MOST_LOOKED_AT = 5_000  # looking takes a while for every name, and somebody waits for the message


def did_you_mean(name: object, known: Iterable[object], otherwise: str) -> str:
    """What to do about an unknown name: the nearest known one is asked for, and else this is said."""
    near = nearest(name, known)
    return otherwise if near is None else f"Did you mean {quoted(near, LONG)}?"


def nearest(name: object, known: Iterable[object]) -> str | None:
    """The known name that is spelled most alike, whatever its capitals; none if all are far off."""
    from difflib import get_close_matches

    if not isinstance(name, str):
        return None  # of numbers, none is misspelled; and a foreign object may do anything when asked what it is
    by_spelling = {str(one)[:LONG].casefold(): str(one) for one in islice(known, MOST_LOOKED_AT) if one != name}
    found = get_close_matches(name[:LONG].casefold(), by_spelling, n=1)
    return by_spelling[found[0]] if found else None
