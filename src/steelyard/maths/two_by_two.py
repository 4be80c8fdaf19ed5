"""What formulas may ask for of a class against the rest: the cells of a 2x2 table, and its sums."""

from __future__ import annotations

from typing import Any

import numpy as np


def sums_of(cells: Any) -> Any:
    """All that a formula may ask for of 2x2 tables, from tp, fn, fp and tn, but for the total: (10, ...).

    That is the cells; and of a table of two classes, the class and the rest, the diagonal, the row and column sums.
    """
    tp, fn, fp, tn = cells
    return np.array([tp, fn, fp, tn, tp, tn, tp + fn, fp + tn, tp + fp, fn + tn])


def by_name(sums: Any) -> dict[str, Any]:
    """These sums by the names that formulas have for them; two classes are in the last axis."""
    tp, fn, fp, tn = sums[:4]
    halves = sums[4:].reshape(3, 2, *sums.shape[1:])
    correct, true, assigned = halves.transpose(0, *range(2, halves.ndim), 1)
    named = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    return named | {"correct": correct, "true": true, "assigned": assigned, "total": sums[6] + sums[7]}


def offered_of_classes(cells: Any) -> dict[str, Any]:
    """What formulas may ask for of 2x2 tables, (4, ...)."""
    return by_name(sums_of(cells))


SUMS = sums_of(np.eye(4))  # which cells they are sums of
# Tables of one row each, which is in another cell every time, and one by which to see that a formula adds them up.
ONE_BY_ONE = np.column_stack([np.eye(4), [2.0, 3.0, 5.0, 7.0]])
