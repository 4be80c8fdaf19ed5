"""Tallies in files: Arrow streams, and behind them the checksum of every byte. Nothing in them is ever executed.

A file discloses: the names of classifiers, classes, subgroups and columns; the filter; counts; the name, size, time and
digests of every file that was read, but no folder. Clusters stand in it as digests of their labels: whoever can guess
a label can check the guess. Scores that are kept one by one stand in the order of their classes and values. With
``rows=True``, labels of clusters are written as they are, and rows in the order in which they came.

What stands in a file twice must agree. Before anything is made of it, its Arrow messages are looked at: they hold plain
numbers, as they are, and no more of them than the file has bytes for.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..core.columns import as_arrow, as_numpy
from ..core.errors import DamagedFile, ForeignFile, quoted
from ..core.scale import Continuum, Label, Scale, of_one_kind, plain_label
from ..data.digests import DATA, FILE, UNKNOWN, Source
from ..data.whole_files import TALLY, read_whole, write_whole
from ..families.summed.storing import (
    READ_ELSEWHERE,
    Arrays,
    as_they_are,
    recipe_facts,
    recipe_from,
    refuse,
    summaries_facts,
    summaries_from,
)
from ..inputs.dataset import LARGEST_SQUARES, Knowledge, Measured
from ..inputs.remarks import Remarks, restored, stored
from ..maths.sides import summed_at
from ..states.held_rows import Rows
from ..states.statistics import CONFUSION, PatternCounts, rows_in
from .provenance import settled, unknown

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Places
    from ..families.summed.recipe import Recipe
    from ..families.summed.summary import Summaries


ROUNDING = 1e-6  # sums of weights that were added in another order, or taken out again, differ in their last digits


@dataclass(frozen=True, eq=False)
class Contents:
    """The fields of a tally; the docstring of ``Tally`` describes each of them."""

    scale: Scale
    models: tuple[str, ...]
    sums: PatternCounts
    slices: tuple[Label, ...] = ()
    groups: tuple[Label, ...] = ()
    dropped: int = 0
    scores: Rows | None = None
    reading: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()
    recipe: Recipe | None = None
    summaries: Summaries | None = None
    arrangement: tuple[Label, ...] = ()
    scored: bool = False
    published: bool = False
    where: str | None = None
    made_before: bool = False
    remarks: Remarks = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    veiled: bool = False

    @property
    def rows(self) -> float:
        """How many rows were summed (weights that count repetitions are counted as such)."""
        return rows_in(self.sums.values[:, 0])

    @property
    def tells_rows(self) -> bool:
        """Whether more than counts is known of rows."""
        return self.scores is not None or self.summaries is not None


SCHEMA, RECORDS = 1, 3  # kinds of Arrow messages


def check_sizes(body: bytes) -> None:
    """Refuse Arrow messages that hold more than there are bytes for: compressed ones, and columns of nothing."""
    place, view = 0, memoryview(body)
    while place < len(view):
        mark, size = struct.unpack_from("<ii", view, place)
        refuse(mark == -1 and size >= 0)
        place += 8
        if size:
            message = Fields(view[place : place + size], 0)
            length = message.number(3, "<q")
            place += size + length
            refuse(length >= 0 and place <= len(view))
            kind, header = message.number(1, "<B"), message.table(2)
            refuse(kind in (SCHEMA, RECORDS) and header is not None)
            if kind == RECORDS and header is not None:
                _check_record_sizes(header, length)


def _check_record_sizes(records: Fields, length: int) -> None:
    """Refuse compressed buffers, gaps, and rows without a byte each."""
    rows, columns, buffers = records.number(0, "<q"), records.pairs(1), records.pairs(2)
    refuse(not records.has(3) and not records.has(4) and len(buffers) == 2 * len(columns))
    refuse(all(pair == (rows, 0) for pair in columns) and 0 <= rows <= length)
    refuse(all(start >= 0 and size >= 0 and start + size <= length for start, size in buffers))
    refuse(all(size >= rows for _, size in buffers[1::2]) and sum(size for _, size in buffers) <= length)


class Fields:
    """The fields of a table of FlatBuffers, by their numbers."""

    def __init__(self, view: memoryview, place: int) -> None:
        """Find the fields of the table that the bytes at a place lead to."""
        self.view = view
        self.start = place + self._at("<I", place)
        self.known = self.start - self._at("<i", self.start)
        self.size = self._at("<H", self.known)

    def _at(self, form: str, place: int) -> int:
        refuse(place >= 0)
        return int(struct.unpack_from(form, self.view, place)[0])

    def _place(self, field: int) -> int:
        """Where a field stands; 0 where it is not there."""
        entry = 4 + 2 * field
        found = self._at("<H", self.known + entry) if entry + 2 <= self.size else 0
        return self.start + found if found else 0

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self._place(field) > 0

    def number(self, field: int, form: str) -> int:
        """A number; 0 where it is not there."""
        place = self._place(field)
        return self._at(form, place) if place else 0

    def table(self, field: int) -> Fields | None:
        """A table within this one."""
        place = self._place(field)
        return Fields(self.view, place) if place else None

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """A list of pairs of long numbers."""
        place = self._place(field)
        if not place:
            return []
        start = place + self._at("<I", place)
        count = self._at("<I", start)
        refuse(start + 4 + 16 * count <= len(self.view))
        return [struct.unpack_from("<qq", self.view, start + 4 + 16 * each) for each in range(count)]


def check_sound(tally: Contents) -> None:
    """Refuse what no rows can have left."""
    refuse(all(isinstance(name, str) for name in tally.models) and len(set(tally.models)) == len(tally.models) > 0)
    for labels in (tally.slices, tally.groups, tally.arrangement):
        refuse(of_one_kind(map(plain_label, labels)) == labels and len(set(labels)) == len(labels))
    values = tally.sums.values
    refuse((np.abs(values) < [LARGEST_SQUARES**0.5, LARGEST_SQUARES**0.5, LARGEST_SQUARES]).all())
    for column, labels in ((0, tally.slices), (1, tally.groups)):
        refuse(len(np.unique(tally.sums.keys[:, column])) == len(labels) or not labels)
    classes = len(tally.scale)
    if tally.tells_rows:
        refuse(_agree((tally.sums.keys[:, 0] * classes + tally.sums.keys[:, 2], values), _kept(tally, classes)))
    _check_kind(tally)


Cells = tuple["Places", "Array"]  # the cell of a part and a class that each row or pattern is in, and its sums


def _agree(one: Cells, other: Cells) -> bool:
    """Whether both have the same count, mass and squared mass in each cell, but for rounding.

    Only cells that have rows are looked at: a few lines may say that there are very many parts and classes.
    """
    joined = np.concatenate([places.astype(np.int64) for places, _ in (one, other)])
    found, cells = np.unique(joined, return_inverse=True)
    pairs = zip(np.split(cells, [len(one[0])]), (one[1], other[1]), strict=True)
    ours, theirs = (summed_at(cell, values.T, len(found)) for cell, values in pairs)
    sizes, most = np.abs(ours) + np.abs(theirs), np.abs(ours).max(initial=0.0)
    return bool((np.abs(ours - theirs) <= ROUNDING * (sizes + most)).all())


def _kept(tally: Contents, classes: int) -> Cells:
    """The cells by what else was kept of the rows of each part."""
    rows = tally.scores
    if rows is not None:
        truth = rows.truth.astype(np.int64)
        return truth if rows.slice is None else rows.slice.astype(np.int64) * classes + truth, rows.filled
    # Where all rows were taken out again, no part is left.
    labels: tuple[Label | None, ...] = tally.slices or ((None,) if len(tally.sums.keys) else ())
    summaries = tally.summaries
    found = [summaries.parts[label].by_class.T for label in labels] if summaries is not None else []
    sums = np.concatenate([np.zeros((0, 3)), *found])
    here = sums.any(axis=1)
    return np.flatnonzero(here), sums[here]


def _check_kind(tally: Contents) -> None:
    """What is said of the rows must be what they have."""
    rows, recipe = tally.scores, tally.recipe
    measured = None if rows is None else rows.measured
    if rows is not None and len(rows):
        refuse((rows.slice is None, rows.cluster is None) == (not tally.slices, not tally.groups))
    if measured is not None:
        refuse(isinstance(tally.scale, Continuum))
        check_measured(measured)
    if recipe is not None:
        refuse(all(measure.statistic is not CONFUSION for measure in recipe.measures))
        refuse(rows is None or tuple(rows.shape) == recipe.shape)


def check_measured(measured: Measured) -> None:
    """Refuse measured values, and what is known of them, that no check would let pass."""
    pair = measured.expected, measured.spread
    refuse((pair[0] is None) == (pair[1] is None))
    Knowledge(measured.sd, measured.blur, None if pair[0] is None else pair).of(measured.value, {})
    for error, known in zip(measured.errors, (measured.sd, measured.blur), strict=True):
        refuse(0 <= error < np.inf and (known is not None or not error))


FORMAT = "steelyard tally"
VERSION = 11
NAMES_CLASSES = 10  # has the names of classes where tags of states stand now
OLD = 9  # knows nothing of its sources
MARK = json.dumps({"format": FORMAT})[1:-1].encode()  # as in the header: texts may well speak of a steelyard tally
SEAL = b"\nsteelyard sha256 "
VALUES = ("count", "mass", "square")

Held = TypeVar("Held", bound=Contents)


def save(tally: Contents, path: str | Path, rows: bool = False, overwrite: bool = False) -> None:
    """Write to a file, whole or not at all; rows and labels of clusters as they are where that is asked for."""
    body = _to_arrow(tally, rows)
    write_whole(path, body + _seal(body), TALLY, overwrite)


def load(path: str | Path, kind: type[Held]) -> Held:
    """Read what ``save`` wrote; refuse anything else, and anything that changed since."""
    named, content = read_whole(path, "tally", "steelyard tally", _is_tally)
    body = content[: -len(_seal(b""))]
    # Checked before anything is made of it: Arrow trusts what stands in a file.
    if content != body + _seal(body):
        raise DamagedFile(f"{named} was changed or cut off", mend="Make the tally anew")
    try:
        return _from_arrow(body, kind)
    except ForeignFile as error:
        raise ForeignFile(f"{named} {error.problem}", mend=error.mend) from None
    except Exception:  # sealed by something else: it may be wrong in any way
        raise DamagedFile(f"{named} is no tally that can be read", mend="Make the tally anew") from None


def _is_tally(place: Path) -> bool:
    """Whether a file may be a tally, by its beginning and its end."""
    with place.open("rb") as file:
        start = file.read(1 << 16)
        file.seek(0, 2)
        file.seek(max(file.tell() - len(_seal(b"")), 0))
        return MARK in start or SEAL in file.read()


def _seal(body: bytes) -> bytes:
    return SEAL + hashlib.sha256(body).hexdigest().encode()


def _to_arrow(tally: Contents, rows: bool = False) -> bytes:
    """One table behind the other: the sums under a header, the rows with their scores, and arrays of summaries."""
    import pyarrow as pa

    columns: dict[str, Any] = {f"key{j}": tally.sums.keys[:, j] for j in range(tally.sums.keys.shape[1])}
    columns |= {name: tally.sums.values[:, j] for j, name in enumerate(VALUES)}
    clusters = as_they_are if rows or tally.veiled else veiled_labels
    arrays = Arrays(clusters=clusters)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "scale": _scale_to_json(tally.scale),
        "models": tally.models,
        "slices": tally.slices,
        "arrangement": tally.arrangement,
        "groups": clusters(tally.groups),
        "veiled": tally.veiled or not rows,
        "dropped": tally.dropped,
        "reading": tally.reading,
        "sources": sources_facts(tally.sources),
        "left_out": tally.left_out if rows else [_without_folders(text) for text in tally.left_out],
        "remarks": stored(tally.remarks),
        "scores": None if tally.scores is None else [_plain(shape) for shape in tally.scores.shape],
        "scored": tally.scored,
        "errors": _errors(tally),
        "recipe": None if tally.recipe is None else recipe_facts(tally.recipe),
        "summaries": None if tally.summaries is None else summaries_facts(tally.summaries, arrays),
    }
    held = None if tally.scores is None else tally.scores.refuse_changed()
    kept = {} if held is None else (held if rows else held.in_order()).named()
    tables = [_arrow_table(columns).replace_schema_metadata({"steelyard": json.dumps(header)}), _arrow_table(kept)]
    tables += [_arrow_table({"values": array.ravel()}) for array in arrays.found]
    sink = pa.BufferOutputStream()
    for table in tables:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return bytes(sink.getvalue())


def _arrow_table(columns: Mapping[str, AnyArray]) -> Any:
    import pyarrow as pa

    return pa.table({name: as_arrow(values) for name, values in columns.items()})


def _without_folders(text: str) -> str:
    """The text of a fault with names of files alone."""
    return re.sub(r"""(['"])(?:[^'"]*[/\\])+([^'"/\\]*\1)""", r"\1\2", text)


def veiled_labels(labels: Sequence[Label]) -> list[Label]:
    """Digests of labels: they tell clusters apart, and which of them are the same in other tallies."""
    kinds = {bool: "bool", int: "int", str: "text"}
    found = []
    for label in labels:
        plain = f"{kinds.get(type(label), 'other')} {label}"
        digest = hashlib.blake2b(plain.encode(errors="surrogatepass"), digest_size=10, person=b"cluster")
        found.append(f"{kinds.get(type(label), 'other')}-{digest.hexdigest()}")
    return list(found)


def veiled(tally: Held) -> Held:
    """A tally with digests of its clusters, as one that was saved has them."""
    found = _from_arrow(_to_arrow(tally), type(tally))
    return replace(tally, groups=found.groups, summaries=found.summaries, veiled=True)


def _from_arrow(body: bytes, kind: type[Held]) -> Held:
    import pyarrow as pa

    check_sizes(body)
    source = pa.BufferReader(body)
    table = _table(source)
    header = json.loads(table.schema.metadata[b"steelyard"])
    if header["version"] not in (OLD, NAMES_CLASSES, VERSION):
        raise ForeignFile(
            f"is a tally of version {quoted(header['version'])}, not {VERSION}",
            mend=READ_ELSEWHERE,
        )
    old = header["version"] == OLD
    scale, models = _scale_from_json(header["scale"]), tuple(header["models"])
    slices, groups = tuple(header["slices"]), tuple(header["groups"])
    sizes = [max(len(slices), 1), max(len(groups), 1), *[len(scale)] * (1 + len(models))]
    sums = _sums(table, sizes)
    scores = _rows(_table(source), header, sizes)
    arrays = Arrays()
    while source.tell() < source.size():
        arrays.found.append(as_numpy(_table(source).column(0)))
    recipe = None if header["recipe"] is None else recipe_from(header["recipe"], scale, models)
    kept = None if header["summaries"] is None or recipe is None else header["summaries"]
    tally = kind(
        scale,
        models,
        sums,
        slices,
        groups,
        int(header["dropped"]),
        scores,
        () if old else _pairs(header["reading"]),
        tuple(map(str, header["left_out"])),
        recipe,
        None if kept is None or recipe is None else summaries_from(kept, arrays, recipe),
        tuple(header.get("arrangement", ())),
        bool(header.get("scored", False)),
        remarks=restored(header.get("remarks", [])),
        veiled=False if old else bool(header["veiled"]),
    )
    check_sound(tally)
    sources = (unknown(tally.rows),) if old and len(sums.keys) else ()
    return replace(tally, sources=sources if old else sources_from(header["sources"]))


def _table(source: Any) -> Any:
    """The next table: columns of numbers, each as long as it says."""
    import pyarrow as pa

    with pa.ipc.open_stream(source) as stream:
        refuse(all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in stream.schema.types))
        table = stream.read_all()
    table.validate()
    return table


def _pairs(plain: Any) -> tuple[tuple[str, str], ...]:
    found = tuple((str(what), str(value)) for what, value in plain)
    if len(dict(found)) < len(found):
        raise ValueError("two ways of reading at once")
    return found


# --- sources ----------------------------------------------------------------------------------------------------

FIELDS = ("kind", "name", "place", "rows", "size", "modified", "stamp", "digest", "telling", "folders")
HEXADECIMAL = re.compile("[0-9a-f]{0,64}")


def sources_facts(sources: Sequence[Source]) -> list[list[Any]]:
    """Sources as plain lists; where a tally is of one file alone, whether that is gone can be seen later."""
    alone = len(sources) == 1
    found = [[getattr(source, name) for name in FIELDS] for source in settled(sources)]
    return found if alone else [[*facts[:-1], []] for facts in found]


def sources_from(plain: Any) -> tuple[Source, ...]:
    """Sources, as they were; what no source can have is an error."""
    found = []
    for facts in plain:
        kind, name, place, rows, size, modified, stamp, digest, telling, folders = facts
        digests = [place, stamp, digest, *folders]
        fits = kind in (FILE, DATA, UNKNOWN) and isinstance(name, str) and isinstance(telling, bool)
        fits &= all(isinstance(each, str) and HEXADECIMAL.fullmatch(each) is not None for each in digests)
        numbers = (rows, size, modified)
        fits &= all(type(each) is int and abs(each) < 1 << 63 for each in numbers) and size >= 0
        refuse(fits and (kind != FILE or (rows >= 0 and place)))
        found.append(Source(kind, name, place, rows, size, modified, stamp, digest, telling, tuple(folders)))
    return tuple(found)


# --- what stands in a file --------------------------------------------------------------------------------------


def _sums(table: Any, sizes: list[int]) -> PatternCounts:
    keys = np.stack([as_numpy(table.column(f"key{j}")) for j in range(len(sizes))], axis=1).astype(np.int64)
    values = np.stack([as_numpy(table.column(name)) for name in VALUES], axis=1).astype(np.float64)
    whole = keys.shape[1] + len(VALUES) == table.num_columns and np.isfinite(values).all()
    if not whole or (keys < 0).any() or (keys >= sizes).any():
        raise ValueError("sums of rows that there cannot be")
    return PatternCounts(keys, values)


def _rows(table: Any, header: dict[str, Any], sizes: list[int]) -> Rows | None:
    if header["scores"] is None:
        return None
    named = {name: as_numpy(table.column(name)) for name in table.column_names}
    rows = Rows.from_named(named, header["scores"], sizes)
    if rows.measured is None:
        return rows
    errors = float(header["errors"][0]), float(header["errors"][1])
    return replace(rows, measured=replace(rows.measured, errors=errors))


def _plain(shape: tuple[int, int, bool]) -> list[int | bool]:
    """How many columns there are and for what one alone speaks; and that they are scores, where they are."""
    size, speaks, raw = shape
    return [size, speaks, True] if raw else [size, speaks]


def _errors(tally: Contents) -> tuple[float, float] | None:
    """How sure the deviations of measured values are."""
    measured = None if tally.scores is None else tally.scores.measured
    return None if measured is None else measured.errors


def _scale_to_json(scale: Scale) -> dict[str, Any]:
    plain: dict[str, Any] = {"classes": scale.classes, "event": scale.event, "ordered": scale.ordered}
    if isinstance(scale, Continuum):
        # Infinite ends are written as text: JSON has no infinity.
        boundaries = [str(boundary) for boundary in scale.boundaries]
        plain |= {"boundaries": boundaries, "closed": scale.closed}
    return plain


def _scale_from_json(plain: dict[str, Any]) -> Scale:
    if "boundaries" in plain:
        boundaries = [float(boundary) for boundary in plain["boundaries"]]
        return Continuum(
            boundaries, plain["classes"], closed=plain["closed"], event=plain["event"], ordered=plain["ordered"]
        )
    return Scale(plain["classes"], plain["event"], plain["ordered"])
