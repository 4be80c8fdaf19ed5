"""Along which line forecasts came true, and what they would be worth if they were recalibrated.

On the scale of log odds, calibrated forecasts come true along a line of slope 1 (Cox 1958): a slope below 1 says that
they are too sure, one above that they are too timid. What the line is shifted by where its slope is held at 1, the
intercept, says whether forecasts are too low or too high as a whole; so does the ratio of what was observed to what was
expected. A line solves equations that are sums over rows, so that its spread is that of what rows add to these: it
holds whatever the true curve is, and with clusters and weights.

Forecasts are recalibrated each class against the rest, every row by rows of other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.arrays import distinct, fold_of
from ..core.errors import BadOption, quoted
from ..core.scale import Label
from ..core.suggestions import refuse_unknown
from ..core.table import Table
from ..core.text import count, in_words
from ..core.threads import chunks, dealt_out, gathered, over_rows
from ..inference.student_t import critical_values, p_values
from ..inputs.categorical import Categorical
from ..inputs.dataset import Dataset
from ..inputs.prediction import Scores
from ..maths.sides import one_less, summed_at
from ..passes.tally import Tally
from .comparison import Comparison
from .reliability import Reliability, ends

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Numbers, Places
    from ..families.bins.evaluation import CalibrationEvaluation
    from .assessment import Assessment


RATIO, INTERCEPT, SLOPE = ("observed / expected", "intercept", "slope")
IDEAL = {RATIO: 1.0, INTERCEPT: 0.0, SLOPE: 1.0}
NEVER, ALWAYS = "the class never came true", "the class always came true"
CONSTANT = "all forecasts are the same"
PARTED = "one threshold sets the class apart: the steeper a line, the better it fits"
CLOSE = 1e-9
ROUNDING = 1e-9  # of log odds: 1 - 0.7 is 0.3

PULL = 0.5  # towards a level line, which keeps it finite where a threshold sets the classes apart
MOST_STEPS = 100
MANY = 1 << 14  # rows from which on a line is looked for among fewer of them first
FEWER = 16
CLOSE_ENOUGH = 1e-7  # a step of Newton's that leaves the square of it at most
FURTHEST = 10.0  # that one leads, and as far again as all before it


class Coefficient(NamedTuple):
    """What the forecasts of a class are off by, in one way.

    Attributes:
        part: In which way.
        value: How far; NaN where there is no telling.
        se: Its standard error.
        freedom: The degrees of freedom behind that.
        note: Why there is no value, or which rows were left out.
    """

    part: str
    value: float
    se: float
    freedom: float
    note: str = ""

    def interval(self, level: float) -> tuple[float, float]:
        """Its bounds; those of a ratio are symmetric on the log scale."""
        if np.isnan(self.value):
            return np.nan, np.nan
        if not self.freedom > 0:  # one row or one cluster says nothing about spread
            return 0.0 if self.part == RATIO else -np.inf, np.inf
        reach = float(critical_values(level, np.array([self.freedom]))[0]) * self.se
        if self.part == RATIO:
            with np.errstate(over="ignore"):  # from 0 to infinity, then
                factor = float(np.exp(reach / self.value))
            return self.value / factor, self.value * factor
        return self.value - reach, self.value + reach

    @property
    def p(self) -> float:
        """How probable it is that calibrated forecasts are as far off, or further."""
        off = np.log(self.value) * self.value if self.part == RATIO else self.value - IDEAL[self.part]
        if off == 0:
            return 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.divide(off, self.se)  # where nothing scatters, infinitely far
        return float(p_values(np.array([statistic]), np.array([self.freedom]))[0])


class Observed(NamedTuple):
    """Some rows: what was said of one class, and whether it came true.

    Attributes:
        said: The forecasts, or their log odds.
        happened: 1 where the class is the true one, 0 elsewhere.
        drawn: How often each row occurs.
        mass: What it weighs.
        square: Its squared weight.
        cluster: Its cluster; None where rows are independent.
    """

    said: Array
    happened: Array
    drawn: Array
    mass: Array
    square: Array
    cluster: Places | None = None

    def coefficients(self) -> Iterator[Coefficient]:
        """In which ways the forecasts are off, and how far."""
        yield self._ratio()
        odds = log_odds(self.said)
        sure, certain = np.isinf(odds) & (self.mass > 0), ""
        if sure.any():
            number, wrong = (float(self.drawn[rows].sum()) for rows in (sure, sure & (self.said != self.happened)))
            certain = f"without {in_words(number, 'forecast')} of 0 or 1 ({count(wrong) if wrong else 'none'} wrong)"
        used = self._replace(said=odds)._some(np.isfinite(odds) & (self.mass > 0))
        for part, fit in ((INTERCEPT, used._intercept), (SLOPE, used._slope)):
            if len(used.said):
                found = fit()
                # Why there is no value may hold for the rows that are left alone.
                yield found._replace(note=", ".join(filter(None, (certain, found.note))))
            else:
                yield self._none(part, "all forecasts are 0 or 1")

    def _some(self, rows: Marks) -> Observed:
        said, happened, drawn, mass, square = (column[rows] for column in self[:5])
        return Observed(said, happened, drawn, mass, square, None if self.cluster is None else self.cluster[rows])

    @property
    def _outcome(self) -> str:
        """Why nothing can be said of rows of which all came true, or none."""
        return ALWAYS if self.happened.all() else "" if self.happened.any() else NEVER

    def _ratio(self) -> Coefficient:
        """What came true over what was expected to."""
        seen, expected = float(self.mass @ self.happened), float(self.mass @ self.said)
        if not seen or not expected:
            return self._none(RATIO, "all forecasts are 0" if not expected else NEVER)
        value = seen / expected
        spread = self._spread((self.happened - value * self.said)[None] / expected)
        return self._found(RATIO, value, spread, 1)

    def _intercept(self) -> Coefficient:
        """By how much log odds are too low: the shift that makes as many come true as are expected to."""
        if self._outcome:
            return self._none(INTERCEPT, self._outcome)
        level = float(log_odds(np.array(np.average(self.happened, weights=self.mass))))
        low, high = level - float(self.said.max()), level - float(self.said.min())
        shift = min(max(0.0, low), high)
        for _ in range(MOST_STEPS):
            gradient, curvature = gradient_and_curvature(self.said, self.happened, self.mass, np.array([shift, 1.0]))
            low, high = (shift, high) if gradient[0] > 0 else (low, shift)
            before, shift = shift, shift + float(gradient[0] / max(curvature[0, 0], 1e-300))
            shift = shift if low <= shift <= high else (low + high) / 2
            if abs(shift - before) < CLOSE:
                break
        gap = self.happened - chance_on(self.said, np.array([shift, 1.0]))
        spread = self._spread(gap[None] / max(curvature[0, 0], 1e-300))
        return self._found(INTERCEPT, shift, spread, 1)

    def _slope(self) -> Coefficient:
        """By how much log odds rise where those of the forecasts rise by 1."""
        own, rest = self.said[self.happened > 0], self.said[self.happened == 0]
        if self._outcome:
            return self._none(SLOPE, self._outcome)
        if self.said.max() - self.said.min() <= ROUNDING:
            return self._none(SLOPE, CONSTANT)
        if own.min() >= rest.max() - ROUNDING or own.max() <= rest.min() + ROUNDING:
            return self._none(SLOPE, PARTED)
        unit = float(self.said.std())
        x = (self.said - self.said.mean()) / unit
        line = likeliest(x, self.happened, self.mass, pull=0.0)
        curvature = gradient_and_curvature(x, self.happened, self.mass, line)[1]
        gap = self.happened - chance_on(x, line)
        spread = self._spread(np.linalg.solve(curvature, np.stack([gap, gap * x])))
        return self._found(SLOPE, float(line[1]) / unit, spread[1:, 1:] / unit**2, 2)

    def _spread(self, influence: Array) -> Array:
        """The covariance of sums over rows of what these add to each of them: (sums, rows) to (sums, sums)."""
        with np.errstate(over="ignore"):  # where hardly any row tells a value from others, its error may be infinite
            if self.cluster is None:
                return np.asarray((influence * self.square) @ influence.T)
            sums = summed_at(self.cluster, (self.mass * each for each in influence), int(self.cluster.max()) + 1)
            return np.asarray(sums @ sums.T)

    def _found(self, part: str, value: float, spread: Array, fitted: int) -> Coefficient:
        """A value, and the spread of it, with what as many parameters as were fitted take."""
        units = float(self.drawn.sum()) if self.cluster is None else float(len(distinct(self.cluster)))
        taken = fitted if self.cluster is None else 1
        se = float(np.sqrt(spread[0, 0] * one_less(units, taken=taken)))
        return Coefficient(part, value, se, units - taken)

    def _none(self, part: str, why: str) -> Coefficient:
        return Coefficient(part, np.nan, np.nan, np.nan, why)


def lines(
    said: Iterable[tuple[Label, tuple[Numbers, Array]]], calibration: CalibrationEvaluation, level: float
) -> Table:
    """The lines along which the forecasts of classes came true, one behind the other."""
    weights, cluster, rows = calibration.weights, calibration.rows.cluster, []
    for name, (forecast, happened) in said:
        seen = Observed(forecast.astype(np.float64), happened, weights.count, weights.mass, weights.square, cluster)
        for one in seen.coefficients():
            low, high = one.interval(level)
            rows.append((name, one.part, IDEAL[one.part], one.value, low, high, one.se, one.p, one.note))
    names = ("class", "part", "ideal", "value", "low", "high", "se", "p", "note")
    return Table.of_rows(names, rows)


# --- the likeliest line ----------------------------------------------------------------------------------------------


def log_odds(chance: Array) -> Array:
    """Log odds, infinite ones included."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chance) - np.log1p(-chance))


