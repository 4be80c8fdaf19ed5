"""What a user hands in, whatever holds it, as one of two things: a NumPy array or an Arrow array.

Lists, arrays, series and Arrow columns come in here. What lies behind this file sees NumPy arrays, and Arrow arrays
where there is text or a value may be missing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import DuplicateColumns, NotNumbers, SteelyardError, UnreadableFile, UnusableLabels, WrongShape, quoted

if TYPE_CHECKING:
    from .typing import AnyArray, Array, Marks, Numbers

ONE_HOT = "Name the class of each row, as values.argmax(axis=1) does with its number"
FLAT = "Give one value a row: a list, an array or a column"
POINT = "Decimals stand behind a point: {}.{}"
DECIMALS = (
    "Write decimals with a point, and no mark between thousands; or all in a file with a comma: then no number in it "
    "has a point, as 1.000 has"
)
DECIMAL_SIGNS = (",", ".")  # a word that is no number either way is told before numbers that are written in two ways
AS_TEXT = "Labels are text, whole numbers or booleans; turn others into text, as values.astype(str) does"
TEXT, NUMBER, BOOLEAN = "text", "a number", "a boolean"
MISSING = ("NoneType", "NAType", "NaTType")  # the types of None and of pandas' two words for it


class _Arrow:
    """pyarrow and its modules, loaded when something of them is first asked for: plain arrays do without."""

    def __getattr__(self, name: str) -> Any:
        """Find something once."""
        arrow = import_module("pyarrow")
        found = self.__dict__[name] = getattr(arrow, name) if hasattr(arrow, name) else import_module(f"pyarrow.{name}")
        return found


pa: Any = _Arrow()


def take(values: Any, name: str) -> Any:
    """Bring values into a NumPy array of any shape or a flat Arrow array; a table becomes an Arrow struct."""
    if type(values) is np.ndarray and values.dtype.kind not in "OT":
        return values
    try:
        if isinstance(values, np.ndarray):
            return _from_numpy(values, name)
        if isinstance(values, list | tuple):
            return _from_list(values, name)
        if hasattr(values, "__arrow_c_stream__") and hasattr(values, "columns"):
            return read_frame(values).to_struct_array()
        if _is_foreign(values) and str(getattr(values, "dtype", "")) != "object":
            return _from_arrow(values)
        return _from_numpy(np.asarray(values), name)
    except SteelyardError:
        raise
    except Exception as error:  # things of a foreign make may raise anything when they are read
        problem = f"the {type(values).__name__} cannot be read ({quoted(str(error), 120)})"
        raise odd_one(values, name) or UnusableLabels(problem, column=name, mend=FLAT) from None


def flat(values: Any, name: str) -> Any:
    """Bring one column into a flat array."""
    return flattened(take(values, name), name)


def flattened(column: Any, name: str) -> Any:
    """See that what was taken is one flat column."""
    if isinstance(column, np.ndarray) and column.ndim == 1:
        return column
    if is_table(column):
        raise WrongShape("a table stands where a column must", column=name, mend="Give one of its columns")
    if not isinstance(column, np.ndarray):
        return column
    if column.ndim == 0:
        raise WrongShape(f"a {type(column.item()).__name__} is not a column", column=name, mend=FLAT)
    narrow = column.ndim == 2 and column.shape[1] == 1
    mend = "Make it flat: values.ravel()" if narrow else ONE_HOT if _is_one_hot(column) else FLAT
    raise WrongShape(f"the column has the shape {column.shape}", column=name, mend=mend)


def _is_one_hot(column: Any) -> bool:
    """Whether every row marks one class with 1 and all others with 0."""
    marks = column.ndim == 2 and column.dtype.kind in "fiub" and np.isin(column, (0, 1)).all()
    return bool(marks and (column.sum(axis=1) == 1).all())


def is_table(column: Any) -> bool:
    """Tell a table with named columns from a single column."""
    if isinstance(column, np.ndarray):
        return False
    return bool(pa.types.is_struct(column.type))


def is_listed(column: Any) -> bool:
    """Tell a column whose rows hold several numbers each."""
    if isinstance(column, np.ndarray):
        return False
    kind = column.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return False
    inside = kind.value_type
    return bool(pa.types.is_floating(inside) or pa.types.is_integer(inside) or pa.types.is_decimal(inside))


def numbers_in_rows(column: Any, name: str) -> Numbers:
    """The numbers in the rows of a column, (rows, numbers a row); a row without any has nothing but NaN."""
    lengths = pa.compute.list_value_length(column)
    sizes = lengths.drop_null().unique().to_pylist() or [1]  # how many others have, no row of these can tell
    if len(sizes) > 1:
        row = pa.compute.index(pa.compute.not_equal(lengths, sizes[0]), True).as_py()
        raise WrongShape(
            f"{sizes[1]} numbers stand in one row, and {sizes[0]} in those before",
            column=name,
            row=row,
            mend="Give one number a class in every row",
        )
    there = numbers(pa.compute.list_flatten(column), name).reshape(len(column) - column.null_count, sizes[0])
    if not column.null_count:
        return there
    found = np.full((len(column), sizes[0]), np.nan)
    found[as_numpy(pa.compute.is_valid(column)).astype(bool)] = there
    return found


def is_floating(column: Any) -> bool:
    """Tell numbers that may have a fraction by their type."""
    if isinstance(column, np.ndarray):
        return bool(column.dtype.kind == "f")
    return bool(pa.types.is_floating(column.type) or pa.types.is_decimal(column.type))


def is_whole(column: Any) -> bool:
    """Tell whole numbers and booleans by their type, also where some are missing."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "iub"
    return bool(pa.types.is_integer(column.type) or pa.types.is_boolean(column.type))


