"""Data frames of Dask, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.columns import read_frame
from ...core.errors import SteelyardError, UnreadableFile, quoted
from ..shards import FrameShare, plain
from ..where import Filter
from .engine import Engine


@dataclass(frozen=True)
class DaskFrame:
    """A Dask data frame, each partition of which is a share."""

    frame: Any
    filter: Filter | None = None

    @property
    def names(self) -> list[str]:
        """Its columns."""
        return [str(name) for name in self.frame.columns]

    def schema(self, columns: Sequence[str], engine: Engine) -> Any:
        """What columns hold, as the frame says; where it does not say it, all partitions are asked."""
        import pyarrow as pa

        said = pa.Schema.from_pandas(self._some(columns)._meta, preserve_index=False)
        if any(pa.types.is_null(plain(column.type)) for column in said):
            said = engine.fold(_held, self.shares(columns)).schema
        return pa.schema([(name, plain(said.field(name).type)) for name in columns])

    def shares(self, columns: Sequence[str]) -> list[Any]:
        """Its partitions, with no more than these columns."""
        from dask.delayed import delayed

        parts = self._some(columns).to_delayed()
        share = delayed(_share, traverse=False)
        return [share(place, part, delayed(self.filter, traverse=False)) for place, part in enumerate(parts)]

    def _some(self, columns: Sequence[str]) -> Any:
        # Arrow writes names as text, whatever they were.
        return self.frame[[name for name in self.frame.columns if str(name) in columns]]

    def collected(self, columns: Sequence[str]) -> Any:
        """All rows, as one table."""
        return read_frame(self._some(columns).compute())


def _share(place: int, part: Any, keep: Filter | None) -> FrameShare:
    """A partition as a share, wherever it is."""
    name = f"partition {place}"
    try:
        return FrameShare(name, (read_frame(part),), keep)
    except SteelyardError as error:
        raise error.within(name, None) from None


@dataclass(frozen=True)
class Held:
    """The types of columns; those of two partitions are types that hold what both hold."""

    schema: Any

    def __add__(self, other: Held) -> Held:
        """Find types for both."""
        import pyarrow as pa

        try:
            return Held(pa.unify_schemas([self.schema, other.schema], promote_options="permissive"))
        except pa.ArrowException as error:
            raise UnreadableFile(
                "partitions hold different kinds of values", mend=f"Bring them into one type: {quoted(str(error), 120)}"
            ) from None


def _held(share: FrameShare) -> Held:
    import pyarrow as pa

    (table,) = share.tables
    return Held(pa.schema([(column.name, plain(column.type)) for column in table.schema]))
