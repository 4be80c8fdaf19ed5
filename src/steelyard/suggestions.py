"""The nearest name that there is, for one that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from .errors import LONG, BadOption, quoted

MOST_LOOKED_AT = 5_000  # looking takes a while for every name, and somebody waits for the message


def did_you_mean(name: object, known: Iterable[object], otherwise: str) -> str:
    """What to do about an unknown name: the nearest known one is asked for, and else this is said."""
    near = nearest(name, known)
    return otherwise if near is None else f"Did you mean {quoted(near, LONG)}?"


def refuse_unknown(name: str, word: object, known: Iterable[str]) -> None:
    """Raise the error for an option that is none of the words it may be."""
    words = list(known)
    if not isinstance(word, str) or word not in words:
        quotes = [f"'{each}'" for each in words]
        raise BadOption(
            f"{name} is {quoted(word)}",
            mend=did_you_mean(word, words, f"Say {', '.join(quotes[:-1])} or {quotes[-1]}"),
        )


def nearest(name: object, known: Iterable[object]) -> object | None:
    """The known name that is spelled most alike, whatever its capitals; none if all are far off."""
    from difflib import get_close_matches

    if not isinstance(name, str):
        return None  # of numbers, none is misspelled; and a foreign object may do anything when asked what it is
    by_spelling = {str(one)[:LONG].casefold(): one for one in islice(known, MOST_LOOKED_AT) if one != name}
    found = get_close_matches(name[:LONG].casefold(), by_spelling, n=1)
    return by_spelling[found[0]] if found else None
