"""The repetitions of a simulation: every estimate of every data set beside what is true, and how they vary.

The averages over repetitions stand beside the numbers that Mevik (2003) prints, and beside what he says in sections 7
and 8. SD is the standard deviation of an estimate over repetitions, RMSE its root mean squared error; both, like
biases, are averages over cells and classifiers unless the statement says otherwise, as in the paper's figures. A true
value is that of the population; of an estimate for classifiers it is the mean over those that were fitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..core.cached import cached_property
from ..core.table import Table
from .designs import MEVIK, Cell, Design, TrueRates
from .replications import BETTER, PAPER, Key, Measure
from .statements import (
    ABOVE_ZERO,
    BELOW_ZERO,
    NEGLIGIBLE,
    MonteCarloEstimate,
    Quantity,
    Range,
    Statement,
    at_least,
    at_most,
    average,
    chance_explains,
    deviation,
    exact,
    furthest,
    largest,
    mean,
    printed,
    smallest,
    spread,
    statement_table,
    within,
)

if TYPE_CHECKING:
    from ..core.typing import Array

    Named = Mapping[str, MonteCarloEstimate]
    Extreme = Callable[[Sequence[MonteCarloEstimate]], Quantity]

COLUMNS = (
    *("design", "sd_response", "sd", "classifier", "measure", "estimator"),
    *("truth", "mean", "bias", "se", "deviation", "rmse"),
)


Level = Literal["sd_response", "sd"]
LEVELS: tuple[Level, Level] = ("sd", "sd_response")


@dataclass(frozen=True)
class Series:
    """One estimate in all repetitions, beside what is true.

    Attributes:
        values: The estimates, (repetitions,).
        truth: The true values, which for a classifier are others in every repetition.
    """

    values: Array
    truth: Array

    @property
    def errors(self) -> Array:
        """How much too high each estimate is."""
        return self.values - self.truth

    @property
    def bias(self) -> float:
        """Their mean."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Of the bias, as it is found from so many repetitions."""
        return float(spread(self.errors) / np.sqrt(len(self.errors)))

    @property
    def deviation(self) -> float:
        """The standard deviation of the estimates."""
        return spread(self.values)

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(np.square(self.errors).mean()))


