"""Pictures of assessments: fills the displays with finished tables, and draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ..core.errors import BadOption, UnknownModel, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean
from ..core.table import Table
from ..core.text import with_interval
from ..measures import find
from ..measures.registry import Measure
from ..results.operating_points import Own, operating_points, wanted_thresholds
from ..results.ranking_curves import Band
from ..results.standings import computed, error_tables, standing_table
from .continuum_strip import Strips
from .partition_panels import Partitions
from .partition_pieces import LINES, facts
from .plots import (
    ContinuumDisplay,
    DecisionCurveDisplay,
    DetDisplay,
    ErrorBoundsDisplay,
    GainDisplay,
    LiftDisplay,
    PrecisionRecallDisplay,
    RankingDisplay,
    RejectionDisplay,
    ReliabilityDisplay,
    RocDisplay,
    SimplexDisplay,
    ThresholdDisplay,
)
from .plots.strips import levels_in
from .plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.assessment import Assessment

Thresholds = Own | float | Iterable[float] | None
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
    ) -> RocDisplay:
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
        display = RocDisplay(curves, labels=self._labels("auc", "AUC", label), marks=marks)
        display.plot(ax, band=band != "none")
        return display

    def precision_recall(
        self, label: Any = None, *, band: Band = "pointwise", ax: Axes | None = None
    ) -> PrecisionRecallDisplay:
        """Precision against recall over all thresholds."""
        curves = self._curves("precision_recall", label, band)
        base = next(iter(curves.values()))["precision"][-1]
        labels = self._labels("average_precision", "AP", label)
        display = PrecisionRecallDisplay(curves, labels=labels, base=base)
        display.plot(ax, band=band != "none")
        return display

    def det(self, label: Any = None, *, ax: Axes | None = None) -> DetDisplay:
        """Misses against false alarms, both on the scale of normal deviates."""
        display = DetDisplay(self._curves("det", label, "none"))
        display.plot(ax)
        return display

    def gain(self, label: Any = None, *, ax: Axes | None = None) -> GainDisplay:
        """How much of the class is found among the rows of the highest scores."""
        display = GainDisplay(self._curves("gain", label, "none"))
        display.plot(ax)
        return display

    def lift(self, label: Any = None, *, ax: Axes | None = None) -> LiftDisplay:
        """How many times as often the class is found there as among all rows."""
        display = LiftDisplay(self._curves("lift", label, "none"))
        display.plot(ax)
        return display

    def thresholds(
        self,
        measures: Iterable[str | Measure] = DRAWN,
        label: Any = None,
        *,
        chosen: float | None = None,
        band: bool = True,
        ax: Axes | None = None,
    ) -> ThresholdDisplay:
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
        display = ThresholdDisplay({name: Table({column: found[column] for column in kept})}, chosen=chosen)
        display.plot(ax, band=band)
        return display

    def reliability(self, label: Any = None, *, band: bool = True, ax: Axes | None = None) -> ReliabilityDisplay:
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
        display = ReliabilityDisplay(curves, labels=labels, bars={name: each.bars() for name, each in found.items()})
        display.plot(ax, band=band)
        return display

    def decision_curve(
        self, label: Any = None, *, band: Band = "pointwise", ax: Axes | None = None
    ) -> DecisionCurveDisplay:
        """The net benefit of acting on a class from a probability on, beside that of acting on all rows and on none."""
        curves = {name: each.decision_curve(label, band=band) for name, each in self._scored().items()}
        display = DecisionCurveDisplay(curves)
        display.plot(ax, band=band != "none")
        return display

    def rejection(self, *, band: bool = True, ax: Axes | None = None) -> RejectionDisplay:
        """The error among the rows that are kept, against how many are kept."""
        display = RejectionDisplay({name: each.rejection() for name, each in self._scored().items()})
        display.plot(ax, band=band)
        return display

    @property
    def _level(self) -> float:
        """The coverage of the intervals, which is the same for all classifiers."""
        return next(iter(self.assessments.values())).settings.level

    # --- partition spaces --------------------------------------------------------------------------------------

    def simplex(
        self, scaling: str = "default", *, depth: int = 1, lines: str | None = None, ax: Axes | None = None
    ) -> SimplexDisplay:
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
        found = Partitions.of(scored, scaling, depth, lines)
        to = found.lines
        labels = {} if to is None else {name: _near(scored[name], scaling, depth, to) for name in found.spaces}
        display = SimplexDisplay(found.panels(), scaling=scaling, depth=depth, lines=to, labels=labels)
        display.plot(ax)
        return display

    # --- classes from a continuum ------------------------------------------------------------------------------

    def continuum(self, *, ax: Axes | None = None) -> ContinuumDisplay:
        """All rows at their measured values, in a lane for the class assigned: above its interval they are right.

        Where there are many, or where they weigh differently, bars take the place of marks. Shaded is where a label is
        wrong with a probability above 5 %; where rows have deviations of their own, by the median of these.
        """
        strips = Strips.of(self.assessments)
        usual = "median sd" if strips.deviations_differ else "sd"
        display = ContinuumDisplay(
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
    ) -> ErrorBoundsDisplay:
        """Estimates of the error with their intervals, on the band that the true error cannot leave.

        All of the usual estimates are drawn that were computed, if ``measures`` does not name others. Lines show the
        error of the labels and the least error that can be reached.
        """
        display = ErrorBoundsDisplay(error_tables(self.assessments, measures), level=self._level)
        display.plot(ax)
        return display

    def ranking(self, measures: Iterable[str | Measure] | None = None, *, ax: Axes | None = None) -> RankingDisplay:
        """The classifiers from the best to the worst by several measures, side by side.

        If ``measures`` names none: error and squared error of a continuum, apparent and adjusted; else the error (or
        accuracy, where only that was asked for), AUC and log score that were computed.
        """
        display = RankingDisplay(standing_table(self.assessments, measures), level=self._level)
        display.plot(ax)
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
