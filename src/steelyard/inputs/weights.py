"""What rows may weigh, and what their weights stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ..core.errors import BadOption, BadWeights
from .membership import refuse_missing_numbers
from .remarks import Remark, Remarks

if TYPE_CHECKING:
    from ..core.typing import Array, Numbers

MOST_REPEATED = 20  # times that a row occurs on average: more often, weights may be those of a sample
WHOLE, FREQUENCY = Remark("whole_weights"), Remark("frequency_weights")
LARGEST_SQUARES = 1e100  # formulas multiply four sums of weights, and take steps that are small beside all of them


# What a weight says of its row: how much of the population it stands for, or how often it occurred.
WeightKind = Literal["sampling", "frequency"]
WEIGHT_KINDS: tuple[str, ...] = get_args(WeightKind)


def checked_weight(weight: Numbers, name: str, part: bool, kind: WeightKind = "sampling") -> Array:
    """Return weights that rows can have; those of a part of the rows may all be zero."""
    refuse_missing_numbers(weight, name)
    with np.errstate(over="ignore"):
        checked = weight.astype(np.float64)
        squares = float(checked @ checked)
    broken = ~(np.isfinite(checked) & (checked >= 0))
    if broken.any():
        row = int(np.argmax(broken))
        raise BadWeights(f"the weight is {weight[row]}", column=name, row=row, mend="Weights are finite and 0 or above")
    if kind == "frequency" and not (whole := checked == np.floor(checked)).all():
        row = int(np.argmin(whole))
        raise BadWeights(
            f"the weight is {checked[row]:g}, and frequency weights are whole numbers",
            column=name,
            row=row,
            mend="Leave weight_kind='frequency' out if the weights are sampling weights",
        )
    if not part or squares >= LARGEST_SQUARES:  # what is too large in part is too large as a whole
        refuse_weightless(bool(checked.any()), squares, name)
    return checked


def remarks_on(weight: Array | None, kind: WeightKind) -> dict[Remark, int]:
    """Return how many rows have frequency weights, or sampling weights that are whole numbers."""
    if weight is None:
        return {}
    if kind == "frequency":
        return {FREQUENCY: int(np.count_nonzero(weight))}
    return {WHOLE: whole} if (whole := int(np.count_nonzero((weight == np.floor(weight)) & (weight > 0)))) else {}


def words_on_weights(remarks: Remarks, rows: float, sampled: bool) -> list[str]:
    """Return what to ask whose weights look like those of the other kind; ``rows`` is how many rows were counted."""
    given = remarks.get(FREQUENCY, 0)
    if sampled and rows == remarks.get(WHOLE, 0):
        return [
            "all weights are whole numbers and taken as sampling weights: if they count repeated rows, say "
            "weight_kind='frequency' (--weight-kind frequency)"
        ]
    if given and rows > MOST_REPEATED * given:
        return [
            f"frequency weights make {rows:,.0f} rows of {given:,}: if each weight is what one row stands for, leave "
            "weight_kind='frequency' out"
        ]
    return []


def refuse_kind_alone(weight: object, kind: str) -> None:
    """Refuse a kind of weights where no weights are given."""
    if weight is None and kind != "sampling":
        raise BadOption("weight_kind= is given, but no weights", mend="Give weight=, or leave weight_kind= out")


def refuse_weightless(any_counts: bool, squares: float, name: str) -> None:
    """Refuse weights that cannot be worked with, all rows together."""
    if not any_counts:
        raise BadWeights("all weights are zero", column=name, mend="At least one row must count")
    if not 1 / LARGEST_SQUARES < squares < LARGEST_SQUARES:
        raise BadWeights("the weights are too large or too small to reckon with", column=name, mend="Rescale them")
