"""Data frames of Spark, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.columns import read_frame
from ..shards import plain
from ..where import Filter
from .engine import Engine


@dataclass(frozen=True)
class SparkFrame:
    """A Spark data frame, each partition of which is a share."""

    frame: Any
    filter: Filter | None = None
    columns: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Its columns."""
        return list(self.frame.columns)

    @property
    def selected(self) -> Any:
        """The frame with no more than the columns that are needed, under numbers: Spark stumbles over odd names."""
        some = self.frame.select(*["`" + name.replace("`", "``") + "`" for name in self.columns])
        return some.toDF(*map(str, range(len(self.columns))))

    def schema(self, columns: Sequence[str], engine: Engine) -> Any:
        """What columns hold, as the frame says."""
        import pyarrow as pa

        said = self.shares(columns).selected.limit(0).toArrow().schema
        return pa.schema([(name, plain(kind)) for name, kind in zip(columns, said.types, strict=True)])

    def shares(self, columns: Sequence[str]) -> SparkFrame:
        """Its partitions, with no more than these columns."""
        return SparkFrame(self.frame, self.filter, tuple(columns))

    def collected(self, columns: Sequence[str]) -> Any:
        """All rows, as one table."""
        return read_frame(self.shares(columns).selected.toArrow().rename_columns(list(columns)))
