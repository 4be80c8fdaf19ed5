"""What formulas take in place of plain numbers: the sums of a class against the rest, and numbers in complex steps.

Of numbers that take a complex step one at a time, all those that stay where they are need not be laid out.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from ..core.typing import Array


# --- sums of 2x2 tables ---------------------------------------------------------------------------------------------


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


# --- complex steps --------------------------------------------------------------------------------------------------

STEP = 1e-100j  # nothing cancels, so it can be as small as floats go
CELL_STEPS = STEP * np.eye(4)[..., None]  # each cell in its turn
SUM_STEPS = STEP * SUMS[..., None]  # what the sums of the cells make of that


def slope(value: Any) -> Any:
    """Return the derivative of a formula, from its value where numbers take a complex step (Squire & Trapp 1998)."""
    return np.imag(value) / STEP.imag


class ComplexSteps(NDArrayOperatorsMixin):
    """What formulas take for an array of (steps, rows, classes), in which every step moves the numbers of one class.

    What is done to each number by itself is done to the numbers as they are and to those that moved, instead of all of
    them in every step; so are sums and products over the classes. Anything else gets to see the whole array.
    """

    def __init__(self, plain: Array, moved: Any, first: int) -> None:
        """Keep numbers as they are, (rows, classes), and as they are moved from the first class on, (rows, steps)."""
        self.plain, self.moved, self.first = plain, moved, first

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        return (self.moved.shape[-1], *self.plain.shape)

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Lay all numbers out."""
        del copy  # it always is one
        whole, steps = np.empty(self.shape, dtype=complex), np.arange(self.moved.shape[-1])
        whole[:] = self.plain
        whole[steps, :, self.first + steps] = self.moved.T
        return whole if dtype is None else whole.astype(dtype)

    def __getattr__(self, name: str) -> Any:
        """Find anything else that an array has."""
        if name.startswith("__"):  # NumPy asks for some of these to lay the numbers out
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __getitem__(self, places: Any) -> Any:
        """Some of the numbers."""
        return np.asarray(self)[places]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Do to all numbers what is done to each by itself."""
        options.pop("out", None)  # nothing is written in place
        apart = method == "__call__" and not options and ufunc.signature is None and ufunc.nout == 1
        plain, moved = [], []
        for one in inputs:
            stepped = isinstance(one, ComplexSteps)
            plain.append(one.plain if stepped else one)
            moved.append(one.moved if stepped else self._of_movers(one))
            apart = apart and getattr(plain[-1], "ndim", 0) <= self.plain.ndim  # or it differs from step to step
        if apart:
            return ComplexSteps(ufunc(*plain), ufunc(*moved), self.first)
        whole = [np.asarray(one) if isinstance(one, ComplexSteps) else one for one in inputs]
        return getattr(ufunc, method)(*whole, **options)

    def _of_movers(self, value: Any) -> Any:
        """The part of an array over the classes that belongs to those that move."""
        over_classes = isinstance(value, np.ndarray) and value.shape[-1:] == self.plain.shape[-1:]
        return value[..., self.first : self.first + self.moved.shape[-1]] if over_classes else value

    def sum(self, axis: Any = None, **options: Any) -> Any:
        """Sum up; a step changes the sum over the classes by as much as the number that moved."""
        if axis != -1 or options:
            return np.asarray(self).sum(axis=axis, **options)
        return (self.plain.sum(axis=-1, keepdims=True) - self._of_movers(self.plain) + self.moved).T

    def mean(self, axis: Any = None, **options: Any) -> Any:
        """The mean, likewise."""
        return np.asarray(self).mean(axis=axis, **options) if axis != -1 or options else self.sum(-1) / self.shape[-1]

    def prod(self, axis: Any = None, **options: Any) -> Any:
        """Multiply; over the classes, what moved with all that stand before it and behind it."""
        if axis != -1 or options:
            return np.asarray(self).prod(axis=axis, **options)
        before, behind = np.ones_like(self.plain), np.ones_like(self.plain)
        np.cumprod(self.plain[:, :-1], axis=-1, out=before[:, 1:])
        np.cumprod(self.plain[:, :0:-1], axis=-1, out=behind[:, -2::-1])
        return (self._of_movers(before * behind) * self.moved).T
