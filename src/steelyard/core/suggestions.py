"""The nearest name that there is, for one that there is not."""

from __future__ import annotations

import re
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


OPPOSITES = (
    ("true", "false"),
    ("correct", "error"),
    ("accuracy", "error"),
    ("positive", "negative"),
    ("sensitivity", "specificity"),
    ("precision", "npv"),
    ("1", "2"),
    ("1", "3"),
    ("2", "3"),
    ("micro", "macro"),
    ("lower", "upper"),
    ("low", "high"),
    ("min", "max"),
    ("least", "most"),
    ("better", "worse"),
    ("best", "worst"),
    ("with", "without"),
    ("left", "right"),
    ("before", "after"),
    ("treated", "untreated"),
)
ABBREVIATED = {
    "tp": ("true", "positive"),
    "tpr": ("true", "positive"),
    "fp": ("false", "positive"),
    "fpr": ("false", "positive"),
    "fdr": ("false", "positive"),
    "tn": ("true", "negative"),
    "tnr": ("true", "negative"),
    "fn": ("false", "negative"),
    "fnr": ("false", "negative"),
    "for": ("false", "negative"),
    "ppv": ("positive",),
    "npv": ("negative", "npv"),
    "plr": ("positive",),
    "nlr": ("negative",),
}
# What words stand for, of those that have an opposite.
POLES: dict[str, tuple[str, ...]] = {
    **{word: (word,) for pair in OPPOSITES for word in pair},
    **ABBREVIATED,
    "pos": ("positive",),
    "plus": ("positive",),
    "neg": ("negative",),
    "minus": ("negative",),
    "sens": ("sensitivity",),
    "recall": ("sensitivity",),
    "spec": ("specificity",),
    "i": ("1",),
    "one": ("1",),
    "ii": ("2",),
    "two": ("2",),
    "iii": ("3",),
    "minimal": ("min",),
    "minimum": ("min",),
    "maximal": ("max",),
    "maximum": ("max",),
    "lowest": ("min", "low"),
    "highest": ("max", "high"),
}
NUMBERED = {"1", "2", "3", "i", "ii", "iii"}  # opposites in errors of a type, and numbers like others elsewhere
LONG_POLES = [word for word in POLES if len(word) > 3]
LEAST_NEGATED = 4  # letters: of shorter words, one more letter is not a negation
NEGATIONS = (
    *("un", "in", "im", "ir", "non", "non_", "non-", "non ", "not_", "not-", "not ", "no_", "no-", "no ", "dis", "ab"),
    *("without_", "without ", "a", "mis", "mis_"),
)
MOST_OPPOSITES = 5  # near names among which opposites are looked for
AS_NEAR = 0.06  # likenesses that differ by less are alike


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
    from difflib import SequenceMatcher, get_close_matches

    if not isinstance(name, str):
        return None  # of numbers, none is misspelled; and a foreign object may do anything when asked what it is
    wanted = name[:LONG].casefold()
    by_spelling = {str(one)[:LONG].casefold(): one for one in islice(known, MOST_LOOKED_AT) if one != name}
    found = get_close_matches(wanted, by_spelling, n=MOST_OPPOSITES)
    if not found or _are_opposites(wanted, found[0]):
        return None
    likeness = [SequenceMatcher(None, each, wanted).ratio() for each in found]
    for other, like in zip(found[1:], likeness[1:], strict=True):
        # Of two opposites that are as near as each other, either may be the contrary of what is meant.
        if likeness[0] - like < AS_NEAR and _are_opposites(found[0], other) and not _are_opposites(wanted, other):
            return None
    return by_spelling[found[0]]


def _are_opposites(one: str, other: str) -> bool:
    """Return whether one name says the contrary of the other: a true and a false positive rate."""
    if other in ABBREVIATED and other not in one:  # each of their letters is a word
        return True
    ours, theirs = _poles(one), _poles(other)
    if ("false" in ours) != ("false" in theirs):
        return True
    if any((a in ours and b in theirs) or (b in ours and a in theirs) for a, b in OPPOSITES if not {a, b} <= ours):
        return True
    short, long = sorted((_joined(one), _joined(other)), key=len)
    return len(short) >= LEAST_NEGATED and any(long == _joined(before) + short for before in NEGATIONS)


def _joined(name: str) -> str:
    """Return a name with one sign between its words."""
    return name.replace(" ", "_").replace("-", "_")


def _poles(name: str) -> set[str]:
    """Return the words of a name that have an opposite, however they are abbreviated or misspelled."""
    from difflib import get_close_matches

    words = re.findall("[a-z]+|[0-9]+", name)
    words = words if "type" in words else [word for word in words if word not in NUMBERED]
    found: set[str] = set()
    for word in words:
        near = () if word in POLES or len(word) < 3 else get_close_matches(word, LONG_POLES, 1, 0.75)
        found.update(POLES.get(near[0] if near else word, ()))
    return found


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
    names, takes_others = frozenset(known), bool(code.co_flags & CO_VARKEYWORDS)
    first = known[: code.co_argcount]
    needed = first[: len(first) - len(function.__defaults__ or ())]

    @wraps(function)
    def called(*values: Given.args, **options: Given.kwargs) -> Returned:
        if not takes_others and not names.issuperset(options):
            refuse_options(function.__name__, options, known)
        for name in needed[len(values) :]:
            if name not in options:
                mend = f"Say {function.__name__}({', '.join(first)})"
                mend += ", or name columns of a frame or file, which comes first" if "truth" in known else ""
                raise UnknownOption(f"{function.__name__}() is not given {name}", mend=mend)
        return function(*values, **options)

    return called
