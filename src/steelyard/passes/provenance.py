"""What a tally knows of where its rows come from, and of how they were read.

Nothing is added twice unless somebody says so, and nothing that was read otherwise.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import OverlappingTallies, SteelyardError, UnlikeTallies, quoted
from ..core.text import in_words
from ..data.digests import DATA, FILE, UNKNOWN, Source
from ..inputs.request import Request

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array
    from ..inference.settings import Settings
    from ..inputs.dataset import Dataset
    from ..states.held_rows import Rows

BITS = 20.0  # of surprise: as many files of few rows may well be alike by chance
FEW_SCORED = 8  # rows with scores: fewer may be alike by chance
MOST_LOOKED_AT = 1 << 16  # rows: if these tell data from others, so do all
MOST_TOLD = 5
MIX = np.uint64(0x9E3779B97F4A7C15)
OVERLAP = "Leave one out, or count its rows twice: merge(tallies, allow_overlap=True)"


@dataclass(frozen=True)
class InMemory(Source):
    """Arrays or a data frame. What they hold is looked at only where a tally of them is added or saved."""

    content: Callable[[], tuple[str, bool]] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_rows(cls, dataset: Dataset, kept: Rows | None) -> InMemory:
        """Return the source that rows in memory are; of those whose kept scores were changed, nothing is known."""
        plain: list[AnyArray | None] = [dataset.truth, *dataset.assigned.values()]
        facts: list[Any] = [dataset.scale.classes]
        for one in (dataset.slice, dataset.group):
            plain.append(None if one is None else one.codes)
            facts.append([] if one is None else [one.labels])
        plain.append(dataset.weight)

        def content() -> tuple[str, bool]:
            every = plain if kept is None else [*plain, *kept.refuse_changed().columns()]
            return _digest([column for column in every if column is not None], repr(facts))

        return cls(DATA, place=os.urandom(8).hex(), rows=len(dataset), content=content)

    @property
    def settled(self) -> Source:
        """Return the source with the digest of what it holds; it keeps nothing of that."""
        digest, telling = ("", False) if self.content is None else self.content()
        return Source(DATA, place=self.place, rows=self.rows, digest=digest, telling=telling)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let only the digest go elsewhere."""
        found = self.settled
        return Source, (DATA, "", found.place, found.rows, 0, 0, "", found.digest, found.telling)


def unknown(rows: float) -> Source:
    """Return the source of rows of which nobody knows where they come from."""
    return Source(UNKNOWN, rows=round(rows))


def surprise(counts: AnyArray) -> float:
    """Return how many bits it takes to say in which order rows of these counts came."""
    whole = np.abs(counts[counts != 0])
    every = math.lgamma(float(whole.sum()) + 1) - sum(math.lgamma(count + 1) for count in whole.tolist())
    return every / math.log(2)


def is_telling(rows: int, scored: bool, counts: Array) -> bool:
    """Whether two files of the same bytes must be copies: rows of a few patterns may be alike by chance."""
    return bool(rows >= FEW_SCORED and scored) or surprise(counts) >= BITS


def _digest(columns: Sequence[AnyArray], facts: str) -> tuple[str, bool]:
    """Return a digest of rows in their order, and whether others of the same digest must be the same."""
    found = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        plain = column.astype(np.float64 if column.dtype.kind == "f" else np.int64).view(np.uint64)
        found = (found ^ plain) * MIX
        found ^= found >> np.uint64(29)
    _, counts = np.unique(found[:MOST_LOOKED_AT], return_counts=True)
    digest = blake2b(facts.encode(errors="surrogatepass"), digest_size=8)
    digest.update(found.tobytes())
    return digest.hexdigest(), surprise(counts) >= BITS


# --- two tallies ------------------------------------------------------------------------------------------------


