"""How values of columns are compared, with each other and with what a user writes; text is ordered by its letters."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from ..core.errors import BadFilter, quoted

DIGITS = 76  # of the widest decimals of Arrow
WRITTEN_IN_DIGITS = re.compile(r"\d[\d.,:/TZ +-]*", re.ASCII)
# What two texts must have in common so that letters order the rest: years and months, hours, digits before a point.
BEGINNING = re.compile(r"\d{4}[-./]\d\d|\d\d?:\d\d|\d+", re.ASCII)
DAY_BEFORE_YEAR = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})([^0-9]|$)"
AS_DAYS = "Write days as in '2024-12-31', in the column too"


def family_of(value: object) -> str:
    """What a value that somebody wrote can be compared with."""
    return "boolean" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def family(kind: Any) -> str:
    """What can be compared with each other."""
    import pyarrow.types as kinds

    if kinds.is_boolean(kind):
        return "boolean"
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        return "number"
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return "text"
    return "time" if kinds.is_temporal(kind) else "nothing" if kinds.is_null(kind) else str(kind)


def moment(text: str, kind: Any) -> Any:
    """A day or time as a column holds it; one without a zone is of that of the column."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        return pa.scalar(text).cast(kind)
    except pa.ArrowException:
        if not pa.types.is_timestamp(kind) or kind.tz is None:
            raise
    return compute.assume_timezone(pa.scalar(text).cast(pa.timestamp(kind.unit)), kind.tz)


def in_range(kind: Any, value: float) -> bool:
    """Whether a type of whole numbers reaches as far as a number."""
    import pyarrow.types as kinds

    signed = kinds.is_signed_integer(kind)
    least, behind = (-1 << (kind.bit_width - 1), 1 << (kind.bit_width - 1)) if signed else (0, 1 << kind.bit_width)
    return bool(least <= value < behind)


def common_with(kind: Any, value: Any) -> tuple[Any, Any]:
    """A type in which a column of numbers can be held against a number, and the number in it."""
    import pyarrow as pa

    if pa.types.is_floating(kind):
        wide = pa.float32() if pa.types.is_float16(kind) else kind  # of half precision, Arrow compares nothing
        return wide, pa.scalar(rounded(kind, value), wide)
    if pa.types.is_decimal(kind):
        return _decimal_with(kind, Decimal(repr(value)))
    if value == value // 1 and in_range(kind, value):
        return kind, pa.scalar(int(value), kind)
    if isinstance(value, int):
        return pa.decimal128(38, 0), pa.scalar(Decimal(value), pa.decimal128(38, 0))
    # A fraction is less than 2 to the 53rd: numbers that are rounded stay on their side of it.
    return pa.float64(), pa.scalar(value)


def _decimal_with(kind: Any, value: Decimal) -> tuple[Any, Any]:
    """The same for a column of decimals, which keep every digit where the number has few enough of them."""
    import pyarrow as pa

    exponent = value.as_tuple().exponent
    scale = max(kind.scale, -exponent) if isinstance(exponent, int) else DIGITS
    if max(kind.precision - kind.scale, value.adjusted() + 1) + scale > DIGITS:
        # Then it is far larger, or far nearer to 0, than what the column can hold: rounding changes no order.
        return pa.float64(), pa.scalar(float(value))
    wide = pa.decimal256(DIGITS, scale)
    return wide, pa.scalar(value, wide)


def can_hold(kind: Any, value: Any) -> bool:
    """Whether a type of numbers holds a whole number exactly, and none beside it that was rounded to it."""
    import pyarrow.types as kinds

    if not kinds.is_floating(kind) or not isinstance(value, int):
        return True
    digits = 11 if kinds.is_float16(kind) else 24 if kinds.is_float32(kind) else 53
    return abs(value) <= 1 << digits


def are_inexact(kind: Any, other: Any) -> bool:
    """Whether one column has whole numbers that are rounded in the type of the other."""
    import pyarrow.types as kinds

    return bool(kinds.is_floating(other) and (kinds.is_int64(kind) or kinds.is_uint64(kind)))


def compared_exactly(compare: Callable[[Any, Any], Any], whole: Any, kind: Any, real: Any) -> Any:
    """Whole numbers of 64 bits held against floats, also where the nearest float of a number is another number."""
    import pyarrow as pa
    from pyarrow import compute

    behind = float(1 << 63 if pa.types.is_int64(kind) else 1 << 64)
    near, real = whole.cast(pa.float64(), safe=False), real.cast(pa.float64())
    # Where both are the same float, that float is whole: unless it lies behind all whole numbers, it can be one.
    same, less = near == real, compute.scalar(bool(compare(0, 1)))
    inside = compare(whole, compute.if_else(real < behind, real, 0.0).cast(kind, safe=False))
    return compute.if_else(same, compute.if_else(real < behind, inside, less), compare(near, real))


def common(kind: Any, other: Any) -> Any:
    """A type in which two columns of numbers, or of text, can be compared; None where every type would round them."""
    import pyarrow as pa

    if family(kind) == "text":
        return pa.large_string()
    decimals = [each for each in (kind, other) if pa.types.is_decimal(each)]
    if decimals:
        if pa.types.is_floating(kind) or pa.types.is_floating(other):
            return None
        scale = max(each.scale for each in decimals)
        before = max([20, *(each.precision - each.scale for each in decimals)])
        return pa.decimal256(DIGITS, scale) if before + scale <= DIGITS else None
    if not (pa.types.is_integer(kind) and pa.types.is_integer(other)):
        return pa.float64()
    return pa.decimal128(38, 0) if pa.uint64() in (kind, other) else pa.int64()


def rounded(kind: Any, value: Any) -> float:
    """A number as a column holds it: 0.7 of single precision is 0.7, as it is where it is held against a threshold."""
    import pyarrow.types as kinds

    with np.errstate(over="ignore"):
        return float(
            np.float16(value) if kinds.is_float16(kind) else np.float32(value) if kinds.is_float32(kind) else value
        )


# --- text by its letters --------------------------------------------------------------------------------------


def form_of(text: str, column: str) -> str | None:
    """What texts look like that are in the order of the days, times or numbers that they stand for, as this one is.

    None where letters are meant.
    """
    if not WRITTEN_IN_DIGITS.fullmatch(text):
        return None
    if re.match(DAY_BEFORE_YEAR, text):
        raise BadFilter(f"days like {quoted(text)} are not in the order of their letters", column=column, mend=AS_DAYS)
    found = BEGINNING.match(text)
    shown = re.sub("[0-9]", "[0-9]", re.escape(found[0])) if found else ""
    decimal = re.fullmatch(r"\d+\.\d*", text, re.ASCII)
    return f"^{shown}(\\.|$)" if decimal else f"^{shown}([^0-9]|$)"


def out_of_order(value: str, column: str, against: str, row: int, file: str | None) -> BadFilter:
    """What to say of a text that letters do not put where it is meant to be."""
    if re.match(DAY_BEFORE_YEAR, value):
        problem, mend = f"days like {quoted(value)} are not in the order of their letters", AS_DAYS
    else:
        problem = f"{quoted(value)} has not the form of {against}, and text is ordered letter by letter"
        name = column if column.isidentifier() else f"`{column}`"
        mend = f"Write all values of it in that form, or leave such rows out: {name} != {quoted(value)} and ..."
    return BadFilter(problem, file=file, column=column, row=row, mend=mend)
