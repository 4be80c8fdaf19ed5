"""How far sums over observations are from normal: by third and fourth powers of what is summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..states.statistics import Patterns
from .design import by_cluster, weighted_sums

if TYPE_CHECKING:
    from ..core.typing import Array

# Of the degrees of freedom that fourth powers give: where few rows make up a sum, they say too little of themselves.
TRUSTED = 0.5
MANY = 12.0  # rows make up a sum: its signs come in so many ways that no p-value is too small for them
ROUNDING = 1e-9  # of the furthest


class Tails(NamedTuple):
    """How far sums are from normal: one number a slot.

    Attributes:
        skew: Their skewness; 0 where what is summed does not differ.
        freedom: As many degrees of freedom as a variance has that scatters as theirs does, given their mean.
        fourth: Fourth powers of what is summed, by the squared variance: 1 where a single row makes it up.
        rows: How many rows add something else than most do, as far as these are few.
    """

    skew: Array
    freedom: Array
    fourth: Array
    rows: Array

    @classmethod
    def none(cls, slots: int) -> Tails:
        """Those of the normal distribution."""
        return cls(np.zeros(slots), np.full(slots, np.inf), np.zeros(slots), np.full(slots, np.inf))

    @classmethod
    def of_moments(cls, skew: Array, fourth: Array, even: Array | float) -> Tails:
        """From skewness and fourth powers, both by the variance, and what these are where all rows are as large.

        That is one by how many are drawn; where they make up a share of the variance only, times the square of it.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            # What the variance has in common with the mean is in the skewness; of two values nothing is left.
            scatter = fourth - even - np.square(skew)
            freedom = TRUSTED * 2 / np.maximum(scatter, 0.0)
        known = np.isfinite(skew)
        return cls(
            np.where(known, skew, 0.0),
            np.where(np.isfinite(freedom), freedom, np.inf),
            np.where(known & np.isfinite(fourth), fourth, 0.0),
            np.full(len(known), np.inf),
        )

    def with_one_more(self) -> Tails:
        """Those of the same sums with one more row: see ``one_more``."""
        grown = 1 + np.square(self.skew)
        fourth = (self.fourth + np.square(grown - 1)) / np.square(grown)
        return Tails.of_moments(self.skew / np.sqrt(grown), fourth, self._even)._replace(rows=self.rows + 1)

    def with_normal(self, share: Array) -> Tails:
        """Those of the same sums and a normal error, which has this share of the variance of both."""
        rest = 1 - share
        found = Tails.of_moments(self.skew * rest**1.5, self.fourth * rest**2, self._even * rest**2)
        return found._replace(rows=self.rows)

    @property
    def _even(self) -> Array:
        """What fourth powers would be where all rows are as large."""
        return np.asarray(np.maximum(self.fourth - np.square(self.skew) - 2 * TRUSTED / self.freedom, 0.0))

    @classmethod
    def of(cls, patterns: Patterns, influences: Array) -> Tails:
        """Those of sums of influences over the rows, (slots, patterns).

        A pattern without rows adds to the variance only: it stands for a normal error. Of the sampling weights within a
        pattern only the sum and that of squares are known; higher powers are those of a gamma variable that has both.
        """
        if patterns.cluster is None:
            some = patterns.count > 0
            mean = np.divide(patterns.mass, patterns.count, out=np.zeros_like(patterns.mass), where=some)
            terms, second, drawn = influences, patterns.square, patterns.count
            spread = np.divide(second, mean * mean * drawn, out=np.ones_like(mean), where=some & (mean > 0))
        else:
            terms, second = by_cluster(patterns, influences), np.ones(patterns.clusters)
            drawn = (np.bincount(patterns.cluster, patterns.count, patterns.clusters) > 0).astype(np.float64)
            mean, spread = drawn, np.ones_like(drawn)
        spread = np.maximum(spread, 1.0)  # but for rounding, squares are no less than those of equal weights
        squares, third = np.square(terms), drawn * mean * mean * mean * spread * (2 * spread - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = weighted_sums(squares, second)
            skew = weighted_sums(squares * terms, third) / variance**1.5
            shares = squares / variance[:, None]
        share = weighted_sums(shares, second * (drawn > 0))
        fourth = weighted_sums(np.square(shares), third * mean * (3 * spread - 2))
        found = cls.of_moments(skew, fourth, np.square(share) / max(drawn.sum(), 1.0))
        for slot in np.flatnonzero(found.fourth > 1 / MANY):
            found.rows[slot] = _apart(terms[slot], drawn)
        return found


def _apart(terms: Array, drawn: Array) -> float:
    """How many of those that are drawn add something else than the one in the middle, which is what most do, if any."""
    here = drawn > 0
    away = np.abs(terms - np.median(terms[here]))
    return float(drawn[here & (away > ROUNDING * away.max())].sum())