def settled(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return sources with everything that can be known of them; one that was changed meanwhile has no digest."""
    found = []
    for source in sources:
        try:
            found.append(source.settled)
        except SteelyardError:
            found.append(Source(source.kind, place=source.place, rows=source.rows))
    return tuple(found)


def shared(ours: Sequence[Source], theirs: Sequence[Source]) -> tuple[Source, Source] | None:
    """Return two sources that are the same, one of each; None where no row counts twice."""
    if len(ours) < len(theirs):
        found = shared(theirs, ours)
        return None if found is None else found[::-1]
    known: dict[str, list[Source]] = {}
    for source in theirs:
        for key in {source.place, source.digest} - {""}:
            known.setdefault(key, []).append(source)
    for source in ours if known else ():
        for key in (source.place, source.digest):
            for other in known.get(key, ()) if key else ():
                if _are_same(source, other):
                    return source, other
    return None


def _are_same(one: Source, other: Source) -> bool:
    """Whether rows of two sources are the same rows."""
    if one.rows <= 0 or other.rows <= 0:
        return False
    if one.place == other.place:
        return one.kind == DATA or not one.digest or not other.digest or one.digest == other.digest
    return one.digest == other.digest and one.telling and other.telling


def check_no_overlap(ours: Sequence[Source], theirs: Sequence[Source], names: tuple[str, str]) -> None:
    """Refuse to count rows twice."""
    found = shared(ours, theirs)
    if found is None:
        return
    one, other = found
    rows = in_words(min(one.rows, other.rows), "row")
    if DATA in (one.kind, other.kind):
        what = f"the same data ({rows})"
    elif one.place == other.place:
        what = f"{quoted(one.name)} ({rows})"
    else:
        what = f"{quoted(one.name)} and {quoted(other.name)}, which have the same content ({rows})"
    raise OverlappingTallies(f"{names[0]} and {names[1]} both count {what}", mend=OVERLAP)


def both(ours: Sequence[Source], theirs: Sequence[Source]) -> tuple[Source, ...]:
    """Return all sources of both; one that was taken out before meets its like."""
    found = [*ours, *theirs]
    owed = [source for source in found if source.rows < 0]
    for debt in owed:
        like = replace(debt, rows=-debt.rows)
        if like in found:
            found.remove(like)
            found.remove(debt)
    return tuple(found)


def without(ours: Sequence[Source], theirs: Sequence[Source]) -> tuple[Source, ...]:
    """Return the sources that are left; one that was not added before is a debt, which adding it later cancels."""
    found = list(ours)
    unknown_too = any(source.kind == UNKNOWN for source in found)
    for source in theirs:
        if source in found:
            found.remove(source)
        elif source.kind == DATA or (source.kind == FILE and not unknown_too):
            found.append(replace(source, rows=-source.rows))
    return tuple(found)


def check_debts(sources: Sequence[Source]) -> None:
    """Refuse a tally out of which a file was taken that it did not count; of arrays, parts may be taken out."""
    for source in sources:
        if source.rows < 0 and source.kind == FILE:
            raise UnlikeTallies(
                f"{quoted(source.name)} is taken out of a tally that does not count it",
                mend="Subtract what was added before",
            )


# --- what a reader must know ------------------------------------------------------------------------------------


def words_on(sources: Sequence[Source]) -> list[str]:
    """Return what a reader must know: rows that count twice, or may do so."""
    files = [source for source in sources if source.kind != UNKNOWN and source.rows > 0]
    found = _words_on_copies(files) + _words_on_formats(files) + _words_on_states(files) + _words_on_repeats(files)
    more = len(found) - MOST_TOLD
    told = [*found[:MOST_TOLD], *([f"{more:,} more sources may count twice"] if more > 0 else [])]
    strange = sum(source.rows for source in sources if source.kind == UNKNOWN)
    if strange:
        told.append(
            f"{in_words(strange, 'row')} come from tallies of an older version, which do not know their sources: "
            "whether any of them count twice is not known"
        )
    return told


def _groups(files: Iterable[Source], key: Callable[[Source], str]) -> list[list[Source]]:
    found: dict[str, list[Source]] = {}
    for file in files:
        if key(file):
            found.setdefault(key(file), []).append(file)
    return [group for group in found.values() if len(group) > 1]


def _words_on_copies(files: Iterable[Source]) -> list[str]:
    """Files of the same content under several names."""
    found = []
    for group in _groups(files, lambda file: file.digest):
        places = {file.place: file for file in group}
        if len(places) < 2 or (group[0].kind == DATA and not group[0].telling):
            continue
        names = [quoted(file.name, 100) for file in list(places.values())[:MOST_TOLD]]
        rows = in_words(group[0].rows, "row")
        told = "data in memory" if group[0].kind == DATA else f"{', '.join(names[:-1])} and {names[-1]}"
        more = len(places) - len(names)
        told += f" and {more:,} more files" if more else ""
        found.append(f"{told} have the same content, {rows}: it counts {len(places):,} times")
    return found


def _words_on_formats(files: Iterable[Source]) -> list[str]:
    """Files of one folder that differ in nothing but their ending, as a.csv and a.parquet: the same rows, perhaps."""
    found = []
    here = [file for file in files if file.kind == FILE and file.folders]
    for group in _groups(here, lambda file: f"{file.folders[0]} {file.rows} {file.name.partition('.')[0]}"):
        ends = {file.digest: quoted(file.name, 100) for file in group}
        if len({file.name for file in group}) == len(group) == len(ends):
            names, rows = list(ends.values())[:MOST_TOLD], in_words(group[0].rows, "row")
            found.append(f"{', '.join(names[:-1])} and {names[-1]} have {rows} each: are these the same rows twice?")
    return found


def _words_on_states(files: Iterable[Source]) -> list[str]:
    """A file that was counted, changed and counted again."""
    return [
        f"{quoted(group[0].name, 100)} counts as it was at {len(states):,} times "
        f"({' and '.join(f'{rows:,}' for rows in states.values())} rows): a row that it held each time counts twice"
        for group in _groups(files, lambda file: file.place if file.kind == FILE else "")
        if len(states := {file.digest: file.rows for file in group}) > 1
    ]


def _words_on_repeats(files: Iterable[Source]) -> list[str]:
    """Sources that somebody allowed to overlap."""
    often = Counter((file.kind, file.name, file.place, file.digest, file.rows) for file in files)
    return [
        f"{quoted(name, 100) if kind == FILE else 'data in memory'} ({in_words(rows, 'row')}) counts {times:,} times"
        for (kind, name, _, _, rows), times in often.items()
        if times > 1
    ]


Facts = tuple[tuple[str, str], ...]
GIVEN = "given as an array"
MEASURES, COST = "measures", "cost"
OF_COLUMNS = ("truth", "where")  # arrays have none of these, and may be the same


def facts_of(request: Request, columns: Facts, where: str | None, kind: str) -> dict[str, str]:
    """Return how rows are read: from which columns, by which rules; ``kind`` is that of weights."""
    validator = request.validator
    said: dict[str, Any] = {"truth": request.truth, "missing": validator.missing, "where": where, **dict(columns)}
    given = {"weight": validator.weight, "group": validator.group, "by": validator.by, **vars(validator.knowledge)}
    for name, value in given.items():
        said[name] = None if value is None else _named(value)
    said |= {"weight_kind": None if validator.weight is None else kind, "threshold": validator.threshold}
    for name, number in validator.thresholds.items():
        said[f"threshold of {name}"] = number
    for name in validator.scores:
        said[f"scores of {name}"] = "on any scale"
    said |= {} if request.marks is None else request.marks._asdict()
    return {what: str(value) for what, value in said.items() if value is not None}


def asked(settings: Settings | None) -> dict[str, str]:
    """Return which measures rows are summed for, where they are not kept."""
    if settings is None:
        return {}
    every = "all" if settings.everything else str(sorted(measure.label for measure in settings.measures))
    return {MEASURES: every}


def as_pairs(facts: Mapping[str, str]) -> Facts:
    """Return facts as a tally keeps them."""
    return tuple(sorted(facts.items()))


def _named(value: Any) -> Any:
    """Names of columns and numbers as they are; of arrays, that they were given."""
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return list(value) if len(value) > 1 else value[0] if value else None
    return GIVEN


def check_same_reading(ours: Facts, theirs: Facts) -> None:
    """Name the difference between two ways of reading; what only columns have is no difference to arrays."""
    one, other = dict(ours), dict(theirs)
    if not one or not other:
        return
    columns = "truth" in one and "truth" in other
    for what in sorted({*one, *other}):
        left, right = one.get(what), other.get(what)
        loose = what in (MEASURES, COST) or (not columns and (what in OF_COLUMNS or what.startswith("model ")))
        if left == right or (loose and None in (left, right)) or (None not in (left, right) and GIVEN in (left, right)):
            continue
        raise UnlikeTallies(
            f"rows were read differently: {what} is {_said(left)} and {_said(right)}",
            mend="Make both with the same options",
        )


def of_both(ours: Facts, theirs: Facts) -> Facts:
    """Return how rows of both were read: names of columns, where only one of them knows these."""
    found = dict(theirs)
    found |= {what: value for what, value in ours if found.get(what, GIVEN) == GIVEN or value != GIVEN}
    return as_pairs(found)


def _said(value: str | None) -> str:
    return "not given" if value is None else quoted(value, 100)