def likeliest(x: Array, happened: Array, weight: Array, pull: float = PULL) -> Array:
    """The likeliest line, by Newton's method: from a level one it always gets there, from that of fewer rows faster."""
    starts: list[Array] = [np.zeros(2)]
    if len(x) >= MANY:
        few = slice(None, None, FEWER)
        starts.insert(0, likeliest(x[few], happened[few], weight[few]))
    for start in starts:
        line, step, before = start, np.zeros(2), np.zeros(2)
        for _ in range(MOST_STEPS):
            gradient, curvature = gradient_and_curvature(x, happened, weight, line)
            gradient = gradient - pull * line
            if (2 * gradient + before) @ step < 0:  # behind the top, and well below it: half the way back
                step = step / 2
                line = line - step
                continue
            step = np.asarray(np.linalg.solve(curvature + pull * np.eye(2), gradient), dtype=np.float64)
            # Where hardly any row tells, a step is all but endless, and leads to where none does.
            furthest, reached = float(np.abs(step).max()), float(np.abs(line).max())
            step = step * min(1.0, (FURTHEST + reached) / furthest) if furthest else step
            before = gradient
            line = line + step
            if furthest < CLOSE_ENOUGH * max(1.0, reached):
                return line
    return line


def chance_on(x: Array, line: Array) -> Array:
    """The probability that a line on the scale of log odds gives."""
    found = x * -line[1]
    found -= line[0]
    with np.errstate(over="ignore"):  # 1 / infinity is what it is
        np.exp(found, out=found)
    found += 1.0
    return np.asarray(np.divide(1.0, found, out=found))


