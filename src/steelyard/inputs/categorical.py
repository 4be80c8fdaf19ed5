"""Columns of labels as small integer codes: what can be done with them, whatever they were made of."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import MissingValues, UnknownLabel, UnusableLabels, quoted
from ..core.scale import Label, Scale, listed, of_one_kind, whole_number
from ..core.threads import LEAST_CHUNK, chunks, over_rows

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Codes, Marks, Places

SCORES = (
    "Probabilities of the event lie between 0 and 1: divide per cent by 100; or give scores on another scale as score="
)
NUMBER = re.compile(r"(?<==)(-?\d+)(?=, |$)")  # a part by several columns: "dose=9, arm=b"
FEW = 4  # entries of a table that are found faster by comparing


@dataclass(frozen=True)
class Categorical:
    """A column of labels: row i has the label ``labels[codes[i]]``; a code of -1 means missing.

    ``order`` has these labels, and perhaps others, in the order that whoever made the column gave them, if anybody did.
    """

    codes: Codes
    labels: tuple[Label, ...]
    name: str
    has_missing: bool = False
    order: tuple[Label, ...] = ()

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.codes)

    def missing(self) -> Marks:
        """Mark the rows without a label."""
        return self.codes < 0

    @property
    def is_text(self) -> bool:
        """Whether any label is text."""
        return str in set(map(type, self.labels))

    def renamed(self, names: Mapping[Label, Label]) -> Categorical:
        """The same column with other names for some labels."""
        if all(type(name) is type(label) and name == label for label, name in names.items()):
            return self
        labels, order = (tuple(names.get(label, label) for label in some) for some in (self.labels, self.order))
        return replace(self, labels=labels, order=order)

    def rows_unlike(self, other: Categorical) -> int:
        """How many rows have another label in another column of the same codes."""
        unlike = [code for code, (one, two) in enumerate(zip(self.labels, other.labels, strict=True)) if one != two]
        return int(np.isin(self.codes, unlike).sum()) if unlike else 0

    def keep(self, rows: Marks) -> Categorical:
        """Keep the marked rows, which all have a label; labels that no longer occur go too."""
        codes = self.codes[rows]
        seen = np.zeros(len(self.labels), dtype=bool)
        seen[codes] = True
        labels = tuple(label for label, here in zip(self.labels, seen, strict=True) if here)
        return Categorical(renumbered(codes, seen), labels, self.name, order=self.order)

    def on(self, scale: Scale) -> Codes:
        """Translate to the codes of a scale, or name the first label that is not on it."""
        if self.labels == scale.classes:
            return self.codes
        places = {label: place for place, label in enumerate(scale.classes)}
        target = [places.get(label, -1) for label in self.labels]
        if -1 in target:
            row = int(np.argmax(np.array(target)[self.codes] < 0))
            label = self.labels[int(self.codes[row])]
            raise UnknownLabel(
                f"{quoted(label)} is not one of the classes {listed(scale.classes)}",
                column=self.name,
                row=row,
                mend=scale.mend_for(label),
            )
        if target == list(range(len(target))):
            return self.codes
        return look_up(self.codes, np.array(target, dtype=np.min_scalar_type(len(scale) - 1)))


def respelled(
    columns: Sequence[Categorical], classes: Sequence[Label] | None = None, names: Sequence[str] = ()
) -> Sequence[Categorical]:
    """Return the columns with one spelling for each whole number: that of the classes, where these are known.

    Else numbers are spelled as numbers, if another column has numbers, and as 1 rather than 1.0, if another column or
    name does so. A column that spells a number in two ways keeps both: there they are two labels.
    """
    if classes is None and not any(column.is_text for column in columns):
        return columns
    own = [_by_number(column.labels) for column in columns]
    target = _common_spelling(columns, own, names) if classes is None else _by_number(classes)
    taken = set(() if classes is None else classes)
    spelled = [
        {label: target.get(number, label) for number, label in each.items() if label not in taken} for each in own
    ]
    return [column.renamed(wanted) for column, wanted in zip(columns, spelled, strict=True)]


def _common_spelling(
    columns: Sequence[Categorical], own: Sequence[Mapping[int, Label]], names: Sequence[str]
) -> dict[int, Label]:
    """How whole numbers are spelled that columns spell differently."""
    kinds = {type(label) for column in columns for label in column.labels}
    if kinds == {int, str}:
        # Text that is no number, and one number in two ways, are refused beside numbers.
        texts = [len(known) < len(column.labels) for column, known in zip(columns, own, strict=True) if column.is_text]
        if any(texts):
            return {}
        return {number: number for known in own for number in known}
    if kinds != {str}:
        return {}
    plain: dict[int, Label] = {
        number: label for known in (*own, _by_number(names)) for number, label in known.items() if label == str(number)
    }
    numbers = [{whole_number(label) for label in column.labels} for column in columns]
    twice = {number for every, known in zip(numbers, own, strict=True) for number in every - known.keys()}
    return {number: label for number, label in plain.items() if number not in twice}


def _by_number(labels: Iterable[Label]) -> dict[int, Label]:
    """Labels by the whole numbers that they spell; without numbers that several of them spell."""
    found: dict[int, list[Label]] = {}
    for label in labels:
        number = whole_number(label)
        if number is not None:
            found.setdefault(number, []).append(label)
    return {number: spelled[0] for number, spelled in found.items() if len(spelled) == 1}


def look_up(codes: Codes, target: AnyArray, out: AnyArray | None = None) -> AnyArray:
    """Replace every code by its entry in ``target``, in cache-sized pieces."""
    found = np.empty(len(codes), dtype=target.dtype) if out is None else out
    few = 1 < len(target) <= FEW and target.dtype.kind in "iu"

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop):
            if few:
                _choose(codes[low:high], target, found[low:high])
            else:
                np.take(target, codes[low:high], out=found[low:high], mode="clip")

    over_rows(len(codes), work)
    return found


def _choose(codes: Codes, target: AnyArray, out: AnyArray) -> None:
    """The same where there are few entries: comparing with each is faster than looking up."""
    out[:] = target[0]
    for code in range(1, len(target)):
        out += (codes == code) * (target[code : code + 1] - target[0])  # may wrap around, and back again


def occurring(places: Places, words: int) -> Marks:
    """Which words occur; where all do, the first rows most often show it."""
    seen = np.zeros(words, dtype=bool)
    for low, high in [(0, LEAST_CHUNK), *chunks(LEAST_CHUNK, len(places))]:
        seen[places[low:high]] = True
        if seen.all():
            break
    return seen


def renumbered(codes: Codes, seen: Marks) -> Codes:
    """Close the gaps that codes which do not occur leave."""
    if seen.all():
        return codes
    rank = np.cumsum(seen) - 1
    return look_up(codes, rank.astype(np.min_scalar_type(max(int(rank[-1]), 0))))


def without(coded: Categorical, missing: Marks) -> Categorical:
    """Take the labels of some rows away."""
    if missing.all():
        return Categorical(np.full(len(missing), -1, dtype=np.int8), (), coded.name, has_missing=len(missing) > 0)
    codes = coded.codes.astype(np.min_scalar_type(-len(coded.labels) - 1))
    codes[missing] = -1
    return Categorical(codes, coded.labels, coded.name, has_missing=True, order=coded.order)


def refuse_missing(column: Categorical) -> None:
    """Name the first row without a label."""
    if column.has_missing:
        raise MissingValues(
            "the value is missing",
            column=column.name,
            row=int(np.argmax(column.missing())),
            mend="Fill it in, or leave such rows out with missing='drop'",
        )


def scale_of(columns: Sequence[Categorical], event: Any) -> Scale:
    """Make a scale of all labels seen: in the order that ordered categoricals bring along, else sorted."""
    seen: dict[Label, None] = {}
    for column in columns:
        seen |= dict.fromkeys(column.labels)
    try:
        labels = sorted(set(of_one_kind(seen)))
    except UnusableLabels as error:
        texts = [column.name for column in columns if any(isinstance(label, str) for label in column.labels)]
        scores = [column for column in columns if column.name not in texts and not set(column.labels) <= {0, 1}]
        # Where true classes are words and one of them is the event, numbers but 0 and 1 speak for it.
        if isinstance(event, str) and columns[0].name in texts and scores:
            problem = f"{quoted(scores[0].labels[0])} is a number, and the true classes are text"
            raise UnusableLabels(problem, column=scores[0].name, mend=SCORES) from None
        others = [column.name for column in columns if column.name not in texts]
        whose = f", those of {quoted(others[0])}" if others else ""
        raise UnusableLabels(error.problem + whose, column=texts[-1], mend=error.mend) from None
    arranged = in_their_order(labels, columns)
    return Scale(arranged or labels, event, ordered=bool(arranged) or not (labels and isinstance(labels[0], str)))


def in_their_order(labels: Sequence[Label], columns: Sequence[Categorical]) -> list[Label]:
    """Labels in the order that columns bring along; nothing where these have none, or disagree, or do not know all."""
    orders = {column.order for column in columns} - {()}
    order = orders.pop() if len(orders) == 1 else ()
    here = set(labels)
    return [label for label in order if label in here] if here <= set(order) else []


def merged_order(first: tuple[Label, ...], second: tuple[Label, ...]) -> tuple[Label, ...]:
    """One order of labels that agrees with both; nothing where they disagree.

    Of two labels that neither has both of, the one that is the smaller number, or the first by its letters, is first.
    """
    if first == second:
        return first
    found: list[Label] = []
    left, right = deque(first), deque(second)
    both = set(first) & set(second)
    while left and right:
        heads = [left[0]] if left[0] == right[0] else [one for one in (left[0], right[0]) if one not in both]
        if not heads:
            return ()
        found.append(min(heads, key=_place))
        for rest in (left, right):
            if rest[0] == found[-1]:
                rest.popleft()
    return (*found, *left, *right)


def _place(label: Label) -> tuple[Any, ...]:
    """What sorts labels: text by its letters, but numbers in parts by several columns as numbers."""
    if not isinstance(label, str):
        return (label,)
    pieces = NUMBER.split(label)
    return tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces))
