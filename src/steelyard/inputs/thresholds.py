"""What thresholds do to rows: counted while rows are read, so that a reader of the result is told what is odd about it.

Counts are kept as remarks, which add up over batches, files and tallies. What is said of them depends on all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.errors import BadOption, quoted
from ..core.scale import listed
from .membership import Noticed
from .remarks import Remark, Remarks

if TYPE_CHECKING:
    from ..core.typing import Codes

REACHED, UNREACHED = "reached", "not reached"
UNASSIGNED = "unassigned"
TIED, TIED_EVENT = "tied", "tied, with an event"
PROBABLE, SCORED = "probability under a threshold", "score under a threshold"
IN_CELL = "counted with a threshold"
OF_THRESHOLDS = (REACHED, UNREACHED, UNASSIGNED, TIED, TIED_EVENT, PROBABLE, SCORED, IN_CELL)


class Reached(NamedTuple):
    """How many rows reach a threshold, and how many do not."""

    threshold: float
    reached: int
    unreached: int


def noticed_of(
    name: str, codes: Codes, speaks: int | None, threshold: float | None, noticed: Noticed, named: bool
) -> dict[Remark, int]:
    """Return what was noticed while a classifier's rows were assigned; ``named`` is whether an event is named."""
    found = {Remark(TIED_EVENT if named else TIED, name): noticed.tied}
    if speaks is not None and threshold is not None:
        reached = int(np.count_nonzero(codes == speaks))
        found |= reached_of(name, threshold, reached, len(codes) - reached)
    return {remark: rows for remark, rows in found.items() if rows}


def reached_of(name: str, threshold: float, reached: int, unreached: int) -> dict[Remark, int]:
    """Return how many rows reach a threshold, and how many do not, as remarks."""
    about = f"{float(threshold)!r} {name}"  # all digits: it is marked on curves, on the score that it is
    found = {Remark(REACHED, about): reached, Remark(UNREACHED, about): unreached}
    return {remark: rows for remark, rows in found.items() if rows}


def told_of_thresholds(remarks: Remarks, name: str) -> Iterator[Reached]:
    """Yield the thresholds of a classifier, and how many rows reach them."""
    abouts = {remark.about for remark in remarks if remark.kind in (REACHED, UNREACHED)}
    for about in sorted(abouts):
        number, _, model = about.partition(" ")
        if model == name:
            reached, unreached = (remarks.get(Remark(kind, about), 0) for kind in (REACHED, UNREACHED))
            yield Reached(float(number), reached, unreached)


def unassigned(remarks: Remarks, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classifiers whose scores assign rows to no class."""
    there = {remark.about for remark in remarks if remark.kind == UNASSIGNED}
    return tuple(name for name in names if name in there)


def without_thresholds(remarks: Remarks, names: tuple[str, ...]) -> dict[Remark, int]:
    """Return remarks without those on how the rows of some classifiers were assigned, which will be anew."""
    return {remark: rows for remark, rows in remarks.items() if not _is_on_threshold(remark, names)}


def _is_on_threshold(remark: Remark, names: tuple[str, ...]) -> bool:
    if remark.kind in (REACHED, UNREACHED):
        return remark.about.partition(" ")[2] in names
    return remark.kind in OF_THRESHOLDS and remark.about in names


# --- one threshold for several classifiers ----------------------------------------------------------------------------


def kinds_of(name: str, rows: int, beyond: int, raw: bool) -> dict[Remark, int]:
    """Return what kind of numbers a classifier gave that shares its threshold with others."""
    scored = rows if raw else beyond
    found = {Remark(SCORED, name): scored, Remark(PROBABLE, name): rows - scored}
    return {remark: rows for remark, rows in found.items() if rows}


def refuse_unlike_scales(remarks: Remarks, threshold: float | None) -> None:
    """Refuse one threshold for probabilities and for scores that are none."""
    scored = sorted(remark.about for remark in remarks if remark.kind == SCORED)
    probable = sorted(remark.about for remark in remarks if remark.kind == PROBABLE and remark.about not in scored)
    if not scored or not probable:
        return
    least = 0.5 if threshold is None else threshold
    kinds = dict.fromkeys([*probable, *scored], least)
    one = "one threshold" if threshold is None else f"threshold={threshold:g}"
    pairs = ", ".join(f"{quoted(name)}: {number:g}" for name, number in kinds.items())
    raise BadOption(
        f"{one} is given for scores on unlike scales: {listed(probable, 3)} gave probabilities, "
        f"{listed(scored, 3)} gave scores that are none",
        mend=f"Give each classifier a threshold on its own scale: threshold={{{pairs}}}",
    )
