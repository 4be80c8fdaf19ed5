"""What rows may weigh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadWeights
from .membership import refuse_missing_numbers

if TYPE_CHECKING:
    from ..kinds import Array, Numbers

LARGEST_SQUARES = 1e100  # formulas multiply four sums of weights, and take steps that are small beside all of them


def decoded(weight: Any) -> Any:
    """Weights in a column of their own where they lie apart from rows, so that whole ones are seen to be."""
    if isinstance(weight, np.ndarray):
        return weight
    import pyarrow as pa

    return weight.cast(weight.type.value_type) if pa.types.is_dictionary(weight.type) else weight


def checked_weight(weight: Numbers, name: str, part: bool) -> Array:
    """Weights that rows can have; those of a part of the rows may all be zero."""
    refuse_missing_numbers(weight, name)
    with np.errstate(over="ignore"):
        checked = weight.astype(np.float64)
        squares = float(checked @ checked)
    broken = ~(np.isfinite(checked) & (checked >= 0))
    if broken.any():
        row = int(np.argmax(broken))
        raise BadWeights(f"the weight is {weight[row]}", column=name, row=row, mend="Weights are finite and 0 or above")
    if not part or squares >= LARGEST_SQUARES:  # what is too large in part is too large as a whole
        refuse_weightless(bool(checked.any()), squares, name)
    return checked


def refuse_weightless(any_counts: bool, squares: float, name: str) -> None:
    """Refuse weights that cannot be worked with, all rows together."""
    if not any_counts:
        raise BadWeights("all weights are zero", column=name, mend="At least one row must count")
    if not 1 / LARGEST_SQUARES < squares < LARGEST_SQUARES:
        raise BadWeights("the weights are too large or too small to reckon with", column=name, mend="Rescale them")
