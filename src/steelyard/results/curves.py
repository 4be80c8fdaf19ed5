"""Curves over all thresholds of a score: ROC, precision-recall, DET, gain and lift, net benefit, and rejection.

The band of a curve comes from bootstrap samples of the curve itself. Scores that lie next to each other are put
together until some hundred are left, so that a sample is one multinomial draw, whatever the number of rows. Net benefit
is what it brings to act on forecasts, for whoever would act from a probability on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.columns import as_number, things_in
from ..core.errors import BadOption, quoted
from ..core.suggestions import refuse_unknown
from ..core.table import Table
from ..core.text import down_to, named, shortened
from ..core.threads import shared
from ..families.bins.evaluation import DECIMALS
from ..families.ranking.evaluation import RankedEvaluation
from ..families.ranking.one_against_rest import PSEUDO_ROW, OneAgainstRest
from ..inputs.remarks import thresholds_of
from ..maths.joint_normal import max_critical
from ..maths.ordered_scores import Ranking
from ..measures import find
from ..measures.masses import Masses
from .decisions import Thresholds

if TYPE_CHECKING:
    from ..core.typing import Array, Places
    from .assessment import Assessment
    from .reliability import Reliability

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


# --- net benefit, and rejection -------------------------------------------------------------------------------------


THRESHOLDS = np.arange(100) / 100  # that of 1 would ask for certainty, and one false alarm would outweigh all hits
ROUNDING = 1e-12


def decision_curve(assessment: Assessment, code: int, band: Band) -> Table:
    """The net benefit of acting on a class from each threshold on, and of acting on all rows."""
    refuse_unknown("band", band, ("pointwise", "simultaneous", "none"))
    if not assessment.tally.given.kept:
        raise assessment.no_scores
    if not assessment.has_scores:
        raise BadOption("labels have one net benefit", mend="Give probabilities, or ask for 'net_benefit(at=0.2)'")
    label, measures = assessment.classes[code], [find("net_benefit", at=at) for at in THRESHOLDS.tolist()]
    found = assessment.by(*measures)
    if band == "simultaneous":
        level = _together(assessment.reliabilities(label)[label], assessment.settings.level)
        found = replace(found, settings=replace(found.settings, level=level))
    estimates = [found[measure, label] for measure in measures]
    odds, base = THRESHOLDS / (1 - THRESHOLDS), estimates[0].value  # from 0 on, all rows are acted on
    columns = {
        "threshold": THRESHOLDS.tolist(),
        "net_benefit": [each.value for each in estimates],
        "all": (base - (1 - base) * odds).tolist(),
    }
    if band != "none":
        columns |= {"low": [each.low for each in estimates], "high": [each.high for each in estimates]}
    return Table(columns)


def _together(forecasts: Reliability, level: float) -> float:
    """The level of intervals that hold all at once: net benefits at thresholds next to each other go together."""
    place = np.searchsorted(THRESHOLDS, forecasts.forecast + ROUNDING, side="right") - 1
    reached = np.arange(len(THRESHOLDS)) <= np.arange(len(THRESHOLDS))[:, None]  # thresholds, by those in between
    mean, square = np.zeros(len(THRESHOLDS)), np.zeros((len(THRESHOLDS), len(THRESHOLDS)))
    false: Array = -THRESHOLDS / (1 - THRESHOLDS)
    for mass, worth in ((forecasts.happened, np.ones(len(false))), (forecasts.mass - forecasts.happened, false)):
        rows = np.bincount(place, mass, len(THRESHOLDS)) / forecasts.mass.sum()
        each = reached * worth
        mean += rows @ each
        square += each.T @ (rows[:, None] * each)
    spread = square - np.outer(mean, mean)
    scatters = np.diag(spread) > ROUNDING * np.diag(square)  # where all rows are worth the same, one interval does
    reach = max_critical(spread[np.ix_(scatters, scatters)], level, np.inf)
    return max(2 * NormalDist().cdf(reach) - 1, level)


def rejection(evaluation: RankedEvaluation, level: float, judged: Array | None = None) -> Table:
    """The error among the rows that are kept when those are rejected first of which a classifier is least sure.

    How sure it is of a row is the highest of its probabilities. Rows are assigned to the class that has it, and one
    probability of just a half speaks for the class that it is of, as everywhere. Where the confusion table of how rows
    were assigned is told, by ``judged``, another one is refused: that of another threshold.
    """
    rows, said = evaluation.rows, evaluation.rows.scores[evaluation.model]
    stacked = np.stack(said.memberships(), axis=1)
    if said.raw or not (stacked.min() >= 0 and stacked.max() <= 1):
        raise BadOption("scores that are no probabilities do not say how sure they are", mend="Give probabilities")
    sure = stacked.max(axis=1).astype(np.float64)
    ranking = Ranking.of(np.round(sure, DECIMALS))  # 1 - 0.42 is as sure as 0.58
    assigned = said.likeliest(evaluation.scale.event_code)
    cells = rows.truth * np.intp(len(evaluation.scale)) + assigned
    found = np.bincount(cells, evaluation.weights.mass, len(evaluation.scale) ** 2)
    if judged is not None and not np.allclose(found, judged.ravel(), rtol=0, atol=1e-9 * judged.sum()):
        raise BadOption(
            "the rows were assigned by a threshold or by costs, and not to the class of the highest probability",
            mend="Leave threshold= out: how sure a classifier is, is told by its highest probability",
        )
    # Errors are what is looked for, from the surest row on: the error among those is a precision.
    errors = OneAgainstRest(evaluation.population, 0, ranking, (assigned != rows.truth)[ranking.order])
    tables, risk = Thresholds(errors).tables(), [find("precision")]
    if tables.scatter is not None:  # where none that is kept is an error, all rows tell how much one of them weighs
        unit = np.full_like(tables.scatter.unit, evaluation.population.independent_row)
        tables = replace(tables, scatter=replace(tables.scatter, unit=unit))
    kept = tables.cells[[0, 2]].sum(axis=0)
    columns = {"coverage": kept / kept[-1], "risk": tables.values(risk)[0]}
    columns |= {name: bound[0] for name, bound in zip(("low", "high"), tables.bounds(risk, level), strict=True)}
    columns = {name: each[1:] for name, each in columns.items()}  # at first no row is kept
    columns = {"threshold": ranking.groups.least(sure[ranking.order])} | columns
    return Table({name: each.tolist() for name, each in columns.items()})


# --- where thresholds lie on the ROC curve --------------------------------------------------------------------------


Own = Literal["own"]

HALF = 0.5  # from which on a row is assigned where nobody gives a threshold
MOST = 50  # of more, hardly any label would find a place
GIVE = "Give numbers, such as [0.3, 0.5, 0.7], 'own' for the threshold of the result, or None"
UNREACHED = "no score reaches this threshold"
KNOWN = ("", UNREACHED)  # notes of points that are exact
NO_THRESHOLD = "rows are not assigned by one threshold"
LONGEST = 14  # signs of a class in a label
SAME = 1e-9


class Mark(NamedTuple):
    """A threshold on a curve: where it lies, its label, whether any score reaches it, and what there is to know."""

    threshold: float
    fpr: float
    sensitivity: float
    text: str
    reached: bool
    note: str


def wanted_thresholds(thresholds: Any) -> Own | list[float] | None:
    """Which thresholds are asked for, each once: those of a list, the result's own, or none."""
    if thresholds is None:
        return None
    if isinstance(thresholds, str):
        if thresholds != "own":
            raise BadOption(f"thresholds is {quoted(thresholds)}", mend=GIVE)
        return "own"
    listed = things_in(thresholds)
    found = [thresholds] if listed is None else listed
    numbers = [as_number(value) for value in found]
    for value, number in zip(found, numbers, strict=True):
        if math.isnan(number):
            raise BadOption(f"{quoted(value)} is not a threshold", mend=GIVE)
    numbers = list(dict.fromkeys(number + 0.0 for number in numbers))
    if len(numbers) > MOST:
        raise BadOption(f"{len(numbers):,} thresholds are too many to be marked", mend=f"Give {MOST} at most")
    return numbers or None


