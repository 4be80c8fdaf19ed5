"""Nearest neighbours: those of each row are looked for once, among all rows, and those in its own part passed over.

Where rows are as far away as the last that votes, scikit-learn takes those that its search comes to first, and this
depends on the rows that the tree was built from. Such rows are left to the fit, unless they are all of one class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .discriminant import ROUNDED
from .leave_out import ROUNDING, HeldOut, Leaving, known, undecided

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Places

SAID = "without a fit a part: neighbours found once among all rows, those of the part passed over"
METRICS = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": np.inf}
NAMES = {power: name for name, power in METRICS.items()}
SPARE = 3  # neighbours more than are needed, so that rows as far away as the last are seen
MOST = 64  # rows in a part: beyond that, one search for so many neighbours costs more than the fits
MANY_VARIABLES = 15  # beyond which scikit-learn builds no tree
TIED = 1e-12  # of a distance: what differs by less may be the same


@dataclass(frozen=True)
class _Search:
    """How neighbours are looked for.

    Attributes:
        leaving: All rows.
        number: How many neighbours vote.
        power: Of the distance: 1, 2 or infinity.
        by_distance: Whether a vote counts the less the farther away it is.
        expanded: Whether scikit-learn finds squared distances as sums of squares of the variables, with their rounding.
    """

    leaving: Leaving
    number: int
    power: float
    by_distance: bool
    expanded: bool

    @property
    def wanted(self) -> int:
        """How many candidates are looked for, in the worst case all others of the part among them."""
        return min(self.number + int(self.leaving.sizes.max()) + SPARE, self.leaving.rows)

    def distances(self, rows: Places, others: Codes) -> Array:
        """From each row to some others, squared where they are Euclidean."""
        gap = np.abs(self.leaving.x[rows][:, None] - self.leaving.x[others])
        if self.power == 2:
            return np.asarray(np.square(gap, out=gap).sum(axis=-1))
        return np.asarray(gap.sum(axis=-1) if self.power == 1 else gap.max(axis=-1))

    def slack(self, x: Array, rows: Places) -> Array:
        """How far squared distances may be off where they are sums of squares of x."""
        squares = np.square(x).sum(axis=1)
        return np.asarray(8 * ROUNDING * (squares[rows] + squares.max()))


def nearest(estimator: Any, leaving: Leaving) -> HeldOut | None:
    """The votes of the nearest neighbours."""
    search = _search(estimator, leaving)
    if search is None:
        return None
    from sklearn.neighbors import NearestNeighbors

    # Only where squares are expanded does it cost digits to be far from 0.
    x = leaving.x - leaving.x.mean(axis=0) if search.power == 2 else leaving.x
    finder = NearestNeighbors(n_neighbors=search.wanted, algorithm="brute", metric=NAMES[search.power]).fit(x)
    votes, doubtful = np.empty((leaving.rows, leaving.classes)), np.zeros(leaving.rows, dtype=bool)
    for chunk in leaving.chunks(search.wanted * (leaving.variables + 4)):
        rows = chunk.rows
        distance, candidates = finder.kneighbors(x[rows])
        # Beyond the candidates nobody is nearer than the last of them.
        bound = distance[:, -1]
        bound = np.square(bound) - search.slack(x, rows) if search.power == 2 else bound * (1 - TIED)
        votes[rows], doubtful[rows] = _votes(search, rows, candidates, bound)
    everybody = np.arange(leaving.rows)
    for row in np.flatnonzero(doubtful):  # others as far away may be of one class all of them
        found = _votes(search, np.array([row]), everybody[None], np.array([np.inf]))
        votes[row], doubtful[row] = found[0][0], found[1][0]
    if search.by_distance:
        doubtful |= undecided(votes)
    return leaving.held_out(votes.argmax(axis=1), votes, None, doubtful, SAID)


def _search(estimator: Any, leaving: Leaving) -> _Search | None:
    """How the estimator looks for neighbours, if that is known here."""
    names = {"n_neighbors", "weights", "algorithm", "leaf_size", "p", "metric", "metric_params", "n_jobs"}
    options = known(estimator, names)
    if options is None or options["metric_params"] is not None or leaving.sizes.max() > MOST:
        return None
    metric, weights, number = options["metric"], options["weights"], options["n_neighbors"]
    power = options["p"] if metric == "minkowski" else METRICS.get(metric) if isinstance(metric, str) else None
    if power not in NAMES or not isinstance(weights, str) or weights not in ("uniform", "distance"):
        return None
    fewest = leaving.rows - int(leaving.sizes.max())
    if not isinstance(number, int | np.integer) or not 0 < number <= fewest:
        return None
    algorithm = options["algorithm"]
    bare = algorithm == "auto" and (leaving.variables > MANY_VARIABLES or number >= fewest // 2)
    expanded = bool(power == 2 and (algorithm == "brute" or bare))
    return _Search(leaving, int(number), float(power), weights == "distance", expanded)


def _votes(search: _Search, rows: Places, candidates: Codes, bound: Array) -> tuple[Array, Marks]:
    """The share of each class in the votes at some rows, and rows of which it cannot be told who votes."""
    leaving, number = search.leaving, search.number
    distance = search.distances(rows, candidates)
    distance[leaving.part_of[candidates] == leaving.part_of[rows, None]] = np.inf
    order = np.argsort(distance, axis=1, kind="stable")
    distance = np.take_along_axis(distance, order, axis=1)
    codes = np.take_along_axis(leaving.codes[candidates], order, axis=1)
    doubtful = _doubtful(search, rows, distance, codes, bound)
    distance, codes = distance[:, :number], codes[:, :number]
    weights = np.ones_like(distance)
    if search.by_distance:
        weights = _inverse(np.sqrt(distance) if search.power == 2 else distance)
    found = np.stack([(weights * (codes == code)).sum(axis=1) for code in range(leaving.classes)], axis=1)
    return found / found.sum(axis=1, keepdims=True), doubtful


def _inverse(distance: Array) -> Array:
    """Weights by distance; where there are rows in the same place, they alone count."""
    same = distance == 0
    weights = 1 / np.where(same, 1.0, distance)
    return np.where(same.any(axis=1, keepdims=True), same, weights)


def _doubtful(search: _Search, rows: Places, distance: Array, codes: Codes, bound: Array) -> Marks:
    """Rows where others are as far away as the last that votes, and of another class."""
    reach = distance[:, search.number - 1]
    slack = TIED * reach + (search.slack(search.leaving.x, rows) if search.expanded else 0.0)
    tied = np.abs(distance - reach[:, None]) <= slack[:, None]
    shared = tied.sum(axis=1) + (distance < (reach - slack)[:, None]).sum(axis=1) > search.number
    last = codes[np.arange(len(codes)), search.number - 1]
    mixed = (tied & (codes != last[:, None])).any(axis=1)
    found = (shared & mixed) | ~(bound > reach + slack)
    if search.expanded and search.by_distance:
        found |= ~(slack < ROUNDED * distance[:, 0])
    return np.asarray(found)
