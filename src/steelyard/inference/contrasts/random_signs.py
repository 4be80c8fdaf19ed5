"""Differences of skewed means: judged by what the sum would be with random signs (Pitman 1937, JRSS Suppl. 4, 119-130).

Two classifiers whose errors are of one kind differ by as much to the one side as to the other. Whether they differ at
all is then told by what the sum would be with random signs, which scatters less than t where few rows make it up. On
either side, bounds are the wider of those by t and those with the skewness taken off and the fewer degrees of freedom
of a variance that few rows make up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..design import NO_ERROR
from ..rules import SIDES
from ..rules.hall import hall_bounds, hall_p
from ..student_t import critical_values, p_values
from ..tails import Tails
from . import ContrastRule, PairEvidence

if TYPE_CHECKING:
    from ...core.typing import Array

CANCELLED = 1e-7  # of an error: what sums of products leave of it where two classifiers agree
LESS = 0.8  # of the degrees of freedom of fourth powers, for a difference: fewer rows make it up, and they cancel
TINY = float(np.finfo(np.float64).tiny)
HALVINGS = 50


class RandomSigns(ContrastRule):
    """A difference that every row makes the same is judged by how rare other rows may be."""

    def bounds(self, pair: PairEvidence, reach: Array) -> Array:
        """Return the bounds."""
        found = np.array(difference_bounds(pair.centre, pair.error, pair.tails(), pair.freedom, reach))
        for place, difference in _steady(pair).items():
            many = critical_values(pair.level, np.array([np.inf])) if pair.critical is None else reach[[place]]
            share = 1.0 if np.isinf(many[0]) else float(many[0] ** 2 / (_trials(pair) + many[0] ** 2))
            found[:, place] = pair.centre[place] + SIDES[:, 0] * _moved(pair, place, difference, share)
        return found

    def p(self, pair: PairEvidence) -> Array:
        """Return the p-values."""
        statistic = pair.statistic
        known = np.where(np.isnan(statistic), 0.0, statistic)
        found = difference_p(known, pair.tails(), pair.freedom)
        for place, difference in _steady(pair).items():
            found[place] = p_values(np.array([_critical(pair, place, difference)]), np.array([np.inf]))[0]
        return found


RANDOM_SIGNS = RandomSigns()


def _steady(pair: PairEvidence) -> dict[int, float]:
    """The differences that every row makes the same: none at all, say, where two classifiers always agree.

    That does not prove that all rows will. So many rows tell how rare others are at most, as they do of one value.
    """
    found, most = {}, np.abs(pair.values).max(axis=0)
    error, alone, differences = pair.error, np.sqrt(pair.alone().max(axis=0)), pair.difference
    for place in range(len(pair.slots)):
        if error[place] <= max(NO_ERROR * most[place], CANCELLED * alone[place]):
            difference = float(differences[place])
            found[place] = 0.0 if abs(difference) <= NO_ERROR * most[place] else difference
    return found


def _trials(pair: PairEvidence) -> float:
    """How many independent rows there are."""
    return float(pair.sources[0].total / pair.sources[0].unit)


def _moved(pair: PairEvidence, place: int, difference: float, share: float) -> float:
    """How far a share of rows unlike all others moves it; classifiers that differ can both do something else there."""
    moves = [each.unseen(pair.slots[place], share) for each in pair.sources]
    return float(max(moves) if difference == 0 else sum(moves))


def _critical(pair: PairEvidence, place: int, difference: float) -> float:
    """The critical value at which there may be no difference, by Wilson's bound for what was never seen in the rows."""
    low, high = 0.0, 1.0
    if _moved(pair, place, difference, high) < abs(difference):
        return np.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _moved(pair, place, difference, middle) < abs(difference) else (low, middle)
    return float(np.sqrt(_trials(pair) * low / (1 - low)))


def difference_bounds(
    difference: Array, error: Array, tails: Tails, freedom: Array, reach: Array
) -> tuple[Array, Array]:
    """Bounds of differences: the wider of those with their skewness and those without it, on either side.

    The skewness of few rows is unsure: it may widen, but not shorten. Where the test speaks against no difference and
    these do not, or the other way round, the test is believed.
    """
    curved = hall_bounds(difference, error, tails._replace(freedom=LESS * tails.freedom), freedom, reach)
    low, high = (
        pick(difference + sign * reach * error, bound)
        for pick, sign, bound in zip((np.minimum, np.maximum), (-1.0, 1.0), curved, strict=True)
    )
    kept = difference_p(difference / error, tails, freedom) >= p_values(reach, freedom)
    above, below = ~kept & (difference > 0), ~kept & (difference < 0)
    low, high = np.where(kept, np.minimum(low, 0.0), low), np.where(kept, np.maximum(high, 0.0), high)
    return np.where(above, np.maximum(low, TINY), low), np.where(below, np.minimum(high, -TINY), high)


def difference_p(statistic: Array, tails: Tails, freedom: Array) -> Array:
    """Two-sided p-values of t statistics of differences: with random signs, and with their skewness taken off."""
    with np.errstate(invalid="ignore"):
        return np.fmax(signed_p(statistic, tails, freedom), hall_p(statistic, tails, freedom))


def signed_p(statistic: Array, tails: Tails, freedom: Array) -> Array:
    """Two-sided p-values if all that is summed were as likely of the other sign.

    The sum by the root of the sum of squares then scatters nearly as a symmetric beta variable of the same second and
    fourth moment, of which that of a t statistic is one; the moments here are those around 0. Sums further out than
    such a variable can be are judged by t, and so are those of which fourth powers tell nothing (NaN). No p-value is
    less than the share of the two sums that are furthest out.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        part = 1 / (freedom + 1)  # of all that is drawn, one
        square = np.square(statistic) / (1 - part)
        whole = 1 + square * part
        moved = part * (4 * np.sign(statistic) * np.sqrt(square) * tails.skew + part * square * (6 + part * square))
        fewer = np.maximum(3 * whole**2 / (tails.fourth + moved) - 3, 0.0)
        left = 1 + (1 - square / whole) / fewer
        found = p_values(np.sqrt(square / whole / left), fewer)
    found = np.where((fewer > 0) & (left > 0), found, p_values(statistic, freedom))
    return np.fmax(found, np.minimum(2.0 ** (1 - tails.rows), 1.0))
