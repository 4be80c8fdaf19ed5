"""What was noticed while rows were read and a reader of the result must know.

A remark is counted in rows, so that it adds up over batches, files and tallies as the rows do. Only its kind, the
column or classifier that it is about and the count are kept; the words are made when a result is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..core.errors import BadOption, quoted
from ..core.scale import listed
from ..core.text import in_words
from ..data.paths import Passed
from .membership import Noticed

if TYPE_CHECKING:
    from ..core.typing import Codes

UNNAMED = "unnamed_columns"  # about a classifier whose columns only their order binds to classes
# The words of each kind: {rows} is the number of rows, {about} the name in quotes. With {names}, all remarks of a kind
# make one sentence, and what they count is files. Tags are stored in tallies: once released they stay. For a kind
# without words, the notes are made elsewhere.
KINDS: Final[dict[str, str]] = {
    "passed_ending": "not read because of the ending: {files} ({names})",
    "passed_folder": "not read because the pattern stands for files: {folders} ({names})",
    "passed_link": "not read because links lead nowhere: {files} ({names})",
    "passed_pipe": "not read because they are pipes, sockets or devices: {files} ({names})",
    "whole_number": (
        "column {about} spells whole numbers otherwise than the rest, such as 1.0 for 1: they count as the same label "
        "({rows} rows)"
    ),
    "number_meant": "no class is spelled {about}: the class of the same number is meant",
    "rows_by_position": "{rows} rows were matched by position: some columns have an index, others only count rows",
    "whole_weights": "",
    "frequency_weights": "",
    UNNAMED: "",
    "tied": "{about}: {rows} rows are tied between classes; the first of these on the scale is predicted",
    "tied, with an event": "{about}: {rows} rows are tied between classes; the positive class is predicted where it is "
    "among them",
    "unassigned": "",
    "reached": "",
    "not reached": "",
    "counted with a threshold": "{about}: {rows} rows may be on either side of the threshold: they were counted in one "
    "cell of scores with it; for exact counts, assess the files with threshold=",
    "probability under a threshold": "",
    "score under a threshold": "",
}
MOST_NAMED = 10
REACHED, UNREACHED = "reached", "not reached"
UNASSIGNED = "unassigned"
TIED, TIED_EVENT = "tied", "tied, with an event"
PROBABLE, SCORED = "probability under a threshold", "score under a threshold"
IN_CELL = "counted with a threshold"
OF_THRESHOLDS = (REACHED, UNREACHED, UNASSIGNED, TIED, TIED_EVENT, PROBABLE, SCORED, IN_CELL)


class Remark(NamedTuple):
    """What was noticed, and about what: a kind of ``KINDS``, and the name of a column, a label or a classifier."""

    kind: str
    about: str = ""


Remarks = Mapping[Remark, int]


def joined(first: Remarks, second: Remarks, sign: int = 1) -> dict[Remark, int]:
    """Return the remarks of both, counts added up; with ``sign=-1`` those of the second are taken out."""
    found = dict(first)
    for remark, rows in second.items():
        found[remark] = found.get(remark, 0) + sign * rows
    return {remark: rows for remark, rows in found.items() if rows}


def words(remarks: Remarks) -> list[str]:
    """Return the sentences of remarks, in the order of the kinds."""
    kinds = list(KINDS)
    spoken = [(remark, rows) for remark, rows in remarks.items() if KINDS[remark.kind]]
    told = sorted(spoken, key=lambda each: (kinds.index(each[0].kind), each[0].about))
    found: list[str] = []
    for kind, same in groupby(told, key=lambda each: each[0].kind):
        if "{names}" in KINDS[kind]:
            found.append(_listed(KINDS[kind], dict(same)))
        else:
            lines = [KINDS[kind].format(rows=f"{rows:,}", about=quoted(remark.about, 100)) for remark, rows in same]
            found += [line.replace(": 1 rows are ", ": 1 row is ") for line in lines]
    return found


def _listed(sentence: str, remarks: Remarks) -> str:
    """Return one sentence for all remarks of a kind: the first names, and how many more there are."""
    names = [quoted(remark.about, 100) for remark in remarks][:MOST_NAMED]
    count = sum(remarks.values())
    more = count - sum([*remarks.values()][:MOST_NAMED])
    names += [f"and {more:,} more"] if more else []
    return sentence.format(files=in_words(count, "file"), folders=in_words(count, "folder"), names=", ".join(names))


def on_passed(passed: Iterable[Passed]) -> dict[Remark, int]:
    """Return the remarks on files that were passed over."""
    return dict(Counter(Remark(one.kind, one.name) for one in passed))


def stored(remarks: Remarks) -> list[list[str | int]]:
    """Return remarks as plain lists for a file."""
    return [[remark.kind, remark.about, rows] for remark, rows in sorted(remarks.items())]


def restored(plain: list[list[object]]) -> dict[Remark, int]:
    """Return what ``stored`` made; a kind that nobody knows is an error."""
    found = {Remark(str(kind), str(about)): int(str(rows)) for kind, about, rows in plain}
    if any(remark.kind not in KINDS for remark in found):
        raise ValueError("remarks of an unknown kind")
    return found


def noticed_of(
    name: str, codes: Codes, speaks: int | None, threshold: float | None, noticed: Noticed, named: bool
) -> dict[Remark, int]:
    """Return what was noticed while a classifier's rows were assigned; ``named`` is whether an event is named."""
    found = {Remark(TIED_EVENT if named else TIED, name): noticed.tied} if noticed.tied else {}
    if speaks is not None and threshold is not None:
        reached = int(np.count_nonzero(codes == speaks))
        found |= reached_of(name, threshold, reached, len(codes) - reached)
    return found


def reached_of(name: str, threshold: float, reached: int, unreached: int) -> dict[Remark, int]:
    """Return how many rows reach a threshold, and how many do not, as remarks."""
    about = f"{float(threshold)!r} {name}"  # all digits: it is marked on curves, on the score that it is
    found = {Remark(REACHED, about): reached, Remark(UNREACHED, about): unreached}
    return {remark: rows for remark, rows in found.items() if rows}


def thresholds_of(remarks: Remarks, name: str) -> Iterator[tuple[float, int, int]]:
    """Yield the thresholds of a classifier, how many rows reach each, and how many do not."""
    abouts = {remark.about for remark in remarks if remark.kind in (REACHED, UNREACHED)}
    for about in sorted(abouts):
        number, _, model = about.partition(" ")
        if model == name:
            reached, unreached = (remarks.get(Remark(kind, about), 0) for kind in (REACHED, UNREACHED))
            yield float(number), reached, unreached


def unassigned(remarks: Remarks, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classifiers whose scores assign rows to no class."""
    return tuple([name for name in names if Remark(UNASSIGNED, name) in remarks])


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


def check_scales_alike(remarks: Remarks, threshold: float | None) -> None:
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
