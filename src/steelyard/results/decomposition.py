"""Scores taken apart, and lines and tests of calibration: what an assessment makes of forecasts and frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadOption
from ..core.scale import Label, listed
from ..core.suggestions import refuse_no_count, refuse_unknown
from ..core.table import Table
from ..core.threads import in_order
from ..measures import all_measures, find
from ..measures.registry import Measure
from .calibration_line import IDEAL, Observed
from .reliability import PARTS, CalibrationTest, Decomposition, Reliability

if TYPE_CHECKING:
    from ..core.typing import Array, Numbers, Places
    from ..measures.masses import Weights

SUMMED = "brier_multiclass"
CLASSES_A_TEST = 10  # of so many classes, the draws of one test can still tell one in a hundred


def curves(found: Mapping[Label, Reliability], level: float, seed: int, band: bool) -> Table:
    """The reliability curves of classes, one behind the other."""
    tables = list(zip(found, in_order(lambda one: one.curve(level, seed, band), list(found.values())), strict=True))
    columns: dict[str, list[Any]] = {"class": [name for name, table in tables for _ in range(len(table))]}
    for column in tables[0][1].column_names:
        columns[column] = [value for _, table in tables for value in table[column]]
    return Table(columns)


def lines(
    said: Iterable[tuple[Label, tuple[Numbers, Array]]], weights: Weights, cluster: Places | None, level: float
) -> Table:
    """The lines along which the forecasts of classes came true, one behind the other."""
    rows = []
    for name, (forecast, happened) in said:
        seen = Observed(forecast.astype(np.float64), happened, weights.count, weights.mass, weights.square, cluster)
        for one in seen.coefficients():
            low, high = one.interval(level)
            rows.append((name, one.part, IDEAL[one.part], one.value, low, high, one.se, one.p, one.note))
    names = ("class", "part", "ideal", "value", "low", "high", "se", "p", "note")
    return Table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def tested(found: Mapping[Label, Reliability], seed: int) -> CalibrationTest:
    """Of the tests of all classes that with the least p-value, which is multiplied by their number (Bonferroni)."""
    classes, brier = list(found.values()), find("brier")
    tests = list(in_order(lambda one: one.test(brier, seed), classes))
    if len(tests) == 1:
        return tests[0]
    least, one = min(zip(tests, classes, strict=True), key=lambda both: (both[0].p, -both[0].statistic))
    times = -(-len(tests) // CLASSES_A_TEST)
    if times > 1 and least.p * (least.draws + 1) < 2:
        # No draw was as far off, but of so many classes one draw in a thousand is far from rare: look closer, anew.
        least = one.test(brier, seed + 1, times)
    method = f"{least.method}; least of {len(tests)} classes (Bonferroni)"
    return replace(least, p=min(1.0, least.p * len(tests)), method=method)


def has_parts(measure: Measure) -> bool:
    """Whether a score can be taken apart: one of rows that is lower where it is better, whatever errors cost."""
    return measure.of_rows and measure.better == "lower" and measure.penalty is None


def decomposition(
    found: Mapping[Label, Reliability],
    bases: Mapping[Label, tuple[float, float]],
    score: Measure,
    method: Decomposition,
    bins: int,
    level: float,
    seed: int,
) -> Table:
    """The parts of a score, class by class, or summed over the classes where the score is.

    Bases are how frequent each class may be.
    """
    refuse_unknown("method", method, ("corp", "murphy"))
    refuse_no_count("bins", bins)
    measure = find("brier") if score.name == SUMMED else score
    if not has_parts(measure):
        known = [entry.name for entry in all_measures().values() if has_parts(entry)]
        raise BadOption(f"{score.label} cannot be taken apart", mend=f"Say one of {listed(known)}")
    parts = in_order(
        lambda name: _with_bounds(found[name], bases[name], measure, method, bins, level, seed), list(found)
    )
    tables: dict[Label | None, Array] = dict(zip(found, parts, strict=True))
    if score.name == SUMMED:
        # As if all classes were off together: the bounds of the sum are then the sums of the bounds.
        tables = {None: np.minimum(np.sum(list(tables.values()), axis=0), score.span[1])}
    rows = [
        (name, part, *row) for name, table in tables.items() for part, row in zip(PARTS, table.tolist(), strict=True)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Table(dict(zip(("class", "part", "value", "low", "high"), columns, strict=True)))


def _with_bounds(
    one: Reliability,
    base: tuple[float, float],
    measure: Measure,
    method: Decomposition,
    bins: int,
    level: float,
    seed: int,
) -> Array:
    """The parts of a score with their intervals: (parts, 3).

    Miscalibration and discrimination are found too high: what is fitted to chance counts as either. How much too high
    is seen where the truth is known, in draws from the recalibrated forecasts, and taken off the bounds. One cluster
    says nothing about spread: then bounds reach over all values.
    """
    values = np.array(one.decomposed(measure, method, bins))
    low, high = np.zeros(len(PARTS)), np.full(len(PARTS), measure.span[1])
    if one.rows > 1:
        world, drawn = one.drawn_parts(measure, method, bins, seed)
        with np.errstate(invalid="ignore"):
            off = np.quantile(drawn - np.array(world), [(1 - level) / 2, (1 + level) / 2], axis=0)
            low, high = np.maximum(values - off[1], 0.0), np.maximum(values - off[0], 0.0)
    low[-1], high[-1] = _uncertainty(base, measure)
    high[-2] = min(high[-2], high[-1])  # no more can be told apart than there is
    return np.stack([values, np.fmin(low, values), np.fmax(high, values)], axis=1)


def _uncertainty(ends: tuple[float, float], measure: Measure) -> tuple[float, float]:
    """The least and the greatest uncertainty for which the class is as frequent as it may be."""
    bases = [*ends, 0.5] if ends[0] <= 0.5 <= ends[1] else [*ends]
    found = [Reliability(*np.array([[base], [base], [1.0]])).score(measure, np.array([base])) for base in bases]
    return min(found), max(found)