@dataclass(frozen=True)
class Simulation:
    """All estimates of all repetitions, beside what is true.

    Attributes:
        design: How the data arose.
        repetitions: How many data sets were drawn in every cell.
        seed: From which they were drawn.
        populations: What is true in every cell.
        series: All estimates of all repetitions.
    """

    design: Design
    repetitions: int
    seed: int
    populations: Mapping[Cell, TrueRates]
    series: Mapping[Key, Series]

    def table(self) -> Table:
        """Every estimate in a row: what is true on average, its mean, bias, standard error of the bias, and spread."""
        rows = []
        for (cell, measure, estimator, classifier), series in self.series.items():
            means = (float(series.truth.mean()), float(series.values.mean()))
            errors = (series.bias, series.standard_error, series.deviation, series.rmse)
            rows.append((self.design.name, *cell, classifier, measure, estimator, *means, *errors))
        return Table.of_rows(COLUMNS, rows)

    def summary(self) -> Table:
        """The numbers that the paper prints, beside what was found."""
        papers = PRINTED if self.design.name == MEVIK.name else {}
        rows = []
        for what, by, level, found, error in _found(self):
            place = (level, None) if by == "sd_response" else (None, level)
            figure = papers.get((what, by), {}).get(level)
            rows.append((what, *place, None if figure is None else float(figure), found, error))
        return Table.of_rows(("what", *LEVELS[::-1], "paper", "found", "se"), rows)

    @cached_property
    def statements(self) -> Table:
        """What the paper says in sections 7 and 8, beside what was found, with a verdict; empty of another design."""
        parts = (_setup, _data, _minima, _deviations, _errors, _squares, _discussion) if self.design == MEVIK else ()
        return statement_table(statement for part in parts for statement in part(self))

    def chosen(self, measure: Measure, estimator: str | None = None) -> Iterator[tuple[Key, Series]]:
        """The series of one measure, or of one estimate of it."""
        for key, series in self.series.items():
            if key.measure == measure and estimator in (None, key.estimator):
                yield key, series

    def estimators(self, measure: Measure) -> list[str]:
        """By what a measure is estimated."""
        return list(dict.fromkeys(key.estimator for key, _ in self.chosen(measure)))

    def average(
        self, estimator: str, of: Callable[..., MonteCarloEstimate], cells: Iterable[Cell] | None = None
    ) -> MonteCarloEstimate:
        """Return the mean of something over classifiers and cells; all cells if not given.

        Args:
            estimator: Of which estimate.
            of: What, of a series, the number of its cell and how many cells there are: cells are strata.
            cells: Where.
        """
        every = self.design.cells
        there = set(every if cells is None else cells)
        return average(
            of(series, every.index(key.cell), len(every))
            for key, series in self.series.items()
            if key.estimator == estimator and key.cell in there
        )

    def mean(
        self, estimator: str, of: Callable[[Series], Array], cells: Iterable[Cell] | None = None
    ) -> MonteCarloEstimate:
        """Return the mean of a function of the repetitions."""
        return self.average(estimator, lambda series, *stratum: mean(of(series), *stratum), cells)

    def bias(self, estimator: str, cells: Iterable[Cell] | None = None) -> MonteCarloEstimate:
        """Return the mean bias."""
        return self.mean(estimator, lambda series: series.errors, cells)

    def truth(self, estimator: str, cells: Iterable[Cell] | None = None) -> MonteCarloEstimate:
        """Return the mean true value."""
        return self.mean(estimator, lambda series: series.truth, cells)

    def deviation(self, estimator: str, cells: Iterable[Cell] | None = None) -> MonteCarloEstimate:
        """Return the mean standard deviation."""
        return self.average(estimator, lambda series, *stratum: deviation(series.values, *stratum), cells)

    def rmse(self, estimator: str) -> MonteCarloEstimate:
        """Return the mean root mean squared error."""
        return self.average(estimator, lambda series, *stratum: mean(np.square(series.errors), *stratum) ** 0.5)

    def true(self, measure: Measure, cells: Iterable[Cell]) -> float:
        """Return the mean true value of populations."""
        return float(np.mean([getattr(self.populations[cell], measure) for cell in cells]))

    def frequency(self, place: int, cells: Iterable[Cell]) -> float:
        """Return the mean frequency of a class."""
        return float(np.mean([self.populations[cell].frequency[place] for cell in cells]))

    def relative(
        self, of: Callable[[str, list[Cell]], MonteCarloEstimate], measures: Iterable[Measure], cells: Iterable[Cell]
    ) -> Named:
        """Return the bias or deviation of estimates for the data in each cell, as a share of the true value."""
        return {
            f"for {measure}_hat {_at(cell)}": of(f"{measure}_hat", [cell]) / self.true(measure, [cell])
            for measure in measures
            for cell in cells
        }

    def levels(self, by: Level) -> list[float]:
        """Return the values that were tried."""
        return sorted({getattr(cell, by) for cell in self.design.cells})

    def at(self, by: Level, level: float) -> list[Cell]:
        """Return the cells at a level."""
        return [cell for cell in self.design.cells if getattr(cell, by) == level]

    def at_levels(self, of: Callable[[list[Cell]], MonteCarloEstimate]) -> Named:
        """Return something at each level of both standard deviations, averaged over the levels of the other one."""
        return {f"at {SYMBOLS[by]} = {level:g}": of(self.at(by, level)) for by in LEVELS for level in self.levels(by)}

    def changes(self, measure: Measure, by: Level) -> Named:
        """Return how much the standard deviation of an estimate differs between levels of what should not matter.

        It is the difference from the mean over these levels, as a share of the true value there.
        """
        estimator = f"{measure}_hat"
        found: dict[str, MonteCarloEstimate] = {}
        for level in self.levels(by):
            cells = self.at(by, level)
            if true := self.true(measure, cells):
                overall = self.deviation(estimator, cells)
                found |= {_at(cell): (self.deviation(estimator, [cell]) - overall) / true for cell in cells}
        return found


# --- summary ----------------------------------------------------------------------------------------------------------

# What is estimated of the data alone, and what it depends on most.
DATA: tuple[tuple[Measure, Level], ...] = (
    ("err_data", "sd"),
    ("sqerr_data", "sd"),
    ("pmc_min", "sd_response"),
    ("sqerr_min", "sd_response"),
)

