"""The classes, their names and their order; and classes cut from a continuous value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .columns import as_number, is_single, is_sound, numbers
from .errors import (
    BadBoundaries,
    BadDeviation,
    BadOption,
    DuplicateClasses,
    OneClass,
    OutsideContinuum,
    UnknownLabel,
    UnusableLabels,
    quoted,
)
from .suggestions import did_you_mean, refuse_unknown

if TYPE_CHECKING:
    from .typing import Array, Numbers, Places

Label = str | int | bool
LARGEST = 1e50  # of values, boundaries and deviations: the cube of a square is still a number
WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,18})([.,]0)?|-0[.,]0")
IN_ORDER = "Continuum(boundaries, classes=['dry', 'wet'])"
RESCALE = f"Values up to {LARGEST:g} can be squared and summed: rescale them"


def plain_label(value: Any) -> Label:
    """Take a label out of its NumPy or Arrow wrapping; whole floats count as integers."""
    if (type(value) is str and value.isascii()) or (type(value) is int and -(2**63) <= value < 2**64):
        return value
    value = value.item() if isinstance(value, np.generic) else value.as_py() if hasattr(value, "as_py") else value
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and is_sound(value):
        return str.__str__(value)  # a member of an enumeration becomes plain text
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    others = "" if isinstance(value, int | float) else "; turn others into text, as values.astype(str) does"
    raise UnusableLabels(
        f"{quoted(value)} cannot be a class label",
        mend=f"Labels are text, whole numbers of up to 64 bits, or booleans{others}",
    )


def whole_number(label: Any) -> int | None:
    """The whole number that a label is, or that it spells as 1 or 1.0; None for all other labels."""
    if type(label) is int:
        return label
    if not isinstance(label, str) or not WHOLE.fullmatch(label):
        return None
    return int(re.sub("[.,]0$", "", label))


def same_number(label: Label, labels: Iterable[Label]) -> Label | None:
    """The one among labels of text that spells the same whole number; None where none or several do."""
    number = whole_number(label)
    texts = [] if number is None else [other for other in labels if isinstance(other, str)]
    found = [other for other in texts if whole_number(other) == number]
    return found[0] if len(found) == 1 else None


def label_among(classes: Sequence[Label], word: str) -> Label | None:
    """The class that a word stands for, whatever kind of label it is; booleans whatever their capitals."""
    capitals = {str(label).lower(): label for label in classes if isinstance(label, bool)}
    found = {str(label): label for label in classes}.get(word, capitals.get(word.lower()))
    return same_number(word, classes) if found is None else found


def of_one_kind(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Refuse text among numbers; booleans among numbers count as 0 and 1."""
    labels = tuple(labels)
    if set(map(type, labels)) in ({str}, {int}, {bool}):
        return labels
    texts = [label for label in labels if isinstance(label, str)]
    others = [label for label in labels if not isinstance(label, str)]
    if texts and others:
        words = [text for text in texts if not text.removeprefix("-").isdecimal()]
        alike = "Use one kind for all labels, in the truth and in the prediction"
        # A word makes text of a whole column of a file: it is what has to be mended.
        alone = f"{alike}: a column with {quoted(words[0])} in it is text" if 0 < len(words) < len(texts) else alike
        kind = "booleans" if isinstance(others[0], bool) else "numbers"
        raise UnusableLabels(
            f"some labels are text ({quoted((words or texts)[0])}) and some are {kind} ({quoted(others[0])})",
            mend=alone,
        )
    return labels if texts or all(isinstance(label, bool) for label in others) else tuple(map(int, others))


