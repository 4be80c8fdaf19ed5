"""Labels of any kind into small integer codes, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.columns import AS_TEXT, as_numpy, days_of, flat, flattened, is_missing, is_whole, take
from ..core.errors import UnusableLabels, quoted, refuse_length
from ..core.scale import Label, plain_label
from ..core.threads import CHUNK, chunks, over_rows
from .categorical import Categorical, in_their_order, look_up, occurring, renumbered, without

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Codes, Marks, Places

FIRST = 1 << 12  # labels among which most often are all that there are
WIDEST_RANGE = 1 << 16  # integer labels spread wider than this are sorted instead of looked up
FEW_WORDS = 256  # rows that are sorted before Arrow has begun with them
DIVIDED = {"W": "D", "h": "s", "m": "s"}  # units of time, in units of Arrow's
PASSES = 2  # over the labels, at the least
MEND = "Labels are text, whole numbers or booleans"
CONTINUOUS = f"{MEND}; cut a continuous truth with scale=Continuum(...)"
PARTS = "Groups and parts are text, whole numbers or booleans; round other numbers, or cut them into parts first"


def encode(values: Any, name: str) -> Categorical:
    """Code a column of labels, whatever holds it: a list, an array, a series, an Arrow column."""
    return coded(flat(values, name), name)


def encode_parts(values: Any, name: str) -> Categorical:
    """Code what rows belong to: a cluster, or a part of the data. Days and times go by their text."""
    try:
        return coded(_days_in_words(flattened(take_parts(values, name), name)), name)
    except UnusableLabels as error:
        raise (error.mended(PARTS) if error.mend == CONTINUOUS else error) from None


def take_parts(values: Any, name: str) -> Any:
    """Bring what rows belong to into an array; Python's own days, which no class is called by, are taken here."""
    try:
        return take(values, name)
    except UnusableLabels:
        if (days := days_of(values)) is None:
            raise
        return days


def coded(column: Any, name: str) -> Categorical:
    """Code a flat array of labels."""
    if not isinstance(column, np.ndarray):
        return _encode_arrow(column, name)
    match column.dtype.kind:
        case "b":
            return _encode_integers(column.view(np.uint8), name, booleans=True)
        case "i" | "u":
            return _encode_integers(column, name)
        case "f":
            return _encode_floats(column, name)
        case "U":
            return _encode_fixed_text(column, name)
        case "S":
            raise UnusableLabels("bytes cannot be class labels", column=name, mend="Decode them: labels.astype(str)")
    raise UnusableLabels(f"{column.dtype} cannot be class labels", column=name, mend=AS_TEXT)