# Mevik (2003), section 7, as printed, by the levels of what each depends on.
FREQUENCIES = ("0.38", "0.12", "0.50")
TRUE: dict[Measure, dict[float, str]] = {
    "err_data": {0.0: "0", 0.15: "0.05", 0.5: "0.15"},
    "sqerr_data": {0.0: "0", 0.15: "0.0007", 0.5: "0.024"},
    "pmc_min": {0.15: "0.05", 0.3: "0.10", 0.9: "0.20"},
    "sqerr_min": {0.15: "0.00075", 0.3: "0.0060", 0.9: "0.13"},
}
DEVIATIONS: dict[Measure, dict[float, str]] = {
    "err_data": {0.0: "0", 0.15: "0.011", 0.5: "0.020"},
    "sqerr_data": {0.0: "0", 0.15: "1.4e-4", 0.5: "2.0e-3"},
    "pmc_min": {0.15: "0.011", 0.3: "0.016", 0.9: "0.021"},
    "sqerr_min": {0.15: "2.0e-4", 0.3: "1.1e-3", 0.9: "1.6e-2"},
}
PRINTED: dict[tuple[str, Level], dict[float, str]] = {
    **{(str(measure), by): TRUE[measure] for measure, by in DATA},
    **{(f"deviation of {measure}_hat", by): DEVIATIONS[measure] for measure, by in DATA},
    **{
        (f"frequency of class {place + 1}", "sd_response"): dict.fromkeys((0.15, 0.3, 0.9), figure)
        for place, figure in enumerate(FREQUENCIES)
    },
}


def averages(simulation: Simulation, measure: Measure, by: Level) -> Table:
    """Of each estimate at each level: bias and standard deviation, averaged over cells and classifiers."""
    rows = []
    for estimator in simulation.estimators(measure):
        for level in simulation.levels(by):
            cells = simulation.at(by, level)
            bias, deviation = simulation.bias(estimator, cells), simulation.deviation(estimator, cells)
            spread = (bias.value, bias.standard_error, deviation.value, deviation.standard_error)
            rows.append((estimator, level, *spread))
    return Table.of_rows(("estimator", by, "bias", "se", "deviation", "deviation_se"), rows)


def _found(simulation: Simulation) -> Iterator[tuple[str, Level, float, float, float | None]]:
    """What was found: of what, at which level, how much, and its standard error where chance is in it."""
    for place in range(simulation.design.classes):
        for level in simulation.levels("sd_response"):
            frequency = simulation.frequency(place, simulation.at("sd_response", level))
            yield f"frequency of class {place + 1}", "sd_response", level, frequency, None
    for measure, by in DATA:
        for level in simulation.levels(by):
            yield measure, by, level, simulation.true(measure, simulation.at(by, level)), None
    measures: tuple[Measure, ...] = (*(measure for measure, _ in DATA), "pmc", "sqerr")
    for kind, error in (("bias", "se"), ("deviation", "deviation_se")):
        for measure in measures:
            for by in LEVELS:
                for row in averages(simulation, measure, by):
                    yield f"{kind} of {row['estimator']}", by, row[by], row[kind], row[error]


def gains(simulation: Simulation, measure: Measure) -> Table:
    """Root mean squared errors over all classifiers in each cell, relative to the best of the paper's estimates there.

    Which of them is the best is seen in hindsight, so that a ratio below 1 is a gain over all of them.
    """
    names = [*PAPER[measure], *[name for name, (what, _) in BETTER.items() if what == measure]]
    rows = []
    for cell in simulation.design.cells:
        squares = {}
        for name in names:
            own = [series for key, series in simulation.chosen(measure, name) if key.cell == cell]
            squares[name] = float(np.mean([np.square(series.errors).mean() for series in own]))
        best = min(squares[name] for name in PAPER[measure])
        rows.append([simulation.design.name, *cell, *[float(np.sqrt(squares[name] / best)) for name in names]])
    return Table.of_rows(("design", "sd_response", "sd", *names), rows)


# --- statements -------------------------------------------------------------------------------------------------------