def operating_points(
    assessment: Assessment,
    thresholds: Own | Sequence[float] | None,
    label: Any = None,
    one: OneAgainstRest | None = None,
) -> Table:
    """Where thresholds lie on the ROC curve of a class.

    Args:
        assessment: A classifier that gave scores.
        thresholds: Numbers; "own" for the threshold by which rows are assigned.
        label: The class; the event if not given.
        one: The rows by the score of the class, where they were sorted already.

    Returns:
        A table with the columns threshold, fpr, sensitivity, text (the threshold as it is labelled; empty where there
        is none), reached (whether any score reaches it) and note.
    """
    code = assessment.code(label)
    assessment.refuse_hidden()
    if thresholds is None or isinstance(thresholds, str):
        own = None if thresholds is None else _own(assessment, code, one)
        return Table.of_rows(Mark._fields, [] if own is None else [own])
    curve = _Curve(assessment, code, one)
    marks = [curve.at(threshold, text) for threshold, text in zip(thresholds, curve.texts(thresholds), strict=True)]
    if any(mark.note not in KNOWN for mark in marks):
        # At the threshold of the result, rows were counted one by one.
        own = _own(assessment, code, one)
        if own is not None and own.note in KNOWN:
            marks = [own if mark.threshold == own.threshold else mark for mark in marks]
    return Table.of_rows(Mark._fields, marks)


