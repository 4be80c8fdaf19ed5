"""What was noticed while rows were read and a reader of the result must know.

A remark is counted in rows, so that it adds up over batches, files and tallies as the rows do. Only its kind, the
column or classifier that it is about and the count are kept; the words are made when a result is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ..errors import quoted


class Remark(NamedTuple):
    """What was noticed, and about what: a kind of ``KINDS``, and the name of a column, a label or a classifier."""

    kind: str
    about: str = ""


Remarks = Mapping[Remark, int]

# The words of each kind: {rows} is the number of rows, {about} the name in quotes. Tags are stored in tallies: once
# released they stay.
KINDS: Final[dict[str, str]] = {}


def joined(first: Remarks, second: Remarks, sign: int = 1) -> dict[Remark, int]:
    """Return the remarks of both, counts added up; with ``sign=-1`` those of the second are taken out."""
    found = dict(first)
    for remark, rows in second.items():
        found[remark] = found.get(remark, 0) + sign * rows
    return {remark: rows for remark, rows in found.items() if rows}


def words(remarks: Remarks) -> list[str]:
    """Return one sentence for each remark, in the order of the kinds."""
    kinds = list(KINDS)
    told = sorted(remarks.items(), key=lambda each: (kinds.index(each[0].kind), each[0].about))
    return [KINDS[remark.kind].format(rows=f"{rows:,}", about=quoted(remark.about, 100)) for remark, rows in told]


def stored(remarks: Remarks) -> list[list[str | int]]:
    """Return remarks as plain lists for a file."""
    return [[remark.kind, remark.about, rows] for remark, rows in sorted(remarks.items())]


def restored(plain: list[list[object]]) -> dict[Remark, int]:
    """Return what ``stored`` made; a kind that nobody knows is an error."""
    found = {Remark(str(kind), str(about)): int(str(rows)) for kind, about, rows in plain}
    if any(remark.kind not in KINDS for remark in found):
        raise ValueError("remarks of an unknown kind")
    return found
