"""How often the bounds of the true error and the true squared error hold, by simulation in section 7 of Mevik (2003).

``PYTHONPATH=. python -m tests.coverage.bounds --markdown docs/coverage.md`` writes its section of the page of results.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import steelyard
from steelyard import Continuum, Deviation
from steelyard.states.statistics import CONTINUUM
from steelyard.studies.classifiers import interval
from steelyard.studies.designs import MEVIK, PAPER_CELLS, Cell
from steelyard.studies.replications import CLASSIFIERS, Examination, Replications, examinations, replications
from tests.coverage.reporting import on_all_cores
from tests.coverage.simulation import Array, rewrite, standard_error, with_section

Codes = Any

PAIRS = {"error": ("true_error_low", "true_error_high"), "sqerr": ("true_sqerr_low", "true_sqerr_high")}
MEASURES = tuple(name for pair in PAIRS.values() for name in pair)
FREEDOMS = (10.0, 30.0, 100.0, np.inf)
LABELS, TRUTH = "labels", "truth"  # the two rules of which the bounds are reached
RULES = (*CLASSIFIERS, LABELS, TRUTH)
FEW_RULES = ("lda", "regression", LABELS, TRUTH)  # the worst and the best of the four, and those of the bounds
NAMES = {"lda": "lda", "qda": "qda", "knn": "5-nn", "regression": "regression", LABELS: "labels", TRUTH: "truth"}
ROUNDING = 1e-12
SCALE = Continuum(MEVIK.inner.tolist(), list(range(MEVIK.classes)))


class Setting(NamedTuple):
    """A cell of the design, and the degrees of freedom with which the deviation of the measurements is estimated."""

    cell: Cell
    freedom: float

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that are tried."""
        return RULES if np.isinf(self.freedom) else FEW_RULES


def settings() -> Iterator[Setting]:
    """The settings of the study; without measurement error there is nothing to estimate."""
    for freedom in FREEDOMS:
        yield from (Setting(cell, freedom) for cell in PAPER_CELLS if cell.sd > 0 or freedom == np.inf)


@dataclass
class Held:
    """How a pair of bounds fared in many data sets.

    Attributes:
        true: The true errors of the rows.
        values: The bounds themselves, lower and upper, one pair a data set.
        ends: The lower end of the lower bound's interval and the upper end of the upper bound's.
        apparent: The errors against the measured values.
        population: The true errors of the rule on all rows that might be drawn; NaN where it is no rule of covariates.
    """

    true: list[float] = field(default_factory=list)
    apparent: list[float] = field(default_factory=list)
    values: list[tuple[float, float]] = field(default_factory=list)
    ends: list[tuple[float, float]] = field(default_factory=list)
    population: list[float] = field(default_factory=list)

    def share(self, bounds: str = "ends", truth: str = "true") -> float:
        """How often a truth lies between the bounds, in per cent."""
        true, (low, high) = np.array(getattr(self, truth)), np.array(getattr(self, bounds)).T
        slack = ROUNDING * (1 + true)
        return 100 * float(np.mean((low - slack <= true) & (true <= high + slack)))

    def middle(self, bounds: str = "values") -> tuple[float, float]:
        """The medians of the bounds."""
        low, high = np.median(np.array(getattr(self, bounds)), axis=0).tolist()
        return low, high


Key = tuple[str, str]  # the rule, and which of the two errors
Finding = tuple[Setting, Mapping[Key, Held]]


@cache
def examination(sd_response: float) -> Examination:
    """What is known exactly of a cell's rules."""
    return examinations(MEVIK)[sd_response]


def assigned(drawn: Replications, place: int, rules: Sequence[str] = RULES) -> dict[str, Codes]:
    """What rules assign to the rows of one data set."""
    known = {name: codes[place] for name, codes in drawn.assigned.items()}
    known |= {LABELS: drawn.labels[place], TRUTH: interval(drawn.y[place], MEVIK.inner)}
    return {rule: known[rule] for rule in rules}


