"""Columns of a table that models learn from, as finite numbers, one row an object; words become columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from ..core.columns import as_number, is_table, numbers, take
from ..core.errors import (
    BadDeviation,
    BadOption,
    EmptyInput,
    MissingValues,
    NotNumbers,
    UnknownColumn,
    UnusableLabels,
    WrongShape,
    quoted,
    refuse_length,
)
from ..core.scale import checked_deviation, listed
from ..core.suggestions import did_you_mean
from ..data.sources import column
from .labels import encode, encode_parts

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array

TABLE = "Give a table with one row an object and one column a covariate"
MOST_WORDS = 20  # beyond, words are names rather than kinds
FEW_ROWS = 20  # so few may have different numbers by chance
MEND = "Say --missing drop, or take classifiers that do without: tree, forest, boosting"
NAMES: Final = "names of rows"
NEITHER: Final = "neither"
KINDS = f"2 to {MOST_WORDS} words"
VariableKind = Literal["numbers", "words", "names of rows", "neither"]


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


def choose(table: Any, aside: Sequence[str], wanted: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The columns to learn from: those that are named, or all that can be; and what there is to know about them.

    Args:
        table: An Arrow table.
        aside: Columns that say something else.
        wanted: Names of columns, or patterns with stars.
    """
    kinds = {name: _kind(table, name) for name in table.column_names if name not in aside}

    def those(*wanted_kinds: VariableKind) -> list[str]:
        return [name for name, kind in kinds.items() if kind in wanted_kinds]

    if wanted is None:
        found = those("numbers", "words")
    else:
        found = list(dict.fromkeys(name for pattern in wanted for name in _matching(pattern, list(kinds))))
    for name in found:
        if kinds[name] == NEITHER:
            raise BadOption(f"neither numbers nor {KINDS}", column=name, mend="Leave it out of --features")
    if not found:
        raise BadOption("there is no column to learn from", mend="Name them: --features 'x*'")
    coded = [name for name in found if kinds[name] == "words"]
    told = {"learned from as 0 and 1, one column for each word but the first: {}": coded}
    if wanted is None:
        different = [name for name in those("numbers") if _all_different(table, name)]
        told = {
            "taken for names of rows, and not learned from unless --features says so: {}": those(NAMES),
            f"neither numbers nor {KINDS}, and not learned from: {{}}": those(NEITHER),
            **told,
            "another whole number in every row, as names of rows have: {}; see --features": different,
        }
    return found, [words.format(listed(names, 5)) for words, names in told.items() if names]


def _matching(pattern: str, names: Sequence[str]) -> list[str]:
    stars_alone = pattern.replace("[", "[[]").replace("?", "[?]")  # units stand in brackets: 'water [%]'
    matching = [name for name in names if fnmatchcase(name, stars_alone)]
    if not matching:
        mend = did_you_mean(pattern, names, f"There are {listed(names, 10)}")
        raise UnknownColumn(f"no column is called {quoted(pattern)}", mend=mend)
    return matching


def _kind(table: Any, name: str) -> VariableKind:
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    values = column(table, name)
    kind = values.type
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    if kinds.is_integer(kind) and _all_different(table, name):
        ends = pc.min_max(values).as_py()
        return NAMES if ends["max"] - ends["min"] == table.num_rows - 1 else "numbers"
    if any(holds(kind) for holds in (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean)):
        return "numbers"
    return "words" if _is_text(table, name) and 2 <= pc.count_distinct(values).as_py() <= MOST_WORDS else NEITHER


def _is_text(table: Any, name: str) -> bool:
    import pyarrow.types as kinds

    kind = table.schema.field(name).type
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return any(holds(kind) for holds in (kinds.is_string, kinds.is_large_string, kinds.is_string_view))


def _all_different(table: Any, name: str) -> bool:
    """Whether every row has a whole number of its own."""
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if not kinds.is_integer(table.schema.field(name).type) or table.num_rows <= FEW_ROWS:
        return False
    return bool(pc.count_distinct(table.column(name)).as_py() == table.num_rows)


def matrix(table: Any, names: Sequence[str]) -> tuple[Array, list[str]]:
    """Columns as numbers, (rows, variables), and what the variables are called; what is missing is NaN."""
    found: dict[str, Array] = {}
    for name in names:
        values = column(table, name)
        if not _is_text(table, name):
            found[name] = numbers(values, name).astype(np.float64)
            continue
        coded = encode(values, name)
        for code, label in enumerate(coded.labels[1:], 1):
            found[f"{name}={label}"] = np.where(coded.missing(), np.nan, coded.codes == code)
    return np.stack([*found.values()] or [np.zeros(table.num_rows)], axis=1), list(found)
