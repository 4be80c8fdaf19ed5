"""The classes, their names and their order; and classes cut from a continuous value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

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

if TYPE_CHECKING:
    from .kinds import Places

Label = str | int | bool


def plain_label(value: Any) -> Label:
    """Take a label out of its NumPy wrapping; whole floats count as integers."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str | int | bool):
        return value
    raise UnusableLabels(
        f"{quoted(value)} cannot be a class label",
        mend="Labels are strings, whole numbers or booleans",
    )


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
        labels = tuple(plain_label(label) for label in classes)
        if len(labels) < 2:
            raise OneClass(
                f"a scale needs at least two classes, not {len(labels)}",
                mend="Name every class that can occur: scale=Scale(['no', 'yes'])",
            )
        if len(set(labels)) < len(labels):
            twice = next(label for place, label in enumerate(labels) if label in labels[:place])
            raise DuplicateClasses(f"class {quoted(twice)} stands on the scale twice", mend="Remove one")
        if event is None and (labels in ((0, 1), (1, 0))):
            event = 1 if isinstance(labels[0], int) and not isinstance(labels[0], bool) else True
        object.__setattr__(self, "classes", labels)
        object.__setattr__(self, "event", None if event is None else self.label(event))
        object.__setattr__(self, "ordered", ordered)

    def __len__(self) -> int:
        """Count the classes."""
        return len(self.classes)

    def label(self, label: Any) -> Label:
        """Find a label on the scale, or say that it is not there."""
        return self.classes[self.code(label)]

    def code(self, label: Any) -> int:
        """Find the place of a label on the scale."""
        try:
            return self.classes.index(plain_label(label))
        except ValueError:
            raise UnknownLabel(
                f"{quoted(label)} is not one of the classes {listed(self.classes)}",
                mend="Check the spelling, or add it to the scale",
            ) from None

    @property
    def event_code(self) -> int | None:
        """The place of the event on the scale."""
        return None if self.event is None else self.classes.index(self.event)


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
        classes: The class labels from the lowest interval to the highest.
        sd: The standard deviation of the measurement error, one for all rows.
        closed: Which end of an interval belongs to it.
        event: The class of interest.
    """

    boundaries: tuple[float, ...] = ()
    sd: float | None = None
    closed: Literal["left", "right"] = "left"

    def __init__(
        self,
        boundaries: Sequence[float],
        classes: Sequence[Any],
        *,
        sd: float | None = None,
        closed: Literal["left", "right"] = "left",
        event: Any = None,
    ) -> None:
        """Check the boundaries and reach out to infinity where the ends are open."""
        super().__init__(classes, event)
        inner = [float(boundary) for boundary in boundaries]
        if len(inner) == len(self.classes) - 1:
            inner = [-np.inf, *inner, np.inf]
        if len(inner) != len(self.classes) + 1 or not all(low < high for low, high in pairwise(inner)):
            raise BadBoundaries(
                f"boundaries {list(boundaries)} do not cut {len(self.classes)} classes",
                mend=f"Give {len(self.classes) - 1} increasing boundaries, or one more at each end",
            )
        if sd is not None and not (np.isfinite(sd) and sd >= 0):
            raise BadDeviation(f"sd is {sd}", mend="A standard deviation is a finite number, 0 or above")
        if closed not in ("left", "right"):
            raise BadOption(f"closed is {quoted(closed)}", mend="Say 'left' or 'right'")
        object.__setattr__(self, "boundaries", tuple(inner))
        object.__setattr__(self, "sd", sd)
        object.__setattr__(self, "closed", closed)

    def cut(self, values: Any) -> Places:
        """Turn measured values into class codes."""
        measured = np.asarray(values, dtype=float)
        side: Literal["left", "right"] = "right" if self.closed == "left" else "left"
        codes = np.searchsorted(self.boundaries, measured, side=side) - 1
        # An infinite end belongs to its class whichever side is closed.
        codes = np.where(np.isinf(measured) & np.isinf(self.boundaries[0]) & (measured < 0), 0, codes)
        last = len(self.classes) - 1
        codes = np.where(np.isinf(measured) & np.isinf(self.boundaries[-1]) & (measured > 0), last, codes)
        outside = (codes < 0) | (codes > last)
        if outside.any():
            row = int(np.argmax(outside))
            raise OutsideContinuum(
                f"{measured[row]} lies outside {self.boundaries[0]} to {self.boundaries[-1]}",
                row=row,
                mend="Leave the outer boundaries out to let the outer classes reach to infinity",
            )
        return codes
