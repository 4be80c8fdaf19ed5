"""What could be read, but would be misread: other rows, other columns or other labels than those that are meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.columns import DECIMALS, as_number, is_floating, is_of_pandas, is_table, numbers
from ..core.errors import (
    AmbiguousPrediction,
    MisalignedRows,
    SteelyardError,
    SwappedArguments,
    UnknownLabel,
    quoted,
    refuse_length,
)
from ..core.scale import Label, Scale, listed, whole_number
from .categorical import SCORES
from .dataset import Raw
from .labels import encode
from .remarks import Remark

BY_POSITION = Remark("rows_by_position")
FEW_NAMES = 1_000
NOTHING: Mapping[str, Any] = MappingProxyType({})
FEW_UNSEEN, MANY_UNSEEN = 3, 10  # labels that are never true, where an event is named and where none is
# What NumPy, pandas, R, SQL, spreadsheets and people write for nothing, in small letters and without outer blanks.
FOR_MISSING = {
    *("", "nan", "-nan", "+nan", "none", "null", "(null)", "nil", "na", "n/a", "#n/a", "n.a.", "<na>", "nat", "\\n"),
    *("missing", "(missing)", "<missing>", "not available", "-", "--", "---", "?", "??", "???", ".", "..", "...", "_"),
    *("#ref!", "#value!", "#div/0!", "#name?", "#null!", "#num!", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
    *("\u2013", "\u2014", "undefined", "n.d.", "<null>", "<nan>", "<none>", "[null]", "na_character_"),
}
SEVERITY = "none"  # a grade before "mild", if it is not written as Python does
SIGNS = {"-", "+"}  # of a reaction, say
SPELLED_NUMBER = re.compile(r"\s*[-+]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]{1,3})?\s*", re.ASCII)
HEXADECIMAL = re.compile(r"\s*-?0[xX][0-9a-fA-F]+\s*")


def refuse_misaligned(
    truth: Any, others: Mapping[str, Any], predictions: Mapping[str, Any] = NOTHING, called: str = "truth"
) -> bool:
    """Compare the indexes of all columns of pandas; return whether some rows were matched by position instead.

    Columns are taken row by row. Their indexes must be equal, row by row. A column whose index only counts its rows
    (0, 1, 2, ...) is taken by position beside other names; where these are mostly the same numbers, only predictions
    are, of which models return the rows as they got them.
    """
    told = [(called, truth), *_columns_in(predictions)]
    few = len(told)
    told += _columns_in(others)
    found = [(name, _index(column), 0 < place < few) for place, (name, column) in enumerate(told)]
    columns = [(name, index, said) for name, index, said in found if index is not None and len(index)]
    if len(columns) < 2:
        return False
    by_truth = columns[0][1] is found[0][1]
    named = [place for place, (_, index, _) in enumerate(columns) if not _counts_rows(index)]
    owner, own, _ = columns.pop(0 if by_truth or not named else named[0])
    whose, by_position = "the truth" if by_truth and called == "truth" else quoted(owner), False
    for name, index, said in columns:
        if len(index) != len(own) or _are_equal(own, index):
            continue
        trusted = by_truth and said and type(index).__name__ == "RangeIndex"
        if not _are_unrelated(own, index, trusted):
            raise _misaligned(owner, whose, own, name, index)
        by_position = True
    return by_position


def _columns_in(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return all columns by what messages call them, those of dictionaries and lists among them."""
    given = {name: each for name, each in given.items() if each is not None}
    several = {name: dict(enumerate(each)) for name, each in given.items() if _holds_columns(each)}
    several |= {name: dict(each) for name, each in given.items() if isinstance(each, Mapping)}
    inner = [(f"{name}[{label}]", column) for name, each in several.items() for label, column in each.items()]
    return [*given.items(), *inner]


def _are_equal(own: Any, other: Any) -> bool:
    """Return whether two indexes name all rows alike."""
    kinds = {getattr(index.dtype, "kind", "O") in "iuf" for index in (own, other)}
    return own is other or bool(len(kinds) == 1 and own.equals(other))


def _counts_rows(index: Any, start: int | None = 0) -> bool:
    """Return whether an index only counts rows, from 0 on; with ``start=None`` from any number on."""
    if getattr(index.dtype, "kind", "") not in "iu":
        return False
    first, last = int(index[0]), int(index[-1])
    if (start is not None and first != start) or last - first != len(index) - 1:
        return False
    return type(index).__name__ == "RangeIndex" or bool(index.is_monotonic_increasing and index.is_unique)


def _are_unrelated(own: Any, other: Any, trusted: bool) -> bool:
    """Return whether one of two indexes only counts rows, and the other names them by something else."""
    counted = [_counts_rows(index) for index in (own, other)]
    if not any(counted):
        return False
    names = own if counted[1] else other
    if getattr(names.dtype, "kind", "") in "iuf":
        values = names.to_numpy()
    else:
        try:  # numbers that were made text are still these rows; the first names tell whether they are numbers
            names[:FEW_NAMES].to_numpy(dtype=object).astype(np.float64)
            values = names.to_numpy(dtype=object).astype(np.float64)
        except (ValueError, TypeError):
            return True
    shared = int(np.count_nonzero((values >= 0) & (values < len(values))))
    if _counts_rows(names, start=None):
        return shared == 0  # else rows were shifted
    return 2 * shared <= len(values) or (counted[1] and trusted)


