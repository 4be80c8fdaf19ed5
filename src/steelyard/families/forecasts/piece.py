"""The forecasts of some rows and what then happened: all that formulas of rows may ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ...core.arrays import stacked
from ...core.cached import cached_property
from ...inputs.prediction import Scores
from ...measures.registry import Measure

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Numbers


FEW_CLASSES = 16  # whose outcomes are laid out together


@dataclass(frozen=True)
class Piece:
    """The forecasts of some rows and their true classes: what formulas of rows may ask for, made when it is asked for.

    Of a classifier that gave labels, the forecast is 1 for the class that it assigned, and 0 for all others.

    Attributes:
        said: The forecasts.
        truth: The true classes.
        classes: How many classes there are.
        more: How many columns others can lay out.
        known: What rows are worth as those of a class or of the rest.
    """

    said: Scores
    truth: Codes
    classes: int
    more: int = field(default=0, kw_only=True)
    known: dict[tuple[str, int | str, bool], Array] = field(default_factory=dict, kw_only=True, repr=False)

    @cached_property
    def memberships(self) -> tuple[Numbers, ...]:
        """The probability of each class."""
        if self.said.assigned is None:
            return self.said.memberships()
        return tuple((self.said.assigned == code).astype(np.float64) for code in range(self.classes))

    @cached_property
    def _stacked(self) -> Array:
        """The same in one piece: (classes, rows)."""
        return stacked(self.memberships)

    @cached_property
    def outcomes(self) -> Array:
        """Whether each of few classes is the true one, as numbers, which are faster to reckon with: (classes, rows)."""
        codes = np.arange(self.classes, dtype=self.truth.dtype)
        found = np.empty((len(codes), len(self.truth)))
        np.equal(self.truth, codes[:, None], out=found)
        return found

    @cached_property
    def room(self) -> Array:
        """Where others lay out columns."""
        return np.empty((self.more, len(self.truth)))

    @property
    def few(self) -> bool:
        """Whether outcomes are laid out, even if one of them is asked for."""
        return self.classes <= FEW_CLASSES

    def happened(self, code: int) -> Array:
        """Whether one class is the true one."""
        return np.asarray(self.outcomes[code] if self.few else self.truth == code, dtype=np.float64)

    @cached_property
    def own(self) -> Array:
        """The probability of the true class."""
        if self.said.assigned is not None:
            return np.asarray(self.said.assigned == self.truth, dtype=np.float64)
        if len(self.said.columns) == 1:
            away = np.asarray(self.said.columns[0] - self.happened(1 - self.said.speaks))
            return np.abs(away, out=away)
        # Sums of products: choosing a column by a mask takes the machine several times as long.
        if self.few:
            return np.asarray(np.einsum("cr,cr->r", self._stacked, self.outcomes))
        found: Array = self.memberships[0] * self.happened(0)
        for code, column in enumerate(self.memberships[1:], start=1):
            found += column * self.happened(code)
        return found

    @cached_property
    def squares(self) -> Array:
        """The sum of squared probabilities."""
        if self.said.assigned is not None:
            return np.ones(len(self.truth))
        if self.few:
            return np.asarray(np.einsum("cr,cr->r", self._stacked, self._stacked))
        found = np.square(self.memberships[0], dtype=np.float64)
        for column in self.memberships[1:]:
            found += np.square(column)
        return found

    @cached_property
    def errors(self) -> Array:
        """The sum of squared errors; not multiplied out, or little would be left of forecasts that are nearly right."""
        if len(self.said.columns) == 1:
            return np.asarray(2 * np.square(self.said.columns[0] - self.happened(self.said.speaks)))
        if self.few:
            away = self._stacked - self.outcomes
            return np.asarray(np.einsum("cr,cr->r", away, away))
        found = np.zeros(len(self.truth))
        for code, column in enumerate(self.memberships):
            found += np.square(column - self.happened(code))
        return found

    @cached_property
    def highest(self) -> Array:
        """The highest probability."""
        if self.said.assigned is not None:
            return np.ones(len(self.truth))
        return np.asarray(reduce(np.maximum, self.memberships), dtype=np.float64)

    @cached_property
    def ties(self) -> Array:
        """How many classes share the highest probability."""
        if self.said.assigned is not None:
            return np.ones(len(self.truth))
        found = np.zeros(len(self.truth))
        for column in self.memberships:
            found += column == self.highest
        return found

    @property
    def ahead(self) -> Array:
        """How many classes have a higher probability than the true one."""
        found = np.zeros(len(self.truth))
        for column in self.memberships:
            found += column > self.own
        return found

    @property
    def beside(self) -> Array:
        """How many classes have the probability of the true one, itself included."""
        found = np.zeros(len(self.truth))
        for column in self.memberships:
            found += column == self.own
        return found

    @cached_property
    def standings(self) -> tuple[Array, Array]:
        """How many classes have a higher probability than each class, and how many the same: (classes, rows) twice."""
        given = self._stacked
        order = np.argsort(-given, axis=0)
        falling, places = np.take_along_axis(given, order, axis=0), np.arange(len(given))[:, None]
        fresh = np.concatenate([np.ones((1, given.shape[1]), dtype=bool), falling[1:] != falling[:-1]])
        first = np.maximum.accumulate(np.where(fresh, places, 0), axis=0)
        beyond = np.concatenate([np.where(fresh, places, len(given))[1:], np.full((1, given.shape[1]), len(given))])
        beyond = np.minimum.accumulate(beyond[::-1], axis=0)[::-1]
        ahead, beside = np.empty(given.shape), np.empty(given.shape)
        np.put_along_axis(ahead, order, first, axis=0)
        np.put_along_axis(beside, order, beyond - first, axis=0)
        return ahead, beside

    @cached_property
    def steps(self) -> Array:
        """The squared distances of the cumulative probabilities from 0 and 1, summed over all classes but the last."""
        if self.said.assigned is not None:
            return np.abs(self.said.assigned.astype(np.float64) - self.truth)
        found, reached = np.zeros((2, len(self.truth)))
        for code, column in enumerate(self.memberships[:-1]):
            reached += column
            found += np.square(reached - (self.truth <= code))
        return found

    def chance(self, code: int) -> Numbers:
        """The probability of a class."""
        if self.said.assigned is not None:
            return np.asarray(self.said.assigned == code, dtype=np.float64)
        alone = len(self.said.columns) == 1 and code == self.said.speaks
        return self.said.columns[0] if alone else self.memberships[code]

    def worth(self, measure: Measure, code: int | None, matrix: Array | None) -> Array:
        """What each row is worth by the formula of a measure; nobody may write into it."""
        if code is not None:
            return self._of_class(measure, code, self.happened(code))
        offered = {name: getattr(self, name) for name in measure.arguments if name != "matrix"}
        return np.asarray(measure.of(offered | {"matrix": matrix}))

    def of_classes(self, measure: Measure) -> Array:
        """What each row is worth as one of each class or of its rest: (classes, rows)."""
        worth = np.asarray(measure.of({"chance": self._stacked, "happened": self.outcomes}))
        return worth if worth.ndim > 1 else np.broadcast_to(worth, self._stacked.shape)

    def _of_class(self, measure: Measure, code: int, happened: Array, apart: bool = False) -> Array:
        """What each row is worth as one of a class or of the rest; kept, since averages over classes ask for it too."""
        key = measure.label, code, apart
        if key not in self.known:
            worth = np.asarray(measure.of({"chance": self.chance(code), "happened": happened}))
            self.known[key] = worth if worth.ndim else np.broadcast_to(worth, len(self.truth))
        return self.known[key]

    def average(self, measure: Measure, name: str, shares: Sequence[float]) -> Array:
        """What each row is worth on average over the classes, each with its share."""
        del name
        return reduce(np.add, (share * self.worth(measure, code, None) for code, share in enumerate(shares)))


@dataclass(frozen=True)
class Supposed(Piece):
    """Rows that are all supposed to be of one class, as they are of each in turn.

    Attributes:
        code: The class.
        common: What does not depend on it, and is found once for all classes.
    """

    code: int
    common: Piece

    @classmethod
    def in_turn(cls, said: Scores, classes: int) -> tuple[Supposed, ...]:
        """The forecasts of some rows, once for each class as the true one."""
        truths = [np.broadcast_to(np.int64(code), len(said.columns[0])) for code in range(classes)]
        common = Piece(said, truths[0], classes)
        return tuple(cls(said, truth, classes, code, common, known=common.known) for code, truth in enumerate(truths))

    @property
    def own(self) -> Array:
        """The probability of the class."""
        return np.asarray(self.memberships[self.code], dtype=np.float64)

    @property
    def ahead(self) -> Array:
        """How many classes have a higher probability than the class."""
        return np.asarray(self.common.standings[0][self.code])

    @property
    def beside(self) -> Array:
        """How many classes have the probability of the class, itself included."""
        return np.asarray(self.common.standings[1][self.code])

    @property
    def squares(self) -> Array:
        """The sum of squared probabilities."""
        return self.common.squares

    @property
    def errors(self) -> Array:
        """The sum of squared errors; multiplied out, as pseudo-rows are never nearly right."""
        return 1 - 2 * self.own + self.squares

    @property
    def highest(self) -> Array:
        """The highest probability."""
        return self.common.highest

    @property
    def ties(self) -> Array:
        """How many classes share the highest probability."""
        return self.common.ties

    def happened(self, code: int) -> Array:
        """Whether it is this class: one number for all rows."""
        return np.asarray(code == self.code, dtype=np.float64)

    def worth(self, measure: Measure, code: int | None, matrix: Array | None) -> Array:
        """What each row is worth: of a class, there are two answers, whichever class is supposed."""
        if code is None:
            return super().worth(measure, code, matrix)
        return self._of_class(measure, code, self.happened(code), apart=code != self.code)

    def average(self, measure: Measure, name: str, shares: Sequence[float]) -> Array:
        """As if no class had happened, and what it makes for this one that it has."""
        never, key = np.zeros(()), (measure.label, name, True)
        if key not in self.known:
            apart = (self._of_class(measure, code, never, apart=True) for code in range(self.classes))
            self.known[key] = reduce(np.add, (share * column for share, column in zip(shares, apart, strict=True)))
        more = self.worth(measure, self.code, None) - self._of_class(measure, self.code, never, apart=True)
        return np.asarray(self.known[key] + shares[self.code] * more)
