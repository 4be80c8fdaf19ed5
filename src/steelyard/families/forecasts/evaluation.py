"""From probability forecasts to values and influences, for all their scores of one classifier. Knows no formula.

As with counts, everything is evaluated twice: on the rows as they are, for values and standard errors, and with
pseudo-rows, for intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.cached import cached_property
from ...core.errors import BadOption, quoted
from ...core.scale import listed
from ...core.suggestions import did_you_mean
from ...core.threads import long_chunks
from ...inference.row_evaluation import Found, key_of
from ...inference.table_evaluation import Slot
from ...inference.table_formulas import STEP
from ...inputs.prediction import Scores
from ...maths.joint_normal import Ratio
from ...maths.moments import Moments
from ...measures.masses import Sides
from ...measures.registry import Measure
from .columns import MANY_ROWS, ForecastColumns
from .piece import Piece

if TYPE_CHECKING:
    from ...core.typing import Array

CLIMATOLOGY = "climatology"
MOST_FORECASTS = 1 << 18  # of climatology, held at once while rows are weighed anew


class Sloped(NamedTuple):
    """A value, and the influence of a row on it: scale * column + offset of its true class."""

    value: float
    scale: float
    offset: Array


@dataclass(frozen=True)
class ForecastEvaluation(ForecastColumns):
    """All slots of one classifier that are made of its probability forecasts."""

    found: dict[tuple[str, int | str | None], Found] = field(default_factory=dict, repr=False)
    kept: dict[Any, Array] = field(default_factory=dict, repr=False)

    @property
    def one_by_one(self) -> bool:
        """A pass over few rows is soon made, for all slots; of many rows, no more is made than asked for."""
        return self.alone is None and len(self.rows) > MANY_ROWS

    # --- values ------------------------------------------------------------------------------------------------

    def sloped(self, slot: Slot, means: Array, mass: Array) -> Sloped:
        """The value of a slot at some means of the columns and masses of the classes, and its slopes there."""
        none, base = np.zeros(len(self.scale)), self.base(slot)
        column = self._column_of[key_of(base)]
        mean = float(means[column])
        if slot.average == "weighted":
            by_class = means[[self._column_of[slot.measure.label, code] for code in range(len(self.scale))]]
            return Sloped(mean, 1.0, by_class - mean)
        if base is slot:
            return Sloped(mean, 1.0, none)
        worth = self._climatology(base, mass / mass.sum())
        value, by_mean, by_reference = gradient(slot.measure, mean, float(mass @ worth / mass.sum()))
        return Sloped(value, by_mean, by_reference * worth)

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

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        key = key_of(slot)
        if key not in self.found:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                self.found[key] = self._result(slot)
        return self.found[key]

    def _result(self, slot: Slot) -> Found:
        if self.rows.cluster is not None or self.reference(slot) is not None:
            return self._from_influences(slot)
        plain = self.sloped(slot, self.moments.means, self.moments.mass)
        freedom, base = self.drawn - 1, self.base(slot)
        if not np.isfinite(plain.value):
            return Found((plain.value, plain.value), (np.nan, np.nan), (freedom, freedom))
        variance, _ = self._spread(base, plain, smooth=False)
        if self.negligible[self._column_of[key_of(base)]]:
            return Found((plain.value, plain.value), (variance, variance), (freedom, freedom))
        smooth = self.sloped(slot, *self.smoothed[:2])
        spread, added = self._spread(base, smooth, smooth=True)
        return Found((plain.value, smooth.value), (variance, spread + added), (freedom, freedom), added)

    def _spread(self, base: Slot, sloped: Sloped, smooth: bool) -> tuple[float, float]:
        """The variance of a column and of what goes by the true class, together: that of the rows, and of pseudo-rows.

        The latter are left out where they are not asked for.
        """
        if self.rows.cluster is not None:
            rows, centre, whole = self._along(base, sloped, smooth)
            added = self._pseudo_influence(base, sloped)[0] if smooth else 0.0
            return self._variance((rows - centre) / whole), self.pseudo_mass * self.unit * added
        moments, column = self.moments, self._column_of[key_of(base)]
        more = self.drawn / (self.drawn - 1) if self.drawn > 1 else np.nan
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

    def _scatter(self, moments: Moments, column: int, sloped: Sloped, at: Moments | None) -> float:
        """Squared influences, around their mean on the rows as they are or with the pseudo-rows."""
        means, mass = (at.means, at.mass) if at is not None else self.smoothed[:2]
        middle = sloped.scale * means[column] + mass @ sloped.offset / mass.sum()
        return moments.scatter(column, sloped.scale, sloped.offset - middle)

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot, in the order of the input."""
        rows, centre, whole = self._contributions(slot, smooth)
        if np.isinf(centre):  # nothing but what made it so can undo it
            return np.where(np.isinf(rows), rows, 0.0)
        rows -= centre
        rows /= whole
        return rows

    def _contributions(self, slot: Slot, smooth: bool) -> tuple[Array, float, float]:
        """What the rows add before their mean is taken off, that mean, and what all of them weigh."""
        base, other = self.base(slot), self.reference(slot)
        if other is not None:
            return self._against(slot, self.column(base), self.column(base, other))
        smooth = smooth and not self.negligible[self._column_of[key_of(base)]]
        return self._along(base, self.sloped(slot, *self._where(smooth)[:2]), smooth)

    def _along(self, base: Slot, sloped: Sloped, smooth: bool) -> tuple[Array, float, float]:
        """The same where slopes are known."""
        rows = self.column(base)
        rows *= sloped.scale
        if sloped.offset.any():
            rows += sloped.offset[self.rows.truth]
        if not smooth:
            return rows, float(self.weights.mass @ rows) / self.total, self.total
        means, by_class, whole = self.smoothed
        place = self._column_of[key_of(base)]
        return rows, float(sloped.scale * means[place] + by_class @ sloped.offset / whole), whole

    def _where(self, smooth: bool) -> tuple[Array, Array, float]:
        """The means of the columns, the masses of the classes and of all, with the pseudo-rows or without."""
        return self.smoothed if smooth else (self.moments.means, self._masses, self.total)

    def _against(self, slot: Slot, column: Array, other: Array) -> tuple[Array, float, float]:
        """Skill against another classifier: both scores are of the same rows."""
        mass, total = self.weights.mass, self.total
        _, by_mean, by_reference = gradient(slot.measure, float(mass @ column) / total, float(mass @ other) / total)
        rows = by_mean * column + by_reference * other
        return rows, float(mass @ rows) / total, total

    def _value(self, slot: Slot) -> float:
        """The value of a slot, from the rows themselves."""
        other = self.reference(slot)
        if other is None:
            return self.sloped(slot, self.moments.means, self.class_mass).value
        base, mass = self.base(slot), self.weights.mass
        means = [float(mass @ self.column(base, model)) / self.total for model in (None, other)]
        return gradient(slot.measure, *means)[0]

    def _from_influences(self, slot: Slot) -> Found:
        """The long way, row by row: for clusters, and where two classifiers are behind a value."""
        value = self._value(slot)
        freedom = float(self.patterns.clusters if self.patterns.cluster is not None else self.weights.count.sum()) - 1
        if not np.isfinite(value):
            return Found((value, value), (np.nan, np.nan), (freedom, freedom))
        variance = self._variance(self.influence(slot, smooth=False))
        if self.reference(slot) is not None or self.negligible[self._column_of[key_of(self.base(slot))]]:
            return Found((value, value), (variance, variance), (freedom, freedom))
        smooth = self.sloped(slot, *self.smoothed[:2])
        spread, added = self._spread(self.base(slot), smooth, smooth=True)
        return Found((value, smooth.value), (variance, spread + added), (freedom, freedom), added)

    @cached_property
    def _one_side(self) -> Sides:
        """All rows on one side."""
        weights = self.weights
        none = np.zeros(len(self.rows), np.uint8)
        return Sides(none, np.array([weights.count.sum()]), weights.mass, weights.square, self.patterns.cluster)

    def _variance(self, influence: Array) -> float:
        return self._one_side.spread(influence)[0]

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
        base, other, mass = self.base(slot), self.reference(slot), self.weights.mass
        if other is not None:
            first, second = self.column(base), self.column(base, other)
            above, below = float(mass @ first) / self.total, float(mass @ second) / self.total
            first, second = (first - above) / self.total, (second - below) / self.total
            return Ratio.of(above, below, lambda own, of_other: self._variance(own * first + of_other * second))
        place = self._column_of[key_of(base)]
        smooth = not self.negligible[place]
        means, by_class, whole = self._where(smooth)
        worth = self._climatology(base, by_class / whole)

        def variance(own: float, of_reference: float) -> float:
            return sum(self._spread(base, Sloped(np.nan, own, of_reference * worth), smooth))

        return Ratio.of(float(means[place]), float(by_class @ worth / whole), variance)

    def remark(self, slot: Slot) -> str:
        """How many rows make a score infinite, and how many were clipped."""
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

    def lost(self, least: float) -> float:
        """How many rows gave the true class less than this probability; or 0, if that is the least."""
        marked = [
            piece.own <= 0 if not least else piece.own < least
            for piece in (self.piece(*ends) for ends in long_chunks(0, len(self.rows), len(self.scale)))
        ]
        return float(self.weights.count[np.concatenate(marked)].sum())

    # --- for differences between classifiers, and the bootstrap ---------------------------------------------------

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        del places, smooth
        return np.array([self._variance(rows) for rows in influences])

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Mean squared influence of a pseudo-row on a slot; and its influence wherever it may be, evenly spread."""
        slot = self.slots[place]
        if self.reference(slot) is not None or self.negligible[self._column_of[key_of(self.base(slot))]]:
            return 0.0, np.zeros(1)
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
        rows *= np.sqrt(self.weights.mass * len(self.rows) / self.total) / whole
        return float(np.square(rows).mean()), rows.ravel()

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
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
        known = self.kept.get((key_of(slot), model))
        if known is None:
            known = self.kept[key_of(slot), model] = self.column(slot, model)
        return known


def gradient(measure: Measure, mean: float, reference: float) -> tuple[float, float, float]:
    """The value of a formula of two means, and its slopes by complex step."""
    if not reference > 0:
        return float("nan"), float("nan"), float("nan")
    by_mean, by_reference = (
        float(np.imag(measure.of({"mean": mean + step, "reference": reference + other}))) / STEP
        for step, other in ((1j * STEP, 0.0), (0.0, 1j * STEP))
    )
    return float(measure.of({"mean": mean, "reference": reference})), by_mean, by_reference
