"""What can be drawn of results: fills the displays with finished tables, and draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from ..core.errors import BadOption, UnknownModel, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean
from ..core.table import Table
from ..core.text import with_interval
from ..measures import find
from ..measures.registry import Measure
from ..results.curves import Band, Own, operating_points, wanted_thresholds
from ..results.verdicts import computed, error_tables, standing_table
from . import plots
from .continuum_strip import Strips
from .partition_panels import LINES, PartitionPanels, facts
from .plots import levels
from .plots.strips import levels_in
from .plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..modelling.tuning import Tuning
    from ..results.across import AcrossDatasets, Method
    from ..results.assessment import Assessment

Thresholds = Own | float | Iterable[float] | None
Shown = TypeVar("Shown")
DRAWN = ("sensitivity", "specificity", "precision")


@dataclass(frozen=True)
class Pictures:
    """What can be drawn of one classifier, or of several on the same cases.

    Every method draws into ``ax``, or into a figure of its own, and returns the display, whose ``plot`` draws it again
    and whose ``frame`` is the table behind it.
    """

    assessments: Mapping[str, Assessment]

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """There is no picture of everything: say which are there."""
        kinds = [f"plot.{name}()" for name in vars(Pictures) if not name.startswith("_") and name != "assessments"]
        raise BadOption("plot draws nothing by itself", mend=f"Say {', '.join(kinds[:-1])} or {kinds[-1]}")

    def _scored(self) -> dict[str, Assessment]:
        """The classifiers that gave scores: the others have no curve."""
        scored = {name: each for name, each in self.assessments.items() if each.has_scores}
        if not scored:
            if not all(each.tally.given.kept for each in self.assessments.values()):
                raise next(iter(self.assessments.values())).no_scores
            raise BadOption("no classifier gave scores", mend="Give scores or memberships, not labels")
        return scored

    def _curves(self, kind: str, label: Any, band: Band) -> dict[str, Table]:
        return {name: each.curve(kind, label, band=band) for name, each in self._scored().items()}

    def _labels(self, measure: str, title: str, label: Any) -> dict[str, str]:
        """A name and the value that sums its curve up, with its interval, where it was computed."""
        labels = {}
        for name, each in self._scored().items():
            if each.settings.everything or any(entry.name == measure for entry in each.settings.measures):
                found = each[measure, each.tally.scale.event if label is None else label]
                labels[name] = f"{name}: {title} {with_interval(found.value, found.low, found.high)}"
        return labels

    def roc(
        self,
        label: Any = None,
        *,
        thresholds: Thresholds | Mapping[str, Thresholds] = "own",
        band: Band = "pointwise",
        ax: Axes | None = None,
    ) -> plots.RocDisplay:
        """Sensitivity against the false-positive rate over all thresholds, some of which are marked and labelled.

        Args:
            label: The class; the event if not given.
            thresholds: Numbers to mark on the curve, such as [0.3, 0.5, 0.7]; "own" for the threshold at which rows
                are assigned now; None marks nothing. A dictionary gives each classifier its own.
            band: "pointwise", "simultaneous" (holds for the whole curve at once) or "none".
            ax: Where to draw; a new figure if not given.

        Returns:
            A display. Its ``marked()`` is the table of the marked points, whether their labels found a place or not.
        """
        scored = self._scored()
        wanted = _by_classifier(thresholds, scored)
        marks = {name: operating_points(each, wanted[name], label) for name, each in scored.items() if wanted[name]}
        curves = self._curves("roc", label, band)
        return _drawn(
            plots.RocDisplay(curves, labels=self._labels("auc", "AUC", label), marks=marks), ax, band=band != "none"
        )

    def precision_recall(
        self, label: Any = None, *, band: Band = "pointwise", ax: Axes | None = None
    ) -> plots.PrecisionRecallDisplay:
        """Precision against recall over all thresholds."""
        curves = self._curves("precision_recall", label, band)
        base = next(iter(curves.values()))["precision"][-1]
        labels = self._labels("average_precision", "AP", label)
        return _drawn(plots.PrecisionRecallDisplay(curves, labels=labels, base=base), ax, band=band != "none")

    def det(self, label: Any = None, *, ax: Axes | None = None) -> plots.DetDisplay:
        """Misses against false alarms, both on the scale of normal deviates."""
        return _drawn(plots.DetDisplay(self._curves("det", label, "none")), ax)

    def gain(self, label: Any = None, *, ax: Axes | None = None) -> plots.GainDisplay:
        """How much of the class is found among the rows of the highest scores."""
        return _drawn(plots.GainDisplay(self._curves("gain", label, "none")), ax)

    def lift(self, label: Any = None, *, ax: Axes | None = None) -> plots.LiftDisplay:
        """How many times as often the class is found there as among all rows."""
        return _drawn(plots.LiftDisplay(self._curves("lift", label, "none")), ax)

    def thresholds(
        self,
        measures: Iterable[str | Measure] = DRAWN,
        label: Any = None,
        *,
        chosen: float | None = None,
        band: bool = True,
        ax: Axes | None = None,
    ) -> plots.ThresholdDisplay:
        """Count measures of one classifier over its thresholds, with the chosen one marked."""
        scored = self._scored()
        if len(scored) > 1:
            raise BadOption("thresholds of several classifiers do not share a scale", mend="Draw them one at a time")
        ((name, one),) = scored.items()
        found = one.thresholds(measures, label, intervals=band)
        kept = [column for column in found.column_names if column not in ("tp", "fn", "fp", "tn")]
        # What was chosen is a threshold of the event's score, which says nothing on that of another class.
        if chosen is None and one.decision is not None and one.code(label) == one.code(None):
            chosen = one.decision.threshold
        return _drawn(
            plots.ThresholdDisplay({name: Table({column: found[column] for column in kept})}, chosen=chosen),
            ax,
            band=band,
        )

    def reliability(self, label: Any = None, *, band: bool = True, ax: Axes | None = None) -> plots.ReliabilityDisplay:
        """How often a class is the true one against its forecast, and how the forecasts are spread.

        Of one classifier without an event, every class is drawn, as long as their lines can be told apart; of more
        classes and of several classifiers, one class. The band is where calibrated forecasts would stay.
        """
        scored = self._scored()
        model, first = next(iter(scored.items()))
        event = first.tally.scale.event if label is None else label
        if len(scored) > 1 or event is not None or len(first.classes) > len(COLOURS):
            named = first.classes[first.code(label)]
            found = {name: each.reliabilities(named)[named] for name, each in scored.items()}
            labels = self._labels("calibration_error", "CE", label)
        else:
            found = {f"{model}, class {name}": each for name, each in first.reliabilities().items()}
            labels = {}
        level, seed = first.settings.level, first.settings.seed
        curves = {name: each.curve(level, seed, band) for name, each in found.items()}
        return _drawn(
            plots.ReliabilityDisplay(curves, labels=labels, bars={name: each.bars() for name, each in found.items()}),
            ax,
            band=band,
        )

    def decision_curve(
        self, label: Any = None, *, band: Band = "pointwise", ax: Axes | None = None
    ) -> plots.DecisionCurveDisplay:
        """The net benefit of acting on a class from a probability on, beside that of acting on all rows and on none."""
        curves = {name: each.decision_curve(label, band=band) for name, each in self._scored().items()}
        return _drawn(plots.DecisionCurveDisplay(curves), ax, band=band != "none")

    def rejection(self, *, band: bool = True, ax: Axes | None = None) -> plots.RejectionDisplay:
        """The error among the rows that are kept, against how many are kept."""
        return _drawn(
            plots.RejectionDisplay({name: each.rejection() for name, each in self._scored().items()}), ax, band=band
        )

    @property
    def _level(self) -> float:
        """The coverage of the intervals, which is the same for all classifiers."""
        return next(iter(self.assessments.values())).settings.level

    # --- partition spaces --------------------------------------------------------------------------------------

    def simplex(
        self, scaling: str = "default", *, depth: int = 1, lines: str | None = None, ax: Axes | None = None
    ) -> plots.SimplexDisplay:
        """Rows by their memberships, between corners that stand for the classes (Sondhauss & Weihs 2001).

        Two classes make a segment, three a triangle, four a tetrahedron. Of more classes, those triples are drawn that
        are confused most. Where there are many rows, or where they weigh differently, cells take the place of marks.
        Rows are assigned to the class of their highest membership, as regions are, whatever threshold there is.

        Args:
            scaling: "raw" for memberships as they were given; else they are scaled to say how right they are, region
                by region: "default", "literal" (the formulas as printed) or "klar" (as in the R package klaR).
            depth: How many of the highest classes a region is made of.
            lines: "truth" for lines to the corners of the true classes, "assigned" for lines to those of the assigned
                ones, with the measure that is made of their lengths: accuracy, or the ability to separate. Of two
                classes the lines would lie on each other, and only the measure is shown.
            ax: Where to draw; a new figure if not given.
        """
        scored = self._scored()
        found = PartitionPanels.of(scored, scaling, depth, lines)
        to = found.lines
        labels = {} if to is None else {name: _near(scored[name], scaling, depth, to) for name in found.spaces}
        return _drawn(plots.SimplexDisplay(found.panels(), scaling=scaling, depth=depth, lines=to, labels=labels), ax)

    # --- classes from a continuum ------------------------------------------------------------------------------

    def continuum(self, *, ax: Axes | None = None) -> plots.ContinuumDisplay:
        """All rows at their measured values, in a lane for the class assigned: above its interval they are right.

        Where there are many, or where they weigh differently, bars take the place of marks. Shaded is where a label is
        wrong with a probability above 5 %; where rows have deviations of their own, by the median of these.
        """
        strips = Strips.of(self.assessments)
        usual = "median sd" if strips.deviations_differ else "sd"
        display = plots.ContinuumDisplay(
            strips.tables(levels_in(ax, len(self.assessments))),
            strips.scale.classes,
            strips.scale.boundaries,
            strips.span,
            zones=strips.zones(),
            sd="" if strips.deviation is None else f"{usual} {strips.deviation:.3g}",
            labels={name: self._summary(name) for name in self.assessments},
        )
        display.plot(ax)
        return display

    def _summary(self, name: str) -> str:
        """A name with the error and the squared error that were computed."""
        each, words = self.assessments[name], {"error": "error", "apparent_sqerr": "squared error"}
        found = {word: each[measure] for measure, word in words.items() if computed(each, [measure])}
        facts = ", ".join(f"{word} {with_interval(one.value, one.low, one.high)}" for word, one in found.items())
        return f"{name}: {facts}" if facts else name

    def error_bounds(
        self, measures: Iterable[str | Measure] | None = None, *, ax: Axes | None = None
    ) -> plots.ErrorBoundsDisplay:
        """Estimates of the error with their intervals, on the band that the true error cannot leave.

        All of the usual estimates are drawn that were computed, if ``measures`` does not name others. Lines show the
        error of the labels and the least error that can be reached.
        """
        return _drawn(plots.ErrorBoundsDisplay(error_tables(self.assessments, measures), level=self._level), ax)

    def ranking(
        self, measures: Iterable[str | Measure] | None = None, *, ax: Axes | None = None
    ) -> plots.RankingDisplay:
        """The classifiers from the best to the worst by several measures, side by side.

        If ``measures`` names none: error and squared error of a continuum, apparent and adjusted; else the error (or
        accuracy, where only that was asked for), AUC and log score that were computed.
        """
        return _drawn(plots.RankingDisplay(standing_table(self.assessments, measures), level=self._level), ax)


def _drawn(display: Shown, ax: Axes | None, **options: bool) -> Shown:
    """A display, once it is drawn."""
    shown: Any = display
    shown.plot(ax, **options)
    return display


def _by_classifier(thresholds: Any, scored: Mapping[str, Assessment]) -> dict[str, Own | list[float] | None]:
    """The thresholds to mark for each classifier: the same for all, or those that a dictionary gives."""
    if not isinstance(thresholds, Mapping):
        return dict.fromkeys(scored, wanted_thresholds(thresholds))
    for name in thresholds:
        if name not in scored:
            mend = did_you_mean(name, scored, f"Curves are drawn of {listed(list(scored))}")
            raise UnknownModel(f"thresholds= names {quoted(name)}, which has no curve", mend=mend)
    return {name: wanted_thresholds(thresholds.get(name)) for name in scored}


def _near(assessment: Assessment, scaling: str, depth: int, lines: str) -> str:
    """How near rows are to corners, with the interval of that."""
    measure = find(LINES[lines], scaling=scaling, depth=depth)
    found = assessment.by(measure)[measure]
    return facts({"truth": "accuracy", "assigned": "separation"}[lines], found.value, found.low, found.high)


# --- classifiers on many data sets --------------------------------------------------------------------------------

TESTS = {"nemenyi": "Nemenyi's test", "wilcoxon": "Wilcoxon's test with Holm's adjustment"}


@dataclass(frozen=True)
class AcrossPictures:
    """What can be drawn of classifiers on many data sets.

    Every method draws into ``ax``, or into a figure of its own, and returns the display, whose ``plot`` draws it again
    and whose ``frame`` is the table behind it.
    """

    across: AcrossDatasets

    def critical_difference(
        self, method: Method = "nemenyi", *, ax: Axes | None = None
    ) -> plots.CriticalDifferenceDisplay:
        """Mean ranks on a line, and bars that join classifiers which cannot be told apart (Demšar 2006).

        Args:
            method: "nemenyi" (by mean ranks; the critical difference is drawn below) or "wilcoxon" (signed ranks with
                Holm's adjustment; dots on a bar are those whom it joins).
            ax: Where to draw; a new figure if not given.
        """
        return _drawn(
            plots.CriticalDifferenceDisplay(
                self.across.ranks(),
                self.across.groups(method),
                critical_difference=self.across.nemenyi().critical_difference if method == "nemenyi" else None,
                test=TESTS[method],
                level=self.across.level,
            ),
            ax,
        )

    def posterior(
        self,
        rope: float = 0.01,
        a: str | None = None,
        b: str | None = None,
        *,
        draws: int = 50_000,
        seed: int = 0,
        ax: Axes | None = None,
    ) -> plots.PosteriorDisplay:
        """How probable it is that either of two is better, or that the difference does not matter, for all pairs."""
        return _drawn(plots.PosteriorDisplay(self.across.bayesian(rope, a, b, draws=draws, seed=seed), rope=rope), ax)


# --- tuning -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TuningPictures:
    """What can be drawn of a search."""

    tuning: Tuning

    def curve(self, parameter: str | None = None, ax: Axes | None = None) -> levels.TuningDisplay:
        """The measure over one parameter, with bars of one standard error; of several, the best over the others.

        Args:
            parameter: Which one; the first that varies, if not given.
            ax: Where to draw; a figure of its own, if not given.
        """
        from ..modelling.tuning import column_of

        table, tuning = self.tuning.table(), self.tuning
        names = list(dict.fromkeys(name for one in tuning.candidates for name in one.parameters))
        varying = [name for name in names if len({repr(value) for value in table[column_of(name)]}) > 1]
        chosen = parameter or (varying or names or [""])[0]
        if chosen not in names:
            mend = did_you_mean(chosen, names, f"There are {listed(names)}")
            raise BadOption(f"there is no parameter {quoted(chosen)}", mend=mend)
        best, measure = tuning.best.estimate, tuning.measure
        limit = measure.loss(measure.loss(best.value) + best.se) if tuning.one_se else np.nan
        rows = _best_of_each(table, column_of(chosen), measure)
        return _drawn(levels.TuningDisplay(rows, column_of(chosen), title=measure.title, limit=float(limit)), ax)


def _best_of_each(table: Table, parameter: str, measure: Measure) -> Table:
    """One row for every value of a parameter: the one that was chosen, or the one with the best value."""
    kept: dict[str, dict[str, Any]] = {}
    # What is undefined comes last: it compares with nothing, and would leave all others in any order.
    for row in sorted(table, key=lambda row: (not row["chosen"], np.isnan(row["value"]), measure.loss(row["value"]))):
        kept.setdefault(repr(row[parameter]), row)
    order = dict.fromkeys(repr(value) for value in table[parameter])
    return Table.of_rows(table.column_names, [tuple(kept[value].values()) for value in order])