def _own(assessment: Assessment, code: int, one: OneAgainstRest | None) -> Mark | None:
    """Where rows are assigned now; None where no class is assigned to them."""
    if assessment.model in assessment.tally.given.unassigned:
        return None
    table = assessment.evaluation.patterns.table(assessment.evaluation.model)
    own, rest = table[code], np.delete(table, code, axis=0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        fpr, sensitivity = (float(side[code] / side.sum()) for side in (rest, own))
    found = Mark(math.nan, fpr, sensitivity, "", True, NO_THRESHOLD)
    told = {threshold for threshold, *_ in thresholds_of(assessment.tally.remarks, assessment.model)}
    if len(assessment.classes) > 2 or len(told) > 1:
        return found
    reached = fpr > 0 or sensitivity > 0
    found = found._replace(reached=reached, note="" if reached else UNREACHED)
    if not told:
        return found._replace(threshold=HALF, text=f"{HALF:g}")
    (threshold,) = told
    curve = _Curve(assessment, code, one)
    if curve.meets(threshold, fpr, sensitivity):
        return found._replace(threshold=threshold, text=curve.text(threshold))
    # Rows reach a threshold of the other class: here, they are those that are left.
    other, turned = assessment.classes[1 - code], _Curve(assessment, 1 - code)
    if not turned.meets(threshold, 1 - sensitivity, 1 - fpr):
        return found._replace(reached=True, note=NO_THRESHOLD)
    text = f"{shortened(named(other), LONGEST)} ≥ {turned.text(threshold)}"
    return Mark(threshold, fpr, sensitivity, text, True, f"a threshold of the score of {quoted(other)}")


class _Curve:
    """The ROC curve of a class, and what thresholds reach on it."""

    def __init__(self, assessment: Assessment, code: int, one: OneAgainstRest | None = None) -> None:
        """Sort the rows by the score of the class, unless they are sorted."""
        self.code, self.ranked = code, assessment.ranked
        one = one or assessment.event_ranking(assessment.classes[code])
        self.ranking = one.ranking
        sums = [np.concatenate([[0.0], side]) for side in (one.plain.alarms, one.plain.hits)]
        with np.errstate(invalid="ignore", divide="ignore"):
            self.rates: Array = np.array([side / side[-1] for side in sums])

    def at(self, threshold: float, text: str) -> Mark:
        """Where a threshold lies, with its label."""
        self.ranked.rows.scores[self.ranked.model].refuse_turned(self.code, threshold)
        place, other = self._places(threshold)
        fpr, sensitivity = self.rates[:, place].tolist()
        reached, note = place > 0 or other > 0, ""
        if other != place:
            low, high = sorted((place, other))
            (fpr_low, low_), (fpr_high, high_) = self.rates[:, low].tolist(), self.rates[:, high].tolist()
            note = (
                f"scores were counted in cells: sensitivity is between {low_:.6g} and {high_:.6g}, fpr between "
                f"{fpr_low:.6g} and {fpr_high:.6g}"
            )
            text = f"≈ {text}"
        return Mark(threshold, fpr, sensitivity, text, reached, note if reached else UNREACHED)

    def meets(self, threshold: float, fpr: float, sensitivity: float) -> bool:
        """Whether rows that reach a threshold are as many as those of a point."""
        low, high = sorted(self._places(threshold))
        point = np.array([fpr, sensitivity])
        known = ~np.isnan(point)
        above, below = (self.rates[:, low] - SAME <= point), (point <= self.rates[:, high] + SAME)
        return bool((above & below)[known].all())

    def _places(self, threshold: float) -> tuple[int, int]:
        """Where a threshold lies on the curve, and how far from there it may lie where scores were counted in cells."""
        wanted = np.array([threshold])
        place = int(self.ranking.reached(wanted)[0])
        return place, place + int(self.ranked.open_at(self.code, wanted)[0])

    def texts(self, thresholds: Sequence[float]) -> list[str]:
        """Thresholds in words, each with as many digits as tell it from the others."""
        found = [self.text(threshold) for threshold in thresholds]
        digits = 5
        while len(set(found)) < len(set(thresholds)) and digits < 18:
            found, digits = [_written(threshold, digits) for threshold in thresholds], digits + 1
        return found

    def text(self, threshold: float) -> str:
        """A threshold in words: in four digits, or in as many as do the same."""
        if not math.isfinite(threshold):
            return "∞" if threshold > 0 else "−∞"
        short = f"{threshold:.4g}"
        if self._places(float(short)) == self._places(threshold):
            return short.replace("-", "−")
        place = self._places(threshold)[0]
        below = self.ranking.thresholds[place] if place < len(self.ranking.thresholds) else -math.inf
        return down_to(threshold, float(below)).replace("-", "−")


def _written(threshold: float, digits: int) -> str:
    if not math.isfinite(threshold):
        return "∞" if threshold > 0 else "−∞"
    return f"{threshold:.{digits}g}".replace("-", "−")