def errors(response: Array, codes: Codes) -> dict[str, float]:
    """The share of rows whose class is not the assigned one, and the mean squared distance to that."""
    ends = np.array(MEVIK.boundaries)
    away = np.maximum(ends[codes] - response, 0.0) + np.maximum(response - ends[codes + 1], 0.0)
    wrong = interval(response, MEVIK.inner) != codes
    return {"error": float(np.mean(wrong)), "sqerr": float(np.mean(np.square(away)))}


def bounds(value: Array, codes: Mapping[str, Codes], sd: Deviation) -> Iterator[tuple[Key, Array]]:
    """Value, low and high of both bounds of every rule, (2, 3), as ``compare`` gives them."""
    found = steelyard.compare(value, codes, scale=SCALE, sd=sd, measures=MEASURES)
    for rule in codes:
        results = found[rule].part(CONTINUUM).results
        places = dict(zip((slot.measure.name for slot in results.slots), range(len(MEASURES)), strict=True))
        for error, pair in PAIRS.items():
            some = [places[name] for name in pair]
            yield (rule, error), np.array([results.value[some], results.low[some], results.high[some]]).T


def coverage(setting: Setting, repetitions: int, seed: int) -> dict[Key, Held]:
    """The bounds and the truth in many data sets of one setting."""
    (cell, freedom), random = setting, np.random.default_rng(seed)
    found = {(rule, error): Held() for rule in setting.rules for error in PAIRS}
    for drawn in replications(MEVIK, cell, repetitions, seed, examination=examination(cell.sd_response)):
        for place in range(len(drawn.z)):
            guess = cell.sd if np.isinf(freedom) else cell.sd * float(np.sqrt(random.chisquare(freedom) / freedom))
            codes = assigned(drawn, place, setting.rules)
            true, apparent = (
                {rule: errors(numbers, each) for rule, each in codes.items()}
                for numbers in (drawn.y[place], drawn.z[place])
            )
            for (rule, error), numbers in bounds(drawn.z[place], codes, Deviation(guess, freedom)):
                held = found[rule, error]
                held.true.append(true[rule][error])
                held.apparent.append(apparent[rule][error])
                held.values.append((numbers[0, 0], numbers[1, 0]))
                held.ends.append((numbers[0, 1], numbers[1, 2]))
                known = drawn.truth.get(rule)
                held.population.append(np.nan if known is None else float(known[place][list(PAIRS).index(error)]))
    return found


def study(repetitions: int, some: Iterable[Setting], workers: int | None = None) -> list[Finding]:
    """Run settings on all cores, or on some."""
    return on_all_cores(coverage, list(some), repetitions, 2003, workers)


# --- the page -------------------------------------------------------------------------------------------------

SECTION = "bounds of the true error"
HEAD = """## Bounds of the true error

`true_error_low` and `true_error_high` bound the error rate against the true classes of the rows at hand, and
`true_sqerr_low` and `true_sqerr_high` the squared error rate against their true values. **Coverage** here is the share
of data sets in which the truth lies between the lower end of the first measure's 95% confidence interval and the upper
end of the second's. The truth is that of the 100 rows of the data set ("rows"), or that of the rule on all rows that
might be drawn ("population").

The design is that of section 7 of Mevik (2003), with its nine cells. There are {repetitions:,} data sets a cell, so
that a share is uncertain by about {error:.1f} points (one standard error at 95%), and the lowest and the highest of
six by more. The four rules of the paper are cross-validated as there; where the standard deviation is estimated, the
first and the last of them are tried. Two more rules reach the bounds: "labels" assigns the class of the measured
value, so that its apparent error is 0 and its true error is the share of wrong labels; "truth" assigns the true
class, so that its true error is 0 and its apparent error is the share of wrong labels. No classifier can do worse for
the bounds than these.

Bounds of the population's error have the coverage of cross-validation: its rules are fitted to the very rows, and the
squared errors of 100 rows are skewed. Without measurement error at all, where the bounds are the apparent errors
themselves, {least:.0f} to {most:.0f}% are covered.

The standard deviation of the measurement error is estimated with 10, 30 or 100 degrees of freedom, anew in each data
set, or known.

`PYTHONPATH=. python -m tests.coverage.bounds --markdown docs/coverage.md` makes this section.

### Coverage, lowest and highest of the six cells with measurement error, in per cent
"""
CELLS = """
### Squared error: how often the bounds hold, and how wide they are, cell by cell

The standard deviation of the measurement error is known. "Bounds" is the share of data sets in which the true squared
error of the rows lies between the two values themselves, "with intervals" as above, in per cent. The squared errors are
medians of the data sets: the true one of the rows, the apparent one, and the two bounds. The last column is the median
of the upper bound divided by the apparent squared error.
"""