PAPERS = 100  # repetitions of the paper
TESTED = "the paper took it from one test set of 10,000 rows"
SETUP, RESULTS, DISCUSSION = (f"Mevik 2003, section {number}" for number in ("7", "7.1", "8"))
ZERO = Range(0.0, 0.0)
SMALL = within(NEGLIGIBLE)
HIGH = 0.45  # of a true squared error
ERRORS_OF_DATA: tuple[Measure, Measure] = ("err_data", "sqerr_data")
MINIMA: tuple[Measure, Measure] = ("pmc_min", "sqerr_min")
SYMBOLS: dict[Level, str] = {"sd_response": "σ_ε", "sd": "σ_δ"}
OTHER: dict[Level, Level] = {"sd_response": "sd", "sd": "sd_response"}


# --- what is said of the design and the data ------------------------------------------------------------------------


def _setup(found: Simulation) -> Iterator[Statement]:
    for place, figure in enumerate(FREQUENCIES):
        share = found.frequency(place, found.design.cells)
        text = f"The frequency of class {place + 1} is {figure}"
        yield Statement(text, SETUP, figure, printed(figure), exact(share), reason=TESTED)
    for measure, by in DATA:
        for level, figure in TRUE[measure].items():
            value = found.true(measure, found.at(by, level))
            text = f"At {SYMBOLS[by]} = {level:g}, {measure} is {figure}"
            asked = printed(figure) if level else ZERO
            yield Statement(text, SETUP, figure, asked, exact(value), reason=TESTED)


def _data(found: Simulation) -> Iterator[Statement]:
    source = f"{RESULTS}, figure 2"
    measured = [cell for cell in found.design.cells if cell.sd]
    for measure in ERRORS_OF_DATA:
        estimator = f"{measure}_hat"
        text = f"{estimator} is unbiased without measurement error"
        unmeasured = {_at(cell): found.bias(estimator, [cell]) for cell in found.at("sd", 0.0)}
        yield _extreme(text, source, "0", ZERO, furthest, unmeasured)
        text = f"{estimator} is too low when the measurement error increases: relative bias at σ_δ = 0.5"
        shares = found.relative(found.bias, [measure], found.at("sd", 0.5))
        yield _judged(text, source, "below 0", BELOW_ZERO, average(shares.values()).quantity)
        text = f"{estimator} has a bias below 5% in each cell: largest relative bias"
        yield _extreme(text, source, "below 5%", SMALL, furthest, found.relative(found.bias, [measure], measured))


def _minima(found: Simulation) -> Iterator[Statement]:
    source = f"{RESULTS}, figure 3"
    biased = [cell for cell in found.design.cells if cell.sd_response == 0.9 or cell.sd == 0.5]
    others = [cell for cell in found.design.cells if cell not in biased]
    for measure in MINIMA:
        estimator = f"{measure}_hat"
        below = {place: -share for place, share in found.relative(found.bias, [measure], biased).items()}
        text = f"{estimator} is too low where σ_ε = 0.9 or σ_δ = 0.5: smallest share"
        yield _extreme(text, source, "above 0", ABOVE_ZERO, smallest, below)
        text = f"{estimator} is too low there by up to 14%: largest share"
        yield _extreme(text, source, "up to 14%", at_most("0.14"), largest, below)
        text = f"{estimator} is hardly biased in the other cells: largest relative bias"
        shares = found.relative(found.bias, [measure], others)
        yield _extreme(text, source, "very small", SMALL, furthest, shares)


def _deviations(found: Simulation) -> Iterator[Statement]:
    for measure, by in DATA:
        estimator = f"{measure}_hat"
        for level, figure in DEVIATIONS[measure].items():
            quantity = found.deviation(estimator, found.at(by, level)).quantity
            text = f"At {SYMBOLS[by]} = {level:g}, the SD of {estimator} is {figure}"
            yield _judged(text, RESULTS, figure, printed(figure) if level else ZERO, quantity)
        text = f"{SYMBOLS[OTHER[by]]} hardly changes the SD of {estimator}: largest change, share of {measure}"
        said = "negligible" if measure in ERRORS_OF_DATA else "minor effect"
        yield _extreme(text, RESULTS, said, SMALL, furthest, found.changes(measure, by))


# --- what is said of classifiers ------------------------------------------------------------------------------------