def is_boolean(column: Any) -> bool:
    """Tell booleans by their type."""
    if isinstance(column, np.ndarray):
        return bool(column.dtype.kind == "b")
    return bool(pa.types.is_boolean(column.type))


def flat_numbers(values: Any, name: str) -> Any:
    """Bring one column into a flat array; what is in the way of numbers is called so."""
    try:
        return flat(values, name)
    except UnusableLabels as error:
        raise NotNumbers(error.problem, column=name, row=error.row, mend="Give numbers") from None


def numbers(values: Any, name: str) -> Numbers:
    """Take a column of numbers from whatever holds it; what is missing becomes NaN."""
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "fiub":
        return values
    column = flat_numbers(values, name)
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "fiub":
            raise _no_numbers(column, str(column.dtype), column.dtype.kind == "U", name)
        return column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (is_floating(column) or is_whole(column) or pa.types.is_null(column.type)):
        raise _no_numbers(column, str(column.type), "string" in str(column.type), name)
    return np.asarray(as_numpy(column.cast(pa.float64(), safe=False)))


def _no_numbers(column: Any, kind: str, text: bool, name: str) -> NotNumbers:
    """Name the first word among numbers, where it is words that are in the way."""
    words = () if not text else column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    for decimal in DECIMAL_SIGNS:
        found = first_word(words, decimal)
        if found is not None:
            row, word = found
            mend = DECIMALS if "," in word else "Give numbers"
            return NotNumbers(f"{quoted(word)} is not a number", column=name, row=row, mend=mend)
    mend = "Turn the text into numbers" if text else "Give numbers"
    return NotNumbers(f"a column of {kind} does not hold numbers", column=name, mend=mend)


def first_word(words: Iterable[Any], decimal: str) -> tuple[int, str] | None:
    """The first text that is no number, and its row, where decimals may also stand behind that sign."""
    for row, word in enumerate(words):
        if isinstance(word, str) and np.isnan(as_number(word.replace(decimal, "."), text=True)):
            return row, word
    return None


def as_floats(values: Any) -> Array:
    """Numbers in whatever shape they have; ValueError for what is none, or has no place on a line."""
    try:
        found = np.asarray(values)
        if not np.iscomplexobj(found):
            return np.array(found, dtype=np.float64)
    except Exception:  # a foreign object may raise anything
        raise ValueError("no numbers") from None
    raise ValueError("complex numbers")


def things_in(value: Any) -> list[Any] | None:
    """What a list, or something like it, holds; None for one thing, such as a word, and for what does not answer."""
    try:
        return None if isinstance(value, str | bytes) else list(value)
    except Exception:  # a foreign object may raise anything
        return None


def as_number(value: Any, *, text: bool = False) -> float:
    """One plain number; NaN for what is none, such as text, unless it is asked to read that too."""
    if type(value) is float:
        return value
    try:
        return np.nan if (isinstance(value, str | bytes) and not text) or np.ndim(value) else float(value)
    except Exception:  # a foreign object may raise anything
        return np.nan


def is_single(value: Any) -> bool:
    """Whether it is one thing rather than a column of them; what does not answer is one."""
    try:
        return np.ndim(value) == 0 and not hasattr(value, "__arrow_c_stream__")
    except Exception:  # a foreign object may raise anything
        return True


