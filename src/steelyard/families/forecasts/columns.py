"""What rows are worth by each score of probability forecasts, and the sums of it. Knows no formula.

A score is a mean over rows, so one pass over the rows finds what all scores need: their sums and sums of squares within
each true class. Classes are kept apart because some values also depend on how often each class occurs.

Everything is summed twice: over the rows as they are, for values and standard errors, and over two more rows, for
intervals. These have the forecasts of all rows, each with the same small share, and any class may be the true one: so a
forecast that was never wrong, or a rare mistake that has not happened yet, does not pass for certain. No forecast of
them is surer than so many rows can tell: (n p + 1 / C) / (n + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from ...core.arrays import ODD
from ...core.cached import cached_property
from ...core.errors import BadOption
from ...core.threads import Portions, long_chunks, over_rows
from ...inference.evaluation import PSEUDO_ROWS, Slot, key_of
from ...inference.row_evaluation import AVERAGES
from ...inputs.prediction import Scores
from ...measures import find
from ...measures.registry import Measure
from ...states.statistics import FORECASTS
from ..state_evaluation import ProbabilityEvaluation, class_weights
from ..summed.recipe import Totals
from .column_sums import ColumnSums, Moments
from .piece import Piece, Supposed

if TYPE_CHECKING:
    from ...core.typing import Array, Marks, Numbers
    from ...states.held_rows import Rows

MANY_ROWS = 1 << 16
SAMPLE = 1 << 12  # rows that tell what to expect of all
PASSES = 4  # over the rows of a column, at the least
NEGLIGIBLE = 0.02  # of a standard error: where pseudo-rows could not move a value by more, they are left out


@dataclass(frozen=True)
class ForecastColumns(ProbabilityEvaluation):
    """One column for each score: what every row is worth by it, and its sums."""

    @cached_property
    def columns(self) -> tuple[Slot, ...]:
        """The slots that are means over rows, and those that others are made of, each once."""
        wanted = [self.base(slot) for slot in self.slots]
        if self.alone is not None and self.alone.average == "weighted":
            wanted += [Slot(self.alone.measure, code) for code in range(len(self.scale))]
        return tuple({key_of(slot): slot for slot in wanted}.values())

    @cached_property
    def _column_of(self) -> dict[tuple[str, int | str | None], int]:
        return {key_of(slot): place for place, slot in enumerate(self.columns)}

    def base(self, slot: Slot) -> Slot:
        """The column that a slot is made of: its own, or that of the score whose skill is asked for."""
        return Slot(self._scored_by(slot.measure)) if "mean" in slot.measure.arguments else slot

    def _scored_by(self, measure: Measure) -> Measure:
        """The score whose skill is asked for."""
        score = find(measure.parameters["score"])
        if score.per_class or score.better != "lower" or not score.of_rows or score.penalty is not None:
            raise BadOption(
                f"there is no skill by {score.label}",
                mend="Say brier_multiclass, log_score, ranked_probability_score or zero_one_score",
            )
        return score

    @cached_property
    def _matrices(self) -> dict[str, Array | None]:
        return {measure.label: measure.matrix(self.scale) for measure in self.measures if measure.penalty is not None}

    def worth(self, piece: Piece, slot: Slot) -> Array:
        """What each row of a piece is worth, in one column; nothing where that is unknown."""
        if not self.has_value(slot):
            return np.zeros(len(piece.truth))
        measure, matrix = slot.measure, self._matrices.get(slot.measure.label)
        if slot.average is None:
            return piece.worth(measure, slot.code, matrix)
        return piece.average(measure, slot.average, class_weights(slot.average, self.share).tolist())

    @cached_property
    def share(self) -> Array:
        """The share of each class."""
        return self.class_mass / self.total

    def piece(self, low: int, high: int, more: int = 0) -> Piece:
        """Some rows, with room for more columns."""
        said = self.rows.scores[self.model].rows(low, high)
        return Piece(said, self.rows.truth[low:high], len(self.scale), more=more)

    def column(self, slot: Slot, model: int | None = None) -> Array:
        """What every row is worth."""
        found: Array = self.columns_of([slot], self.rows, model)[0]
        return found

    def columns_of(self, slots: Sequence[Slot], rows: Rows, model: int | None = None) -> Array:
        """What some rows are worth in some columns, (columns, rows), as one classifier saw them."""
        found, said = np.empty((len(slots), len(rows))), rows.scores[self.model if model is None else model]

        def work(start: int, stop: int) -> None:
            with np.errstate(divide="ignore", invalid="ignore"):
                for low, high in long_chunks(start, stop, len(self.scale)):
                    piece = Piece(said.rows(low, high), rows.truth[low:high], len(self.scale))
                    for column, slot in zip(found, slots, strict=True):
                        column[low:high] = self.worth(piece, slot)

        over_rows(len(rows), work, len(self.scale))
        return found

    def begin(self) -> bool:
        """Sum up all columns over some more rows."""
        return self.held and self.heard and self._portions.take()

    # --- sums of all columns -----------------------------------------------------------------------------------

    @cached_property
    def moments(self) -> Moments:
        """Sums over the rows as they are."""
        if not self.held:
            return self._kept_moments()
        sums = reduce(add, (sums for sums, _ in self._portions.results()))
        return Moments(self._shift, self._masses, *self._own_sums.told(sums, self.class_square, not self.weights.equal))

    def _kept_moments(self) -> Moments:
        """The sums that were kept; those of averages by the shares of classes follow from those of the classes."""
        measures = self.summary.recipe.made_of(FORECASTS)
        known = type(self)(self.rows, self.model, self.scale, measures, np.nan, 1.0, models=self.models)
        places = {key_of(slot): place for place, slot in enumerate(known.summed_columns)}
        kept, sums = self._kept[0], np.full((4, len(self.columns), len(self.scale)), np.nan)
        for row, slot in enumerate(self.columns):
            if key_of(slot) in places:
                sums[:, row] = kept[:, places[key_of(slot)]]
            else:
                of_classes = [places[slot.measure.label, code] for code in range(len(self.scale))]
                sums[0, row] = self.share @ kept[0, of_classes]
                if len(self.scale) == 2 and serves_both(slot.measure):  # what serves both classes is their average
                    sums[1:, row] = kept[1:, of_classes[0]]
            if may_be_infinite(slot) and self.lost(0.0) > 0:
                sums[:, row, 0] = np.inf
        return Moments(np.zeros(len(self.columns)), self._masses, *sums)

    @property
    def _kept(self) -> tuple[Array, Array]:
        """What was kept of the rows of this classifier: sums of columns, and how many rows lie below each limit."""
        parts = self.summary.states[FORECASTS.name].parts
        return parts[2 * self.model], parts[2 * self.model + 1]

    @property
    def summed_columns(self) -> tuple[Slot, ...]:
        """The columns that are kept: those that do not depend on the shares of classes, which the rest must tell."""
        wanted = [slot for slot in self.columns if slot.average != AVERAGES[1]]
        of_classes = [measure for measure in self.measures if measure.per_class]
        wanted += [Slot(measure, code) for measure in of_classes for code in range(len(self.scale))]
        return tuple({key_of(slot): slot for slot in wanted}.values())

    def lost(self, least: float) -> float:
        """How many rows gave the true class less than this probability; or 0, if that is the least."""
        if not self.held:
            return float(self._kept[1][limits_of(self.summary.recipe.made_of(FORECASTS)).index(least)])
        pieces = (self.piece(*ends) for ends in long_chunks(0, len(self.rows), len(self.scale)))
        return float(self.weights.count[np.concatenate([below(piece, least) for piece in pieces])].sum())

    def mean_square(self, slot: Slot) -> float:
        """The mean square of what rows are worth in a column, by squared weights where these differ."""
        column, none = self._column_of[key_of(slot)], np.zeros(len(self.scale))
        return self.moments.scatter(column, 1.0, none) / float(self.moments.square[column].sum())

    @cached_property
    def _portions(self) -> Portions[tuple[Totals, list[Array]]]:
        """All rows, a portion at a time, of which nothing is summed up yet: sums, and forecasts of some chosen rows."""
        work = partial(self._summed, self._shift, self._own_sums)
        return Portions(len(self.rows), work, PASSES * len(self.scale))

    @cached_property
    def _shift(self) -> Array:
        """About where the mean of each column is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            first, mass = self.piece(0, min(len(self.rows), SAMPLE)), self.weights.mass[:SAMPLE]
            means = [mass @ self.worth(first, slot) / mass.sum() for slot in self.columns]
            return np.asarray(np.nan_to_num(means, posinf=0.0))

    @cached_property
    def _own_sums(self) -> ColumnSums:
        """How all columns are summed up."""
        return self.sums_of(self.columns)

    def _summed(self, shift: Array, summing: ColumnSums, start: int, stop: int) -> tuple[Totals, list[Array]]:
        """Sum up some rows, and choose among them."""
        weights, sums, chosen = self.weights, summing.none(), []
        with np.errstate(divide="ignore", invalid="ignore"):
            for low, high in long_chunks(start, stop, len(self.scale)):
                each = None if weights.equal else (weights.mass[low:high], weights.square[low:high])
                piece = self.piece(low, high, more=summing.room)
                summing.add(sums, piece, shift, each)
                if len(self.rows) > MANY_ROWS and piece.said.columns:
                    chosen.append(self._chosen(piece.said.columns))
        return sums, chosen

    def _chosen(self, columns: Sequence[Numbers]) -> Array:
        """Some of very many rows. Which is up to their forecasts, not to their order."""
        share = np.uint64(2**64 * SAMPLE // len(self.rows))
        marked = np.flatnonzero(columns[0].view(np.uint64) * ODD < share)[:SAMPLE]
        return np.stack([column[marked] for column in columns])

    @cached_property
    def _masses(self) -> Array:
        """What the rows of each class weigh; where nothing depends on that, all of them in the first place."""
        apart = not self.held or any(key_of(slot) in self._apart for slot in self.columns)
        return self.class_mass if apart else np.append(self.total, np.zeros(len(self.scale) - 1))

    @cached_property
    def _apart(self) -> frozenset[tuple[str, int | str | None]]:
        """The columns that must be told apart by class: where a value depends on how often each class occurs, too."""
        apart = [slot for slot in self.slots if slot.average == "weighted" or not slot.measure.of_rows]
        return frozenset(key_of(self.base(slot)) for slot in apart)

    def sums_of(self, columns: Sequence[Slot]) -> ColumnSums:
        """How some columns are summed up."""
        apart = [key_of(slot) in self._apart for slot in columns]
        return ColumnSums(self.worth, columns, apart, self.share)

    @cached_property
    def pseudo(self) -> Moments:
        """The same over the rows that pseudo-rows are spread over, each with its share, all classes taken in turn.

        Nothing but 0 stands where they could not be felt.
        """
        classes, weights, felt = len(self.scale), self.weights, np.flatnonzero(~self.negligible)
        shift, whole = self.moments.shift, float(weights.mass.sum()) * classes
        summing = self.sums_of([self.columns[place] for place in felt])

        def work(start: int, stop: int) -> Array:
            sums = np.zeros((4, len(self.columns), classes))
            for low, high in long_chunks(start, stop, classes):
                mass = None if weights.equal else weights.mass[low:high]
                sums[:, felt] += summing.over_all_classes(self._pseudo_pieces(low, high), shift[felt], mass)
            return sums / whole

        with np.errstate(divide="ignore", invalid="ignore"):
            sums = reduce(np.add, over_rows(len(self.rows), work, PASSES * classes))
        return Moments(shift, np.full(classes, 1 / classes), *sums)

    def _pseudo_pieces(self, low: int, high: int) -> tuple[Supposed, ...]:
        """Some rows with forecasts that are less sure, once for each class as the true one."""
        return self._less_sure(Scores(self.piece(low, high).memberships))

    def _less_sure(self, said: Scores) -> tuple[Supposed, ...]:
        classes, total = len(self.scale), self.drawn
        less = Scores(tuple((total * column + 1 / classes) / (total + 1) for column in said.columns))
        return Supposed.in_turn(less, classes)

    @property
    def pseudo_mass(self) -> float:
        """What the pseudo-rows weigh together."""
        return PSEUDO_ROWS * self.unit

    @cached_property
    def negligible(self) -> Marks:
        """For which columns the pseudo-rows could not be felt."""
        moments = self.moments
        with np.errstate(divide="ignore", invalid="ignore"):
            enough = NEGLIGIBLE * np.sqrt(moments.squares) / self.pseudo_mass
            told = zip(self.columns, moments.means.tolist(), enough.tolist(), strict=True)
            return np.array([self._most(slot) < most or self._reach(slot, mean) < most for slot, mean, most in told])

    def _most(self, slot: Slot) -> float:
        """How far the mean score of pseudo-rows can be from 0 at most: that of forecasts as sure as theirs can be."""
        low, high = self.limits(slot)
        if np.isfinite(high - low):
            return high - low
        sure_of = (0,) if slot.code is None else (slot.code, slot.code - 1)  # all other classes are alike to it
        with np.errstate(divide="ignore", invalid="ignore"):
            found = max(
                float(np.mean([np.abs(self.worth(each, slot)) for each in self._surest(code)])) for code in sure_of
            )
        return found if np.isfinite(found) else np.inf

    def _surest(self, code: int) -> tuple[Supposed, ...]:
        """A forecast that is sure of one class, as far as pseudo-rows are, once for each class as the true one."""
        return self._less_sure(Scores(tuple(np.eye(len(self.scale))[:, [code]])))

    def _reach(self, slot: Slot, mean: float) -> float:
        """How far scores of pseudo-rows are from the mean, judged by some of very many rows."""
        pieces = self._some_less_sure
        if slot.code is not None and pieces:  # all other classes are alike to it
            pieces = pieces[slot.code], pieces[slot.code - 1]
        return max((float(np.mean(np.abs(self.worth(piece, slot) - mean))) for piece in pieces), default=np.inf)

    @cached_property
    def _some_less_sure(self) -> tuple[Supposed, ...]:
        """Some of very many rows, less sure than they are; none of few, or where labels are all that there is."""
        said = self.rows.scores[self.model]
        if len(self.rows) <= MANY_ROWS or not said.columns:
            return ()
        kept = np.concatenate([each for _, chosen in self._portions.results() for each in chosen], axis=1)
        some = Scores(tuple(kept), said.speaks).memberships()
        return self._less_sure(Scores(some)) if kept.size else ()


def limits_of(measures: Sequence[Measure]) -> list[float]:
    """The probabilities below which rows are counted, since they are clipped or make a score infinite."""
    return sorted({float(each.parameters["clip"]) for each in measures if each.name == "log_score"} | {0.0})


def below(piece: Piece, least: float) -> Marks:
    """Which rows gave the true class less than this probability; or 0, if that is the least."""
    return np.asarray(piece.own < least if least else piece.own <= 0)


def serves_both(measure: Measure) -> bool:
    """Whether what a row is worth stays the same when everything is said of the other one of two classes."""
    chance, happened = np.tile(np.linspace(0.0, 1.0, 12), 2), np.repeat([0.0, 1.0], 12)
    with np.errstate(all="ignore"):
        here = measure.of({"chance": chance, "happened": happened})
        there = measure.of({"chance": 1 - chance, "happened": 1 - happened})
    return bool(np.allclose(here, there, rtol=1e-12, atol=1e-12))


def may_be_infinite(slot: Slot) -> bool:
    """Whether a column may be infinite: that of logarithms that are not clipped."""
    return slot.measure.name == "log_score" and not slot.measure.parameters["clip"]
