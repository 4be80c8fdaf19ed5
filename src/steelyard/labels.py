"""Labels of any kind into small integer codes, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import MissingValues, UnknownLabel, UnusableLabels, WrongShape, quoted
from .parallel import chunks, over_rows
from .scale import Label, Scale, listed, plain_label

if TYPE_CHECKING:
    from .kinds import AnyArray, Codes, Marks, Places

WIDEST_RANGE = 1 << 16  # integer labels spread wider than this are sorted instead of looked up


@dataclass(frozen=True)
class Coded:
    """A column of labels: row i has the label ``labels[codes[i]]``; a code of -1 means missing."""

    codes: Codes
    labels: tuple[Label, ...]
    name: str
    has_missing: bool = False

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.codes)

    def missing(self) -> Marks:
        """Mark the rows without a label."""
        return self.codes < 0

    def keep(self, rows: Marks) -> Coded:
        """Leave out the rows that are not marked."""
        return Coded(self.codes[rows], self.labels, self.name)

    def on(self, scale: Scale) -> Codes:
        """Translate to the codes of a scale, or name the first label that is not on it."""
        places = {label: place for place, label in enumerate(scale.classes)}
        target = np.array([places.get(label, -1) for label in self.labels], dtype=np.int64)
        if (target < 0).any():
            self._refuse(target, scale)
        if np.array_equal(target, np.arange(len(target))):
            return self.codes
        return look_up(self.codes, target.astype(np.min_scalar_type(len(scale) - 1)))

    def _refuse(self, target: Places, scale: Scale) -> None:
        for row in np.flatnonzero(target[self.codes] < 0)[:1]:
            label = self.labels[int(self.codes[row])]
            kinds = {type(known).__name__ for known in scale.classes}
            mend = "Check the spelling, or add it to the scale"
            if type(label).__name__ not in kinds:
                mend = f"The scale has {'/'.join(sorted(kinds))} labels, this is {type(label).__name__}"
            raise UnknownLabel(
                f"{quoted(label)} is not one of the classes {listed(scale.classes)}",
                column=self.name,
                row=int(row),
                mend=mend,
            )


def look_up(codes: Codes, target: AnyArray) -> AnyArray:
    """Replace every code by its entry in ``target``, in cache-sized pieces."""
    out = np.empty(len(codes), dtype=target.dtype)

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop):
            np.take(target, codes[low:high], out=out[low:high], mode="clip")

    over_rows(len(codes), work)
    return out


def encode(values: Any, name: str) -> Coded:
    """Code a column of labels, whatever holds it: a list, an array, a series, an Arrow column."""
    if type(values) is not np.ndarray and not isinstance(values, list | tuple):
        return _encode_foreign(values, name)
    array = np.asarray(values) if not isinstance(values, np.ndarray) else values
    if isinstance(values, list | tuple) and array.dtype.kind in "fUSO":
        # NumPy turns [1, "a"] into text and [True, None] into objects; Arrow keeps what was there.
        array = np.array(values, dtype=object) if array.ndim == 1 else array
    if array.ndim != 1:
        raise WrongShape(
            f"labels have the shape {array.shape}", column=name, mend="One label a row: a flat list or column"
        )
    if isinstance(array, np.ma.MaskedArray):
        return _encode_arrow(_arrow(array.filled(), name, np.ma.getmaskarray(array)), name)
    if array.dtype.kind == "b":
        return _encode_integers(array.view(np.uint8), name, booleans=True)
    if array.dtype.kind in "iu":
        return _encode_integers(array, name)
    if array.dtype.kind == "f":
        return _encode_floats(array, name)
    return _encode_arrow(_arrow(array, name), name)


def _encode_integers(values: AnyArray, name: str, *, booleans: bool = False) -> Coded:
    if len(values) == 0:
        return Coded(values, (), name)

    def extremes(start: int, stop: int) -> tuple[int, int]:
        return int(values[start:stop].min()), int(values[start:stop].max())

    ends = over_rows(len(values), extremes)
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if high - low >= WIDEST_RANGE:
        labels, inverse = np.unique(values, return_inverse=True)
        return Coded(inverse, tuple(labels.tolist()), name)
    codes, counts = _shift(values, low, high - low + 1)
    present = np.flatnonzero(counts)
    labels_seen = tuple(bool(code + low) if booleans else int(code + low) for code in present)
    if len(present) < len(counts):
        rank = np.cumsum(counts > 0) - 1
        codes = look_up(codes, rank.astype(np.min_scalar_type(len(present) - 1)))
    return Coded(codes, labels_seen, name)


def _shift(values: AnyArray, low: int, width: int) -> tuple[Codes, Places]:
    """Subtract the lowest label into the narrowest type, counting every value on the way."""
    codes = np.empty(len(values), dtype=np.min_scalar_type(width - 1))

    def work(start: int, stop: int) -> Places:
        counts = np.zeros(width, dtype=np.int64)
        for first, last in chunks(start, stop):
            np.subtract(values[first:last], low, out=codes[first:last], casting="unsafe")
            counts += np.bincount(codes[first:last], minlength=width)
        return counts

    return codes, np.sum(over_rows(len(values), work), axis=0)


def _encode_floats(values: AnyArray, name: str) -> Coded:
    missing = np.isnan(values)
    filled = np.where(missing, 0.0, values) if missing.any() else values
    broken = np.flatnonzero((filled != np.floor(filled)) | (np.abs(filled) > 2**53))
    if len(broken):
        row = int(broken[0])
        raise UnusableLabels(
            f"{float(values[row])!r} cannot be a class label",
            column=name,
            row=row,
            mend="Labels are strings, whole numbers or booleans; cut a continuous truth with scale=Continuum(...)",
        )
    if not missing.any():
        return _encode_integers(filled.astype(np.int64), name)
    present = _encode_integers(filled[~missing].astype(np.int64), name)
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[~missing] = present.codes
    return Coded(codes, present.labels, name, has_missing=True)


def _arrow(values: Any, name: str, mask: Any = None) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values, mask=mask, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise UnusableLabels(
            "the column mixes values that cannot be labels of one kind",
            column=name,
            mend=f"Make all labels strings, or all whole numbers ({quoted(str(error), 120)})",
        ) from None


def _encode_foreign(values: Any, name: str) -> Coded:
    """Take in a series or an Arrow column without going through Python objects."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _encode_arrow(values, name)
    if hasattr(values, "__arrow_c_stream__"):
        return _encode_arrow(pa.chunked_array(values), name)
    if hasattr(values, "__arrow_c_array__"):
        return _encode_arrow(pa.array(values), name)
    if type(values).__module__.partition(".")[0] == "pandas":
        return _encode_arrow(_arrow(values, name), name)
    array = np.asarray(values)
    if array.ndim == 0:
        raise WrongShape(
            f"{quoted(values)} is not a column", column=name, mend="Give one label a row: a list or an array"
        )
    return encode(array if array.dtype != object else list(values), name)


