"""Rows left out as a Gaussian process predicts them: by which covariates, learned from which rows, how many at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import groups_apart
from ..core.threads import one_thread
from ..maths.gaussian_process import Predicted, Process, fit_process
from ..maths.local_regression import standardised
from .observations import Observations

if TYPE_CHECKING:
    from ..core.typing import Array, Places

    Progress = Callable[[int, int], None]

MOST_ROWS = 2_000  # whose covariances are inverted at once
FOLDS = 10  # where there are more
MANY_ROWS = 500  # from which on linear algebra gains by more than one thread
BATCH = 4_096  # rows predicted at a time
LEARN_ROWS = 1_000  # from which the parameters are learned
LEAST_GROUPS = 50  # from which on one row a group is enough to learn from
MOST_LENGTHS = 20  # covariates with a length of their own; more are summed up in principal components
ROWS_A_LENGTH = 5  # and fewer where there are fewer rows than this for each


@dataclass(frozen=True)
class Features:
    """Standardised covariates in one of several forms."""

    points: Array
    shared: bool
    words: str


def predict_left_out(rows: Observations, folds: Any, progress: Progress | None) -> tuple[Predicted, str]:
    """What is expected of every row by the others, its variance without that of measuring, and how it was found."""
    centre, spread = float(rows.values.mean()), float(rows.values.std()) or 1.0
    target, known = (rows.values - centre) / spread, rows.known / spread**2
    learned = _to_learn_from(rows)
    parts, words = _parts(rows, folds)
    with one_thread(len(rows) < MANY_ROWS):
        form, process = _learn(standardised(rows.points), target, known, learned)
        if parts is None:
            found = process.without_each()
        elif len(rows) <= MOST_ROWS:
            found = process.without_groups(parts)
        else:
            found = _in_turns(process, parts, rows.seed, progress)
    words = f"Gaussian process{form}; {words}"
    if len(learned) < len(rows):
        words += f"; its parameters are learned from {len(learned):,} rows"
    return Predicted(centre + spread * found.mean, spread**2 * found.variance), words


def _learn(points: Array, target: Array, known: Array, rows: Places) -> tuple[str, Process]:
    """The process that predicts best, with parameters learned from some rows; and which covariates it looks at."""
    forms = _forms(points, len(rows))
    fitted = [fit_process(form.points[rows], target[rows], known[rows], form.shared) for form in forms]
    place = max(range(len(forms)), key=lambda place: fitted[place].score) if len(forms) > 1 else 0
    return forms[place].words, Process(forms[place].points, target, known, fitted[place].parameters)


def _parts(rows: Observations, folds: Any) -> tuple[list[Places] | None, str]:
    """The rows that are left out together; None where every row is left out by itself."""
    if folds is None and len(rows) <= MOST_ROWS:
        if rows.groups is None:
            return None, "each row left out"
        return groups_apart(rows.groups), "each group left out"
    parts = rows.folds(folds, FOLDS)
    words = f"{len(parts)} folds"
    return parts, words if len(rows) <= MOST_ROWS else f"{words}, each predicted from {MOST_ROWS:,} other rows"


def _to_learn_from(rows: Observations) -> Places:
    """Rows in random order: not too many, and one a group, since copies would tell of less noise than there is."""
    order = np.random.default_rng(rows.seed).permutation(len(rows))
    if rows.groups is not None and rows.units >= LEAST_GROUPS:
        order = order[np.sort(np.unique(rows.groups[order], return_index=True)[1])]
    return np.asarray(order[:LEARN_ROWS])


def _forms(points: Array, rows: int) -> list[Features]:
    """The covariates as they are; if there are many, also their principal components, and one length for all."""
    count = points.shape[1]
    most = max(1, min(MOST_LENGTHS, rows // ROWS_A_LENGTH))
    if count <= most:
        return [Features(points, False, "")]
    together = Features(points, True, " with one length for all covariates")
    left, sizes, _ = np.linalg.svd(points, full_matrices=False)
    components = left[:, :most][:, sizes[:most] > 1e-9 * sizes[0]] * np.sqrt(len(points))
    words = f" of {components.shape[1]} principal components of {count} covariates"
    return [Features(components, False, words), together]


def _in_turns(process: Process, parts: list[Places], seed: int, progress: Progress | None) -> Predicted:
    """Fold by fold, each from some of the other rows, so that memory stays bounded."""
    random, mean, variance = np.random.default_rng(seed), *np.empty((2, len(process.target)))
    for number, part in enumerate(parts, start=1):
        chosen = random.permutation(np.setdiff1d(np.arange(len(mean)), part))[:MOST_ROWS]
        some = Process(process.points[chosen], process.target[chosen], process.known[chosen], process.parameters)
        for low in range(0, len(part), BATCH):
            rows = part[low : low + BATCH]
            mean[rows], variance[rows] = some.at(process.points[rows])
        if progress is not None:
            progress(number, len(parts))
    return Predicted(mean, variance)