@dataclass(frozen=True, init=False)
class Scale:
    """The classes in their order, and the one among them that is the event, if any.

    With an event, ``assessment["sensitivity"]`` is the event's; without one it is the mean over the classes.
    Labels 0/1 and False/True carry their event with them: 1 and True.

    Args:
        classes: The class labels, in order. The order matters to measures for ordered classes.
        event: The class of interest.
        ordered: False when nobody chose the order (it came from sorting the labels seen).
    """

    classes: tuple[Label, ...]
    event: Label | None
    ordered: bool = field(compare=False)

    def __init__(self, classes: Sequence[Any], event: Any = None, ordered: bool = True) -> None:
        """Check the classes and settle the event."""
        labels = of_one_kind(_listed_classes(classes))
        if len(labels) < 2:
            raise OneClass(
                f"a scale needs at least two classes, not {len(labels)}",
                mend="Name every class that can occur: scale=Scale(['no', 'yes'])",
            )
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise DuplicateClasses(f"class {quoted(twice)} stands on the scale twice", mend="Remove one")
        if event is None and set(labels) == {0, 1}:
            event = max(labels)
        object.__setattr__(self, "classes", labels)
        object.__setattr__(self, "event", None if event is None else self.label(event))
        object.__setattr__(self, "ordered", bool(ordered))

    def __len__(self) -> int:
        """Count the classes."""
        return len(self.classes)

    def label(self, label: Any) -> Label:
        """Find a label on the scale, or say that it is not there."""
        return self.classes[self.code(label)]

    def code(self, label: Any) -> int:
        """Find the place of a label on the scale; of 1 also where the class is 1.0, if there is no class 1."""
        plain = plain_label(label)
        if plain not in self.classes and (same := same_number(plain, self.classes)) is not None:
            plain = same
        if plain not in self.classes:
            raise UnknownLabel(
                f"{quoted(plain)} is not one of the classes {listed(self.classes)}", mend=self.mend_for(plain)
            )
        return self.classes.index(plain)

    def mend_for(self, label: Label) -> str:
        """What to do about a label that is not on the scale."""
        kinds = {"text" if isinstance(known, str) else "numbers" for known in self.classes}
        if isinstance(label, str) == (kinds == {"text"}):
            return did_you_mean(label, self.classes, "Check the spelling, or add it to the scale")
        return f"The classes are {kinds.pop()}, this is {'text' if isinstance(label, str) else 'a number'}"

    @property
    def sorted_only(self) -> bool:
        """Whether the order of three or more classes came from sorting their labels, and means nothing."""
        return not self.ordered and len(self.classes) > 2

    @property
    def event_code(self) -> int | None:
        """The place of the event on the scale."""
        return None if self.event is None else self.classes.index(self.event)


def _listed_classes(classes: Any) -> list[Label]:
    if isinstance(classes, str | bytes | Set):
        raise UnusableLabels(f"{quoted(classes)} is not a list of classes", mend="Give a list: ['low', 'high']")
    try:
        found = list(classes)
    except Exception:  # a foreign object may raise anything
        raise UnusableLabels(f"{quoted(classes)} is not a list of classes", mend="Give a list of labels") from None
    return list(map(plain_label, found))


def listed(labels: Sequence[Any], limit: int = 8) -> str:
    """Name the first few of many labels."""
    shown = ", ".join(quoted(label) for label in labels[:limit])
    return f"{shown} and {len(labels) - limit} more" if len(labels) > limit else shown