def _encode_arrow(column: Any, name: str) -> Coded:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column
        column = column.combine_chunks()
        column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    kind = column.type
    if pa.types.is_null(kind):
        return Coded(np.full(len(column), -1), (), name, has_missing=len(column) > 0)
    if column.null_count == 0 and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return encode(column.to_numpy(zero_copy_only=False), name)
    if column.null_count == 0 and pa.types.is_boolean(kind):
        return encode(column.to_numpy(zero_copy_only=False), name)
    if pa.types.is_floating(kind):
        return _encode_floats(column.fill_null(np.nan).to_numpy(zero_copy_only=False), name)
    if not pa.types.is_dictionary(kind):
        column = _dictionary(column, name)
    return _from_dictionary(column, name)


def _dictionary(column: Any, name: str) -> Any:
    import pyarrow as pa

    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if pa.types.is_decimal(column.type) or pa.types.is_nested(column.type) or pa.types.is_temporal(column.type):
        raise UnusableLabels(
            f"a column of {column.type} cannot hold class labels",
            column=name,
            mend="Labels are strings, whole numbers or booleans",
        )
    return column.dictionary_encode()


def _from_dictionary(column: Any, name: str) -> Coded:
    """Sort the labels that occur, so that equal data give equal codes whatever order they came in."""
    indices = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    words = column.dictionary.to_pylist()
    has_missing = column.null_count > 0
    if None in words or any(isinstance(word, float) and np.isnan(word) for word in words):
        gone = np.array([word is None or isinstance(word, float) for word in words] + [False])
        indices = np.where(gone[indices], -1, indices)
        has_missing = bool((indices < 0).any())
    seen = np.bincount(indices + 1, minlength=len(words) + 1)[1:] > 0
    labels = _sorted_labels([plain_label(word) for word, here in zip(words, seen, strict=True) if here], name)
    places = {label: place for place, label in enumerate(labels)}
    target = np.array([places.get(word, -1) if here else -1 for word, here in zip(words, seen, strict=True)] + [-1])
    narrow = np.min_scalar_type(-len(labels) - 1) if has_missing else np.min_scalar_type(max(len(labels) - 1, 0))
    if has_missing:  # a code of -1 looks up the last entry
        return Coded(target.astype(narrow)[indices], labels, name, has_missing=True)
    return Coded(look_up(indices, target[:-1].astype(narrow)), labels, name)


def _sorted_labels(labels: Sequence[Label], name: str) -> tuple[Label, ...]:
    try:
        return tuple(sorted(set(labels)))
    except TypeError:
        raise UnusableLabels(
            "the column mixes text and numbers", column=name, mend="Make all labels strings, or all numbers"
        ) from None


def refuse_missing(column: Coded) -> None:
    """Name the first row without a label."""
    if column.has_missing:
        raise MissingValues(
            "the value is missing",
            column=column.name,
            row=int(np.argmax(column.missing())),
            mend="Fill it in, or leave such rows out with missing='drop'",
        )


def scale_of(columns: Sequence[Coded], event: Any) -> Scale:
    """Make a scale of all labels seen, sorted: what is assumed when nobody named the classes."""
    labels = {label for column in columns for label in column.labels}
    kinds = {str if isinstance(label, str) else int for label in labels}
    if len(kinds) > 1:
        first = next(column for column in columns if any(isinstance(label, str) for label in column.labels))
        raise UnusableLabels(
            f"some labels are text ({quoted(next(iter(first.labels)))}) and some are numbers",
            column=first.name,
            mend="Use one kind for truth and prediction",
        )
    ordered = sorted(labels)
    return Scale(ordered, event, ordered=not (ordered and isinstance(ordered[0], str)))
