"""Tallies in files: an Arrow stream, and behind it the checksum of every byte. Nothing in them is ever executed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..door.remarks import restored, stored
from ..errors import LONG, DamagedFile, ForeignFile, UnreadableFile, quoted
from ..files.paths import mend_for_missing
from ..files.whole_files import write_whole
from ..scale import Continuum, Scale
from ..summaries.states import Arrays
from ..summaries.storing import recipe_facts, recipe_from, summaries_facts, summaries_from
from ..sums.rows import Rows
from ..sums.statistics import Sums

if TYPE_CHECKING:
    from .tally import Tally

FORMAT = "steelyard tally"
VERSION = 9
MARK = json.dumps({"format": FORMAT})[1:-1].encode()  # as in the header: texts may well speak of a steelyard tally
SEAL = b"\nsteelyard sha256 "
VALUES = ("count", "mass", "square")


def save(tally: Tally, path: str | Path) -> None:
    """Write to a file, whole or not at all."""
    body = _to_arrow(tally)
    write_whole(path, body + _seal(body))


def load(path: str | Path) -> Tally:
    """Read what ``save`` wrote; refuse anything else, and anything that changed since."""
    try:
        place = Path(path)
    except Exception:  # a foreign object may raise anything
        raise UnreadableFile(f"{quoted(path)} cannot be read", mend="Give the name of a file") from None
    named = quoted(str(place), LONG)
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {named}", mend=mend_for_missing(str(place))) from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{named} cannot be read", mend=quoted(str(error), 120)) from None
    if MARK not in content and SEAL not in content:
        raise ForeignFile(f"{named} is no steelyard tally", mend="Check the name")
    body = content[: -len(_seal(b""))]
    # Checked before anything is made of it: Arrow trusts what stands in a file.
    if content != body + _seal(body):
        raise DamagedFile(f"{named} was changed or cut off", mend="Make the tally anew")
    try:
        return _from_arrow(body)
    except ForeignFile as error:
        raise ForeignFile(f"{named} {error.problem}", mend=error.mend) from None
    except Exception:  # sealed by something else: it may be wrong in any way
        raise DamagedFile(f"{named} is no tally that can be read", mend="Make the tally anew") from None


def _seal(body: bytes) -> bytes:
    return SEAL + hashlib.sha256(body).hexdigest().encode()


def _to_arrow(tally: Tally) -> bytes:
    """One table behind the other: the sums under a header, the rows with their scores, and arrays of summaries."""
    import pyarrow as pa

    columns: dict[str, Any] = {f"key{j}": tally.sums.keys[:, j] for j in range(tally.sums.keys.shape[1])}
    columns |= {name: tally.sums.values[:, j] for j, name in enumerate(VALUES)}
    arrays = Arrays()
    header = {
        "format": FORMAT,
        "version": VERSION,
        "scale": _scale_to_json(tally.scale),
        "models": tally.models,
        "slices": tally.slices,
        "arrangement": tally.arrangement,
        "groups": tally.groups,
        "dropped": tally.dropped,
        "reading": tally.reading,
        "left_out": tally.left_out,
        "remarks": stored(tally.remarks),
        "scores": None if tally.scores is None else tally.scores.shape,
        "scored": tally.scored,
        "errors": _errors(tally),
        "recipe": None if tally.recipe is None else recipe_facts(tally.recipe),
        "summaries": None if tally.summaries is None else summaries_facts(tally.summaries, arrays),
    }
    kept = {} if tally.scores is None else tally.scores.refuse_changed().named()
    tables = [pa.table(columns).replace_schema_metadata({"steelyard": json.dumps(header)}), pa.table(kept)]
    tables += [pa.table({"values": array.ravel()}) for array in arrays.found]
    sink = pa.BufferOutputStream()
    for table in tables:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return bytes(sink.getvalue())


def _from_arrow(body: bytes) -> Tally:
    import pyarrow as pa

    from .soundness import refuse_unsound
    from .tally import Tally

    source = pa.BufferReader(body)
    table = pa.ipc.open_stream(source).read_all()
    header = json.loads(table.schema.metadata[b"steelyard"])
    if header["version"] != VERSION:
        raise ForeignFile(
            f"is a tally of version {quoted(header['version'])}, not {VERSION}",
            mend="Read it with the release that wrote it",
        )
    scale, models = _scale_from_json(header["scale"]), tuple(header["models"])
    slices, groups = tuple(header["slices"]), tuple(header["groups"])
    sizes = [max(len(slices), 1), max(len(groups), 1), *[len(scale)] * (1 + len(models))]
    sums = _sums(table, sizes)
    scores = _rows(pa.ipc.open_stream(source).read_all(), header, sizes)
    arrays = Arrays()
    while source.tell() < source.size():
        arrays.found.append(pa.ipc.open_stream(source).read_all().column(0).to_numpy())
    recipe = None if header["recipe"] is None else recipe_from(header["recipe"], scale, models)
    kept = None if header["summaries"] is None or recipe is None else header["summaries"]
    tally = Tally(
        scale,
        models,
        sums,
        slices,
        groups,
        int(header["dropped"]),
        scores,
        tuple((str(what), str(value)) for what, value in header["reading"]),
        tuple(map(str, header["left_out"])),
        recipe,
        None if kept is None or recipe is None else summaries_from(kept, arrays, recipe),
        tuple(header.get("arrangement", ())),
        bool(header.get("scored", False)),
        remarks=restored(header.get("remarks", [])),
    )
    refuse_unsound(tally)
    return tally


def _sums(table: Any, sizes: list[int]) -> Sums:
    keys = np.stack([table.column(f"key{j}").to_numpy() for j in range(len(sizes))], axis=1).astype(np.int64)
    values = np.stack([table.column(name).to_numpy() for name in VALUES], axis=1).astype(np.float64)
    whole = keys.shape[1] + len(VALUES) == table.num_columns and np.isfinite(values).all()
    if not whole or (keys < 0).any() or (keys >= sizes).any():
        raise ValueError("sums of rows that there cannot be")
    return Sums(keys, values)


def _rows(table: Any, header: dict[str, Any], sizes: list[int]) -> Rows | None:
    if header["scores"] is None:
        return None
    named = {name: table.column(name).to_numpy() for name in table.column_names}
    rows = Rows.from_named(named, header["scores"], sizes)
    if rows.measured is None:
        return rows
    errors = float(header["errors"][0]), float(header["errors"][1])
    return replace(rows, measured=replace(rows.measured, errors=errors))


def _errors(tally: Tally) -> tuple[float, float] | None:
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