def _freedom(freedom: float) -> str:
    return "known" if np.isinf(freedom) else f"{freedom:.0f}"


def _shares(findings: Sequence[Finding]) -> Iterator[str]:
    """The coverage of both pairs, one rule a row and one number of degrees of freedom a column."""
    yield f"| rule | true | of | {' | '.join(map(_freedom, FREEDOMS))} |"
    yield f"|---|---|---|{'---:|' * len(FREEDOMS)}"
    for rule in FEW_RULES:
        for error in PAIRS:
            for name, truth in (("rows", "true"), ("population", "population")):
                if truth == "population" and rule not in CLASSIFIERS:
                    continue
                cells = []
                for freedom in FREEDOMS:
                    some = [held for (cell, free), held in findings if free == freedom and cell.sd > 0]
                    shares = [held[rule, error].share(truth=truth) for held in some]
                    cells.append(f"{min(shares):.1f} to {max(shares):.1f}" if shares else "-")
                yield f"| {NAMES[rule]} | {error} | {name} | {' | '.join(cells)} |"


def _by_cell(findings: Sequence[Finding]) -> Iterator[str]:
    """The bounds of the squared error where the deviation is known, one cell and rule a row."""
    yield "| σ_ε | σ_δ | rule | bounds | with intervals | true | apparent | at least | at most | at most / apparent |"
    yield f"|---|---|---|{'---:|' * 7}"
    for (cell, freedom), found in findings:
        if np.isfinite(freedom):
            continue
        for rule in CLASSIFIERS:
            held = found[rule, "sqerr"]
            low, high = np.array(held.values).T
            numbers = [float(np.median(each)) for each in (held.true, held.apparent, low, high)]
            share = float(np.median(high / np.array(held.apparent)))
            figures = [f"{held.share('values'):.1f}", f"{held.share():.1f}", *(f"{each:.3g}" for each in numbers)]
            yield f"| {cell.sd_response:g} | {cell.sd:g} | {NAMES[rule]} | {' | '.join(figures)} | {share:.2f} |"


def section(findings: Sequence[Finding], repetitions: int) -> str:
    """All tables as Markdown."""
    exact = [found for (cell, _), found in findings if cell.sd == 0]
    shares = [held[rule, error].share(truth="population") for held in exact for rule in CLASSIFIERS for error in PAIRS]
    head = HEAD.format(repetitions=repetitions, error=standard_error(repetitions), least=min(shares), most=max(shares))
    return "\n".join([head, *_shares(findings), CELLS, *_by_cell(findings)]) + "\n"


def report(findings: Sequence[Finding]) -> Iterator[str]:
    """What leaves 95%."""
    for (cell, freedom), found in findings:
        for (rule, error), held in found.items():
            for truth in ("true", "population") if rule in CLASSIFIERS else ("true",):
                if held.share(truth=truth) < 95:
                    yield f"{cell}, {_freedom(freedom)}: {rule}, {error}, {truth} {held.share(truth=truth):.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    results = study(arguments.repetitions, settings(), arguments.workers)
    print("\n".join(report(results)))
    if arguments.markdown:
        made = section(results, arguments.repetitions)
        rewrite(arguments.markdown, lambda old: with_section(old, SECTION, made))