def _days_in_words(column: Any) -> Any:
    """Days and times as text, "2024-02-01 08:30:00", and midnight without its hours; other columns as they are."""
    if isinstance(column, np.ndarray) and column.dtype.kind != "M":
        return column
    import pyarrow as pa
    from pyarrow import compute

    column = _times(column) if isinstance(column, np.ndarray) else column
    if pa.types.is_dictionary(column.type) and pa.types.is_temporal(column.type.value_type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
        return column
    words = compute.replace_substring_regex(column.cast(pa.string()), r"\.0+(Z|[+-]\d{4})?$", r"\1")
    return compute.replace_substring_regex(words, " 00:00:00Z?$", "")


def _times(column: AnyArray) -> Any:
    """NumPy's times for Arrow, which has days, seconds and parts of them, but no multiples of them."""
    import pyarrow as pa

    unit, _ = np.datetime_data(column.dtype)
    single = column.astype(f"M8[{DIVIDED.get(unit, unit)}]")
    try:
        return pa.array(single)
    except pa.ArrowNotImplementedError:  # a year or a month, which is no number of days
        return pa.array(np.datetime_as_string(single), mask=np.isnat(single))


# --- numbers --------------------------------------------------------------------------------------------------


def _encode_integers(values: AnyArray, name: str, *, booleans: bool = False) -> Categorical:
    if len(values) == 0:
        return Categorical(np.zeros(0, dtype=np.uint8), (), name)
    # Most often the first rows show the range, and one pass is enough; if not, the first pass finds it.
    low, high = int(values[:CHUNK].min()), int(values[:CHUNK].max())
    for _ in range(2):
        if high - low >= WIDEST_RANGE:
            labels, inverse = np.unique(values, return_inverse=True)
            return Categorical(inverse, tuple(labels.tolist()), name)
        codes, seen, ends = _shift(values, low, high - low + 1)
        if ends == (low, high):
            break
        low, high = ends
    found = [code + low for code in seen.nonzero()[0].tolist()]
    return Categorical(renumbered(codes, seen), tuple(map(bool, found) if booleans else found), name)


def _shift(values: AnyArray, low: int, width: int) -> tuple[Codes, Marks, tuple[int, int]]:
    """Subtract the lowest label into the narrowest type, and see which values there are on the way."""
    codes = np.empty(len(values), dtype=np.min_scalar_type(width - 1))

    def work(start: int, stop: int) -> tuple[Marks, int, int]:
        seen, ends = np.zeros(width, dtype=bool), [low, low + width - 1]
        for first, last in chunks(start, stop):
            piece, place = values[first:last], codes[first:last]
            if first > 0:  # the range of the first rows is known
                ends += [int(piece.min()), int(piece.max())]
            np.subtract(piece, low, out=place, casting="unsafe")
            for some in (place[:FIRST], place[FIRST:]):
                if len(some) and not seen.all():
                    seen |= np.bincount(some, minlength=width)[:width] > 0
        return seen, min(ends), max(ends)

    marks, lowest, highest = zip(*over_rows(len(values), work, PASSES), strict=True)
    return codes, reduce(np.logical_or, marks), (min(lowest), max(highest))


def _encode_floats(values: AnyArray, name: str) -> Categorical:
    """Code whole numbers that are held as floats; NaN is missing."""
    whole = np.empty(len(values), dtype=np.int64)

    def work(start: int, stop: int) -> bool:
        odd = False
        with np.errstate(invalid="ignore"):
            for low, high in chunks(start, stop):
                np.copyto(whole[low:high], values[low:high], casting="unsafe")
                odd |= bool((whole[low:high] != values[low:high]).any())
        return odd

    missing = np.isnan(values) if any(over_rows(len(values), work)) else None
    if missing is not None:
        _check_whole(values, (whole != values) & ~missing, name)
        whole[missing] = 0 if missing.all() else whole[np.argmin(missing)]
    coded = _encode_integers(whole, name)
    if any(abs(int(label)) > 2**53 for label in coded.labels[:1] + coded.labels[-1:]):
        _check_whole(values, np.abs(whole.astype(np.float64)) > 2**53, name)
    return coded if missing is None else without(coded, missing)


def _check_whole(values: AnyArray, broken: Marks, name: str) -> None:
    for row in np.flatnonzero(broken)[:1].tolist():
        raise UnusableLabels(
            f"{float(values[row])!r} cannot be a class label",
            column=name,
            row=row,
            mend=CONTINUOUS,
        )


# --- text, and everything from Arrow --------------------------------------------------------------------------


class WordBlock(NamedTuple):
    """Consecutive rows: row i has the word ``words[places[i]]``, or none where it is marked."""

    words: list[Any]
    places: Places
    missing: Marks | None = None


def _encode_fixed_text(values: AnyArray, name: str) -> Categorical:
    """Code NumPy's text of fixed width by its bytes: equal words have equal bytes."""
    import pyarrow as pa

    width = values.dtype.itemsize
    if width == 0 or len(values) == 0:
        return Categorical(np.zeros(len(values), dtype=np.uint8), ("",) if len(values) else (), name)
    if len(values) <= FEW_WORDS:
        words, places = np.unique(values, return_inverse=True)
        return _joined([WordBlock(words.tolist(), places)], name)
    content = pa.py_buffer(np.ascontiguousarray(values).view(np.uint8))
    cells = pa.Array.from_buffers(pa.binary(width), len(values), [None, content])
    pieces = [
        WordBlock(np.frombuffer(b"".join(piece.words), dtype=values.dtype).tolist(), piece.places)
        for piece in _pieces(_dictionaries(cells), name)
    ]
    return _joined(pieces, name)


def _encode_arrow(column: Any, name: str) -> Categorical:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return without(Categorical(np.zeros(0, dtype=np.uint8), (), name), np.ones(len(column), dtype=bool))
    if pa.types.is_floating(kind):
        return _encode_floats(as_numpy(column.cast(pa.float64())), name)
    if is_whole(column):
        present = column.drop_null()
        filled = as_numpy(column.fill_null(present[0] if len(present) else pa.scalar(0).cast(kind)))
        return without(encode(filled, name), as_numpy(column.is_null()))
    if pa.types.is_dictionary(kind):
        found = _joined(_pieces(column.chunks if isinstance(column, pa.ChunkedArray) else [column], name), name)
        return replace(found, order=order_of(column))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise UnusableLabels(f"a column of {kind} cannot hold class labels", column=name, mend=AS_TEXT)
    return _joined(_pieces(_dictionaries(column), name), name)


def _dictionaries(column: Any) -> list[Any]:
    """Let Arrow find the distinct words, on all cores."""
    import pyarrow as pa

    def work(start: int, stop: int) -> list[Any]:
        part = column.slice(start, stop - start)
        if pa.types.is_string_view(part.type):
            part = part.cast(pa.large_string())
        part = part.dictionary_encode()
        return list(part.chunks) if isinstance(part, pa.ChunkedArray) else [part]

    return list(chain.from_iterable(over_rows(len(column), work)))


def _pieces(arrays: Sequence[Any], name: str) -> list[WordBlock]:
    """One piece for all consecutive arrays that share a dictionary."""
    import pyarrow as pa

    shared: list[tuple[Any, list[Any]]] = []
    for array in arrays:
        if not (shared and shared[-1][0].equals(array.dictionary)):
            shared.append((array.dictionary, []))
        shared[-1][1].append(array.indices)
    pieces = []
    for dictionary, parts in shared:
        indices = pa.chunked_array(parts)
        missing = as_numpy(indices.is_null()) if indices.null_count else None
        places = as_numpy(indices if missing is None else indices.fill_null(0))
        pieces.append(WordBlock(_words(dictionary, name), places, missing))
    return pieces


def _words(dictionary: Any, name: str) -> list[Any]:
    try:
        return list(dictionary.to_pylist())
    except (ValueError, ArithmeticError) as error:  # bytes that are no text, dates that Python cannot hold
        raise UnusableLabels(f"a label cannot be read ({quoted(str(error))})", column=name, mend=MEND) from None


def _joined(pieces: Sequence[WordBlock], name: str) -> Categorical:
    """Sort the labels that occur, so that equal data give equal codes whatever order they came in."""
    starts = list(accumulate([len(piece.places) for piece in pieces], initial=0))
    meant = [_meanings(piece, name, start) for piece, start in zip(pieces, starts[:-1], strict=True)]
    labels = tuple(sorted({label for found in meant for label in found if label is not None}))
    place = {label: code for code, label in enumerate(labels)}
    gaps = any(piece.missing is not None or None in found for piece, found in zip(pieces, meant, strict=True))
    narrow = np.min_scalar_type(-len(labels) - 1 if gaps else max(len(labels) - 1, 0))
    codes = np.empty(starts[-1], dtype=narrow)
    for piece, found, start in zip(pieces, meant, starts[:-1], strict=True):
        out = codes[start : start + len(piece.places)]
        target = np.array([-1 if label is None else place[label] for label in found], dtype=np.int64)
        if len(target):
            look_up(piece.places, target.astype(narrow), out)
        if piece.missing is not None:
            out[piece.missing] = -1
    return Categorical(codes, labels, name, has_missing=gaps and bool((codes < 0).any()))


def order_of(column: Any) -> tuple[Label, ...]:
    """The labels as an ordered categorical has them, also those that do not occur; none where its parts disagree."""
    import pyarrow as pa

    if not (pa.types.is_dictionary(column.type) and column.type.ordered):
        return ()
    words = [part.dictionary.to_pylist() for part in getattr(column, "chunks", [column])]
    try:
        orders = {tuple(dict.fromkeys(plain_label(word) for word in each if not is_missing(word))) for each in words}
    except UnusableLabels:  # of those that occur, it is told elsewhere
        return ()
    return orders.pop() if len(orders) == 1 else ()


def _meanings(piece: WordBlock, name: str, start: int) -> list[Any]:
    """The label that each word stands for; None for what is missing or does not occur."""
    seen = occurring(piece.places if piece.missing is None else piece.places[~piece.missing], len(piece.words))
    meant: list[Label | None] = []
    for code, (word, occurs) in enumerate(zip(piece.words, seen.tolist(), strict=True)):
        try:
            meant.append(plain_label(word) if occurs and not is_missing(word) else None)
        except UnusableLabels as error:
            here = piece.places == code
            row = start + int(np.argmax(here if piece.missing is None else here & ~piece.missing))
            raise UnusableLabels(error.problem, column=name, row=row, mend=error.mend) from None
    return meant


# --- several columns ------------------------------------------------------------------------------------------


def _arranged(column: Categorical) -> Categorical:
    """The same column with its labels in the order that it brings along, if it does."""
    labels = in_their_order(column.labels, [column])
    if not labels:
        return column
    place = {label: at for at, label in enumerate(labels)}
    places = np.array([*(place[label] for label in column.labels), -1])  # what is missing stays so
    return replace(column, codes=places[column.codes], labels=tuple(labels))


def crossed(columns: Sequence[Categorical]) -> Categorical:
    """One slice for every combination that occurs, labelled 'a=1, b=2'."""
    if len(columns) == 1:
        return columns[0]
    places = np.zeros(len(columns[0]), dtype=np.int64)
    missing = np.zeros(len(places), dtype=bool)
    parts: list[tuple[Label, ...]] = [()]
    for column in map(_arranged, columns):
        refuse_length(column.name, len(column), len(places), columns[0].name)
        labels = column.labels or ("",)
        pairs = encode(places * len(labels) + np.maximum(column.codes, 0), column.name)
        parts = [(*parts[int(pair) // len(labels)], labels[int(pair) % len(labels)]) for pair in pairs.labels]
        places, missing = pairs.codes.astype(np.int64), missing | column.missing()
    names = [column.name for column in columns]
    shown = [", ".join(f"{name}={label}" for name, label in zip(names, part, strict=True)) for part in parts]
    if len(set(shown)) < len(shown):  # a label that looks like two
        shown = [", ".join(f"{name}={label!r}" for name, label in zip(names, part, strict=True)) for part in parts]
    crossed = Categorical(places, tuple(shown), " × ".join(names), order=tuple(shown))
    return without(crossed, missing) if missing.any() else crossed
