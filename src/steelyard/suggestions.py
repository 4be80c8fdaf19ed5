"""The nearest name that there is, for one that there is not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from inspect import CO_VARKEYWORDS
from itertools import islice
from numbers import Integral
from typing import ParamSpec, TypeGuard, TypeVar

from .errors import LONG, BadOption, UnknownOption, quoted

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

# What other libraries call the same, and what it is here.
ELSEWHERE = {
    "y_pred": "prediction=",
    "y_prob": "prediction=",
    "y_proba": "prediction=",
    "y_score": "prediction=",
    "assigned": "predictions={'lda': 'lda_class', 'qda': 'qda_class'}",
    "membership": "predictions={'lda': 'lda_*', 'qda': 'qda_*'}",
    "models": "predictions={'lda': 'lda_*', 'qda': 'qda_*'}",
    "labels": "scale=Scale(['low', 'high'])",
    "classes": "scale=Scale(['low', 'high'])",
    "pos_label": "event=",
    "positive": "event=",
    "sample_weight": "weight=",
    "clusters": "group=",
    "cost_matrix": "cost={true: {assigned: cost}}",
    "alpha": "level=, which is 1 - alpha",
    "confidence": "level=",
    "confidence_level": "level=",
    "metric": "measures=['f1']",
    "metrics": "measures=['f1']",
    "scoring": "measures=['f1']",
    "n_bootstraps": "replicates=",
    "n_resamples": "replicates=",
    "random_state": "seed=",
    "zero_division": "undefined=",
}

MOST_TIMES = 1_000_000  # that anything is done again: nobody sees the end of more, nor the difference
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


def is_whole(number: object) -> TypeGuard[int]:
    """Whether it is a whole number, of NumPy or not; what is true or false is none."""
    return isinstance(number, Integral) and not isinstance(number, bool)


def refuse_no_count(name: str, number: object, least: int = 1, most: int = MOST_TIMES) -> None:
    """Raise the error for an option that says how many, and does not."""
    if not is_whole(number) or number < least:
        raise BadOption(f"{name} is {quoted(number)}", mend=f"Give a whole number, {least} or above")
    if number > most:
        raise BadOption(f"{name} is {quoted(number)}", mend=f"Give a whole number, {most:,} or below")


def refuse_no_seed(seed: object) -> None:
    """Raise the error for what random numbers cannot start from."""
    if not is_whole(seed) or seed < 0:
        raise BadOption(f"seed is {quoted(seed)}", mend="Give a whole number, 0 or above")


def nearest(name: object, known: Iterable[object]) -> object | None:
    """The known name that is spelled most alike, whatever its capitals; none if all are far off."""
    from difflib import get_close_matches

    if not isinstance(name, str):
        return None  # of numbers, none is misspelled; and a foreign object may do anything when asked what it is
    by_spelling = {str(one)[:LONG].casefold(): one for one in islice(known, MOST_LOOKED_AT) if one != name}
    found = get_close_matches(name[:LONG].casefold(), by_spelling, n=1)
    return by_spelling[found[0]] if found else None


def refuse_options(function: str, options: Iterable[str], known: Collection[str]) -> None:
    """Raise the error for options that a function does not have."""
    for name in options:
        if name not in known:
            here = ELSEWHERE.get(name, "")
            meant = f"Say {here}" if here.partition("=")[0] in known else None
            mend = meant or did_you_mean(name, known, f"help(steelyard.{function}) tells which there are")
            raise UnknownOption(f"{function}() has no option {quoted(name)}", mend=mend)


def with_known_options(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let a function tell what it is not given, and what an option is called here that it does not have or hand on."""
    code = function.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    first = known[: code.co_argcount]
    needed = first[: len(first) - len(function.__defaults__ or ())]

    @wraps(function)
    def called(*values: Given.args, **options: Given.kwargs) -> Returned:
        if not code.co_flags & CO_VARKEYWORDS:
            refuse_options(function.__name__, options, known)
        for name in needed[len(values) :]:
            if name not in options:
                mend = f"Say {function.__name__}({', '.join(first)})"
                mend += ", or name columns of a frame or file, which comes first" if "truth" in known else ""
                raise UnknownOption(f"{function.__name__}() is not given {name}", mend=mend)
        return function(*values, **options)

    return called