def gradient_and_curvature(x: Array, happened: Array, weight: Array, line: Array) -> tuple[Array, Array]:
    """Gradient and (negative) curvature of the log likelihood of a line."""

    def work(start: int, stop: int) -> Array:
        sums = np.zeros(5)
        for low, high in chunks(start, stop, columns=4):
            some, rows, chance = x[low:high], weight[low:high], chance_on(x[low:high], line)
            gap = happened[low:high] - chance
            gap *= rows
            chance *= 1.0 - chance  # from here on: how fast it rises
            chance *= rows
            turned = chance * some
            sums += gap.sum(), np.einsum("i,i", gap, some), chance.sum(), turned.sum(), np.einsum("i,i", turned, some)
        return sums

    by_level, by_slope, level, both, slope = sum(over_rows(len(x), work, columns=10), np.zeros(5))
    return np.array([by_level, by_slope]), np.array([[level, both], [both, slope]])


Recalibration = Literal["logistic", "isotonic"]
# What is done to forecasts beforehand; and then, by forecasts, outcomes and weights of some rows, to those of others.
Way = tuple[Callable[[Any], Any], Callable[[Any, Any, Any, Any], Any]]

FITTING = 100  # so many passes over the rows outside a fold does a line take, give or take


def recalibrate(
    memberships: Array, truth: Codes, weight: Array, fold: Places, method: Recalibration = "logistic"
) -> Array:
    """Forecasts as they would be if recalibrated, every row by what the rows of other folds say: (classes, rows).

    Each class is recalibrated against the rest; of more than two classes the results are scaled to add up to 1.
    """
    ways: dict[str, Way] = {"logistic": (log_odds, _logistic), "isotonic": (np.asarray, _isotonic)}
    refuse_unknown("method", method, ways)
    (prepare, fit), found = ways[method], np.empty_like(memberships)
    # One fold after the other, so that those outside a fold are what is before and behind it.
    order, folds = np.argsort(fold, kind="stable"), np.append(0, np.cumsum(np.bincount(fold)))
    held_out = [(low, high) for low, high in pairwise(folds.tolist()) if low < high]
    weights, codes = weight[order], range(1, 2) if len(memberships) == 2 else range(len(memberships))

    def work(code: int) -> None:
        prepared, happened = prepare(gathered(memberships[code], order)), (truth[order] == code).astype(np.float64)
        fitted = np.empty(len(prepared))
        for low, high in held_out:
            seen, came_true, mass = (np.delete(values, slice(low, high)) for values in (prepared, happened, weights))
            fitted[low:high] = fit(seen, came_true, mass, prepared[low:high])
        found[code, order] = fitted

    dealt_out(codes, work, FITTING * len(order))
    if len(memberships) == 2:
        found[0] = 1 - found[1]
        return found
    return np.asarray(found / found.sum(axis=0))


