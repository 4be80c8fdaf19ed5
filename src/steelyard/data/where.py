"""Which rows count: a small language of conditions on columns, parsed by Python's grammar and never executed."""

from __future__ import annotations

import ast
import dataclasses
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from itertools import count
from typing import Any

import numpy as np

from ..core.columns import POINT, pa
from ..core.errors import BadFilter, UnknownColumn, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean

# A column of text, what is held against it, and where letters do not order the two as is meant.
Doubt = tuple[str, str, Any]

LONGEST = 10_000  # signs: what is longer was not written by hand
DEEPEST = 100  # conditions inside conditions, likewise
MOST_COMPARED = 1_000  # comparisons, likewise; lists may be longer
MEND = "Write it like \"year == 2024 and (score >= 0.5 or site in ('north', 'south'))\""
# What the grammar of other languages has, and what to write here.
HINTS = (
    (r"(?<![<>=!])=(?!=)", "Equal is written =="),
    (r"<>", "Unequal is written !="),
    (r"\b(AND|OR|NOT|IN|IS|NULL)\b", "Write and, or, not, in, is null in small letters"),
    (r"[&|]|!(?!=)", "Write and, or, not"),
    (r"[<>=]\s*(-?\d+),(\d+)", POINT),
    (r"\b(\d{4}-\d{1,2}-\d{1,2})\b", "Days stand in quotes: '{}'"),
)
# Texts and names in backticks; or a mark that nothing closes.
TOKENS = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|`([^`]*)`|(['\"`][\s\S]*)")
WORD = re.compile(r"\w+")
WORDS = {"true": True, "True": True, "false": False, "False": False}
NOTHING = ("null", "None")
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

MIRRORED: dict[Callable[[Any, Any], Any], Callable[[Any, Any], Any]] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
}

DIGITS = 76  # of the widest decimals of Arrow
WRITTEN_IN_DIGITS = re.compile(r"\d[\d.,:/TZ +-]*", re.ASCII)
# What two texts must have in common so that letters order the rest: years and months, hours, digits before a point.
BEGINNING = re.compile(r"\d{4}[-./]\d\d|\d\d?:\d\d|\d+", re.ASCII)
DAY_BEFORE_YEAR = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})([^0-9]|$)"


