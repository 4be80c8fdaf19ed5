"""How far intervals must reach to hold all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array

DRAWS = 100_000  # the error of a critical value is then in the third digit


def max_critical(covariance: Array, level: float, freedom: float) -> float:
    """Quantile of the largest of correlated |t| (Hothorn, Bretz & Westfall 2008), by seeded simulation."""
    scale = np.sqrt(np.diag(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    keep = values > 1e-12 * max(values.max(initial=0.0), 1e-300)
    root = vectors[:, keep] * np.sqrt(values[keep])
    random = np.random.default_rng(20_010_101)
    largest = np.empty(DRAWS)
    step = max(1, (1 << 22) // max(len(scale), 1))
    for start in range(0, DRAWS, step):
        drawn = random.standard_normal((min(step, DRAWS - start), root.shape[1])) @ root.T
        largest[start : start + step] = np.abs(drawn).max(axis=1, initial=0.0)
    if np.isfinite(freedom):
        largest /= np.sqrt(random.chisquare(max(freedom, 1.0), DRAWS) / max(freedom, 1.0))
    return float(np.quantile(largest, level))
