"""What could be read, but would be misread: other rows, other columns or other labels than those that are meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import DECIMALS, as_number, is_floating, is_of_pandas, is_table, numbers
from ..errors import (
    AmbiguousPrediction,
    MisalignedRows,
    SteelyardError,
    SwappedArguments,
    UnknownLabel,
    quoted,
    refuse_length,
)
from ..scale import Label, Scale, listed
from .labels import encode

if TYPE_CHECKING:
    from .cases import Raw


def refuse_misaligned(truth: Any, others: Mapping[str, Any]) -> None:
    """Columns are taken row by row; pandas would bring those with the same index in another order together first."""
    own = _index(truth)
    if own is None:
        return
    several = {name: dict(enumerate(each)) for name, each in others.items() if _holds_columns(each)}
    several |= {name: dict(each) for name, each in others.items() if isinstance(each, Mapping)}
    inner = {f"{name}[{label}]": column for name, each in several.items() for label, column in each.items()}
    for name, column in {**others, **inner}.items():
        index = _index(column)
        if index is None or len(own) != len(index) or own.equals(index):
            continue
        counted = type(index).__name__ == "RangeIndex"  # rows that nobody named
        if not counted and _names_the_same(own, index):
            row = int((own != index).argmax())
            said, true = (quoted(each[row : row + 1].tolist()[0]) for each in (index, own))
            raise MisalignedRows(
                f"the index says {said}, and that of the truth {true}",
                column=name,
                row=row,
                mend=f"Bring the rows into one order, as {name}.loc[truth.index]; if they are, give .to_numpy()",
            )


def _names_the_same(own: Any, other: Any) -> bool:
    """Whether the rows of one are rows of the other, by their names; names of several levels can be unlike others."""
    try:
        return bool(own.is_unique and own.nlevels == other.nlevels and other.isin(own).all())
    except Exception:  # pandas may raise anything where names are of different kinds
        return False


def _holds_columns(several: Any) -> bool:
    """Whether a list holds columns of pandas, rather than labels, of which there may be very many."""
    if not isinstance(several, list | tuple):
        return False
    one_of_each = dict(zip(map(type, several), several, strict=True))
    return any(_index(one) is not None for one in one_of_each.values())


def _index(column: Any) -> Any:
    """How pandas names the rows of a column or frame."""
    return getattr(column, "index", None) if is_of_pandas(column) else None


def refuse_strangers(raw: Raw) -> None:
    """Labels that have nothing in common with the true ones come from a wrong column, or are spelled differently."""
    for said in raw.predictions.values():
        assigned, true = () if said.labels is None else said.labels.labels, raw.truth.labels
        if assigned and not set(assigned) & set(true):
            raise UnknownLabel(
                f"no assigned label is a true one: {listed(assigned, 3)} against {listed(true, 3)}",
                column=said.name,
                mend=_check(assigned),
            )


def _check(assigned: Sequence[Label]) -> str:
    """What to do about labels none of which is a true one: they may be scores."""
    words = "".join(str(label) for label in assigned)
    decimal = next((sign for sign in ".," if sign in words), "")
    if decimal and not any(np.isnan(as_number(str(label).replace(",", "."), text=True)) for label in assigned):
        return DECIMALS if decimal == "," else "Scores are numbers, not text, as values.astype(float) makes them"
    number = isinstance(assigned[0], int)
    check = "Divide scores so that they end at 1" if number else "Check the column and the spelling"
    return f"{check}, or name all classes: scale=Scale([...])"


def refuse_nameless(raw: Raw, scale: Scale) -> None:
    """Columns without names are in the order of the classes; which that is, is unclear where nobody sorted these."""
    if scale.classes == tuple(sorted(scale.classes)):
        return
    for said in raw.predictions.values():
        if len(said.columns) > 1 and not said.class_names:
            raise AmbiguousPrediction(
                f"the columns have no names, and the classes an order of their own: {listed(scale.classes)}",
                column=said.name,
                mend="Give a frame with the classes as names, as pandas.DataFrame(p, columns=classifier.classes_), "
                "or name the classes in the order of the columns: scale=Scale([...])",
            )


def refuse_swapped(truth: Any, prediction: Any, measured: bool) -> None:
    """Say so where the truth could only be a prediction and the prediction could only be a truth."""
    if is_table(truth):
        table = all(is_floating(column) for column in truth.flatten())
    else:
        table = isinstance(truth, np.ndarray) and truth.ndim == 2 and truth.shape[1] > 1
    if not (table or measured or is_floating(truth)):
        return
    try:
        values = numbers(prediction, "") if measured else encode(prediction, "").codes
    except SteelyardError:
        return
    if not measured or np.any(values != np.floor(values)):
        raise SwappedArguments(
            "the truth looks like a prediction, and the prediction like "
            + ("measured values" if measured else "labels"),
            mend="The truth comes first: assess(y_true, prediction); a measured truth needs scale=Continuum(...)",
        )


def refuse_unequal(raw: Raw, weight: str) -> None:
    """Columns of one problem have as many rows as each other."""
    lengths = [(column.name, len(column)) for column in raw.labelled()]
    if raw.weight is not None:
        lengths.append((weight, len(raw.weight)))
    for prediction in raw.predictions.values():
        if prediction.labels is not None:
            lengths.append((prediction.name, len(prediction)))
        lengths += [(prediction.heading(place), len(column)) for place, column in enumerate(prediction.columns)]
    for name, length in lengths:
        refuse_length(name, length, len(raw.truth), raw.truth.name)
