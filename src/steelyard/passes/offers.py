"""What files have of the columns that are wanted, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import SteelyardError
from ..data.engines import Engine
from ..data.paths import File
from ..data.spelling import NumberMarks
from ..data.streams import Files, Kinds
from ..data.where import Filter
from ..inputs.admission import Request, refuse_other_columns


@dataclass(frozen=True)
class Offer:
    """What one file has.

    Attributes:
        file: The file.
        columns: The columns that are needed.
        kinds: What those hold that lie in the file, and those of the filter; the others are keys of its folders.
        fault: Why it is of no use, where it is not.
    """

    file: File
    columns: tuple[str, ...] = ()
    kinds: Mapping[str, Any] = field(default_factory=dict)
    fault: SteelyardError | None = None


@dataclass(frozen=True)
class Look:
    """Looks into a file for columns, but not at rows; of text, all rows are read to tell what columns hold."""

    request: Request
    filter: Filter | None = None
    marks: NumberMarks | None = None

    def __call__(self, file: File) -> tuple[Offer, ...]:
        """Offers add up to all of them, in the order of files."""
        alone = Files((file,), self.filter, uses=self.request.uses, marks=self.marks)
        try:
            columns = self.request.columns_in(alone, file)
            return (Offer(file, tuple(columns), alone.own_types(file, alone.with_filter(columns))),)
        except SteelyardError as error:
            return (Offer(file, fault=error),)


def agreed(
    request: Request, files: Files, engine: Engine, skip: bool
) -> tuple[list[str], Kinds, dict[str, SteelyardError]]:
    """Columns and types that go for all files, and what is wrong with others.

    The first file that can be used says what all must have.
    """
    offers: Sequence[Offer] = engine.fold(Look(request, files.filter, files.marks), files.files)
    columns: list[str] = []
    kinds: Kinds = {}
    left_out: dict[str, SteelyardError] = {}
    for offer in offers:
        try:
            if offer.fault is not None:
                raise offer.fault
            refuse_other_columns(offer.columns, columns, offer.file)
            found = {
                name: offer.kinds[name] if name in offer.kinds else files.key_types[name]
                for name in files.with_filter(offer.columns)
            }
            kinds, columns = files.joint_types(kinds, offer.file, found), list(offer.columns)
        except SteelyardError as error:
            if not skip:
                raise
            left_out[offer.file.shown] = error
    return columns, files.settled(kinds), left_out
