"""How often what was forecast came true: reliability curves, decompositions of scores, tests.

The forecasts of a class are held against the frequencies that fit them best without ever falling as forecasts rise:
isotonic regression by pooling adjacent violators (CORP; Dimitriadis, Gneiting & Jordan 2021). No bins are to be chosen.
A score then falls into three parts: how much worse it is than the recalibrated forecasts (miscalibration), how much
better these are than the same forecast for all rows (discrimination), and what that one costs (uncertainty). With bins
in place of isotonic regression they are those of Murphy (1973), what bins hide included in the miscalibration.

What chance does to all this is seen by drawing outcomes anew. Forecasts that lie next to each other are put together
for that until a thousand are left, so that a draw costs the same whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption
from ..core.scale import Label, listed
from ..core.suggestions import refuse_no_count, refuse_unknown
from ..core.table import Table
from ..core.threads import in_order
from ..families.forecasts.piece import Piece
from ..families.ranking.one_against_rest import OneAgainstRest
from ..inference.evaluation import PSEUDO_ROWS
from ..inputs.prediction import Scores
from ..maths.quantiles import ROUNDING, quantiles
from ..maths.ruler import Ruler
from ..measures import all_measures, find
from ..measures.registry import Measure
from ..states.score_grid import Counter

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Numbers, Places


Decomposition = Literal["corp", "murphy"]
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")
MOST_CELLS = 1_000
DRAWS = 1_000
BLOCK = 64  # draws of so many forecasts that stay in the cache
BARS = 20
FINE_ENOUGH = 12  # bits: a picture does not show more


@dataclass(frozen=True)
class CalibrationTest:
    """A test of whether forecasts are calibrated: whether of all rows with forecast p, a share p comes true.

    Attributes:
        statistic: The miscalibration that was found, a part of the Brier score.
        p: The probability of as much or more where the forecasts are calibrated.
        draws: How often outcomes were drawn from the forecasts to find that.
        method: How it was tested.
    """

    statistic: float
    p: float
    draws: int
    method: str


@dataclass(frozen=True)
class Reliability:
    """The distinct forecasts of a class, rising, and how often it then was the true one.

    Attributes:
        forecast: The forecasts.
        happened: What the rows of the class weigh, at each forecast.
        mass: What all rows weigh there.
        unit: What one independent observation weighs.
    """

    forecast: Array
    happened: Array
    mass: Array
    unit: float = 1.0

    @classmethod
    def of(cls, forecast: Numbers, happened: Array, weight: Array | None = None, unit: float = 1.0) -> Reliability:
        """Put rows of one forecast together."""
        order = np.argsort(forecast, kind="stable")
        ordered = forecast[order].astype(np.float64)
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        weights = np.ones(len(order)) if weight is None else weight[order]
        mass, true = (np.add.reduceat(values, starts) for values in (weights, weights * happened[order]))
        used = mass > 0
        return cls(ordered[starts][used], true[used], mass[used], unit)

    @classmethod
    def of_ranking(cls, one: OneAgainstRest) -> Reliability:
        """The same from rows that were sorted already by their forecasts of a class."""
        happened = one.plain.positive[::-1]
        mass = happened + one.plain.negative[::-1]
        forecast, unit = one.ranking.thresholds[::-1], one.population.independent_row
        used = mass > 0
        if used.all():
            return cls(forecast, happened, mass, unit)
        return cls(forecast[used], happened[used], mass[used], unit)

    @classmethod
    def of_many(cls, forecast: Numbers, happened: Codes, sums: Array | None, unit: float) -> Reliability:
        """The same of very many rows for a picture: forecasts that nobody could tell apart on it count as one."""
        counter = Counter(Ruler(FINE_ENOUGH), 2, 1 if sums is None else sums.shape[1], exact=False)
        counter.add(forecast, happened, sums)
        grid = counter.grid()
        mass = grid.sums[..., min(1, grid.sums.shape[2] - 1)]
        used = mass.sum(axis=1) > 0
        return cls(grid.thresholds[used], mass[used, 1], mass[used].sum(axis=1), unit)

    @cached_property
    def frequency(self) -> Array:
        """How often the class was the true one at each forecast, never falling: the recalibrated forecasts."""
        return isotonic(self.happened / self.mass, self.mass)

    def in_bins(self, bins: int) -> Array:
        """The same in bins with about as many rows each."""
        edges = quantiles(self.forecast, bins, self.mass)
        place = np.searchsorted(edges, self.forecast, side="right")
        true, mass = (np.bincount(place, values) for values in (self.happened, self.mass))
        return np.asarray((true / np.where(mass > 0, mass, 1.0))[place])

    @property
    def base(self) -> float:
        """How often the class is the true one."""
        return float(self.happened.sum() / self.mass.sum())

    @cached_property
    def few(self) -> Reliability:
        """Forecasts put together until few are left, each with about the same share of the rows.

        There are never more of them than independent observations: rows of a cluster do not tell more than one.
        """
        most = min(MOST_CELLS, self.rows)
        if len(self.forecast) <= most:
            return self
        share = (1 + ROUNDING) * np.cumsum(self.mass) / self.mass.sum()
        place = np.unique(np.minimum(share * most, most - 1).astype(np.int64), return_inverse=True)[1]
        happened, mass, sums = (
            np.bincount(place, values).astype(np.float64)
            for values in (self.happened, self.mass, self.forecast * self.mass)
        )
        return Reliability(sums / mass, happened, mass, self.unit)

    # --- parts of a score --------------------------------------------------------------------------------------

    def score(self, measure: Measure, forecast: Array) -> float:
        """The mean score of other forecasts for the same rows."""
        return float(_expected(measure, forecast, self.happened, self.mass))

    def parts(self, measure: Measure, recalibrated: Array) -> Array:
        """Take a score apart: score = miscalibration - discrimination + uncertainty."""
        given, better = self.score(measure, self.forecast), self.score(measure, recalibrated)
        blind = self.score(measure, np.full(len(self.forecast), self.base))
        return np.array([given, given - better, blind - better, blind])

    def decomposed(self, measure: Measure, method: Decomposition, bins: int) -> Array:
        """The parts by isotonic regression or by bins."""
        return self.parts(measure, self.frequency if method == "corp" else self.in_bins(bins))

    def drawn_parts(self, measure: Measure, method: Decomposition, bins: int, seed: int) -> tuple[Array, Array]:
        """The parts in a world where the recalibrated forecasts are right, and in draws of rows from it.

        Who was never wrong may be yet: as many rows as elsewhere are added to all, of both kinds wherever they may be.
        """
        cells, random = self.few, np.random.default_rng(seed)
        right = cells.frequency if method == "corp" else cells.in_bins(bins)
        rows, happen = cells.rows, float(cells.mass @ right) / cells.mass.sum()
        base = (rows * happen + PSEUDO_ROWS / 2) / (rows + PSEUDO_ROWS)
        right = (rows * right + PSEUDO_ROWS * base) / (rows + PSEUDO_ROWS)
        world = Reliability(cells.forecast, cells.mass * right, cells.mass, cells.unit)
        drawn = random.multinomial(rows, cells.mass / cells.mass.sum(), DRAWS)
        mass, happened = drawn.astype(np.float64), random.binomial(drawn, right).astype(np.float64)
        refit = _isotonic_rows if method == "corp" else partial(_binned_rows, cells.forecast, bins)
        return world.parts(measure, right), _parts_of_draws(measure, cells.forecast, happened, mass, refit)

    @property
    def rows(self) -> int:
        """How many independent observations there are."""
        return max(round(float(np.nan_to_num(self.mass.sum() / self.unit))), 1)  # one cluster tells as much as one row

    # --- what chance does to calibrated forecasts ----------------------------------------------------------------

    def outcomes(self, seed: int | np.random.Generator) -> Array:
        """Frequencies at each forecast where the forecasts are right, drawn many times: (draws, forecasts)."""
        random = np.random.default_rng(seed)
        counts = np.fmax(np.round(self.mass / self.unit), 1).astype(np.int64)
        return random.binomial(counts, np.clip(self.forecast, 0.0, 1.0), (DRAWS, len(counts))) / counts

    def curve(self, level: float, seed: int, band: bool = True) -> Table:
        """The reliability curve at the ends of its level stretches, and the band that calibrated forecasts stay in."""
        kept = ends(self.frequency)
        columns = {"forecast": self.forecast[kept], "frequency": self.frequency[kept]}
        columns["rows"] = np.add.reduceat(self.mass, kept)
        if band:
            cells = self.few
            drawn = cells.outcomes(seed)
            samples = _isotonic_rows(drawn * cells.mass, np.broadcast_to(cells.mass, drawn.shape))
            bounds = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0)
            low, high = (np.interp(columns["forecast"], cells.forecast, bound) for bound in bounds)
            # Forecasts themselves are calibrated: they always belong to their band.
            columns |= {"low": np.minimum(low, columns["forecast"]), "high": np.maximum(high, columns["forecast"])}
        return Table({name: values.tolist() for name, values in columns.items()})

    def bars(self) -> Table:
        """How the forecasts are spread, in stretches of equal length."""
        place = np.minimum((self.forecast * BARS).astype(np.int64), BARS - 1)
        edges = np.arange(BARS + 1) / BARS
        share = np.bincount(place, self.mass, BARS) / self.mass.sum()
        return Table({"from": edges[:-1].tolist(), "to": edges[1:].tolist(), "share": share.tolist()})

    def test(self, measure: Measure, seed: int, times: int = 1) -> CalibrationTest:
        """Hold the miscalibration that was found against that of outcomes drawn from the forecasts, many times."""
        cells, random, beyond = self.few, np.random.default_rng(seed), 0
        place = PARTS.index("miscalibration")
        found = float(cells.parts(measure, cells.frequency)[place])
        for _ in range(times):
            frequency = cells.outcomes(random)
            mass = np.broadcast_to(cells.mass, frequency.shape)
            drawn = _parts_of_draws(measure, cells.forecast, frequency * mass, mass, _isotonic_rows)
            beyond += int((drawn[:, place] >= found - 1e-12).sum())
        draws = times * DRAWS
        return CalibrationTest(found, (beyond + 1) / (draws + 1), draws, "CORP miscalibration, outcomes drawn anew")


def _expected(measure: Measure, forecast: Array, happened: Array, mass: Array) -> Array:
    """The mean score of forecasts of one class against the rest, over the last axis."""
    said, code, total = Scores((forecast.ravel(),), 1), 1 if measure.per_class else None, np.zeros(mass.shape[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        for truth, weight in ((1, happened), (0, mass - happened)):
            worth = Piece(said, np.full(forecast.size, truth), 2).worth(measure, code, None).reshape(forecast.shape)
            total = total + np.where(weight > 0, weight * worth, 0.0).sum(axis=-1)
    return np.asarray(total / mass.sum(axis=-1))


def _parts_of_draws(
    measure: Measure, forecast: Array, happened: Array, mass: Array, refit: Callable[[Array, Array], Array]
) -> Array:
    """The parts of a score for many draws of the same forecasts: (draws, parts)."""
    found = np.empty((len(mass), len(PARTS)))
    for some in _blocks(len(mass)):
        true, whole = happened[some], mass[some]
        base = np.broadcast_to((true.sum(axis=1) / whole.sum(axis=1))[:, None], whole.shape)
        given, better, blind = (_expected(measure, each, true, whole) for each in (forecast, refit(true, whole), base))
        found[some] = np.stack([given, given - better, blind - better, blind], axis=1)
    return found


def _blocks(draws: int) -> list[slice]:
    return [slice(low, low + BLOCK) for low in range(0, draws, BLOCK)]


def _isotonic_rows(happened: Array, mass: Array) -> Array:
    """Isotonic regression of every draw; a forecast that was not drawn weighs next to nothing.

    Draws go end to end, each a step above all before it: so one call is enough, and none is pooled with another.
    """
    found = np.empty(mass.shape)
    for some in _blocks(len(mass)):
        true, whole = happened[some], mass[some]
        frequency = np.divide(true, whole, out=np.zeros(whole.shape), where=whole > 0)
        step = 2.0 * np.arange(len(whole))[:, None]
        fitted = _never_falling((frequency + step).ravel(), np.where(whole > 0, whole, 1e-9).ravel())
        found[some] = np.clip(fitted.reshape(whole.shape) - step, 0.0, 1.0)
    return found


def _binned_rows(forecast: Array, bins: int, happened: Array, mass: Array) -> Array:
    """Frequencies in bins of every draw."""
    return np.array(
        [Reliability(forecast, *row).in_bins(bins) for row in zip(happened, mass.astype(np.float64), strict=True)]
    )


def isotonic(values: Array, weights: Array) -> Array:
    """The frequencies nearest to these by weighted squares that never fall."""
    return np.clip(_never_falling(values, weights), 0.0, 1.0)


def _never_falling(values: Array, weights: Array) -> Array:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values, weights=weights).x)


def ends(values: Array) -> Places:
    """The first and the last place of each stretch of equal values."""
    fresh = np.append(True, values[1:] != values[:-1])
    return np.flatnonzero(fresh | np.append(fresh[1:], True))


# --- all classes of an assessment -----------------------------------------------------------------------------------


SUMMED = "brier_multiclass"
CLASSES_A_TEST = 10  # of so many classes, the draws of one test can still tell one in a hundred


def curves(found: Mapping[Label, Reliability], level: float, seed: int, band: bool) -> Table:
    """The reliability curves of classes, one behind the other."""
    tables = list(zip(found, in_order(lambda one: one.curve(level, seed, band), list(found.values())), strict=True))
    columns: dict[str, list[Any]] = {"class": [name for name, table in tables for _ in range(len(table))]}
    for column in tables[0][1].column_names:
        columns[column] = [value for _, table in tables for value in table[column]]
    return Table(columns)


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
    return Table.of_rows(("class", "part", "value", "low", "high"), rows)


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
    values = one.decomposed(measure, method, bins)
    low, high = np.zeros(len(PARTS)), np.full(len(PARTS), measure.span[1])
    if one.rows > 1:
        world, drawn = one.drawn_parts(measure, method, bins, seed)
        with np.errstate(invalid="ignore"):
            off = np.quantile(drawn - world, [(1 - level) / 2, (1 + level) / 2], axis=0)
            low, high = np.maximum(values - off[1], 0.0), np.maximum(values - off[0], 0.0)
    low[-1], high[-1] = _uncertainty(base, measure)
    high[-2] = min(high[-2], high[-1])  # no more can be told apart than there is
    return np.stack([values, np.fmin(low, values), np.fmax(high, values)], axis=1)


def _uncertainty(ends: tuple[float, float], measure: Measure) -> tuple[float, float]:
    """The least and the greatest uncertainty for which the class is as frequent as it may be."""
    bases = [*ends, 0.5] if ends[0] <= 0.5 <= ends[1] else [*ends]
    found = [Reliability(*np.array([[base], [base], [1.0]])).score(measure, np.array([base])) for base in bases]
    return min(found), max(found)