def _errors(found: Simulation) -> Iterator[Statement]:
    bias, spread = f"{RESULTS}, figure 4", f"{RESULTS}, figure 5"
    erc, erc_a = (found.bias(name) for name in ("erc", "erc_a"))
    yield from _consistent(found, "erc", "pmc_hat", bias)
    yield _judged("erc is too high: average bias", bias, "above 0", ABOVE_ZERO, erc.quantity)
    yield _judged("erc_a is too low: average bias", bias, "below 0", BELOW_ZERO, erc_a.quantity)
    text = "erc_a is too low by about as much as erc is too high: sum of both biases, share of pmc"
    yield _judged(text, bias, "about 0", SMALL, ((erc + erc_a) / found.truth("erc")).quantity)
    of_erc, of_erc_a, of_pmc_hat = (found.deviation(name) for name in ("erc", "erc_a", "pmc_hat"))
    text = "pmc_hat has the lowest SD: smallest difference"
    less = {"for erc": of_erc - of_pmc_hat, "for erc_a": of_erc_a - of_pmc_hat}
    yield _extreme(text, spread, "above 0", ABOVE_ZERO, smallest, less)
    text = "erc_a has a lower SD than erc: difference"
    yield _judged(text, spread, "above 0", ABOVE_ZERO, (of_erc - of_erc_a).quantity)


def _squares(found: Simulation) -> Iterator[Statement]:
    bias, spread = f"{RESULTS}, figure 6", f"{RESULTS}, figure 7"
    yield from _consistent(found, "sqerc", "sqerr_hat", bias)
    yield _judged("sqerc is too high: average bias", bias, "above 0", ABOVE_ZERO, found.bias("sqerc").quantity)
    text = "sqerc_a is practically unbiased at all levels of σ_δ and σ_ε: largest relative bias"
    shares = found.at_levels(lambda cells: found.bias("sqerc_a", cells) / found.truth("sqerc_a", cells))
    yield _extreme(text, bias, "unbiased", SMALL, furthest, shares)
    text = "About 10% of the true sqerr are above .45"
    yield _judged(text, bias, "10%", printed("0.10"), found.mean("sqerc", _is_high).quantity, TESTED)
    yield _skewness(found, bias)
    of_sqerc, of_sqerc_a, of_sqerr_hat = (found.deviation(name) for name in ("sqerc", "sqerc_a", "sqerr_hat"))
    text = "sqerr_hat has a slightly higher SD than both others: smallest difference"
    more = {"for sqerc": of_sqerr_hat - of_sqerc, "for sqerc_a": of_sqerr_hat - of_sqerc_a}
    yield _extreme(text, spread, "above 0", ABOVE_ZERO, smallest, more)
    text = "The SDs of the three differ little: largest difference, share of sqerr"
    differences = {**more, "between sqerc and sqerc_a": of_sqerc - of_sqerc_a}
    shares = {name: each / found.truth("sqerc") for name, each in differences.items()}
    yield _extreme(text, spread, "little", SMALL, furthest, shares)


def _consistent(found: Simulation, count: str, highest: str, source: str) -> Iterator[Statement]:
    """Yield what is said of pmc_hat and sqerr_hat alike."""
    text = f"{highest} is too high at all levels of σ_δ and σ_ε: smallest bias"
    biases = found.at_levels(lambda cells: found.bias(highest, cells))
    yield _extreme(text, source, "above 0", ABOVE_ZERO, smallest, biases)
    text = f"{highest} is too high by more than {count} at all levels: smallest difference"
    further = found.at_levels(lambda cells: found.bias(highest, cells) - found.bias(count, cells))
    yield _extreme(text, source, "above 0", ABOVE_ZERO, smallest, further)


def _skewness(found: Simulation, source: str) -> Statement:
    """Return what is said of the distribution of the true values of all cells and classifiers together."""
    centre = found.truth("sqerc").value

    def moment(power: int) -> MonteCarloEstimate:
        return found.mean("sqerc", lambda series: (series.truth - centre) ** power)

    first, second, third = (moment(power) for power in (1, 2, 3))
    variance = second - first * first
    skewness = (third - first * second * 3.0 + first * first * first * 2.0) / variance**1.5
    text = "The distribution of the true sqerr is skewed to the left: skewness"
    slip = "a slip: most true values are small, and the long tail is on the right"
    return Statement(text, source, "below 0", BELOW_ZERO, skewness.quantity, reason=slip)


# --- what is concluded ----------------------------------------------------------------------------------------------