@dataclass(frozen=True)
class Filter:
    """A condition that has been read, but not yet held against columns.

    Attributes:
        text: What the user wrote.
        tree: Its grammar.
        bound: Names that stand for columns whose names are no plain words.
        read_before: The last types of columns that it was held against, and what came out.
    """

    text: str
    tree: ast.expr
    bound: dict[str, str]
    read_before: list[tuple[Any, Any]] = dataclasses.field(default_factory=list, compare=False, repr=False)

    @classmethod
    def read(cls, text: str) -> Filter:
        """Read a condition; nothing in it can act."""
        if not isinstance(text, str) or not text.strip():
            raise BadFilter(f"where is {quoted(text)}", mend=MEND)
        if len(text) > LONGEST:
            raise BadFilter(f"the filter has {len(text):,} signs", mend=MEND)
        plain, bound = _without_backticks(text)
        try:
            with warnings.catch_warnings(action="ignore"):  # Python has opinions on backslashes in texts
                tree = ast.parse(plain.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise BadFilter(f"the filter {quoted(text, 200)} cannot be read", mend=_hint(text)) from None
        found = cls(text, tree, bound)
        found._check_grammar()
        return found

    @property
    def shown(self) -> str:
        """The beginning of it, for messages."""
        return quoted(self.text, 200)

    @property
    def names(self) -> list[str]:
        """The columns that it speaks of, each once."""
        words = [node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        columns = [word for word in words if word not in WORDS and word not in NOTHING]
        return list(dict.fromkeys(self.bound.get(word, word) for word in columns))

    def on(self, schema: Any) -> Any:
        """Turn it into an expression on columns of these types."""
        return self.with_doubts(schema)[0]

    def with_doubts(self, schema: Any) -> tuple[Any, list[Doubt]]:
        """The same, and where it is in doubt."""
        for known, found in self.read_before[-1:]:
            if known.equals(schema):
                return found[0], found[1]
        reader = _Reader(self, schema)
        condition = reader.condition(self.tree)
        self.read_before[:] = [(schema, (condition, reader.doubts))]
        return condition, reader.doubts

    def noted(self, schema: Any) -> tuple[Any, list[Doubt]] | None:
        """A condition that holds wherever this one does, by the least and largest values that a file notes; its doubts.

        None where these cannot tell: they say nothing of numbers that are none, which count as missing here.
        """
        tests = [node for node in ast.walk(self.tree) if isinstance(node, ast.Compare)]
        asked = [node for node in tests if any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)]
        words = {word_of(side) for node in asked for side in (node.left, *node.comparators)} - {"", *NOTHING}
        if any(pa.types.is_floating(schema.field(self.bound.get(word, word)).type) for word in words):
            return None
        reader = _Reader(self, schema, loose=True)
        return reader.condition(self.tree), reader.doubts

    @property
    def compared(self) -> list[str]:
        """The columns that something is compared with, where values stand more often."""
        sides = [side for node in ast.walk(self.tree) if isinstance(node, ast.Compare) for side in node.comparators]
        return [node.id for side in sides for node in ast.walk(side) if isinstance(node, ast.Name)]

    def _check_grammar(self) -> None:
        """Refuse all grammar but conditions, and what is nested too deeply, before anything is made of it."""
        allowed = (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Name, ast.Constant, ast.Tuple, ast.List)
        helpers = (ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context)
        level: list[ast.AST] = [self.tree]
        compared = 0
        for depth in count():
            compared += sum(len(node.ops) for node in level if isinstance(node, ast.Compare))
            if compared > MOST_COMPARED:
                raise BadFilter(
                    f"the filter has more than {MOST_COMPARED:,} comparisons", mend="Name values in a list: in (1, 2)"
                )
            for node in level:
                if not isinstance(node, allowed + helpers):
                    raise self.foreign(node)
            level = [child for node in level for child in ast.iter_child_nodes(node)]
            if not level:
                return
            if depth >= DEEPEST:
                raise BadFilter("the filter is nested too deeply", mend=MEND)

    def foreign(self, node: ast.AST) -> BadFilter:
        """What to say of something that is not understood."""
        plain, _ = _without_backticks(self.text)
        shown = WORD.sub(lambda word: self._as_written(word[0]), ast.get_source_segment(plain.strip(), node) or "it")
        problem = f"{quoted(shown, 80)} is not understood in the filter {self.shown}"
        return BadFilter(problem, mend=_hint(self.text))

    def _as_written(self, word: str) -> str:
        """The name of a column where a plain word stands for it; other words as they are."""
        return f"`{self.bound[word]}`" if word in self.bound else word


def _without_backticks(text: str) -> tuple[str, dict[str, str]]:
    """Put plain words in the place of `names in backticks`."""
    bound: dict[str, str] = {}
    words: dict[str, str] = {}
    beginning = next(free for k in count() if (free := f"column_{k}_") not in text)
    end, after_quotes = 0, False

    def word(found: re.Match[str]) -> str:
        nonlocal end, after_quotes
        if found[2] is not None:
            raise BadFilter(f"a {found[0][0]} is not closed in the filter {quoted(text, 200)}", mend=_hint(text))
        quotes = found[1] is None
        # Python would join two texts in a row, where SQL means a quotation mark.
        if quotes and after_quotes and not text[end : found.start()].strip():
            raise BadFilter(
                f"two texts stand side by side in the filter {quoted(text, 200)}",
                mend='Write a quotation mark inside quotes of the other kind: "it\'s"',
            )
        end, after_quotes = found.end(), quotes
        if quotes:
            return found[0]
        name = words.setdefault(found[1], f"{beginning}{len(words)}")
        bound[name] = found[1]
        return f" {name} "

    return TOKENS.sub(word, text), bound


def _hint(text: str) -> str:
    """What the filter of another language would have to be here."""
    bare = TOKENS.sub("", text)
    for pattern, hint in HINTS:
        if found := re.search(pattern, bare):
            return hint.format(*found.groups())
    pieces = [piece.strip() for piece in re.split(r"\b(?:and|or|not|in|is|null)\b|[<>=!(),]+", bare)]
    odd = [piece for piece in pieces if re.fullmatch(r"[^\W\d].{,60}", piece) and not piece.isidentifier()]
    return f"{MEND}; the name of a column that is no plain word stands in backticks: `{odd[0]}`" if odd else MEND


@dataclass(frozen=True)
class _Reader:
    """Turns grammar into expressions, with the types of the columns at hand.

    A loose one may hold of a number that is none; it is simple enough to be told by the largest and least values.
    Doubts are noted on the way: texts that letters do not put into the order that is meant meet no condition.
    """

    filter: Filter
    schema: Any
    loose: bool = False
    doubts: list[Doubt] = dataclasses.field(default_factory=list)

    def condition(self, node: ast.expr) -> Any:
        """Something that holds of a row or does not."""
        match node:
            case ast.BoolOp(op=op, values=values):
                joined = operator.and_ if isinstance(op, ast.And) else operator.or_
                return _in_pairs(joined, [self.condition(value) for value in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self.condition(operand)
            case ast.Compare():
                return _in_pairs(operator.and_, list(self._comparisons(node)))
            case ast.Name(id=word) if word in WORDS:
                return pa.compute.scalar(WORDS[word])
            case ast.Name() if word_of(node) not in NOTHING:
                name, kind = self._column(node)
                if pa.types.is_boolean(kind):
                    return pa.compute.field(name)
                raise BadFilter(
                    f"the column holds {kind} and is no condition", column=name, mend=f"Compare it: {name} == ..."
                )
            case ast.Constant(value=bool() as value):
                return pa.compute.scalar(value)
        raise self.filter.foreign(node)

    def _comparisons(self, node: ast.Compare) -> Iterator[Any]:
        """Every link of a chain: 0 <= a < 1 has two."""
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn):
                found = self._membership(left, right)
                yield ~found if isinstance(op, ast.NotIn) else found
            elif isinstance(op, ast.Is | ast.IsNot):
                if not _is_nothing(right):
                    raise self.filter.foreign(node)
                missing = self._field(left)[1].is_null(nan_is_null=True)
                yield ~missing if isinstance(op, ast.IsNot) else missing
            else:
                yield self._compared(COMPARISONS[type(op)], left, right)
            left = right

    def _compared(self, compare: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr) -> Any:
        if _is_nothing(left) or _is_nothing(right):
            raise BadFilter("nothing equals null", mend="Write `is null` or `is not null`")
        named = [isinstance(side, ast.Name) and word_of(side) not in WORDS for side in (left, right)]
        if not any(named):
            raise BadFilter(f"no column is compared in {self.filter.shown}", mend=MEND)
        if all(named):
            return self._columns(compare, left, right)
        column, other = (left, right) if named[0] else (right, left)
        name, field, kind = self._field(column)
        ordered = compare not in (operator.eq, operator.ne)
        value = self._literal(other, name, kind, ordered)
        if family(kind) == "number":
            self._check_exact(kind, value.as_py(), name)
            wide, value = common_with(kind, value.as_py())
            field = field if wide == kind else field.cast(wide, safe=False)
        found = compare(field, value) if named[0] else compare(value, field)
        if ordered and family(kind) == "text" and (form := form_of(value.as_py(), name)):
            doubt = ~pa.compute.match_substring_regex(field, form)
            found = self._unless_doubtful(found, name, quoted(value.as_py()), doubt)
        return self._unless_missing(found, (field, kind))

    def _columns(self, compare: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr) -> Any:
        (name, one, kind), (other, two, second) = self._field(left), self._field(right)
        if family(kind) != family(second):
            raise BadFilter(
                f"columns {quoted(name)} of {kind} and {quoted(other)} of {second} cannot be compared",
                mend="Compare columns of one kind",
            )
        sides = [(one, kind), (two, second)]
        if kind != second and family(kind) in ("number", "text"):
            wide = common(kind, second)
            if wide is None:
                raise BadFilter(
                    f"columns {quoted(name)} of {kind} and {quoted(other)} of {second} cannot be compared exactly",
                    mend="Bring both columns into one type",
                )
            if not (are_inexact(kind, second) or are_inexact(second, kind)):
                one, two = (field.cast(wide, safe=False) for field in (one, two))
        if are_inexact(kind, second):
            found = compared_exactly(compare, one, kind, two)
        elif are_inexact(second, kind):
            found = compared_exactly(MIRRORED.get(compare, compare), two, second, one)
        else:
            found = compare(one, two)
        if family(kind) == "text" and compare not in (operator.eq, operator.ne):
            for word, field, against in ((name, one, other), (other, two, name)):
                doubt = pa.compute.match_substring_regex(field, DAY_BEFORE_YEAR)
                found = self._unless_doubtful(found, word, against, doubt)
        return self._unless_missing(found, *sides)

    def _unless_doubtful(self, found: Any, name: str, against: str, doubt: Any) -> Any:
        """Text of which letters do not tell whether it comes before other text meets no condition."""
        self.doubts.append((name, against, doubt))
        return found if self.loose else pa.compute.if_else(doubt, pa.scalar(None, pa.bool_()), found)

    def _membership(self, left: ast.expr, right: ast.expr) -> Any:
        name, field, kind = self._field(left)
        entries = right.elts if isinstance(right, ast.Tuple | ast.List) else [right]
        if not entries:
            raise BadFilter(f"nothing is in an empty list (column {quoted(name)})", mend="Name values: in (1, 2)")
        values = [self._literal(entry, name, kind).as_py() for entry in entries]
        for value in values if family(kind) == "number" else ():
            self._check_exact(kind, value, name)
        if pa.types.is_null(kind):  # it has no value that could be among them
            found = field.cast(pa.bool_()).isin(pa.array([], pa.bool_()))
        elif pa.types.is_decimal(kind):
            wanted = [common_with(kind, value) for value in dict.fromkeys(values)]
            found = _in_pairs(operator.or_, [field.cast(wide, safe=False) == value for wide, value in wanted])
        else:
            found = self._among(field, kind, values)
        return self._unless_missing(found, (field, kind), absent=True)

    def _among(self, field: Any, kind: Any, values: Sequence[Any]) -> Any:
        """Where a column has one of several values; as ``==`` has it, 0 is -0.0 too."""
        if pa.types.is_integer(kind):
            values = [int(value) for value in values if value == value // 1 and in_range(kind, value)]
        elif pa.types.is_floating(kind):
            values = [rounded(kind, value) for value in values]
            values += [-0.0, 0.0] if 0 in values else []
            kind = pa.float64()
        return field.cast(kind).isin(pa.array(values, kind))

    def _check_exact(self, kind: Any, value: Any, name: str) -> None:
        """Refuse to hold a whole number against floats so large that they skip whole numbers."""
        if not can_hold(kind, value):
            raise BadFilter(
                f"the column holds {kind}, of which numbers as large as {quoted(value)} are rounded",
                column=name,
                mend=f"Write {float(value)!r} for the nearest such number, or keep the column as whole numbers or text",
            )

    def _unless_missing(self, found: Any, *sides: tuple[Any, Any], absent: bool = False) -> Any:
        """A missing value, or a number that is none, neither meets a condition nor its contrary."""
        for field, kind in sides:
            if absent:
                found = pa.compute.if_else(field.is_valid(), found, pa.scalar(None, pa.bool_()))
            if pa.types.is_floating(kind) and not self.loose:
                found = pa.compute.if_else(pa.compute.is_nan(field), pa.scalar(None, pa.bool_()), found)
        return found

    def _column(self, node: ast.expr) -> tuple[str, Any]:
        if not isinstance(node, ast.Name) or word_of(node) in (*WORDS, *NOTHING):
            raise self.filter.foreign(node)
        name = self.filter.bound.get(node.id, node.id)
        check_column(name, self.schema.names, self.filter)
        return name, self.schema.field(name).type

    def _field(self, node: ast.expr) -> tuple[str, Any, Any]:
        """A column by its name, as an expression, and what it holds."""
        name, kind = self._column(node)
        if pa.types.is_dictionary(kind):
            return name, pa.compute.field(name).cast(kind.value_type), kind.value_type
        return name, pa.compute.field(name), kind

    def _literal(self, node: ast.expr, name: str, kind: Any, ordered: bool = False) -> Any:
        """A value of the kind that a column holds."""
        value = self._value(node)
        own, given = family(kind), family_of(value)
        try:
            if own in (given, "nothing"):
                large = type(value) is int and value >= 1 << 63
                return pa.scalar(value, pa.uint64()) if large else pa.scalar(value)
            if own == "time" and given == "text":
                return moment(value, kind)
        except (pa.ArrowException, OverflowError):
            mend = "Write it as in '2024-12-31'" if own == "time" else "Give a smaller number"
            raise BadFilter(f"{quoted(value)} cannot be compared with {kind}", column=name, mend=mend) from None
        said = {
            # In quotes it would be held against the others letter by letter: '9' comes behind '15'.
            "text": "Some value of it is no number: put that right" if ordered else f"Put it in quotes: '{value}'",
            "number": "Leave out the quotes" if given == "text" else "Compare it with a number",
            "boolean": "Say true or false",
            "time": "Write it as in '2024-12-31'",
        }
        given = given if given == "text" else f"a {given}"
        raise BadFilter(
            f"the column holds {kind}, and {quoted(value)} is {given}", column=name, mend=said.get(own, MEND)
        )

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return value
            case ast.Name(id=word) if word in WORDS and word not in self.filter.bound:
                return WORDS[word]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if value is not True:
                return -value
        raise self.filter.foreign(node)


def _in_pairs(joined: Callable[[Any, Any], Any], conditions: Sequence[Any]) -> Any:
    """Many conditions as one, which is not nested as deeply as they are many."""
    while len(conditions) > 1:
        pairs = [conditions[place : place + 2] for place in range(0, len(conditions), 2)]
        conditions = [reduce(joined, pair) for pair in pairs]
    return conditions[0]


def word_of(node: ast.expr) -> str:
    """The word that a name is."""
    return node.id if isinstance(node, ast.Name) else ""


def _is_nothing(node: ast.expr) -> bool:
    return word_of(node) in NOTHING or (isinstance(node, ast.Constant) and node.value is None)


def check_column(name: object, names: list[str], condition: Filter | None = None) -> None:
    """Name the nearest column where there is none of a name; in a condition, text may have been meant."""
    if isinstance(name, str) and name in names:
        return
    mend = did_you_mean(name, names, f"There are {listed(names) or 'none'}")
    if condition is not None and name in condition.compared:
        mend = f"{mend}{'' if mend.endswith('?') else '.'} Text stands in quotes: {quoted(name)}"
    raise UnknownColumn(f"there is no column {quoted(name)}", mend=mend)


# --- how values are compared ----------------------------------------------------------------------------------


def family_of(value: object) -> str:
    """What a value that somebody wrote can be compared with."""
    return "boolean" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def family(kind: Any) -> str:
    """What can be compared with each other."""
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    return "time" if pa.types.is_temporal(kind) else "nothing" if pa.types.is_null(kind) else str(kind)


def moment(text: str, kind: Any) -> Any:
    """A day or time as a column holds it; one without a zone is of that of the column."""
    try:
        return pa.scalar(text).cast(kind)
    except pa.ArrowException:
        if not pa.types.is_timestamp(kind) or kind.tz is None:
            raise
    return pa.compute.assume_timezone(pa.scalar(text).cast(pa.timestamp(kind.unit)), kind.tz)


def in_range(kind: Any, value: float) -> bool:
    """Whether a type of whole numbers reaches as far as a number."""
    signed = pa.types.is_signed_integer(kind)
    least, behind = (-1 << (kind.bit_width - 1), 1 << (kind.bit_width - 1)) if signed else (0, 1 << kind.bit_width)
    return bool(least <= value < behind)


def common_with(kind: Any, value: Any) -> tuple[Any, Any]:
    """A type in which a column of numbers can be held against a number, and the number in it."""
    if pa.types.is_floating(kind):
        wide = pa.float32() if pa.types.is_float16(kind) else kind  # of half precision, Arrow compares nothing
        return wide, pa.scalar(rounded(kind, value), wide)
    if pa.types.is_decimal(kind):
        return _decimal_with(kind, Decimal(repr(value)))
    if value == value // 1 and in_range(kind, value):
        return kind, pa.scalar(int(value), kind)
    if isinstance(value, int):
        return pa.decimal128(38, 0), pa.scalar(Decimal(value), pa.decimal128(38, 0))
    # A fraction is less than 2 to the 53rd: numbers that are rounded stay on their side of it.
    return pa.float64(), pa.scalar(value)


def _decimal_with(kind: Any, value: Decimal) -> tuple[Any, Any]:
    """The same for a column of decimals, which keep every digit where the number has few enough of them."""
    exponent = value.as_tuple().exponent
    scale = max(kind.scale, -exponent) if isinstance(exponent, int) else DIGITS
    if max(kind.precision - kind.scale, value.adjusted() + 1) + scale > DIGITS:
        # Then it is far larger, or far nearer to 0, than what the column can hold: rounding changes no order.
        return pa.float64(), pa.scalar(float(value))
    wide = pa.decimal256(DIGITS, scale)
    return wide, pa.scalar(value, wide)


def can_hold(kind: Any, value: Any) -> bool:
    """Whether a type of numbers holds a whole number exactly, and none beside it that was rounded to it."""
    if not pa.types.is_floating(kind) or not isinstance(value, int):
        return True
    digits = 11 if pa.types.is_float16(kind) else 24 if pa.types.is_float32(kind) else 53
    return abs(value) <= 1 << digits


def are_inexact(kind: Any, other: Any) -> bool:
    """Whether one column has whole numbers that are rounded in the type of the other."""
    return bool(pa.types.is_floating(other) and (pa.types.is_int64(kind) or pa.types.is_uint64(kind)))


def compared_exactly(compare: Callable[[Any, Any], Any], whole: Any, kind: Any, real: Any) -> Any:
    """Whole numbers of 64 bits held against floats, also where the nearest float of a number is another number."""
    behind = float(1 << 63 if pa.types.is_int64(kind) else 1 << 64)
    near, real = whole.cast(pa.float64(), safe=False), real.cast(pa.float64())
    # Where both are the same float, that float is whole: unless it lies behind all whole numbers, it can be one.
    same, less = near == real, pa.compute.scalar(bool(compare(0, 1)))
    inside = compare(whole, pa.compute.if_else(real < behind, real, 0.0).cast(kind, safe=False))
    return pa.compute.if_else(same, pa.compute.if_else(real < behind, inside, less), compare(near, real))


def common(kind: Any, other: Any) -> Any:
    """A type in which two columns of numbers, or of text, can be compared; None where every type would round them."""
    if family(kind) == "text":
        return pa.large_string()
    decimals = [each for each in (kind, other) if pa.types.is_decimal(each)]
    if decimals:
        if pa.types.is_floating(kind) or pa.types.is_floating(other):
            return None
        scale = max(each.scale for each in decimals)
        before = max([20, *(each.precision - each.scale for each in decimals)])
        return pa.decimal256(DIGITS, scale) if before + scale <= DIGITS else None
    if not (pa.types.is_integer(kind) and pa.types.is_integer(other)):
        return pa.float64()
    return pa.decimal128(38, 0) if pa.uint64() in (kind, other) else pa.int64()


def rounded(kind: Any, value: Any) -> float:
    """A number as a column holds it: 0.7 of single precision is 0.7, as it is where it is held against a threshold."""
    narrow = np.float16 if pa.types.is_float16(kind) else np.float32 if pa.types.is_float32(kind) else np.float64
    with np.errstate(over="ignore"):
        return float(narrow(value))


# --- text by its letters --------------------------------------------------------------------------------------


def form_of(text: str, column: str) -> str | None:
    """What texts look like that are in the order of the days, times or numbers that they stand for, as this one is.

    None where letters are meant.
    """
    if not WRITTEN_IN_DIGITS.fullmatch(text):
        return None
    if re.match(DAY_BEFORE_YEAR, text):
        raise _unordered_days(text, column)
    found = BEGINNING.match(text)
    shown = re.sub("[0-9]", "[0-9]", re.escape(found[0])) if found else ""
    decimal = re.fullmatch(r"\d+\.\d*", text, re.ASCII)
    return f"^{shown}(\\.|$)" if decimal else f"^{shown}([^0-9]|$)"


def out_of_order(value: str, column: str, against: str, row: int, file: str | None) -> BadFilter:
    """What to say of a text that letters do not put where it is meant to be."""
    if re.match(DAY_BEFORE_YEAR, value):
        return _unordered_days(value, column).but(file=file, row=row)
    problem = f"{quoted(value)} has not the form of {against}, and text is ordered letter by letter"
    name = column if column.isidentifier() else f"`{column}`"
    mend = f"Write all values of it in that form, or leave such rows out: {name} != {quoted(value)} and ..."
    return BadFilter(problem, file=file, column=column, row=row, mend=mend)


def _unordered_days(text: str, column: str) -> BadFilter:
    problem = f"days like {quoted(text)} are not in the order of their letters"
    return BadFilter(problem, column=column, mend="Write days as in '2024-12-31', in the column too")
