"""Least squares and ridge regression: residuals without a part follow from those of one fit and their leverages.

With the penalty as further rows, rows of the design are taken in coordinates in which its sum of squares is the unit
matrix: H = Q Q'. Without part g, its residuals are (I - H_gg)⁻¹ times those of the fit to all rows.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .leave_out import CLOSE, LITTLE, LOST, ROUNDING, HeldOut, Leaving, known, undecided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.typing import Array, Marks, Places

SAID = "without a fit a part: residuals of one fit, by their leverages"
LEAST_SQUARES = {"fit_intercept", "copy_X", "tol", "n_jobs", "positive"}
RIDGE = {"alpha", "fit_intercept", "copy_X", "max_iter", "tol", "solver", "positive", "random_state"}


def ridge_classes(estimator: Any, leaving: Leaving) -> HeldOut | None:
    """Ridge regression on classes coded as 1 and -1."""
    options = known(estimator, RIDGE | {"class_weight"})
    if options is None or options.pop("class_weight") is not None:
        return None
    targets = np.where(leaving.codes[:, None] == np.arange(leaving.classes), 1.0, -1.0)
    found = _held_out(options, leaving.x, targets[:, 1:] if leaving.classes == 2 else targets, leaving.parts)
    if found is None:
        return None
    scores, doubtful = found
    if leaving.classes > 2:
        return leaving.held_out(scores.argmax(axis=1), None, scores, doubtful | undecided(scores), SAID)
    scores = scores[:, 0]
    return leaving.held_out((scores > 0).astype(np.intp), None, scores, doubtful | (np.abs(scores) <= CLOSE), SAID)


def responses(estimator: Any, x: Array, y: Array, parts: Sequence[Places]) -> tuple[Array, Marks] | None:
    """What a linear regressor predicts for rows without their part, and rows of which it cannot be told."""
    options = known(estimator, RIDGE if "alpha" in estimator.get_params(deep=False) else LEAST_SQUARES)
    found = None if options is None else _held_out(options, x, y[:, None], parts)
    return None if found is None else (found[0][:, 0], found[1])


def _held_out(options: dict[str, Any], x: Array, y: Array, parts: Sequence[Places]) -> tuple[Array, Marks] | None:
    alpha, intercept = options.get("alpha", 0.0), options["fit_intercept"]
    # The other solvers stop before they are there.
    if options["positive"] or options.get("solver", "auto") not in ("auto", "cholesky", "svd"):
        return None
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 <= float(alpha) < np.inf:
        return None
    columns = x.shape[1] + bool(intercept)
    if columns > len(x) - max(len(part) for part in parts):
        return None  # least squares would have many solutions, and of ridge regression the fits cost less
    rows, condition, with_units = _coordinates(x, float(alpha), bool(intercept))
    # Least squares and the SVD work on the rows themselves, whose units matter; the others on squares, where not.
    by_rows = options.get("solver", "svd") == "svd"
    if not ROUNDING * (with_units if by_rows else condition**2 / 10) < LOST:
        return None
    # What is far from 0 would cost digits; only an intercept can take it up.
    middle = y.mean(axis=0) if intercept else np.zeros(y.shape[1])
    found, doubtful = _without(rows, y - middle, parts)
    return found + middle, doubtful


def _coordinates(x: Array, alpha: float, intercept: bool) -> tuple[Array, float, float]:
    """Rows of the design, in coordinates in which squares and penalty add up to the unit matrix.

    And the condition of the design: with all columns as long as each other, and with variables in their units.
    """
    rows, variables = x.shape
    penalty = np.sqrt(alpha) * np.eye(variables)
    if intercept:
        x = np.column_stack([np.ones(rows), x - x.mean(axis=0)])
        penalty = np.column_stack([np.zeros(variables), penalty])
    design = np.concatenate([x, penalty]) if alpha > 0 else x
    scale = np.sqrt(np.square(design).sum(axis=0))
    if not scale.min() > 0:
        return x, np.inf, np.inf
    turned, root = np.linalg.qr(design / scale)
    return turned[:rows], _condition(root), _condition((root * scale)[-variables:, -variables:])


def _condition(root: Array) -> float:
    """How many times as large the largest singular value is as the least."""
    values = np.linalg.svd(root, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else np.inf


def _without(rows: Array, y: Array, parts: Sequence[Places]) -> tuple[Array, Marks]:
    """What is predicted for every row without its part, and rows of which it cannot be told."""
    sums = rows.T @ y
    fitted = rows @ sums
    if max(len(part) for part in parts) == 1:
        leverage = np.square(rows).sum(axis=1)
        doubtful = np.asarray(1 - leverage < LITTLE)
        kept = np.where(doubtful, 1.0, 1 - leverage)[:, None]
        return (fitted - leverage[:, None] * y) / kept, doubtful
    found, doubtful = fitted.copy(), np.zeros(len(y), dtype=bool)
    for part in parts:
        here, few = rows[part], len(part) <= rows.shape[1]
        taken, vectors = np.linalg.eigh(here @ here.T if few else here.T @ here)
        if 1 - taken[-1] < LITTLE:
            doubtful[part] = True
            continue
        inverse = (vectors / (1 - taken)) @ vectors.T
        if few:
            found[part] = y[part] - inverse @ (y[part] - fitted[part])
        else:
            found[part] = here @ (inverse @ (sums - here.T @ y[part]))
    return found, doubtful