def _discussion(found: Simulation) -> Iterator[Statement]:
    measured = [cell for cell in found.design.cells if cell.sd]
    text = "Below 15% of data errors, both data estimates are hardly biased: largest relative bias"
    shares = found.relative(found.bias, ERRORS_OF_DATA, found.at("sd", 0.15))
    yield _extreme(text, DISCUSSION, "negligible", SMALL, furthest, shares)
    yield from _range_of_deviations(found, "data", ERRORS_OF_DATA, measured, "0.08", "0.22")
    text = "Both minimal estimates are too low by less than 15%: largest share"
    below = {place: -share for place, share in found.relative(found.bias, MINIMA, found.design.cells).items()}
    yield _extreme(text, DISCUSSION, "below 15%", Range(-math.inf, 0.15), largest, below)
    yield from _range_of_deviations(found, "minimal", MINIMA, found.design.cells, "0.10", "0.27")
    erc, erc_a, pmc_hat = (found.bias(name) for name in ("erc", "erc_a", "pmc_hat"))
    text = "erc and erc_a are less biased than pmc_hat: smallest difference of absolute biases"
    less = {"for erc": pmc_hat - _absolute(erc), "for erc_a": pmc_hat - _absolute(erc_a)}
    yield _extreme(text, DISCUSSION, "above 0", ABOVE_ZERO, smallest, less)
    text = "Neither erc nor erc_a outperforms the other: difference of RMSE, share of pmc"
    gain = (found.rmse("erc") - found.rmse("erc_a")) / found.truth("erc")
    yield _judged(text, DISCUSSION, "about 0", SMALL, gain.quantity)
    text = "sqerc_a performs best for sqerr: smallest difference of RMSE"
    ahead = {f"for {name}": found.rmse(name) - found.rmse("sqerc_a") for name in ("sqerc", "sqerr_hat")}
    yield _extreme(text, DISCUSSION, "above 0", ABOVE_ZERO, smallest, ahead)
    text = "sqerc_a is too low for high values of sqerr: mean error above .45"
    errors = found.mean("sqerc_a", lambda series: np.where(series.truth > HIGH, series.errors, 0.0))
    yield _judged(text, DISCUSSION, "below 0", BELOW_ZERO, (errors / found.mean("sqerc_a", _is_high)).quantity)
    text = "sqerc_a has a slightly lower SD than sqerc: difference"
    less_varied = found.deviation("sqerc") - found.deviation("sqerc_a")
    yield _judged(text, DISCUSSION, "above 0", ABOVE_ZERO, less_varied.quantity)


def _range_of_deviations(
    found: Simulation, name: str, measures: tuple[Measure, Measure], cells: Iterable[Cell], low: str, high: str
) -> Iterator[Statement]:
    shares = found.relative(found.deviation, measures, cells)
    at_low, at_high = (f"{100 * float(figure):.0f}%" for figure in (low, high))
    text = f"The SDs of both {name} estimates are {at_low} to {at_high} of the true values"
    yield _extreme(f"{text}: smallest", DISCUSSION, f"from {at_low}", at_least(low), smallest, shares)
    yield _extreme(f"{text}: largest", DISCUSSION, f"to {at_high}", at_most(high), largest, shares)


def _is_high(series: Series) -> Array:
    return np.where(series.truth > HIGH, 1.0, 0.0)


def _absolute(estimate: MonteCarloEstimate) -> MonteCarloEstimate:
    return -estimate if estimate.value < 0 else estimate


# --- rows -----------------------------------------------------------------------------------------------------------


def _judged(text: str, source: str, paper: str, asked: Range, quantity: Quantity, place: str = "") -> Statement:
    """Return a statement; if it does not hold, it says where and whether chance explains that."""
    reason = "; ".join(filter(None, (place, chance_explains(asked, quantity, PAPERS))))
    return Statement(text, source, paper, asked, quantity, reason=reason)


def _extreme(text: str, source: str, paper: str, asked: Range, extreme: Extreme, named: Named) -> Statement:
    """Return a statement about the smallest or largest of several estimates."""
    order = ORDER[extreme]
    place = max(named, key=lambda name: order(named[name].value))
    return _judged(text, source, paper, asked, extreme(list(named.values())), f"found {place}")


ORDER: dict[Extreme, Callable[[float], float]] = {largest: float, smallest: lambda value: -value, furthest: abs}


def _at(cell: Cell) -> str:
    return f"at σ_ε = {cell.sd_response:g}, σ_δ = {cell.sd:g}"