@dataclass(frozen=True, init=False)
class Continuum(Scale):
    """Classes that are intervals of a continuous value which was measured with error.

    Args:
        boundaries: Where one class ends and the next begins, increasing. With one boundary fewer than classes
            the outer classes reach to infinity; with one more, a value beyond the ends is in no class.
        classes: The class labels from the lowest interval to the highest. If not given, they are named after their
            intervals; or, where a classifier assigned as many labels as there are classes, after these, in the order
            of what was measured.
        sd: The standard deviation of the measurement error: one for all rows, or one a row; or an estimate
            (``measurement_sd``), whose uncertainty is then carried into the intervals.
        closed: Which end of an interval belongs to it.
        extend: Whether the outer classes reach to infinity although their ends are given.
        event: The class of interest.
    """

    boundaries: tuple[float, ...] = ()
    sd: Any = field(default=None, compare=False)
    closed: Literal["left", "right"] = "left"

    def __init__(
        self,
        boundaries: Sequence[float],
        classes: Sequence[Any] | None = None,
        *,
        sd: Any = None,
        closed: Literal["left", "right"] = "left",
        extend: bool = False,
        event: Any = None,
        ordered: bool = True,
    ) -> None:
        """Check the boundaries and reach out to infinity where the ends are open."""
        refuse_unknown("closed", closed, ("left", "right"))
        if not isinstance(extend, bool | np.bool_):
            raise BadOption(f"extend is {quoted(extend)}", mend="Say True or False")
        unnamed = classes is None
        try:
            super().__init__(_interval_names(_read(boundaries), closed) if classes is None else classes, event)
        except OneClass as error:
            raise error.mended(f"Name every class from the lowest to the highest: {IN_ORDER}") from None
        object.__setattr__(self, "ordered", ordered and not unnamed)
        ends = _checked_boundaries(boundaries, len(self.classes))
        ends = (-np.inf, *ends[1:-1], np.inf) if extend else ends
        object.__setattr__(self, "boundaries", ends)
        object.__setattr__(self, "sd", checked_deviation(sd) if sd is not None and is_single(sd) else sd)
        object.__setattr__(self, "closed", closed)

    def but(self, **changes: Any) -> Continuum:
        """The same continuum but for some of what is known about it."""
        kept = {name: getattr(self, name) for name in ("classes", "sd", "closed", "event", "ordered")}
        return Continuum(self.boundaries, **(kept | changes))

    @property
    def sorted_only(self) -> bool:
        """Intervals have an order, whatever they are called."""
        return False

    @property
    def named_after_intervals(self) -> bool:
        """Whether nobody said what the classes are called."""
        return not self.ordered and self.classes == tuple(_interval_names(self.boundaries, self.closed))

    def cut(self, values: Any) -> Places:
        """Turn measured values into class codes; -1 where the value is missing."""
        measured = numbers(values, "truth")
        low, *inner, high = self.boundaries
        # Held against a boundary in double precision, 0.7 of single precision would be less than 0.7.
        with np.errstate(over="ignore"):  # a boundary beyond what the values' type can hold
            cuts = np.array(inner).astype(measured.dtype if measured.dtype.kind == "f" else np.float64)
        codes = np.searchsorted(cuts, measured, side="right" if self.closed == "left" else "left")
        # An infinite end belongs to its class whichever side is closed.
        above = measured >= low if self.closed == "left" or low == -np.inf else measured > low
        below = measured <= high if self.closed == "right" or high == np.inf else measured < high
        missing = np.isnan(measured)
        outside = ~(above & below | missing)
        if outside.any():
            row = int(np.argmax(outside))
            raise OutsideContinuum(
                f"{measured[row]} lies outside {low} to {high}",
                row=row,
                mend="Say extend=True to let the outer classes reach to infinity, or leave the outer boundaries out",
            )
        return np.where(missing, -1, codes)

    def in_double(self, measured: Numbers) -> Array:
        """Measured values in double precision; what is at a boundary in its own stays there."""
        found = measured.astype(np.float64)
        if measured.dtype.kind == "f" and measured.dtype.itemsize < found.dtype.itemsize:
            with np.errstate(over="ignore"):
                for boundary in filter(np.isfinite, self.boundaries):
                    found[measured == measured.dtype.type(boundary)] = boundary
        return found


def _read(boundaries: Any) -> list[float]:
    """Boundaries as numbers; none where they are something else."""
    try:
        return [as_number(boundary) for boundary in boundaries]
    except Exception:  # a foreign object may raise anything
        return []


def _checked_boundaries(boundaries: Any, classes: int) -> tuple[float, ...]:
    """Boundaries with both ends, one more than there are classes."""
    given = _read(boundaries)
    ends = [-np.inf, *given, np.inf] if len(given) == classes - 1 else given
    if len(ends) != classes + 1 or not all(low < high for low, high in pairwise(ends)):
        needed = "one number" if classes == 2 else f"{classes - 1} increasing numbers"
        raise BadBoundaries(
            f"boundaries {quoted(boundaries)} do not cut {classes} classes",
            mend=f"Give {needed}, or one more at each end",
        )
    if any(LARGEST < abs(end) < np.inf for end in ends):
        raise BadBoundaries(f"boundaries {quoted(boundaries)} are too large", mend=RESCALE)
    return tuple(ends)


def _interval_names(boundaries: Sequence[float], closed: str) -> list[str]:
    """What intervals between boundaries are called, where the outer ones reach to infinity."""
    texts = [f"{boundary:.15g}" for boundary in boundaries if np.isfinite(boundary)]
    if not texts:
        raise BadBoundaries("there is no boundary between classes", mend="Give increasing numbers: [0, 0.6]")
    first, last = ("below {}", "{} and above") if closed == "left" else ("up to {}", "above {}")
    return [first.format(texts[0]), *[f"{a} to {b}" for a, b in pairwise(texts)], last.format(texts[-1])]


def checked_deviation(sd: Any, what: str = "sd") -> Any:
    """A standard deviation that is one number for all rows, or an estimate of one."""
    number = as_number(sd.sd if hasattr(sd, "error") and hasattr(sd, "sd") else sd)
    if not 0 <= number < np.inf:
        raise BadDeviation(f"{what} is {quoted(sd)}", mend="A standard deviation is a finite number, 0 or above")
    if number > LARGEST:
        raise BadDeviation(f"{what} is {quoted(sd)}", mend=RESCALE)
    return sd if hasattr(sd, "error") else number