def as_numpy(column: Any) -> Any:
    """See an Arrow column as a NumPy array, without a copy where that can be.

    By DLPack where that will do: for all else, Arrow loads pandas wherever it is installed, which takes a while.
    """
    number = _is_number(column.type) and not column.null_count
    if number and len(column) == 0:
        return np.zeros(0, column.type.to_pandas_dtype())
    if hasattr(column, "chunks"):  # combining copies, even a single one
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if not number:
        return column.to_numpy(zero_copy_only=False)
    if pa.types.is_boolean(column.type):
        return np.from_dlpack(column.cast("uint8")).view(bool)
    return np.from_dlpack(column)


def as_arrow(array: AnyArray) -> Any:
    """See a NumPy array of numbers as an Arrow array; any other is made into one.

    For that, Arrow loads pandas wherever it is installed.
    """
    if array.ndim != 1 or array.dtype.kind not in "iuf" or not array.dtype.isnative:
        return pa.array(array)
    content = pa.py_buffer(np.ascontiguousarray(array))
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, content])


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def read_frame(frame: Any) -> Any:
    """Bring a data frame of any make into an Arrow table."""
    if isinstance(frame, pa.Table):
        return frame
    try:
        # The row labels of pandas would come along as a column.
        return pa.table(frame.reset_index(drop=True) if hasattr(frame, "reset_index") else frame)
    except Exception as error:  # a frame of a foreign make may raise anything
        names: list[str] = []
        with suppress(Exception):
            names = [str(name) for name in frame.columns]
        refuse_twice(names)
        raise UnreadableFile(
            f"the {type(frame).__name__} cannot be read as a table",
            mend=f"Pass only the columns that are needed ({quoted(str(error), 200)})",
        ) from None


def refuse_twice(names: Sequence[str]) -> None:
    """Name the first name that stands twice among the names of columns."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DuplicateColumns(f"two columns are called {quoted(twice)}", mend="Rename all but one")


def _is_foreign(values: Any) -> bool:
    """Tell what Arrow can read as it is: by its protocols, or because it knows pandas."""
    protocols = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__")
    countable = is_of_pandas(values) and hasattr(values, "__len__")
    return countable or any(hasattr(values, protocol) for protocol in protocols)


def is_of_pandas(values: Any) -> bool:
    """Whether pandas made it, without loading pandas."""
    return type(values).__module__.partition(".")[0] == "pandas"


def _from_numpy(values: Any, name: str) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        return _from_masked(values, name)
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "OT":
        return array
    if array.dtype.kind == "T":
        with suppress(Exception):  # Arrow has come to know NumPy's newer text; before that, it goes by objects
            return _from_arrow(array)
    if isinstance(next((row for row in array if row is not None), None), list | tuple | np.ndarray):
        return _from_arrow(array)  # a list in every row, as pandas holds them
    return _from_arrow(from_objects(array.astype(object, copy=False), name))


def _from_masked(values: Any, name: str) -> Any:
    mask, data = np.ma.getmaskarray(values), np.asarray(values.data)
    if not mask.any():
        return _from_numpy(data, name)
    if values.ndim != 1:
        return values
    if data.dtype.kind == "O":
        present = data.copy()
        present[mask] = None
        return _from_numpy(present, name)
    return _from_arrow(data.astype(data.dtype.newbyteorder("="), copy=False), mask)


def _from_list(values: Sequence[Any], name: str) -> Any:
    if values and isinstance(values[0], str):
        return _from_arrow(from_objects(values, name))
    try:
        array = np.asarray(values)
    except ValueError:
        raise _ragged(values, name) from None
    if array.ndim == 1 and array.dtype.kind in "UO":
        # NumPy turns [1, "a"] into text and [True, None] into objects; Arrow keeps what was there.
        return _from_arrow(from_objects(values, name))
    if array.ndim == 1 and array.dtype.kind == "f" and all(isinstance(value, int) for value in values):
        # NumPy makes floats of [2**63, 5], since neither of its whole numbers holds both -1 and 2**63.
        with suppress(OverflowError):
            return np.asarray(values, dtype=np.uint64)
    return array


def _ragged(values: Sequence[Any], name: str) -> SteelyardError:
    sizes = [len(row) if isinstance(row, list | tuple) else np.size(row) for row in values]
    row = next((place for place, size in enumerate(sizes) if size != sizes[0]), None)
    return WrongShape(
        "the rows have different shapes" if row is None else f"{sizes[row]} values, but {sizes[0]} in row 0",
        column=name,
        row=row,
        mend="Give every row one value a class",
    )


def _from_arrow(values: Any, mask: Marks | None = None) -> Any:
    """Let Arrow columns in as they are, but as a NumPy array where they hold numbers and none is missing."""
    column = values
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        stream = hasattr(values, "__arrow_c_stream__")
        column = pa.chunked_array(values) if stream else pa.array(values, mask=mask, from_pandas=True)
    if pa.types.is_run_end_encoded(column.type):
        column = pa.compute.run_end_decode(column)
    return as_numpy(column) if _is_number(column.type) and column.null_count == 0 else column


# --- Python's own objects, where they are of one kind ---------------------------------------------------------


def _words(values: Any) -> Any:
    """Code text in one pass: only the distinct words, not the rows, are then left to look at."""
    places: defaultdict[Any, int] = defaultdict()
    places.default_factory = places.__len__  # of every word, in the order in which words turn up
    try:
        codes = np.fromiter(map(places.__getitem__, values), dtype=np.int32, count=len(values))
    except TypeError:  # something that is no word at all
        return None
    if set(map(type, places)) != {str}:
        return None
    try:
        return pa.DictionaryArray.from_arrays(codes, pa.array(list(places), pa.string()))
    except Exception:  # broken text: whoever asked will say where
        return None


def from_objects(values: Any, name: str) -> Any:
    """Let Arrow take in Python objects, if they are of one kind."""
    if len(values) and type(values[0]) is str and (found := _words(values)) is not None:
        return found
    try:
        kind = _arrow_type(set(map(type, values)))
        try:
            return pa.array(values, kind, from_pandas=True)
        except (OverflowError, pa.ArrowInvalid):
            if kind != pa.int64():
                raise
            return pa.array(values, pa.uint64(), from_pandas=True)
    except Exception as error:  # overflow, broken text, kinds that do not go together
        raise odd_one(values, name) or UnusableLabels(
            "the column mixes values that cannot be labels of one kind",
            column=name,
            mend=f"Make all labels text, or all whole numbers ({quoted(str(error), 120)})",
        ) from None


def _arrow_type(types: set[type]) -> Any:
    """What Arrow shall make of objects of these types. Left to judge for itself, it crashes on some."""
    from decimal import Decimal

    kinds = [kind for kind in types if kind.__name__ not in MISSING]

    def only(*allowed: type) -> bool:
        return all(issubclass(kind, allowed) for kind in kinds)

    if not kinds:
        return pa.null()
    if only(Decimal):
        return None  # Arrow finds out how many digits
    if only(str, float) and not only(float):
        return pa.string()  # a float among text is refused unless it is NaN
    if only(bool, np.bool_):
        return pa.bool_()
    if only(int, np.integer):
        return pa.int64()
    if only(int, float, np.integer, np.floating, np.bool_):
        return pa.float64()
    raise TypeError(", ".join(sorted(kind.__name__ for kind in kinds)))


def days_of(values: Any) -> Any:
    """Let Arrow take in Python's days, or its times; None where there is anything else."""
    from datetime import date, datetime

    with suppress(Exception):  # a foreign object may raise anything
        kinds = {type(value) for value in values if not is_missing(value)}
        if kinds == {date} or (kinds and all(issubclass(kind, datetime) for kind in kinds)):
            found = pa.array(values, from_pandas=True)
            if any(getattr(value, "nanosecond", 0) for value in values):  # of pandas' times, Arrow leaves these out
                found = pa.array(values, pa.timestamp("ns", found.type.tz), from_pandas=True)
            return found
    return None


