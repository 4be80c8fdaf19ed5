"""One classifier, weighed: every measure with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.cached import cached_property
from ..core.columns import as_number
from ..core.errors import BadOption, OutsideUnitInterval, quoted
from ..core.estimate import Estimate
from ..core.suggestions import refuse_unknown
from ..core.table import Table, by_measure
from ..core.text import clipped, to_text
from ..families.partition.space import Chosen, checked_choice
from ..inference.settings import STANDARDISE, as_seed
from ..measures import find
from ..measures.registry import Measure
from ..states.statistics import CONFUSION, STATISTICS
from . import accessors
from .evaluated import Evaluated, Slices
from .notes import notes_on, words_on_labels
from .parts import compute_all

if TYPE_CHECKING:
    from pathlib import Path

    from ..core.scale import Label
    from ..core.typing import Array, Numbers
    from ..families.partition.partition_scaling import PartitionScaling
    from .accessors import Band, Comparison, Decision, Pictures
    from .reliability import CalibrationTest, Reliability

ROUNDING = 1e-13
IN_BATCHES = "Scale them in batches: result.scaling().transform(memberships)"
SHOWN = ("sensitivity", "specificity", "precision", "f1")


@dataclass(frozen=True, eq=False)
class Assessment(Evaluated):
    """Every measure of one classifier, each with its interval.

    ``assessment["kappa"]`` is an Estimate; ``assessment["sensitivity", "yes"]`` that of one class;
    ``assessment["f1", "weighted"]`` an average other than the usual one.
    """

    training: Assessment | None = None
    decision: Decision | None = None

    def __iter__(self) -> Iterator[str]:
        """The measures by name, as of a dictionary."""
        return (measure.label for measure in self.settings.measures)

    def __getitem__(self, key: str | Measure | tuple[str | Measure, Any]) -> Estimate:
        """Look up an estimate by measure, or by measure and class (or average)."""
        asked, part = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        name, part, caution = self.meant(asked, part)
        entry = self.find(name)
        if self.settings.by_label.get(entry.label) is entry:  # costs may be arrays, which are not compared
            evaluated = self.part_with(entry)
            found = evaluated.estimate(self.place_in(evaluated.evaluation, entry, part))
        else:
            found = self.by(entry)[entry, part]
        if isinstance(name, str) and name not in (entry.name, entry.label):
            named = find(name)
            caution = named.caution(named.asked[0]) if named.asked else ""
        return replace(found, note="; ".join(filter(None, (found.note, caution)))) if caution else found

    def by(self, *measures: str | Measure) -> Assessment:
        """The same classifier by one measure or a few, which need not be among those that are shown."""
        settings = replace(self.settings, measures=tuple(find(measure) for measure in measures), everything=False)
        return replace(self, settings=settings.fitted(self.tally.given))

    @property
    def notes(self) -> list[str]:
        """What there is to know about the data as a whole."""
        return [*self._notes]

    @cached_property
    def _notes(self) -> list[str]:
        return notes_on(self)

    @property
    def words_on_labels(self) -> list[str]:
        """Return a note where forecasts are scored, and the classifier gave labels alone."""
        return words_on_labels(self)

    @property
    def true_error_bounds(self) -> tuple[Estimate, Estimate]:
        """The least and the most that the error rate against the true classes can be, where the truth was measured.

        The true error lies between the lower end of the first interval and the upper end of the second in at least the
        level's share of samples.
        """
        return self["true_error_low"], self["true_error_high"]

    @property
    def true_sqerr_bounds(self) -> tuple[Estimate, Estimate]:
        """The same of the squared error rate against the true values."""
        return self["true_sqerr_low"], self["true_sqerr_high"]

    @property
    def slices(self) -> Slices[Assessment]:
        """One assessment for every part of the data that ``by=`` named."""
        return Slices((part, replace(self, slice=part, training=None, decision=None)) for part in self.tally.parts)

    def confusion(self, share: Literal["none", "true", "assigned", "all"] = "none") -> Array:
        """The table: rows are true classes, columns assigned ones; as counts, or shares of a row, column or all."""
        if not self.settings.made_of(CONFUSION):
            scored, counts = "Give threshold=0.5, on the scale of the scores", "Ask for a measure of counts, or for all"
            raise BadOption("no class was assigned", mend=scored if self.unassigned else counts)
        self.refuse_hidden()
        table = self.evaluation.patterns.table(self.evaluation.model)
        axes: dict[str, Any] = {"true": 1, "assigned": 0, "all": None}
        refuse_unknown("share", share, ("none", *axes))
        if share == "none":
            return table
        with np.errstate(invalid="ignore"):
            return np.asarray(table / table.sum(axis=axes[share], keepdims=True))

    def error_matrix(self, relative: bool = False) -> Array:
        """The table with its errors summed up at the margins, as klaR's errormatrix prints it: (C + 1, C + 1).

        Relative to the rows of each true class; the last row then says how the errors fall on the assigned classes,
        and the corner is the error rate. A share of nothing is 0.
        """
        table: Array = self.confusion()
        wrong: Array = table - np.diag(np.diag(table))
        whole: Array = np.block([[table, wrong.sum(axis=1)[:, None]], [wrong.sum(axis=0)[None], wrong.sum()]])
        if not relative:
            return whole
        below = np.append(table.sum(axis=1), wrong.sum())[:, None]
        shares: Array = np.divide(whole, below, out=np.zeros_like(whole), where=below > 0)
        shares[-1, -1] = wrong.sum() / table.sum()
        return shares

    def table(self) -> Table:
        """All estimates, one a row: measure, class, average, value, low, high, se, n, method, note.

        With ``by=``, every part of the data has its rows too, marked in the column ``slice``.
        """
        pieces = [self] if self.slice is not None else [self, *self.slices.values()]
        self._refuse_changed(part for piece in pieces for part in piece.parts.values())
        columns = [piece._columns() for piece in pieces]
        if len(columns) == 1:
            return Table(columns[0])
        return Table({name: [value for column in columns for value in column[name]] for name in columns[0]})

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        wanted = [one for one in STATISTICS if self.settings.made_of(one) and one.name in self.parts]
        parts = [self.parts[statistic.name] for statistic in wanted]
        compute_all(parts)
        found = [part.columns() for part in parts]
        columns: Mapping[str, Sequence[Any]] = found[0]
        if len(found) > 1:
            columns = by_measure(found, [measure.label for measure in self.settings.measures])
        return {"slice": [self.slice] * len(columns["measure"]), **columns} if self.tally.slices else columns

    # --- over all thresholds -----------------------------------------------------------------------------------

    @property
    def plot(self) -> Pictures:
        """Pictures: ``assessment.plot.roc()``."""
        return accessors.Pictures({self.model: self})

    def curve(self, kind: str = "roc", label: Any = None, *, band: Band = "pointwise") -> Table:
        """A curve over all thresholds, from the highest on, for the event or the class that is named.

        Args:
            kind: "roc" (fpr, sensitivity), "precision_recall", "det" (fpr, fnr), "gain" or "lift".
            label: The class; the event if not given.
            band: "pointwise", "simultaneous" (holds for the whole curve at once) or "none"; for the first two kinds.

        Returns:
            A tidy table with the columns threshold, the two coordinates, and low and high where there is a band.
        """
        return accessors.curve(self.event_ranking(label), kind, band, self.settings.level, self.settings.seed)

    def thresholds(
        self,
        measures: Iterable[str | Measure] = SHOWN,
        label: Any = None,
        *,
        prevalence: float | None = None,
        intervals: bool = True,
    ) -> Table:
        """Count measures at every threshold of the score: a row is assigned when its score is that or more.

        Args:
            measures: Which measures.
            label: The class; the event if not given.
            prevalence: The share of the class where the threshold will be used; that of the rows if not given.
            intervals: Whether every value comes with its interval, each for itself.

        Returns:
            A tidy table with the columns threshold, tp, fn, fp, tn, and for each measure its value, low and high.
        """
        return accessors.threshold_table(self, measures, label, prevalence, intervals)

    def best_threshold(
        self,
        measure: str | Measure,
        where: str | Iterable[str] = (),
        *,
        prevalence: float | None = None,
        guarantee: float | None = None,
        seed: int | None = None,
    ) -> Decision:
        """Choose the threshold of the event by a measure, under conditions.

        Args:
            measure: What is to be best: "f1", "cost", "specificity"; or all of it in one line, as ``assess`` takes it:
                "max specificity where sensitivity >= 0.8".
            where: What must hold: "sensitivity >= 0.8", or several of these.
            prevalence: The share of the event where the threshold will be used.
            guarantee: The probability with which the conditions shall hold for all rows to come, not only for these.
            seed: Where the random numbers start by which rows are held out.

        Returns:
            A Decision; its ``found`` is false, and its ``note`` says why, where no threshold will do.
        """
        return accessors.best_threshold(self, measure, where, prevalence, guarantee, seed)

    def rejection(self) -> Table:
        """The error among the rows that are kept when those are rejected first of which the classifier is least sure.

        Returns:
            A tidy table with the columns threshold (rows as sure as this or more are kept), coverage (their share),
            risk (the error among them), low and high.
        """
        self.event_ranking(self.classes[0])  # no scores, no order
        self.tally.rows_of(self.slice)  # no rows, no memberships side by side
        judged = self.confusion() if self.settings.made_of(CONFUSION) else None
        return accessors.rejection(self.ranked, self.settings.level, judged)

    # --- forecasts against frequencies ---------------------------------------------------------------------------

    def reliabilities(self, label: Any = None, every: bool = False) -> dict[Label, Reliability]:
        """The forecasts of the class that is named, of the event, or of every class, with their frequencies."""
        from .reliability import Reliability

        mass, unit = self.calibration.weights.mass, self.evaluation.unit
        return {name: Reliability.of(*both, mass, unit) for name, both in self._forecasts(label, every)}

    def _forecasts(self, label: Any, every: bool = False) -> Iterator[tuple[Label, tuple[Numbers, Array]]]:
        """The same by row: what was said of a class, and whether it came true."""
        self._refuse_improbable()
        self.calibration.rows.refuse_changed()
        event = None if every else self.tally.scale.event_code
        named = event if label is None else self.tally.scale.code(label)
        for code in range(len(self.classes)) if named is None else [named]:
            yield self.classes[code], self.calibration.forecast(code)

    def _refuse_improbable(self) -> None:
        rows = self.tally.rows_of(self.slice)
        if rows is not None and not rows.scores[self.evaluation.model].are_probabilities:
            raise OutsideUnitInterval("the scores are no probabilities", mend=STANDARDISE)

    def reliability(self, label: Any = None, *, band: bool = True) -> Table:
        """How often a class is the true one at each forecast of it, by isotonic regression (CORP).

        Args:
            label: The class; the event, or every class where there is no event, if not given.
            band: Whether to add the band that calibrated forecasts would stay in, each forecast for itself.

        Returns:
            A tidy table with the columns class, forecast, frequency, rows, and low and high where there is a band.
        """
        from .reliability import curves

        return curves(self.reliabilities(label), self.settings.level, self.settings.seed, band)

    def calibration_line(self, label: Any = None) -> Table:
        """In which ways the forecasts of a class are off: too low or too high as a whole, too sure or too timid.

        On the scale of log odds, forecasts come true along a line. Its slope is 1 where they are calibrated, less where
        they are too sure. The intercept is what the line is shifted by where its slope is held at 1: 0 where as many
        rows come true as are expected to, and above 0 where more do (calibration in the large).

        Args:
            label: The class; the event, or every class where there is no event, if not given.

        Returns:
            A tidy table with the columns class, part ("observed / expected", "intercept" and "slope"), ideal, value,
            low, high, se, p (of a test against the ideal) and note.
        """
        return accessors.lines(self._forecasts(label), self.calibration, self.settings.level)

    def calibration_test(self, label: Any = None) -> CalibrationTest:
        """Test whether the forecasts of a class are calibrated, whatever the way in which they are not.

        Args:
            label: The class; the event, or every class where there is no event, if not given. With several classes the
                least p-value is multiplied by their number; of very many, its class is drawn for more often.

        Returns:
            A CalibrationTest: its ``p`` is small where chance alone does not explain the miscalibration.
        """
        from .reliability import tested

        return tested(self.reliabilities(label), self.settings.seed)

    def decision_curve(self, label: Any = None, *, band: Band = "pointwise") -> Table:
        """The net benefit of acting on a class from a probability on, over all thresholds (Vickers & Elkin 2006).

        A threshold says how many false alarms one hit is worth to somebody: at 0.2, four. Below it they would not act.

        Args:
            label: The class; the event if not given.
            band: "pointwise", "simultaneous" (holds for the whole curve at once) or "none".

        Returns:
            A tidy table with the columns threshold, net_benefit, all (that of acting on all rows; on none, it is 0),
            and low and high where there is a band.
        """
        self._refuse_improbable()
        return accessors.decision_curve(self, self.code(label), band)

    def decomposition(
        self,
        score: str | Measure = "brier",
        label: Any = None,
        *,
        method: Literal["corp", "murphy"] = "corp",
        bins: int = 15,
    ) -> Table:
        """Take a score apart: score = miscalibration - discrimination + uncertainty.

        Args:
            score: "brier", "log_score", or another score of rows of which lower is better; of a class against the
                rest. "brier_multiclass" is the sum of the Brier scores of all classes, and so are its parts.
            label: The class; the event, or every class where there is no event, if not given.
            method: "corp" by isotonic regression, or "murphy" by bins.
            bins: How many bins of about equal size; few distinct forecasts have a bin each.

        Returns:
            A tidy table with the columns class, part, value, low and high.
        """
        from .reliability import SUMMED, decomposition

        entry = find(score)
        if entry.name == SUMMED and label is not None:
            raise BadOption(f"{SUMMED} speaks of all classes", mend="Leave the class out, or say 'brier'")
        found = self.reliabilities(label, every=entry.name == SUMMED)
        frequent = replace(self, settings=replace(self.settings, method="delta")).by("prevalence")
        bases = {name: (frequent["prevalence", name].low, frequent["prevalence", name].high) for name in found}
        table = decomposition(found, bases, entry, method, bins, self.settings.level, self.settings.seed)
        if entry.per_class or entry.name == SUMMED or len(self.classes) == 2:
            alone = self.by(entry)
            for row, (name, part) in enumerate(zip(table["class"], table["part"], strict=True)):
                if part == "score":
                    own = alone[entry, name if entry.per_class else None]
                    table["low"][row], table["high"][row] = own.low, own.high
        return table

    def recalibration(
        self, method: Literal["logistic", "isotonic"] = "logistic", *, folds: int = 10, seed: int | None = None
    ) -> Comparison:
        """What the forecasts would be worth if they were recalibrated, beside what they are worth.

        Every row is recalibrated by rows of other folds (whole clusters stay together), so that nothing is gained by
        looking at the answer. Rows are assigned at one half, whatever threshold there was: see ``at_threshold``.

        Args:
            method: "logistic", a straight line on the scale of log odds; or "isotonic".
            folds: How many folds.
            seed: Where the random numbers start by which rows are dealt out to folds.

        Returns:
            A Comparison of the forecasts as they are with the recalibrated ones.
        """
        self._refuse_improbable()
        return accessors.recalibrated(self, method, folds, as_seed(seed, self.settings.seed))

    def at_threshold(self, threshold: float, label: Any = None) -> Assessment:
        """The same classifier with another threshold for the event, or for the class of two that is named."""
        least, model = as_number(threshold), self.tally.models.index(self.model)
        if np.isnan(least):
            raise BadOption(f"the threshold is {quoted(threshold)}", mend="Give a number")
        tally = self.tally.at_threshold(model, self.code_of_two(label), least)
        return Assessment(tally, self.settings, self.model, slice=self.slice)

    def gap(self, name: str | Measure, part: Any = None) -> Estimate:
        """The value on test data less that on training data, with the interval of two independent samples."""
        if self.training is None:
            raise BadOption("no training data were given", mend="Give training=(y_true, prediction)")
        test, fitted = self[name, part], self.training[name, part]
        difference = test.value - fitted.value
        if np.isfinite(difference):
            reach = [np.hypot(test.value - test.low, fitted.high - fitted.value),
                     np.hypot(test.high - test.value, fitted.value - fitted.low)]  # fmt: skip
            if abs(difference) <= ROUNDING * max(abs(test.value), abs(fitted.value)):
                difference = 0.0  # sums of weights leave a rest of rounding
            low, high = float(difference - reach[0]), float(difference + reach[1])
        else:  # where one of them has no end, what their bounds leave between them is all that is known
            ends = (test.low - fitted.high, test.high - fitted.low) if np.isinf(difference) else (difference,) * 2
            low, high = float(np.fmin(ends[0], difference)), float(np.fmax(ends[1], difference))
        return replace(
            test,
            value=difference,
            low=low,
            high=high,
            se=float(np.hypot(test.se, fitted.se)),
            method="MOVER, independent samples",
            sum=None,
            certified=None,
        )

    # --- partition spaces -----------------------------------------------------------------------------------------

    def scaled_memberships(
        self, scaling: str = "default", *, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0
    ) -> Table:
        """Return the memberships, scaled to say how right the classifier is (Sondhauss & Weihs 2001).

        Args:
            scaling: "default"; "literal", the formulas as printed; "klar", as in the R package klaR; or "raw", the
                memberships as they were given.
            depth: How many of the highest classes a region is made of.
            floor: How many rows a region needs to be scaled on its own.
            ties: Where rows go whose highest memberships are tied: "first", "random" or "joined".
            seed: Where the random numbers for these start.

        Returns:
            A Table: one row an observation in the order given, without those that were left out, and one column a
            class. ``np.asarray(table)`` has the numbers, (n, C). Of tallies that were added, the rows of the first come
            first; where rows were taken out again, others are in another order.
        """
        from ..families.partition.partition_scaling import memberships_table

        chosen = self._chosen_scaling(scaling, depth, floor, ties, seed)
        rows = self.tally.kept_of(self.slice)
        if rows is None:
            mend = "Scale the labels themselves: result.scaling().transform(labels)"
            raise BadOption("labels were counted, and no row was kept", mend=mend)
        if self.tally.summaries is not None or self.tally.veiled:
            lost = "a saved tally" if self.tally.summaries is None else "streaming"
            raise BadOption(f"{lost} does not keep the order of rows", mend=IN_BATCHES)
        return memberships_table(self.partition.scaled(*chosen).scaled, self.tally.scale)

    def scaling(
        self, scaling: str = "default", *, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0
    ) -> PartitionScaling:
        """Return the scaling itself, which scales other rows by the regions of these, and can be saved.

        The arguments are those of ``scaled_memberships``.
        """
        from ..families.partition.partition_scaling import PartitionScaling

        chosen = self._chosen_scaling(scaling, depth, floor, ties, seed)
        found = PartitionScaling(self.tally.scale, chosen, self.partition.regions(chosen))
        _ = found.fitted  # what cannot be scaled so is refused now
        return found

    def regions(
        self, scaling: str = "default", *, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0
    ) -> Table:
        """Return the regions with the parameters of their scaling: a tidy table, one row a region.

        At depth 1 the regions are the classes in the order of the scale, also those that no row was assigned to.
        ``PartitionScaling.regions`` explains the columns: region, n, weight, mean, alpha, beta, certainty, correct,
        scaled_alpha, scaled_beta, scaled_by and note. The arguments are those of ``scaled_memberships``.
        """
        return self.scaling(scaling, depth=depth, floor=floor, ties=ties, seed=seed).regions()

    def _chosen_scaling(self, *chosen: Any) -> Chosen:
        """The options of a scaling, once the classifier is known to have memberships."""
        self.refuse_hidden()
        rows = self.tally.rows_of(self.slice) if self.tally.summaries is None else None
        if rows is None:
            probable = not self.tally.scored or self.has_probabilities
        else:
            probable = rows.refuse_changed().scores[self.evaluation.model].are_probabilities
        if not probable:
            raise OutsideUnitInterval("the scores are no probabilities", mend=STANDARDISE)
        scaling, depth, floor, ties, seed = chosen
        return checked_choice((scaling, depth, floor, ties, seed), len(self.classes))

    # --- reports ----------------------------------------------------------------------------------------------

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        command: str | None = None,
        rows: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Write all about this classifier as one HTML page that needs nothing else: no network, no other file.

        Args:
            path: The file, which ends in .html. A report that is there already is replaced.
            title: What the page is called.
            command: The command or call that makes it again, where that is known better than the result knows it.
            rows: Whether single rows may be shown: those that decide, and a mark for each of few.
            overwrite: Replace a file that is not a report, too; otherwise that is an error.
        """
        accessors.write_report(self, path, title, command, rows, overwrite)

    def __str__(self) -> str:
        """Confusion table, measures and classes."""
        return clipped(to_text(accessors.assessment_view(self)), "table() has all numbers")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return accessors.digest_html(accessors.assessment_digest(self))
