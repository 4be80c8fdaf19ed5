"""Two workers of a Dask cluster against one, on the same files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .contestants import load
from .plans import Plan
from .ranking import WANTED
from .results import Cell, Section, milliseconds, ratio
from .timing import Call, best_times

FILES, CLASSES, ROWS_IN_A_GROUP = 8, 3, 1 << 18
ONE, TWO, HERE = "one worker", "two workers", "no cluster"
LEAST = 1.6
TEXT = (
    f"All count measures of a folder of {FILES} Parquet files, classes to be found first, on a Dask cluster of this "
    "machine with one and with two processes, in turns; and in this process, on all cores. Starting the clusters is "
    "left out."
)


def measure_engines(plan: Plan, say: Callable[[str], None]) -> Section:
    """Folders of all sizes."""
    section = Section("Engines", TEXT, ["rows", HERE, TWO, WANTED, ONE])
    steelyard = load("steelyard")
    for rows in plan.engine_rows:
        say(f"{section.title}: {rows:,} rows")
        with TemporaryDirectory() as folder, ExitStack() as stack:
            write(Path(folder), rows)
            clusters: dict[str, Any] = {name: stack.enter_context(cluster(size)) for name, size in ((ONE, 1), (TWO, 2))}
            asked = partial(steelyard.assess, folder, truth="truth", assigned="assigned")
            calls: dict[str, Call] = {name: partial(asked, engine=client) for name, client in clusters.items()}
            for call in calls.values():
                call()  # workers load what they need
            times = best_times({**calls, HERE: partial(asked, engine="local")}, plan.pace)
        factor = times[ONE] / times[TWO]
        if factor < LEAST:
            section.losses.append(f"{section.title}, {rows:,} rows: two workers are {ratio(factor)} as fast as one")
        cell = Cell(f"{milliseconds(times[ONE])} ({ratio(factor)})", behind=factor < LEAST)
        section.add(f"{rows:,}", milliseconds(times[HERE]), milliseconds(times[TWO]), ratio(LEAST), cell)
    return section


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """So many processes of one thread each."""
    distributed = load("distributed")
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as started,
        distributed.Client(started, set_as_default=False) as client,
    ):
        yield client


def write(folder: Path, rows: int) -> None:
    """Labels as text, a file at a time, so that the table is never held."""
    arrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    names = np.array([f"class {place}" for place in range(CLASSES)])
    for place in range(FILES):
        random = np.random.default_rng(place)
        truth = random.integers(0, CLASSES, rows // FILES)
        assigned = np.where(random.random(len(truth)) < 0.8, truth, random.integers(0, CLASSES, len(truth)))
        columns = {"truth": truth, "assigned": assigned}
        words = {
            name: arrow.DictionaryArray.from_arrays(codes, names).cast("string") for name, codes in columns.items()
        }
        parquet.write_table(arrow.table(words), folder / f"{place}.parquet", row_group_size=ROWS_IN_A_GROUP)
