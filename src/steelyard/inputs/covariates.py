"""Measured values and the covariates beside them, at the door: finite numbers, one row an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import as_number, is_table, numbers, take
from ..core.errors import BadDeviation, EmptyInput, MissingValues, NotNumbers, UnusableLabels, WrongShape, refuse_length
from ..core.scale import checked_deviation
from .labels import encode_parts

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array

TABLE = "Give a table with one row an object and one column a covariate"


def finite_numbers(values: Any, name: str) -> Array:
    """A column of finite numbers; the first that is missing or infinite is named."""
    column = np.asarray(numbers(values, name), dtype=np.float64)
    refuse_broken(column, name)
    if not len(column):
        raise EmptyInput("there are no rows", column=name, mend="Give at least one row")
    return column


def refuse_broken(column: Array, name: str) -> None:
    """Name the first row whose number is missing or infinite."""
    sound = np.isfinite(column)
    if sound.all():
        return
    row = int(np.argmin(sound))
    if np.isnan(column[row]):
        raise MissingValues("the value is missing", column=name, row=row, mend="Fill it in, or leave the row out")
    raise NotNumbers(f"the value is {column[row]}", column=name, row=row, mend="Give finite numbers")


def design(covariates: Any, name: str = "covariates") -> Array:
    """Covariates as a matrix of finite numbers, (rows, covariates); a single column is a matrix too."""
    try:
        found = take(covariates, name)
    except UnusableLabels as error:
        raise NotNumbers(error.problem, column=name, row=error.row, mend="Give numbers") from None
    if is_table(found):
        found = found.combine_chunks() if hasattr(found, "chunks") else found
        pairs = zip(found.type, found.flatten(), strict=True)
        columns = [finite_numbers(column, field.name) for field, column in pairs]
    elif isinstance(found, np.ndarray) and found.ndim == 2:
        columns = [finite_numbers(column, f"{name}[{place}]") for place, column in enumerate(found.T)]
    elif isinstance(found, np.ndarray) and found.ndim != 1:
        raise WrongShape(f"the covariates have the shape {found.shape}", column=name, mend=TABLE)
    else:
        columns = [finite_numbers(found, name)]
    if not columns:
        raise EmptyInput("there are no covariates", column=name, mend=TABLE)
    return np.stack(columns, axis=1)


def deviations(sd: Any, rows: int, name: str = "sd", other: str = "values") -> Array:
    """Standard deviations, one for every row: from one number for all, or from a column."""
    number = as_number(sd)
    if np.isnan(number) and hasattr(sd, "__len__") and not isinstance(sd, str | bytes):
        return _each_deviation(sd, rows, name, other)
    return np.full(rows, float(checked_deviation(sd, name)))


def _each_deviation(sd: Any, rows: int, name: str, other: str) -> Array:
    column = finite_numbers(sd, name)
    refuse_length(name, len(column), rows, other)
    if (column < 0).any():
        row = int(np.argmax(column < 0))
        problem = f"the standard deviation is {column[row]}"
        raise BadDeviation(problem, column=name, row=row, mend="It is 0 or above")
    return column


def grouping(values: Any, rows: int, name: str, other: str = "values") -> AnyArray:
    """What rows belong together, as codes from 0 on."""
    coded = encode_parts(values, name)
    refuse_length(name, len(coded), rows, other)
    if coded.has_missing:
        row = int(np.argmax(coded.missing()))
        raise MissingValues("the value is missing", column=name, row=row, mend="Fill it in, or leave the row out")
    return coded.codes.astype(np.int64)
