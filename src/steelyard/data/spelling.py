"""How the cells of a text file are spelled, and what columns of labels are read as that way.

A label is what stands in its cell. Labels are numbers only where every cell is a whole number that is plainly spelled:
digits without leading zeros, of 64 bits. 1E2, 0x1F, 01 and 1.0 are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from ..core.columns import as_numpy, pa
from ..core.errors import BadOption, quoted
from ..core.scale import Continuum, Scale

SAMPLE = 1 << 12  # rows of a file that are looked at first, and whose words are kept
DECIMALS = (".", ",")
THOUSANDS = (".", ",", " ", "'", "\u2019", "\u00a0", "\u202f", "_")
BOOLEANS = ({"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"})
GAPPED = r"^-?(0|[1-9][0-9]*)[.,]0$"
HEXADECIMAL = r"^\s*-?0[xX][0-9a-fA-F]+\s*$"
# The mark of a column of numbers that other columns or files spell as whole numbers.
SPELLED_APART = {b"steelyard": b"whole numbers with a decimal"}


class Form(Enum):
    """How all cells of a column are spelled."""

    EMPTY = "no cell has a value"
    WHOLE = "plain whole numbers"
    GAPPED = "1.0, as pandas writes whole numbers beside gaps"
    MIXED = "1 in some files, and 1.0 in others"
    ODD = "numbers that are spelled otherwise: 01, +1, 1E2, 0x1F, 1 beside 1.0"
    NUMBERS = "numbers with decimals"
    BOOLEAN = "true and false"
    WORDS = "anything else"


class NumberMarks(NamedTuple):
    """What numbers in a text file have before their decimals, and between their thousands."""

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def of(cls, decimal: Any, thousands: Any) -> NumberMarks | None:
        """Return what a user said of them; None where nothing was said, and the other mark where only one was."""
        for name, mark, known in (("decimal", decimal, DECIMALS), ("thousands", thousands, THOUSANDS)):
            if mark is not None and mark not in known:
                listed = ", ".join(quoted(each) for each in known[:4])
                raise BadOption(f"{name} is {quoted(mark)}", mend=f"It is one of {listed}")
        if decimal is None and thousands is None:
            return None
        found = ("," if thousands == "." else ".") if decimal is None else decimal
        if found == thousands:
            raise BadOption(f"decimal and thousands are both {quoted(found)}", mend="Give two different marks")
        return cls(found, thousands or "")

    @property
    def grouped(self) -> str:
        """What numbers with marks between their thousands look like."""
        mark, point = re.escape(self.thousands), re.escape(self.decimal)
        return rf"^\s*[-+]?[0-9]{{1,3}}({mark}[0-9]{{3}})+({point}[0-9]*)?\s*$"


PLAIN = NumberMarks()
WHOLES = (Form.WHOLE, Form.GAPPED, Form.MIXED)


@dataclass(frozen=True)
class Spelled:
    """What is known of the cells of a column.

    Attributes:
        form: How they are spelled.
        numeric: Whether all of them can be read as numbers with decimals.
        words: Some of them.
        read: All cells as the numbers that they were found to be, so that they are not read twice; None where unknown.
    """

    form: Form = Form.EMPTY
    numeric: bool = True
    words: frozenset[str] = frozenset()
    read: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, cells: Any, marks: NumberMarks = PLAIN) -> Spelled:
        """Return how the cells of an Arrow column of text are spelled."""
        first = cells.slice(0, SAMPLE)
        form, numeric, read = _form_of(first, marks)
        if len(cells) > SAMPLE and form is not Form.WORDS:  # words among the first rows make words of all
            # Numbers with decimals among the first rows make such numbers of all, if all can be read as numbers.
            read = as_numbers(cells, marks) if form is Form.NUMBERS else None
            if read is None:
                form, numeric, read = _form_of(cells, marks)
        kept = form not in (Form.EMPTY, Form.WHOLE)
        return cls(form, numeric, frozenset(first.unique().drop_null().to_pylist() if kept else ()), read)

    def with_more(self, other: Spelled) -> Spelled:
        """Return what is known of these and of more cells of the same file."""
        forms, numeric, words = self._both(other)
        if len(forms) <= 1:
            form = next(iter(forms), Form.EMPTY)
            mixed = form is Form.BOOLEAN and not any(words <= pair for pair in BOOLEANS)
            return Spelled(Form.WORDS if mixed else form, numeric, words)
        if forms & {Form.WORDS, Form.BOOLEAN}:
            return Spelled(Form.WORDS, False, words)
        return Spelled(Form.NUMBERS if Form.NUMBERS in forms and numeric else Form.ODD, numeric, words)

    def beside(self, other: Spelled) -> Spelled | None:
        """Return what is known of the same column of two files; None where they hold different kinds of values."""
        forms, numeric, words = self._both(other)
        if len(forms) <= 1:
            return Spelled(next(iter(forms), Form.EMPTY), numeric, words)
        if forms <= set(WHOLES):
            return Spelled(Form.MIXED, True, words)
        if Form.BOOLEAN in forms or (Form.WORDS in forms and forms != {Form.WORDS, Form.ODD}):
            return None
        return self.with_more(other)

    def _both(self, other: Spelled) -> tuple[set[Form], bool, frozenset[str]]:
        """The forms of cells that have a value, whether all can be numbers, and some words, of both."""
        words = self.words if len(self.words) > SAMPLE else self.words | other.words
        return {self.form, other.form} - {Form.EMPTY}, self.numeric and other.numeric, words

    @property
    def arrow(self) -> Any:
        """What Arrow calls a column of such cells that stands alone."""
        kinds = {Form.EMPTY: pa.null(), Form.WHOLE: pa.int64(), Form.BOOLEAN: pa.bool_()}
        kinds |= {Form.NUMBERS: pa.float64(), Form.MIXED: pa.float64()}
        return kinds.get(self.form, pa.string())


def _form_of(cells: Any, marks: NumberMarks) -> tuple[Form, bool, Any]:
    """How cells are spelled, whether they can be read as numbers with decimals, and the numbers that they are."""
    if cells.null_count == len(cells):
        return Form.EMPTY, True, None
    plain = _as_plain(cells)
    if plain is not None:
        return Form.WHOLE, True, plain
    numbers = as_numbers(cells, marks)
    if numbers is None:
        words = set(cells.unique().drop_null().to_pylist()) if len(cells.slice(0, SAMPLE).unique()) <= 3 else {""}
        boolean = any(words <= pair for pair in BOOLEANS)
        form = Form.BOOLEAN if boolean else Form.ODD if _with_hexadecimals(cells, marks) else Form.WORDS
        return form, False, None
    values = as_numpy(numbers.drop_null())
    if not np.isfinite(values).all():
        return Form.NUMBERS, True, numbers
    if (values != np.floor(values)).any():  # of codes such as 5E-1, none has a decimal mark
        marked = pa.compute.any(pa.compute.match_substring(cells, marks.decimal)).as_py()
        return (Form.NUMBERS if marked else Form.ODD), True, numbers
    whole = pa.compute.all(pa.compute.match_substring_regex(cells, GAPPED)).as_py()
    return (Form.GAPPED if whole else Form.ODD), True, numbers


def _as_plain(cells: Any) -> Any:
    """Return cells as whole numbers if all are plainly spelled: Arrow can read them, none goes on behind a first 0."""
    try:
        found = cells.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return None if any(_begins_with_zero(part) for part in cells.chunks) else found


def _begins_with_zero(cells: Any) -> bool:
    """Whether a cell begins with 0 or -0 and goes on, or is -0."""
    _, ends, content = cells.buffers()
    if content is None or content.size == 0:
        return False
    offsets = np.frombuffer(ends, np.int32)[cells.offset : cells.offset + len(cells) + 1]
    signs = np.frombuffer(content, np.uint8)
    starts, several = offsets[:-1], np.diff(offsets) > 1
    first = signs[np.minimum(starts, len(signs) - 1)]
    below = starts[(first == ord("-")) & several]
    return bool(((first == ord("0")) & several).any() or (signs[below + 1] == ord("0")).any())


def _with_hexadecimals(cells: Any, marks: NumberMarks) -> bool:
    """Whether cells are numbers, some of them to the base of 16."""
    others = cells.filter(pa.compute.invert(pa.compute.match_substring_regex(cells, HEXADECIMAL)))
    return len(others) < len(cells) - cells.null_count and as_numbers(others, marks) is not None


def as_numbers(cells: Any, marks: NumberMarks = PLAIN) -> Any:
    """Return cells of text as numbers, as text files have them; None where one is no number."""
    if marks.thousands:
        grouped = pa.compute.match_substring_regex(cells, marks.grouped)
        cells = pa.compute.if_else(grouped, pa.compute.replace_substring(cells, marks.thousands, ""), cells)
    if marks.decimal != ".":
        if pa.compute.any(pa.compute.match_substring(cells, ".")).as_py():
            return None
        cells = pa.compute.replace_substring(cells, marks.decimal, ".")
    for change in (lambda each: each, pa.compute.ascii_trim_whitespace):
        try:
            return change(cells).cast(pa.float64())
        except pa.ArrowInvalid:
            continue
    return None


@dataclass(frozen=True)
class Uses:
    """What columns are used for, so that those of text files are read as that.

    Attributes:
        truth: The column of true labels; None where the truth was measured.
        predictions: Columns of labels or of scores.
        parts: Columns of names: of clusters, and of parts of the data.
        scale: The classes, where they are known.
        scored: Those of the predictions that are scores wherever they can be.
    """

    truth: str | None = None
    predictions: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    scale: Scale | None = None
    scored: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The columns that are, or may be, labels."""
        return frozenset([*self.predictions, *self.parts, *(() if self.truth is None else [self.truth])])

    def settled(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return types of columns by how all their cells are spelled; a field, where a mark goes with the type.

        Columns that have types of their own, as those of Parquet files, keep them.
        """
        spelled = {name: kind for name, kind in found.items() if isinstance(kind, Spelled)}
        labels = {name for name in spelled if self._holds_classes(name, found)}
        decimals = {name for name in labels if spelled[name].form is Form.NUMBERS and self._names_classes(name, found)}
        joined = self._joined({Form.ODD if name in decimals else spelled[name].form for name in labels}, found)
        types: dict[str, Any] = {}
        for name, kind in spelled.items():
            if name in labels:
                types[name] = pa.string() if name in decimals else joined.get(kind.form, kind.arrow)
            elif name in self.predictions:
                scores = kind.numeric and kind.form not in (Form.EMPTY, Form.WHOLE)
                types[name] = pa.float64() if scores else kind.arrow
            else:
                types[name] = kind.arrow
            apart = kind.form in (Form.GAPPED, Form.MIXED) and pa.types.is_floating(types[name])
            if apart and (name in labels or name not in self.predictions):
                types[name] = pa.field(name, types[name], metadata=SPELLED_APART)
        return {**found, **types}

    def _holds_classes(self, name: str, found: Mapping[str, Any]) -> bool:
        """Whether a column of a text file holds classes, rather than scores or names of parts."""
        kind = found[name]
        if name not in (self.truth, *self.predictions):
            return False
        if kind.form not in (Form.GAPPED, Form.MIXED, Form.ODD, Form.NUMBERS):
            return True
        if self._names_classes(name, found):
            return True
        if kind.form is Form.NUMBERS:
            return name == self.truth
        return name == self.truth or (name not in self.scored and self._counts_classes(found))

    def _names_classes(self, name: str, found: Mapping[str, Any]) -> bool:
        """Whether words of a column are names of classes."""
        words = found[name].words
        true = found.get(self.truth or "")
        if self.scale is not None:
            return any(isinstance(label, str) and label in words for label in self.scale.classes)
        return isinstance(true, Spelled) and true.form in (Form.WORDS, Form.ODD) and bool(words & true.words)

    def _counts_classes(self, found: Mapping[str, Any]) -> bool:
        """Whether the classes are numbers, however these are spelled."""
        if self.scale is not None:
            return not isinstance(self.scale, Continuum) and not isinstance(self.scale.classes[0], str)
        true = found.get(self.truth or "")
        if isinstance(true, Spelled):
            return true.form in (*WHOLES, Form.ODD, Form.BOOLEAN)
        return true is not None and (pa.types.is_integer(true) or pa.types.is_boolean(true))

    def _joined(self, forms: set[Form], found: Mapping[str, Any]) -> dict[Form, Any]:
        """What columns of classes are read as beside each other: classes are the same where their cells are.

        The exception are whole numbers in one column, and the same numbers as 1.0, throughout, in another.
        """
        text = dict.fromkeys((*WHOLES, Form.ODD), pa.string())
        if Form.ODD in forms:
            return text
        others = [found[name] for name in (self.truth, *self.predictions) if name is not None and name in found]
        whole = any(not isinstance(kind, Spelled) and pa.types.is_integer(kind) for kind in others)
        if whole or forms & {Form.WHOLE, Form.MIXED, Form.BOOLEAN}:
            return {Form.GAPPED: pa.float64(), Form.MIXED: pa.float64()}
        return {Form.GAPPED: pa.string()}


def is_spelled_apart(field: Any) -> bool:
    """Whether a column of a schema has numbers that are whole numbers with a decimal in text files."""
    return bool(field.metadata and field.metadata.items() >= SPELLED_APART.items())


def read_as(cells: Any, kind: Any, marks: NumberMarks = PLAIN) -> Any:
    """Return cells of text as the type that was settled for their column."""
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(cells))])
    if pa.types.is_floating(kind):
        return as_numbers(cells, marks)
    if pa.types.is_boolean(kind):
        return pa.compute.equal(pa.compute.utf8_lower(cells), "true")
    return cells.cast(kind)