def _logistic(odds: Array, happened: Array, weight: Array, new: Array) -> Array:
    """A straight line on the scale of log odds (Cox 1958; Platt 2000), none of them surer than rows can tell."""
    surest = float(-log_odds(np.array(0.5 / (len(odds) + 1))))
    x = np.clip(odds, -surest, surest)
    centre = float(np.average(x, weights=weight))
    x -= centre
    spread = float(np.sqrt(np.average(np.square(x), weights=weight))) or 1.0
    x /= spread
    line = likeliest(x, happened, weight)
    return chance_on((np.clip(new, -surest, surest) - centre) / spread, line)


def _isotonic(chance: Array, happened: Array, weight: Array, new: Array) -> Array:
    """Isotonic regression; between the forecasts that were seen, along straight lines.

    Half a row of either kind is added to every level stretch, so that none is surer than its rows can tell.
    """
    seen = Reliability.of(chance, happened, weight)
    kept = ends(seen.frequency)
    stretch = np.cumsum(np.append(0, np.diff(seen.frequency) != 0))
    mass = np.bincount(stretch, seen.mass)[stretch]
    frequency = (seen.frequency * mass + 0.5) / (mass + 1)
    return np.interp(new, seen.forecast[kept], np.maximum.accumulate(frequency)[kept])


def recalibrated(assessment: Assessment, method: Recalibration, folds: int, seed: int) -> Comparison:
    """Compare forecasts with what they would be if they were recalibrated."""
    if not isinstance(folds, int) or isinstance(folds, bool) or not 2 <= folds <= 1000:
        raise BadOption(f"folds is {quoted(folds)}", mend="Give a whole number, 2 or above")
    name, tally = assessment.model, assessment.tally
    rows, model = assessment.calibration.rows, assessment.evaluation.model
    said, weights = rows.scores[model], assessment.calibration.weights
    if not said.columns:
        raise BadOption("labels cannot be recalibrated", mend="Give probabilities")
    if assessment.calibration.patterns.clusters == 1 or len(rows) < 2:
        raise BadOption("there is nothing to recalibrate by", mend="It takes two rows, or two clusters, at least")
    units = assessment.calibration.patterns.clusters or len(rows)
    fold = fold_of(len(rows), min(folds, units), rows.cluster, seed)
    memberships = np.stack([np.asarray(column, dtype=np.float64) for column in said.memberships()])
    # By how many rows there are: half a row more, by which fits are held back, is half of one however it is weighed.
    better = Scores(tuple(recalibrate(memberships, rows.truth, weights.mass / weights.row, fold, method)))
    names = (name, f"{name}, recalibrated")
    both = dict(zip(names, (Scores(tuple(memberships)), better), strict=True))
    cases = Dataset(
        scale=tally.scale,
        truth=rows.truth,
        assigned={each: scores.likeliest(tally.scale.event_code) for each, scores in both.items()},
        scores=both,
        measured=rows.measured,
        weight=None if weights.equal else np.asarray(weights.mass),
        counted=weights.square is weights.mass,
        group=None if rows.cluster is None else Categorical(rows.cluster, tally.groups, "group"),
    )
    return Comparison(Tally.of(cases), assessment.settings, cases)
