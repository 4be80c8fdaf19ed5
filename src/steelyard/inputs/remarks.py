"""What was noticed while rows were read and a reader of the result must know.

A remark is counted in rows, so that it adds up over batches, files and tallies as the rows do. Only its kind, the
column or classifier that it is about and the count are kept; the words are made when a result is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Final, NamedTuple

from ..core.errors import quoted
from ..core.text import in_words
from ..data.paths import Passed


class Remark(NamedTuple):
    """What was noticed, and about what: a kind of ``KINDS``, and the name of a column, a label or a classifier."""

    kind: str
    about: str = ""


Remarks = Mapping[Remark, int]

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
