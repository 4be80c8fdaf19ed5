"""Numbers, names and sentences of the page. What is shown is worded here, so that the page itself computes nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.table import json_value
from ...core.text import estimated, in_percent, isolated, named, rows_in_words, shortened, with_interval

if TYPE_CHECKING:
    from ...core.estimate import Estimate
    from ...results.assessment import Assessment

LONGEST = 60
DIGITS = 5  # of what is only drawn
AS_BEFORE = "="


def shown(label: object) -> str:
    """A name from the data: nothing in it acts, hides or turns other words around, and it is not too long."""
    return isolated(shortened(named(label), LONGEST))


def percent(share: float, decimals: int = 1) -> str:
    """A share of rows; a share of nothing is a dash."""
    return "–" if math.isnan(share) else f"{share:.{decimals}%}"


def told(value: float, low: float, high: float) -> tuple[str, str]:
    """A value and its interval, unless there is none."""
    text, bounds = estimated(value, low, high)
    return text, "" if math.isnan(value) or math.isnan(low) or math.isnan(high) else bounds


def worded(found: Estimate) -> dict[str, Any]:
    """An estimate as numbers to draw and to download, and as words to show."""
    text, bounds = told(found.value, found.low, found.high)
    numbers = {name: json_value(float(getattr(found, name))) for name in ("value", "low", "high", "se", "n")}
    return {**numbers, "method": found.method, "note": found.note, "text": text, "interval": bounds}


def packed(words: Iterable[str]) -> str:
    """A column of words as one text, for columns that are long and often say the same twice."""
    found, last = [], None
    for word in words:
        found.append(AS_BEFORE if word == last else word)
        last = word
    return "\n".join(found)


def drawn(values: Any, decimals: int | None = None) -> list[float | None]:
    """Numbers that are drawn: as many digits as a page can show, and nothing where there is none.

    Unless it is said how many decimals they have, that depends on how far they reach: all may be tiny, or huge.
    """
    found = np.asarray(values, dtype=np.float64)
    known = found[np.isfinite(found)]
    if decimals is None and len(known):
        reach = float(known.max() / 2 - known.min() / 2)  # halves, because the whole may be too large for a number
        decimals = DIGITS - math.ceil(math.log10(reach) + math.log10(2)) if reach > 0 else None
    rounded = found.tolist() if decimals is None else [round(value, decimals) for value in found.tolist()]
    return [value if math.isfinite(value) else None for value in rounded]


# --- the verdict on one classifier -----------------------------------------------------------------------------------


def sentences(assessment: Assessment, overall: Iterable[tuple[str, Estimate]]) -> list[str]:
    """What a single assessment says, in words: how often it errs, whether that beats guessing, how well it ranks."""
    found = {estimate.measure: (label, estimate) for label, estimate in overall}
    said = [line for line in (_errs(assessment, found), _beats(found), _ranks(found)) if line]
    if assessment.decision is not None:
        chosen = str(assessment.decision).partition("\n")[0]
        said.append(shortened(chosen[:1].upper() + chosen[1:], 200) + ".")
    if said:
        return said
    for label, first in found.values():
        return [f"{shown(assessment.model)}: {label[2:]} {first}."]
    return [f"{shown(assessment.model)}: all that was asked for is of single classes."]


def _errs(assessment: Assessment, found: dict[str, tuple[str, Estimate]]) -> str:
    """How often it is wrong."""
    if "error" in found:
        one, verb = found["error"][1], "wrong"
    elif "accuracy" in found:
        one, verb = found["accuracy"][1], "right"
    else:
        return ""
    width = 100 * (one.high - one.low)
    # Two digits of the width, as in tables: where errors are rare, their share would be 0.0% from 0.0% to 0.0%.
    decimals = min(8, max(1, 1 - math.floor(math.log10(width)))) if width > 0 else 1
    share, low, high = (percent(value, decimals) for value in (one.value, one.low, one.high))
    sure = f"{in_percent(assessment.settings.level)} interval {low} to {high}"
    return f"{shown(assessment.model)} is {verb} on {share} of {rows_in_words(assessment.n)} ({sure})."


def _beats(found: dict[str, tuple[str, Estimate]]) -> str:
    """Whether its classes agree with the true ones by more than chance."""
    if "kappa" not in found or math.isnan(found["kappa"][1].value):
        return ""
    one = found["kappa"][1]
    told_apart = "Guessing would do worse" if one.low > 0 else "Guessing would do better" if one.high < 0 else ""
    return f"{told_apart or 'It cannot be told from guessing'}: kappa {with_interval(one.value, one.low, one.high)}."


def _ranks(found: dict[str, tuple[str, Estimate]]) -> str:
    """How well its scores rank."""
    if "auc" not in found or math.isnan(found["auc"][1].value):
        return ""
    label, one = found["auc"]
    return f"Its scores rank with {label[2:]} {with_interval(one.value, one.low, one.high)}."
