"""Python's own objects as Arrow columns, where they are of one kind; and which of them is not."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

from .errors import SteelyardError, UnusableLabels, quoted

AS_TEXT = "Labels are text, whole numbers or booleans; turn others into text, as values.astype(str) does"
TEXT, NUMBER, BOOLEAN = "text", "a number", "a boolean"
MISSING = ("NoneType", "NAType", "NaTType")  # the types of None and of pandas' two words for it


class _Places(dict[Any, int]):
    """The place of every word, in the order in which words turn up."""

    def __missing__(self, word: Any) -> int:
        place = self[word] = len(self)
        return place


def _words(values: Any) -> Any:
    """Code text in one pass: only the distinct words, not the rows, are then left to look at."""
    import pyarrow as pa

    places = _Places()
    try:
        codes = np.fromiter(map(places.__getitem__, values), dtype=np.int32, count=len(values))
    except TypeError:  # something that is no word at all
        return None
    if set(map(type, places)) != {str}:
        return None
    try:
        return pa.DictionaryArray.from_arrays(codes, pa.array(list(places), pa.string()))
    except Exception:  # broken text: whoever asked will say where
        return None


def from_objects(values: Any, name: str) -> Any:
    """Let Arrow take in Python objects, if they are of one kind."""
    import pyarrow as pa

    if len(values) and type(values[0]) is str and (found := _words(values)) is not None:
        return found
    try:
        kind = _arrow_type(set(map(type, values)))
        try:
            return pa.array(values, kind, from_pandas=True)
        except (OverflowError, pa.ArrowInvalid):
            if kind != pa.int64():
                raise
            return pa.array(values, pa.uint64(), from_pandas=True)
    except Exception as error:  # overflow, broken text, kinds that do not go together
        raise odd_one(values, name) or UnusableLabels(
            "the column mixes values that cannot be labels of one kind",
            column=name,
            mend=f"Make all labels text, or all whole numbers ({quoted(str(error), 120)})",
        ) from None


def _arrow_type(types: set[type]) -> Any:
    """What Arrow shall make of objects of these types. Left to judge for itself, it crashes on some."""
    from decimal import Decimal

    import pyarrow as pa

    kinds = [kind for kind in types if kind.__name__ not in MISSING]

    def only(*allowed: type) -> bool:
        return all(issubclass(kind, allowed) for kind in kinds)

    if not kinds:
        return pa.null()
    if only(Decimal):
        return None  # Arrow finds out how many digits
    if only(str, float) and not only(float):
        return pa.string()  # a float among text is refused unless it is NaN
    if only(bool, np.bool_):
        return pa.bool_()
    if only(int, np.integer):
        return pa.int64()
    if only(int, float, np.integer, np.floating, np.bool_):
        return pa.float64()
    raise TypeError(", ".join(sorted(kind.__name__ for kind in kinds)))


def days_of(values: Any) -> Any:
    """Let Arrow take in Python's days, or its times; None where there is anything else."""
    from datetime import date, datetime

    import pyarrow as pa

    with suppress(Exception):  # a foreign object may raise anything
        kinds = {type(value) for value in values if not is_missing(value)}
        if kinds == {date} or (kinds and all(issubclass(kind, datetime) for kind in kinds)):
            found = pa.array(values, from_pandas=True)
            if any(getattr(value, "nanosecond", 0) for value in values):  # of pandas' times, Arrow leaves these out
                found = pa.array(values, pa.timestamp("ns", found.type.tz), from_pandas=True)
            return found
    return None


def odd_one(values: Any, name: str) -> SteelyardError | None:
    """Find the first value that cannot be a label, or is of another kind than the first."""
    first, objects = "", list(values) if isinstance(values, list | tuple) else []
    with suppress(Exception):
        objects = objects or list(np.asarray(values, dtype=object))
    for row, value in enumerate(objects):
        kind = _kind(value)
        first = first or kind
        if kind and kind != first:
            problem, mend = f"{quoted(value)} is {kind}, but there was {first} before", "Make all labels of one kind"
        elif kind in ("", TEXT, NUMBER, BOOLEAN):
            continue
        else:
            problem, mend = f"{quoted(value)} is {kind}", AS_TEXT
        return UnusableLabels(problem, column=name, row=row, mend=mend)
    return None


def _kind(value: Any) -> str:
    """What a value is, in words; nothing where it is missing."""
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return TEXT if is_sound(value) else "broken text"
    if isinstance(value, bool | np.bool_):
        return BOOLEAN
    if isinstance(value, int | float | np.integer | np.floating):
        return NUMBER if -(2**63) <= value < 2**64 else "a number beyond 64 bits"
    return f"a {type(value).__name__}"


def is_missing(value: Any) -> bool:
    """Tell nothing from something, as pandas does: None, NaN, NA and NaT are nothing."""
    return type(value).__name__ in MISSING or (isinstance(value, float) and math.isnan(value))


def is_sound(text: str) -> bool:
    """Tell text that can be written from text with halves of signs in it."""
    return text.isascii() or text.encode(errors="ignore").decode() == text
