"""Curves over all thresholds of a score, with their bands: ROC, precision-recall, DET, gain and lift.

A band comes from bootstrap samples of the curve itself. Scores that lie next to each other are put together until some
hundred are left, so that a sample is one multinomial draw, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..core.suggestions import refuse_unknown
from ..core.table import Table
from ..core.threads import shared
from ..families.ranking.one_against_rest import PSEUDO_ROW, OneAgainstRest
from ..measures.masses import Masses

if TYPE_CHECKING:
    from ..core.typing import Array, Places

    Samples = tuple[Array, Array]

Band = Literal["pointwise", "simultaneous", "none"]
KINDS = ("roc", "precision_recall", "det", "gain", "lift")
MOST_CELLS = 500  # half of them for each side at least: finer than the grid that bands are read off at
SAMPLES = 2_000
AT_A_TIME = 125  # samples that one thread draws
GRID = np.linspace(0.0, 1.0, 201)
LEAST = 1e-300  # a width by which nothing can be divided by 0


def curve(one: OneAgainstRest, kind: str, band: Band = "pointwise", level: float = 0.95, seed: int = 0) -> Table:
    """One of the curves of a class, a row for every threshold, from the highest on."""
    refuse_unknown("kind", kind, KINDS)
    refuse_unknown("band", band, ("pointwise", "simultaneous", "none"))
    masses = one.plain
    hits, alarms = (np.concatenate([[0.0], sums]) for sums in (masses.hits, masses.alarms))
    with np.errstate(divide="ignore", invalid="ignore"):
        found, false = hits / hits[-1], alarms / alarms[-1]
        share, precision = (hits + alarms) / (hits[-1] + alarms[-1]), hits / (hits + alarms)
    columns: dict[str, Array] = {"threshold": np.concatenate([[np.inf], one.ranking.thresholds])}
    if kind == "roc":
        columns |= {"fpr": false, "sensitivity": found}
    elif kind == "precision_recall":
        columns |= {"recall": found, "precision": precision}
        columns = {name: values[1:] for name, values in columns.items()}  # of nothing there is no precision
    elif kind == "det":
        columns |= {"fpr": false, "fnr": 1 - found}
    elif kind == "gain":
        columns |= {"share": share, "sensitivity": found}
    else:
        columns |= {"share": share[1:], "lift": (found / np.where(share > 0, share, 1.0))[1:]}
        columns["threshold"] = columns["threshold"][1:]
    if band != "none" and kind in READERS and hits[-1] > 0 and alarms[-1] > 0:
        x, y = list(columns)[1:]
        columns |= band_at(samples_of(one, seed), kind, columns[x], columns[y], band, level)
    return Table({name: values.tolist() for name, values in columns.items()})


def _on_roc(hits: Array, alarms: Array) -> Array:
    """Sensitivity at each false-positive rate of the grid."""
    start = np.zeros((len(hits), 1))
    rows = zip(np.concatenate([start, hits], axis=1), np.concatenate([start, alarms], axis=1), strict=True)
    return np.array([np.interp(GRID, right / right[-1], up / up[-1]) for up, right in rows])


def _on_recall(hits: Array, alarms: Array) -> Array:
    """Precision at the highest threshold that reaches each recall of the grid."""
    rows = []
    for up, right in zip(hits, alarms, strict=True):
        first = np.minimum(np.searchsorted(up / up[-1], np.maximum(GRID - 1e-12, 1e-12)), len(up) - 1)
        rows.append(up[first] / (up[first] + right[first]))
    return np.array(rows)


READERS: dict[str, Callable[[Array, Array], Array]] = {"roc": _on_roc, "precision_recall": _on_recall}


def samples_of(one: OneAgainstRest, seed: int) -> Samples:
    """Bootstrap samples: hits and alarms from the highest score on, (samples, cells) each."""
    unit = np.nan_to_num(one.population.unit)  # a single cluster has none
    cells = _few(one.plain).smoothed(unit)
    # Rows that weigh more than others, or go together in clusters, tell as much as fewer independent ones.
    rows = PSEUDO_ROW / unit * (cells.hits[-1] + cells.alarms[-1]) if unit else 0.0
    chances = np.concatenate([cells.positive, cells.negative])
    drawn = _drawn(max(round(float(rows)), 2), chances / chances.sum(), seed)
    hits, alarms = (np.cumsum(part, axis=1, dtype=np.float64) for part in np.split(drawn, 2, axis=1))
    whole = (hits[:, -1] > 0) & (alarms[:, -1] > 0)
    return hits[whole], alarms[whole]


def band_at(drawn: Samples, kind: str, x: Array, y: Array, band: Band, level: float) -> dict[str, Array]:
    """Bounds of a curve at its own points, or at some of them."""
    samples = READERS[kind](*drawn)
    if band == "pointwise":
        low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0)
    else:
        middle, spread = samples.mean(axis=0), samples.std(axis=0)
        size = np.maximum(spread, max(0.01 * spread.max(), LEAST))
        reach = np.quantile((np.abs(samples - middle) / size).max(axis=1), level)
        low, high = middle - reach * size, middle + reach * size
    low, high = (np.interp(x, GRID, np.clip(bound, 0.0, 1.0)) for bound in (low, high))
    # The curve itself always belongs to its band.
    return {"low": np.minimum(low, y), "high": np.maximum(high, y)}


def _drawn(rows: int, chances: Array, seed: int) -> Places:
    """Draw rows into cells, many times: (samples, cells). The same however many threads there are."""
    found, starts = np.empty((SAMPLES, len(chances)), np.int64), range(0, SAMPLES, AT_A_TIME)
    seeds = np.random.SeedSequence(seed).spawn(len(starts))

    def work(some: Sequence[int]) -> None:
        for start in some:
            random = np.random.default_rng(seeds[start // AT_A_TIME])
            found[start : start + AT_A_TIME] = random.multinomial(rows, chances, AT_A_TIME)

    shared(starts, work, AT_A_TIME * len(chances))
    return found


def _few(masses: Masses) -> Masses:
    """Put neighbouring scores together until few are left, each with about the same share of the class and the rest.

    Shares of both count the same: of a rare class, all rows may lie within a hundredth of the others.
    """
    if len(masses.positive) <= MOST_CELLS:
        return masses
    share = masses.hits / masses.hits[-1] + masses.alarms / masses.alarms[-1]
    cell = np.minimum(share * (MOST_CELLS / 2), MOST_CELLS - 1).astype(np.int64)
    positive, negative = (np.bincount(cell, part, MOST_CELLS) for part in (masses.positive, masses.negative))
    return Masses(positive.astype(np.float64), negative.astype(np.float64))
