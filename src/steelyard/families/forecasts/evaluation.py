"""From probability forecasts to values and influences, for all their scores of one classifier. Knows no formula.

A score is a mean over rows, so one pass over the rows finds what all scores need: their sums and sums of squares within
each true class. Classes are kept apart because some values also depend on how often each class occurs.

Everything is summed twice: over the rows as they are, for values and standard errors, and over two more rows, for
intervals. These have the forecasts of all rows, each with the same small share, and any class may be the true one: so a
forecast that was never wrong, or a rare mistake that has not happened yet, does not pass for certain. No forecast of
them is surer than so many rows can tell: (n p + 1 / C) / (n + 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.arrays import ODD
from ...core.cached import cached_property
from ...core.errors import BadOption, quoted
from ...core.scale import Label, listed
from ...core.suggestions import did_you_mean
from ...core.threads import Portions, long_chunks, over_rows
from ...inference.averages import WEIGHTED, Average, class_shares
from ...inference.evaluation import PSEUDO_ROWS, Slot, key_of
from ...inference.row_evaluation import Found
from ...inputs.prediction import Scores
from ...maths.joint_normal import Ratio
from ...maths.sides import NOTHING, one_less
from ...measures import find
from ...measures.registry import Measure
from ...states.statistics import FORECASTS
from ..state_evaluation import ProbabilityEvaluation
from ..summed.products import MOST_SIDES, all_rows, of_rows
from ..summed.recipe import Batchwise, Recipe, Totals
from .column_sums import ColumnSums, Moments
from .piece import Piece, Supposed

if TYPE_CHECKING:
    from ...core.typing import Array, Marks, Numbers
    from ...states.held_rows import Rows

MANY_ROWS = 1 << 16
SAMPLE = 1 << 12  # rows that tell what to expect of all
PASSES = 4  # over the rows of a column, at the least
NEGLIGIBLE = 0.02  # of a standard error: where pseudo-rows could not move a value by more, they are left out
CLIMATOLOGY = "climatology"
MOST_FORECASTS = 1 << 18  # of climatology, held at once while rows are weighed anew


class Sloped(NamedTuple):
    """A value, and the influence of a row on it: scale * column + offset of its true class.

    The reference of a skill has a slope of its own. Where that is another classifier, its column is added so many
    times; that of climatology is in the offsets.
    """

    value: float
    scale: float
    offset: Array
    reference: float = 0.0


@dataclass(frozen=True)
class ForecastEvaluation(ProbabilityEvaluation):
    """All slots of one classifier that are made of its probability forecasts."""

    found: dict[tuple[str, int | str | None], Found] = field(default_factory=dict, repr=False)

    # --- columns: what every row is worth by each score ---------------------------------------------------------

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
        return piece.average(measure, slot.average, class_shares(slot.average, self.class_mass).tolist())

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
        wanted = [slot for slot in self.columns if slot.average != WEIGHTED]
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

    kept: dict[Any, Array] = field(default_factory=dict, repr=False)

    # --- values ------------------------------------------------------------------------------------------------

    def sloped(self, slot: Slot, means: Array, mass: Array) -> Sloped:
        """The value of a slot at some means of the columns and masses of the classes, and its slopes there."""
        none, base, other = np.zeros(len(self.scale)), self.base(slot), self.reference(slot)
        mean = float(means[self._column_of[key_of(base)]])
        if slot.average == "weighted":
            by_class = means[[self._column_of[slot.measure.label, code] for code in range(len(self.scale))]]
            return Sloped(mean, 1.0, by_class - mean)
        if base is slot:
            return Sloped(mean, 1.0, none)
        if other is not None:
            # Both in the same way: of a classifier against itself, nothing is left.
            own, reference = self.mean(base, self.model), self.mean(base, other)
            value, by_mean, by_reference = gradient(slot.measure, own, reference)
            return Sloped(value, by_mean, none, by_reference)
        worth = self._climatology(base, mass / mass.sum())
        value, by_mean, by_reference = gradient(slot.measure, mean, float(mass @ worth / mass.sum()))
        return Sloped(value, by_mean, by_reference * worth, by_reference)

    def mean(self, base: Slot, model: int | None = None) -> float:
        """The mean of a column, of this classifier or of another."""
        if model is None:
            return float(self.moments.means[self._column_of[key_of(base)]])
        if self.held:
            return float(self.weights.mass @ self.column(base, model)) / self.total
        return replace(self, model=model, found={}, kept={}).mean(base)

    def _climatology(self, base: Slot, shares: Array) -> Array:
        """What a row of each class is worth where the share of each class is forecast, over any leading axes."""
        classes = len(self.scale)
        said = Scores(tuple(np.repeat(shares[..., code], classes) for code in range(classes)))
        truth = np.tile(np.arange(classes), shares.size // classes)
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = self.worth(Piece(said, truth, classes), base).reshape(shares.shape)
        return np.where(shares > 0, worth, 0.0)  # a class that never occurs is never scored

    def reference(self, slot: Slot) -> int | None:
        """The classifier that another is held against; none for climatology."""
        against = slot.measure.parameters.get("against", CLIMATOLOGY)
        if against == CLIMATOLOGY:
            return None
        if against not in self.models:
            mend = did_you_mean(against, self.models, f"There are {listed(self.models)}")
            raise BadOption(f"there is no classifier {quoted(against)} to be better than", mend=mend)
        return self.models.index(against)

    def _result(self, slot: Slot) -> Found:
        key = key_of(slot)
        if key not in self.found:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                self.found[key] = self._found(slot)
        return self.found[key]

    def _found(self, slot: Slot) -> Found:
        plain, freedom = self.sloped(slot, *self._where(smooth=False)[:2]), (self.freedom, self.freedom)
        value = plain.value
        if not np.isfinite(value):
            return Found((value, value), (np.nan, np.nan), freedom)
        if not (self.held or self.closed(slot)) and self.known(slot) is None:
            if slot.average == WEIGHTED and not self.clustered:
                return self._at_most(slot, value)
            return Found((value, value), (np.nan, np.nan), freedom)
        variance, _ = self._spread(slot, plain, smooth=False)
        if not self.smoothable(slot):
            return Found((value, value), (variance, variance), freedom)
        smooth = self.sloped(slot, *self.smoothed[:2])
        spread, added = self._spread(slot, smooth, smooth=True)
        return Found((value, smooth.value), (variance, spread + added), freedom, added)

    def _at_most(self, slot: Slot, value: float) -> Found:
        """An average by the shares of classes, as if all classes, and their shares, were off together."""
        found = [self.result(Slot(slot.measure, code)) for code in range(len(self.scale))]
        average = Average.of(slot.average, np.array([one.value[0] for one in found]), self.class_mass, np.nan)
        variances = np.array([one.variance for one in found]).T
        plain, smooth = average.variances_at_most(variances, self.class_square).tolist()
        return Found((value, value), (plain, smooth), (self.freedom, self.freedom))

    # --- how far they scatter ----------------------------------------------------------------------------------

    def closed(self, slot: Slot) -> bool:
        """Whether sums of columns tell how far a slot scatters."""
        return not self.clustered and not (self.reference(slot) is not None if self.held else self.told_late(slot))

    def smoothable(self, slot: Slot) -> bool:
        """Whether pseudo-rows make a difference to a slot, and it is known which."""
        if not self.has_value(slot) or self.reference(slot) is not None:
            return False
        if not (self.held or self.closed(slot) or self._in_factor(slot)):
            return False
        return not self.negligible[self._column_of[key_of(self.base(slot))]]

    def _smooth_influences(self, slot: Slot) -> bool:
        """Whether pseudo-rows make a difference to the influences of a slot, and it is known which."""
        return self.smoothable(slot) and (self.held or self._in_factor(slot))

    def _in_factor(self, slot: Slot) -> bool:
        """Whether a second pass told of the rows of each class, too; of very many classes, of all rows alike."""
        alike = self.base(slot) is slot and slot.average != WEIGHTED
        few = len(self.scale) <= MOST_SIDES or alike
        return few and self._class_rows is not None and self.known(slot) is not None

    @cached_property
    def _class_rows(self) -> Array | None:
        """Each class as a column of pseudo-observations: 1 for its rows, 0 for others; None where that is not known."""
        found = [self.known(slot) for slot in self._class_slots]
        return None if any(each is None for each in found) else np.array(found)

    @property
    def _class_slots(self) -> list[Slot]:
        measures = self.summary.recipe.made_of(FORECASTS)
        return of_rows(measures, self.scale) if len(self.scale) <= MOST_SIDES else [all_rows(measures)]

    def _spread(self, slot: Slot, sloped: Sloped, smooth: bool) -> tuple[float, float]:
        """The variance of what has these slopes: that of the rows, and of pseudo-rows.

        The latter are left out where they are not asked for.
        """
        base = self.base(slot)
        if not self.closed(slot):
            added = self._pseudo_influence(base, sloped)[0] if smooth else 0.0
            rows = self._along(slot, sloped, smooth)[None]
            return float(self.variances((), rows, smooth)[0]), self.pseudo_mass * self.unit * added
        moments, column = self.moments, self._column_of[key_of(base)]
        more = one_less(self.drawn)
        if not smooth:
            return self._scatter(moments, column, sloped, moments) * more / self.total**2, 0.0
        whole = self.smoothed[2]
        added = self.pseudo_mass * self.unit * self._scatter(self.pseudo, column, sloped, None) / whole**2
        return self._scatter(moments, column, sloped, None) * more / whole**2, added

    @cached_property
    def smoothed(self) -> tuple[Array, Array, float]:
        """The means of the columns, the masses of the classes and of all, with the pseudo-rows."""
        total, extra = self.total, self.pseudo_mass
        plain = self.moments.means
        smooth = (total * plain + extra * self.pseudo.means) / (total + extra)
        means = np.where(self.negligible, plain, smooth)
        return means, self._masses + extra / len(self.scale), total + extra

    def _where(self, smooth: bool) -> tuple[Array, Array, float]:
        """The means of the columns, the masses of the classes and of all, with the pseudo-rows or without."""
        return self.smoothed if smooth else (self.moments.means, self._masses, self.total)

    def _scatter(self, moments: Moments, column: int, sloped: Sloped, at: Moments | None) -> float:
        """Squared influences, around their mean on the rows as they are or with the pseudo-rows."""
        means, mass = (at.means, at.mass) if at is not None else self.smoothed[:2]
        middle = sloped.scale * means[column] + mass @ sloped.offset / mass.sum()
        return moments.scatter(column, sloped.scale, sloped.offset - middle)

    def _influence(self, slot: Slot, smooth: bool) -> Array:
        smooth = smooth and self._smooth_influences(slot)
        if not (self.held or smooth):
            return super()._influence(slot, smooth)
        return self._along(slot, self.sloped(slot, *self._where(smooth)[:2]), smooth)

    def _along(self, slot: Slot, sloped: Sloped, smooth: bool) -> Array:
        """The influences that have these slopes."""
        if not self.held:
            return self._smooth_factor(slot, sloped) if smooth else self._plain_factor(slot, sloped)
        rows = self._rows_along(slot, sloped, self.rows)
        (means, by_class, whole), place = self._where(smooth), self._column_of[key_of(self.base(slot))]
        if smooth:
            centre = float(sloped.scale * means[place] + by_class @ sloped.offset / whole)
        else:
            centre = float(self.weights.mass @ rows) / whole
        if np.isinf(centre):  # nothing but what made it so can undo it
            return np.where(np.isinf(rows), rows, 0.0)
        rows -= centre
        rows /= whole
        return rows

    def _plain_factor(self, slot: Slot, sloped: Sloped) -> Array:
        """The same of pseudo-observations: those of a skill and of its score tell those of the reference."""
        found, plain = super()._influence(slot, smooth=False), self.sloped(slot, *self._where(smooth=False)[:2])
        if (sloped.scale, sloped.reference) == (plain.scale, plain.reference):
            return found
        own = super()._influence(self.base(slot), smooth=False)
        reference = (found - plain.scale * own) / plain.reference
        return np.asarray(sloped.scale * own + sloped.reference * reference)

    def _smooth_factor(self, slot: Slot, sloped: Sloped) -> Array:
        """The same around the means with the pseudo-rows."""
        base, share = self.base(slot), self.share
        column, mean = self.total * super()._influence(base, smooth=False), self.mean(base)
        if slot.average == WEIGHTED:
            offset = self.sloped(slot, *self._where(smooth=False)[:2]).offset
            column = column - self._at_classes(offset - share @ offset)
        means, by_class, whole = self.smoothed
        centre = sloped.scale * means[self._column_of[key_of(base)]] + by_class @ sloped.offset / whole
        return (
            np.asarray(sloped.scale * column + self._at_classes(sloped.offset + sloped.scale * mean - centre)) / whole
        )

    def _at_classes(self, offset: Array) -> Array:
        """What pseudo-observations have where rows have the offset of their class."""
        rows = np.zeros((1, 0)) if self._class_rows is None else self._class_rows
        return np.asarray(offset[: len(rows)] @ rows)

    def _rows_along(self, slot: Slot, sloped: Sloped, rows: Rows) -> Array:
        """What some rows add before the mean is taken off, by weight."""
        base, other = self.base(slot), self.reference(slot)
        found: Array = self.columns_of([base], rows)[0]
        found *= sloped.scale
        if other is not None:
            found += sloped.reference * self.columns_of([base], rows, other)[0]
        if sloped.offset.any():
            found += sloped.offset[rows.truth]
        return found

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """The classes for which a measure has no value, among those that were asked for."""
        for (label, part), found in self.found.items():
            if isinstance(part, int) and np.isnan(found.value[0]):
                yield label, part

    def limits(self, slot: Slot) -> tuple[float, float]:
        """The least and the greatest value that a slot can have: of costs, the least and the greatest of them."""
        matrix = self._matrices.get(slot.measure.label)
        return slot.measure.span if matrix is None else (float(matrix.min()), float(matrix.max()))

    # --- what interval rules ask for ------------------------------------------------------------------------------

    def ratio(self, slot: Slot) -> Ratio | None:
        """The two scores that a skill is made of, where intervals are built; None where how they scatter is unknown."""
        base, other = self.base(slot), self.reference(slot)
        if not (self.held or self.closed(slot)) and (self.known(slot) is None or self.known(base) is None):
            return None
        smooth = self.smoothable(slot)
        means, by_class, whole = self._where(smooth)
        if other is None:
            worth, mean = self._climatology(base, by_class / whole), float(means[self._column_of[key_of(base)]])
            reference = float(by_class @ worth / whole)
        else:
            worth, mean, reference = np.zeros(len(self.scale)), self.mean(base, self.model), self.mean(base, other)

        def variance(own: float, of_reference: float) -> float:
            return sum(self._spread(slot, Sloped(np.nan, own, of_reference * worth, of_reference), smooth))

        return Ratio.of(mean, reference, variance)

    def _remark(self, slot: Slot) -> str:
        """How many rows make a score infinite, and how many were clipped; and what was not summed."""
        return "; ".join(word for word in (self._remark_on_zeros(slot), *self.unknown(slot)) if word)

    def _remark_on_zeros(self, slot: Slot) -> str:
        base = self.base(slot)
        if base.measure.name != "log_score":
            return ""
        least = float(base.measure.parameters["clip"])
        if not least and not np.isinf(self.result(slot).value[0]):
            return ""
        rows = self.lost(least)
        if not rows:
            return ""
        told = f"{rows:,.0f} row" + ("s" if rows != 1 else "")
        if least:
            return f"{told} clipped at {least:g}"
        return f"infinite: {told} gave probability 0 to the true class"

    # --- the second pass ---------------------------------------------------------------------------------------

    def told_late(self, slot: Slot) -> bool:
        """Averages by the shares of classes that differ, and where two classifiers are behind a value."""
        if slot.average == WEIGHTED:
            return len(self.scale) > 2 or not serves_both(slot.measure)
        return self.reference(slot) is not None

    def beside(self, slots: Sequence[Slot]) -> list[Slot]:
        """The scores that skills are made of; and the classes of rows, over which pseudo-rows are spread evenly."""
        return [*map(self.base, slots), *self._class_slots] if slots else []

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows)."""
        found = np.empty((len(slots), len(rows)))
        of_classes = {key_of(slot): code for code, slot in enumerate(self._class_slots)}
        with np.errstate(divide="ignore", invalid="ignore"):
            for place, slot in enumerate(slots):
                if key_of(slot) in of_classes:
                    here = rows.truth == of_classes[key_of(slot)]
                    found[place] = self.total * (here if len(of_classes) > 1 else 1.0)
                    continue
                sloped = self.sloped(slot, *self._where(smooth=False)[:2])
                centre = sloped.scale * self.mean(self.base(slot)) + self.share @ sloped.offset
                other = self.reference(slot)
                if other is not None:
                    centre += sloped.reference * self.mean(self.base(slot), other)
                found[place] = self._rows_along(slot, sloped, rows) - centre
        return found / self.total

    # --- for differences between classifiers, and the bootstrap ---------------------------------------------------

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        found = super().variances(places, influences, smooth)
        return np.where(found < NOTHING, 0.0, found) if self.held else found

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Mean squared influence of a pseudo-row on a slot; and its influence wherever it may be, evenly spread."""
        slot = self.slots[place]
        if not self._smooth_influences(slot):
            return super().pseudo_at(place)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._pseudo_influence(self.base(slot), self.sloped(slot, *self.smoothed[:2]))

    def _pseudo_influence(self, base: Slot, sloped: Sloped) -> tuple[float, Array]:
        (means, mass, whole), classes = self.smoothed, len(self.scale)
        rows = np.empty((classes, len(self.rows)))
        for low, high in long_chunks(0, len(self.rows), classes):
            for code, piece in enumerate(self._pseudo_pieces(low, high)):
                rows[code, low:high] = sloped.scale * self.worth(piece, base) + sloped.offset[code]
        rows -= sloped.scale * means[self._column_of[key_of(base)]] + mass @ sloped.offset / whole
        # Rows that weigh more than others stand for more pseudo-rows.
        rows *= np.sqrt(self.weights.mass * len(self.rows) / self.weights.mass.sum()) / whole
        return float(np.square(rows).mean()), rows.ravel()

    def _reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        total, found = mass.sum(axis=1), np.empty((len(mass), len(slots)))
        by_class = self.mass_by_class(mass)
        with np.errstate(divide="ignore", invalid="ignore"):
            for place, slot in enumerate(slots):
                base = self.base(slot)
                if slot.average == "weighted":
                    each = [mass @ self._kept_column(Slot(slot.measure, code)) for code in range(len(self.scale))]
                    found[:, place] = (np.stack(each, axis=1) * by_class).sum(axis=1) / total**2
                    continue
                means = mass @ self._kept_column(base) / total
                found[:, place] = means if base is slot else self._skills(slot, means, by_class, mass)
        return found

    def _skills(self, slot: Slot, means: Array, by_class: Array, mass: Array) -> Array:
        """Skill in every replicate."""
        base, other = self.base(slot), self.reference(slot)
        if other is not None:
            references = mass @ self._kept_column(base, other) / mass.sum(axis=1)
        else:
            shares = by_class / by_class.sum(axis=1, keepdims=True)
            step = max(1, MOST_FORECASTS // len(self.scale) ** 2)
            some = (shares[start : start + step] for start in range(0, len(shares), step))
            references = np.concatenate([np.einsum("rc,rc->r", each, self._climatology(base, each)) for each in some])
        values = slot.measure.value_of({"mean": means, "reference": references})
        return np.where(references > 0, values, np.nan)

    def _kept_column(self, slot: Slot, model: int | None = None) -> Array:
        """A column that is needed again and again."""
        if (key_of(slot), model) not in self.kept:
            self.kept[key_of(slot), model] = self.column(slot, model)
        return self.kept[key_of(slot), model]


def gradient(measure: Measure, mean: float, reference: float) -> tuple[float, float, float]:
    """The value of a formula of two means, and its slopes by complex step."""
    if not reference > 0:
        return float("nan"), float("nan"), float("nan")
    offered = {"mean": mean, "reference": reference}
    slopes = measure.slopes_by_name(offered, offered)
    return float(measure.of(offered)), slopes["mean"], slopes["reference"]


# --- rows that are let go: a score is a mean over rows, so sums are enough --------------------------------------------


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> ForecastEvaluation:
    """Some rows of one classifier, by all measures of its forecasts."""
    measures = recipe.made_of(FORECASTS)
    return ForecastEvaluation(rows, model, recipe.scale, measures, np.nan, 1.0, models=recipe.models)


def scoring(recipe: Recipe) -> Batchwise:
    """Sums up what rows are worth, by every score of every classifier."""
    return Batchwise(partial(_sums_of_all, recipe, serving_both(recipe)))


def serving_both(recipe: Recipe) -> set[str]:
    """The scores of classes that are the same for both of two classes."""
    return {each.label for each in recipe.made_of(FORECASTS) if each.per_class and serves_both(each)}


def _sums_of_all(recipe: Recipe, both: set[str], rows: Rows, clusters: tuple[Label, ...]) -> Totals:
    """The sums of all classifiers, one after the other."""
    del clusters
    return Totals(tuple(part for model in range(len(recipe.models)) for part in _sums(recipe, both, model, rows)))


def _sums(recipe: Recipe, both: set[str], model: int, rows: Rows) -> list[Array]:
    """The sums of one classifier over some rows, and how many of them are clipped or make a score infinite."""
    evaluation = evaluation_of(recipe, model, rows)
    columns, classes = evaluation.summed_columns, len(recipe.scale)
    limits, told_by = limits_of(recipe.made_of(FORECASTS)), _told_by(columns, both, rows.scores[model])
    places, inverse = np.unique(told_by, return_inverse=True)
    columns = tuple(columns[place] for place in places)

    def finite(piece: Piece, slot: Slot) -> Array:
        """What rows are worth; infinite ones are counted, since nothing can be taken off infinity again."""
        worth = evaluation.worth(piece, slot)
        return np.where(piece.own <= 0, 0.0, worth) if may_be_infinite(slot) else worth

    summing = replace(evaluation.sums_of(columns), worth=finite)
    sums, shift, lost = summing.none(), np.zeros(len(columns)), np.zeros(len(limits))
    with np.errstate(divide="ignore", invalid="ignore"):
        for low, high in long_chunks(0, len(rows), classes):
            piece = evaluation.piece(low, high, more=summing.room)
            weights = None if rows.sums is None else (rows.sums[low:high, 1], rows.sums[low:high, 2])
            summing.add(sums, piece, shift, weights)
            marked = [below(piece, limit) for limit in limits]
            if rows.sums is None:
                lost += [np.count_nonzero(marks) for marks in marked]
            else:
                lost += [rows.sums[low:high, 0][marks].sum() for marks in marked]
    told = summing.told(sums, evaluation.class_square, weighted=rows.sums is not None)
    return [told[:, inverse], lost]


def _told_by(columns: Sequence[Slot], both: set[str], said: Scores) -> list[int]:
    """The place of a column that has the sums of each: where one score serves both classes, theirs are alike."""
    keys = [key_of(slot) for slot in columns]
    alone = {label for label, _ in keys if label in both and len(said.columns) == 1}
    return [keys.index((key[0], said.speaks) if key[0] in alone else key) for key in keys]


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