def _misaligned(owner: str, whose: str, own: Any, name: str, index: Any) -> MisalignedRows:
    """Return the error for a column whose rows have other names than those of the first one, or another order."""
    row = _first_difference(own, index)
    said, true = (quoted(each[row : row + 1].tolist()[0]) for each in (index, own))
    if _names_the_same(own, index):
        mend = f"Bring the rows into one order, as {name}.loc[{owner}.index]; if they are, give .to_numpy()"
    else:
        mend = "Give the same rows in the same order; if they are, give .to_numpy(), which has no index"
    return MisalignedRows(f"the index says {said}, and that of {whose} {true}", column=name, row=row, mend=mend)


def _names_the_same(own: Any, other: Any) -> bool:
    """Whether the rows of one are rows of the other, by their names; names of several levels can be unlike others."""
    try:
        return bool(own.is_unique and own.nlevels == other.nlevels and other.isin(own).all())
    except Exception:  # pandas may raise anything where names are of different kinds
        return False


def _first_difference(own: Any, index: Any) -> int:
    """Return the first row that two indexes name differently."""
    for row, (ours, theirs) in enumerate(zip(own.tolist(), index.tolist(), strict=True)):
        try:
            if not (ours is theirs or ours == theirs or (ours != ours and theirs != theirs)):  # noqa: PLR0124
                return row
        except Exception:  # names of different kinds may raise anything
            return row
    return 0


def _holds_columns(several: Any) -> bool:
    """Whether a list holds columns of pandas, rather than labels, of which there may be very many."""
    if not isinstance(several, list | tuple):
        return False
    one_of_each = dict(zip(map(type, several), several, strict=True))
    return any(_index(one) is not None for one in one_of_each.values())


def _index(column: Any) -> Any:
    """How pandas names the rows of a column or frame."""
    return getattr(column, "index", None) if is_of_pandas(column) else None


def refuse_strangers(raw: Raw, event: Label | None = None) -> None:
    """Labels that have nothing in common with the true ones come from a wrong column, or are spelled differently."""
    for said in raw.predictions.values():
        assigned, true = () if said.labels is None else said.labels.labels, raw.truth.labels
        unseen = set(assigned) - set(true)
        if not unseen:
            continue
        said_numbers = [label for label in assigned if isinstance(label, int)]
        numbers_alone = len(said_numbers) == len(assigned) and all(isinstance(label, int) for label in true)
        if numbers_alone and len(true) <= 2 and len(unseen) >= (MANY_UNSEEN if event is None else FEW_UNSEEN):
            # More likely, numbers are scores of one of two classes than labels of many others.
            raise UnknownLabel(
                f"beside the classes {listed(true)}, {len(assigned):,} whole numbers from {min(said_numbers)} to "
                f"{max(said_numbers)} look like scores, perhaps in per cent",
                column=said.name,
                mend=f"{SCORES}; if they are classes, name all: scale=Scale([...])",
            )
        if len(unseen) == len(set(assigned)):
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


def check_named(raw: Raw, scale: Scale) -> None:
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


def check_not_swapped(truth: Any, prediction: Any, measured: bool) -> None:
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


def check_lengths(raw: Raw, weight: str) -> None:
    """Columns of one problem have as many rows as each other."""
    rows, other = len(raw.truth), raw.truth.name
    for column in (raw.group, raw.slice):
        if column is not None:
            refuse_length(column.name, len(column), rows, other)
    if raw.weight is not None:
        refuse_length(weight, len(raw.weight), rows, other)
    for said in raw.predictions.values():
        if said.labels is not None:
            refuse_length(said.name, len(said.labels), rows, other)
        for place, scores in enumerate(said.columns):
            if len(scores) != rows:
                refuse_length(said.heading(place), len(scores), rows, other)


def words_for_missing(labels: Sequence[Label]) -> list[str]:
    """Return the labels that often stand for a missing value."""
    texts = [label for label in labels if isinstance(label, str)]
    return [text for text in texts if _is_for_missing(text) and not (text == "-" and set(texts) >= SIGNS)]


def _is_for_missing(text: str) -> bool:
    word = text.strip().lower()
    return word in FOR_MISSING and text.strip() != SEVERITY


def same_numbers(labels: Sequence[Label]) -> list[list[Label]]:
    """Return labels of text that are the same number spelled in several ways: 1E2 and 100, 1 and 1.0 and 01."""
    found: dict[float, list[Label]] = {}
    for label in labels:
        number = _number(label) if isinstance(label, str) else None
        if number is not None:
            found.setdefault(number, []).append(label)
    return [same for same in found.values() if len(same) > 1]


def _number(text: str) -> float | None:
    if (whole := whole_number(text)) is not None:
        return whole
    if HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    return float(text.replace(",", ".")) if SPELLED_NUMBER.fullmatch(text) else None
