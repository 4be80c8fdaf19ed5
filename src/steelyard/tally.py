"""The sums of a run: they can be added, subtracted, saved and loaded. Knows no measure."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .cases import Cases
from .errors import DamagedFile, ForeignFile, UnlikeTallies, UnreadableFile, quoted
from .scale import Continuum, Label, Scale
from .statistics import Patterns, Sums, confusion

if TYPE_CHECKING:
    from .kinds import Places

FORMAT = "steelyard tally"
VERSION = 1


@dataclass(frozen=True)
class Tally:
    """All that an assessment needs to know about the rows.

    Attributes:
        scale: The classes.
        models: The names of the classifiers.
        sums: Patterns and their sums.
        slices: Labels of the parts of the data; empty where there are none.
        groups: Labels of the clusters; empty where rows are independent.
        dropped: Rows left out because a value was missing.
    """

    scale: Scale
    models: tuple[str, ...]
    sums: Sums
    slices: tuple[Label, ...] = ()
    groups: tuple[Label, ...] = ()
    dropped: int = 0

    @classmethod
    def of(cls, cases: Cases) -> Tally:
        """Sum up a batch of rows."""
        return cls(
            cases.scale,
            tuple(cases.assigned),
            confusion(cases),
            () if cases.slice is None else cases.slice.labels,
            () if cases.group is None else cases.group.labels,
            cases.dropped,
        )

    @classmethod
    def empty(cls, scale: Scale, models: Sequence[str]) -> Tally:
        """The tally of no rows: adding it changes nothing."""
        sums = Sums(np.zeros((0, 3 + len(models)), np.int64), np.zeros((0, 3)))
        return cls(scale, tuple(models), sums)

    @property
    def rows(self) -> float:
        """How many rows were summed (weights that count repetitions are counted as such)."""
        return float(self.sums.values[:, 0].sum())

    def __add__(self, other: Tally) -> Tally:
        """Merge: the tally of both batches together."""
        self._refuse_unlike(other)
        slices, ours, theirs = _union(self, other, "slices")
        groups, our_groups, their_groups = _union(self, other, "groups")
        left = _recode(_recode(self.sums, 0, ours), 1, our_groups)
        right = _recode(_recode(other.sums, 0, theirs), 1, their_groups)
        return replace(self, sums=left + right, slices=slices, groups=groups, dropped=self.dropped + other.dropped)

    def __sub__(self, other: Tally) -> Tally:
        """Take a batch out that was added before."""
        return self + replace(other, sums=-other.sums, dropped=-other.dropped)

    def _refuse_unlike(self, other: Tally) -> None:
        for what in ("scale", "models"):
            if getattr(self, what) != getattr(other, what):
                raise UnlikeTallies(
                    f"the tallies have a different {what}: "
                    f"{quoted(getattr(self, what), 100)} and {quoted(getattr(other, what), 100)}",
                    mend="Only tallies of the same classifiers on the same classes add up",
                )

    def patterns(self, slice_label: Label | None = None) -> Patterns:
        """Lay out the patterns of one slice, or of all rows."""
        sums = self.sums
        if slice_label is not None:
            sums = sums.select(sums.keys[:, 0] == self.slices.index(slice_label))
        return Patterns.of(sums, len(self.scale), clustered=bool(self.groups))

    def save(self, path: str | Path) -> None:
        """Write to an Arrow file, whole or not at all."""
        import pyarrow as pa

        columns: dict[str, Any] = {f"key{j}": self.sums.keys[:, j] for j in range(self.sums.keys.shape[1])}
        columns |= {name: self.sums.values[:, j] for j, name in enumerate(("count", "mass", "square"))}
        header = {
            "format": FORMAT,
            "version": VERSION,
            "scale": _scale_to_json(self.scale),
            "models": self.models,
            "slices": self.slices,
            "groups": self.groups,
            "dropped": self.dropped,
        }
        text = json.dumps(header, sort_keys=True)
        metadata = {"steelyard": text, "checksum": _checksum(text, self.sums)}
        table = pa.table(columns).replace_schema_metadata(metadata)
        half = Path(f"{path}.{os.getpid()}.part")
        try:
            with pa.ipc.new_file(str(half), table.schema) as file:
                file.write_table(table)
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> Tally:
        """Read what ``save`` wrote; refuse anything else, and anything that changed since."""
        table = _open(Path(path))
        metadata = table.schema.metadata or {}
        header = _header(metadata.get(b"steelyard"), Path(path))
        try:
            keys = [table.column(f"key{j}").to_numpy() for j in range(3 + len(header["models"]))]
            values = [table.column(name).to_numpy() for name in ("count", "mass", "square")]
            sums = Sums(np.stack(keys, axis=1).astype(np.int64), np.stack(values, axis=1).astype(float))
            whole = _checksum(metadata[b"steelyard"].decode(), sums).encode() == metadata.get(b"checksum")
        except (KeyError, TypeError, ValueError):
            whole = False
        if not whole:
            raise DamagedFile(f"{quoted(str(path))} was changed or cut off", mend="Make the tally anew")
        return cls(
            _scale_from_json(header["scale"]),
            tuple(header["models"]),
            sums,
            tuple(header["slices"]),
            tuple(header["groups"]),
            header["dropped"],
        )


def _open(path: Path) -> Any:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path), "rb") as file:
            return pa.ipc.open_file(file).read_all()
    except pa.ArrowInvalid:
        raise ForeignFile(f"{quoted(str(path))} is no steelyard tally, or cut off", mend="Check the name") from None
    except OSError as error:
        raise UnreadableFile(f"{quoted(str(path))} cannot be read", mend=quoted(str(error), 120)) from None


def _header(text: bytes | None, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(text or b"")
        known = header["format"] == FORMAT
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise ForeignFile(f"{quoted(str(path))} is no steelyard tally", mend="Check the name")
    if header["version"] != VERSION:
        raise ForeignFile(
            f"{quoted(str(path))} is a tally of version {quoted(header['version'])}, not {VERSION}",
            mend="Read it with the release that wrote it",
        )
    return dict(header)


def _checksum(header: str, sums: Sums) -> str:
    digest = hashlib.sha256(header.encode())
    digest.update(np.ascontiguousarray(sums.keys).tobytes())
    digest.update(np.ascontiguousarray(sums.values).tobytes())
    return digest.hexdigest()


def _scale_to_json(scale: Scale) -> dict[str, Any]:
    plain: dict[str, Any] = {"classes": scale.classes, "event": scale.event, "ordered": scale.ordered}
    if isinstance(scale, Continuum):
        # Infinite ends are written as text: JSON has no infinity.
        boundaries = [str(boundary) for boundary in scale.boundaries]
        plain |= {"boundaries": boundaries, "sd": scale.sd, "closed": scale.closed}
    return plain


def _scale_from_json(plain: dict[str, Any]) -> Scale:
    if "boundaries" in plain:
        boundaries = [float(boundary) for boundary in plain["boundaries"]]
        return Continuum(boundaries, plain["classes"], sd=plain["sd"], closed=plain["closed"], event=plain["event"])
    return Scale(plain["classes"], plain["event"], plain["ordered"])


def _union(left: Tally, right: Tally, what: str) -> tuple[tuple[Label, ...], Places, Places]:
    ours, theirs = getattr(left, what), getattr(right, what)
    if bool(ours) != bool(theirs) and len(left.sums.keys) and len(right.sums.keys):
        raise UnlikeTallies(f"one tally has {what} and the other has none", mend="Make both the same way")
    labels = tuple(dict.fromkeys([*ours, *theirs]))
    places = {label: place for place, label in enumerate(labels)}
    return (
        labels,
        np.array([places[label] for label in ours] or [0], dtype=np.int64),
        np.array([places[label] for label in theirs] or [0], dtype=np.int64),
    )


def _recode(sums: Sums, column: int, places: Places) -> Sums:
    keys = sums.keys.copy()
    keys[:, column] = places[keys[:, column]]
    return Sums(keys, sums.values)
