"""What differs from the pins, by more than rounding can explain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .storing import Pins
from .ways import Fields

RELATIVE = 1e-12  # of a number
OF_ERROR = 1e-9  # of its standard error
ROUNDING = 1e-15  # of numbers near 1 that cancel each other
SQUARED = ("calibration_error", "top_calibration_error")  # roots: near 0, they turn 1e-16 into 1e-8
ABSENT = "(absent)"


@dataclass(frozen=True)
class Difference:
    """One field that is not what it was.

    Attributes:
        key: Data set, way, table and row.
        field: The field.
        before: The pin.
        after: What there is now.
        error: How far they are apart, in units of the tolerance; infinite for texts.
    """

    key: str
    field: str
    before: float | str
    after: float | str
    error: float

    @property
    def name(self) -> str:
        """What patterns of intended changes are matched with."""
        return f"{self.key}/{self.field}"

    def __str__(self) -> str:
        """In one line."""
        far = "" if math.isinf(self.error) else f"  ({self.error:.3g} tolerances)"
        return f"{self.name}: {_text(self.before)} -> {_text(self.after)}{far}"


def differences(before: Pins, after: Pins) -> Iterator[Difference]:
    """Compare pins with what there is now, in the order of the pins; what is new comes last."""
    for key, fields in before.items():
        yield from _of_row(key, fields, after.get(key, {}))
    for key, fields in after.items():
        if key not in before:
            yield from _of_row(key, {}, fields)


def _of_row(key: str, before: Fields, after: Fields) -> Iterator[Difference]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, ABSENT), after.get(name, ABSENT)
        if isinstance(old, str) or isinstance(new, str):
            error = 0.0 if old == new else math.inf
        else:
            error = _error(key, name, old, new, before)
        if error > 1:
            yield Difference(key, name, old, new, error)


def _error(key: str, name: str, old: float, new: float, row: Fields) -> float:
    """How far two numbers are apart, in units of the tolerance."""
    if old == new or (math.isnan(old) and math.isnan(new)):
        return 0.0
    if not (math.isfinite(old) and math.isfinite(new)):
        return math.inf
    se = row.get("se", 0.0)
    spread = se if isinstance(se, float) and math.isfinite(se) else 0.0
    size = abs(old)
    if name in ("p", "p_adjusted"):  # as much as they change where their statistic moves by that part of its error
        tolerance = max(RELATIVE * size, min(OF_ERROR, 100 * OF_ERROR * size), ROUNDING)
    elif _is_root(key):
        old, new, tolerance = old**2, new**2, max(RELATIVE * size**2, 2 * OF_ERROR * size * spread, ROUNDING)
    else:
        tolerance = max(RELATIVE * size, OF_ERROR * spread, ROUNDING)
    return abs(old - new) / tolerance


def _is_root(key: str) -> bool:
    table, row = key.split("/", 3)[2:]
    return table != "differences" and any(name.partition("(")[0] in SQUARED for name in row.split())


def sorted_out(
    found: Iterable[Difference], intended: Sequence[tuple[str, str]]
) -> tuple[list[Difference], dict[str, int]]:
    """Return the differences that nobody intended, and how many each pattern of intended ones matches."""
    left, matched = list[Difference](), {pattern: 0 for pattern, _ in intended}
    for each in found:
        patterns = [pattern for pattern in matched if fnmatchcase(each.name, pattern)]
        for pattern in patterns:
            matched[pattern] += 1
        if not patterns:
            left.append(each)
    return left, matched


def _text(value: float | str) -> str:
    return repr(value)