def odd_one(values: Any, name: str) -> SteelyardError | None:
    """Find the first value that cannot be a label, or is of another kind than the first."""
    first, objects = "", list(values) if isinstance(values, list | tuple) else []
    with suppress(Exception):
        objects = objects or list(np.asarray(values, dtype=object))
    for row, value in enumerate(objects):
        kind = _kind(value)
        first = first or kind
        if kind and kind != first:
            problem, mend = f"{quoted(value)} is {kind}, but there was {first} before", "Make all labels of one kind"
        elif kind in ("", TEXT, NUMBER, BOOLEAN):
            continue
        else:
            problem, mend = f"{quoted(value)} is {kind}", AS_TEXT
        return UnusableLabels(problem, column=name, row=row, mend=mend)
    return None


def _kind(value: Any) -> str:
    """What a value is, in words; nothing where it is missing."""
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return TEXT if is_sound(value) else "broken text"
    if isinstance(value, bool | np.bool_):
        return BOOLEAN
    if isinstance(value, int | float | np.integer | np.floating):
        return NUMBER if -(2**63) <= value < 2**64 else "a number beyond 64 bits"
    return f"a {type(value).__name__}"


def is_missing(value: Any) -> bool:
    """Tell nothing from something, as pandas does: None, NaN, NA and NaT are nothing."""
    return type(value).__name__ in MISSING or (isinstance(value, float) and math.isnan(value))


def is_sound(text: str) -> bool:
    """Tell text that can be written from text with halves of signs in it."""
    return text.isascii() or text.encode(errors="ignore").decode() == text
