"""Parquet that is never held: against reading it, and against the same numbers written down in SQL."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import steelyard

from .contestants import OURS, load
from .plans import Plan
from .ranking import WANTED
from .results import Cell, Contest, Section, power
from .timing import Call, Unfit, best_times

PIECE = 1 << 20  # rows that are made at a time, and rows of a row group
FILES = 4
READ, DUCKDB, POLARS = "pyarrow, reading alone", "DuckDB", "Polars"
MOST_MEGABYTES = 1_000
COUNTS = ("error", "kappa", "sensitivity", "specificity", "precision", "f1", "mcc")
SCORES = ("log_score", "brier")
TEXT = (
    f"Columns of a label and of a score in {FILES} Parquet files, made in pieces. Reading alone is one pass over the "
    "same columns with `pyarrow.dataset`; its share of steelyard's time stands beside, and a half is wanted of counts. "
    "DuckDB and Polars find the same values and standard errors from SQL or expressions written for the purpose: a "
    "table of counts, from which the rest takes no time; means and mean squares of both scores; AUC by ranks, without "
    "its interval. Times are milliseconds; memory is the most that a fresh process had, all default measures with "
    f"intervals, and {MOST_MEGABYTES:,} MB are allowed."
)
TRUTH_AND_CLASS = "select truth, score >= 0.5 as assigned, count(*) from read_parquet('{path}') group by all"
MEANS = (
    "with worth as (select -ln(case when truth = 'yes' then score else 1 - score end) as log, "
    "(score - (truth = 'yes')::double) ** 2 as brier from read_parquet('{path}')) "
    "select count(*), avg(log), stddev_samp(log), avg(brier), stddev_samp(brier) from worth"
)
RANKS = (
    "with ranked as (select truth, rank() over (order by score) as least, count(*) over (partition by score) as ties "
    "from read_parquet('{path}')) select sum(least + (ties - 1) / 2.0) filter (truth = 'yes'), "
    "count(*) filter (truth = 'yes'), count(*) from ranked"
)


def make(folder: Path, rows: int, seed: int = 0) -> None:
    """Write files of labels and scores, a piece at a time."""
    arrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    random = np.random.default_rng(seed)
    for place in range(FILES):
        left = rows * (place + 1) // FILES - rows * place // FILES
        writer: Any = None
        while left > 0:
            size = min(left, PIECE)
            odds = 1.5 * random.normal(size=size)
            truth = arrow.array(np.where(random.random(size) < 1 / (1 + np.exp(-odds)), "yes", "no"))
            score = 1 / (1 + np.exp(-odds - 0.5 * random.normal(size=size)))
            table = arrow.table({"truth": truth.dictionary_encode(), "score": score})
            writer = writer or parquet.ParquetWriter(folder / f"{place}.parquet", table.schema)
            writer.write_table(table, row_group_size=PIECE)
            left -= size
        writer.close()


def assess(folder: Path, measures: tuple[str, ...] | None) -> Call:
    """Measures with intervals, from the files."""
    given = {"truth": "truth", "membership": "score", "event": "yes", "measures": measures}
    return lambda: steelyard.assess(str(folder), **given).table()  # type: ignore[arg-type]


def read(folder: Path) -> Call:
    """One pass over the columns."""
    dataset = load("pyarrow.dataset")
    return lambda: sum(batch.num_rows for batch in dataset.dataset(folder).to_batches(columns=["truth", "score"]))


def duckdb(folder: Path, query: str) -> Call:
    """A query on the files."""
    connection = load("duckdb").connect()
    return lambda: connection.execute(query.format(path=folder / "*.parquet")).fetchall()


def polars(folder: Path, what: str) -> Call:
    """The same in expressions, on Polars' streaming engine."""
    pl = load("polars")
    frame = pl.scan_parquet(folder / "*.parquet")
    own = pl.when(pl.col("truth") == "yes").then(pl.col("score")).otherwise(1 - pl.col("score"))
    worth = {"log": -own.log(), "brier": (1 - own) ** 2}
    queries = {
        "counts": frame.group_by("truth", pl.col("score") >= 0.5).len(),
        "scores": frame.select(
            *[column.mean().alias(f"{name} mean") for name, column in worth.items()],
            *[column.std().alias(f"{name} deviation") for name, column in worth.items()],
        ),
        "auc": frame.select(pl.col("score").rank().filter(pl.col("truth") == "yes").sum()),
    }
    return lambda: queries[what].collect(engine="streaming")


TASKS: dict[str, tuple[tuple[str, ...] | None, str | None]] = {
    "counts": (COUNTS, TRUTH_AND_CLASS),
    "scores": (SCORES, MEANS),
    "auc": (("auc",), RANKS),
    "all default measures": (None, None),
}


def measure_streams(plan: Plan, say: Callable[[str], None]) -> Section:
    """Every kind of measure on some numbers of rows."""
    header = ["rows", "measures", OURS, "ns a row", READ, "of its speed", WANTED, DUCKDB, POLARS, "MB"]
    section = Section("Files that are never held", TEXT, header)
    for rows, wanted in plan.stream_rows.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            say(f"{section.title}: making {power(rows)} rows")
            make(folder, rows)
            for task in TASKS:
                say(f"{section.title}: {task} of {power(rows)} rows")
                _add(section, plan, folder, rows, task, wanted)
    return section


def _add(section: Section, plan: Plan, folder: Path, rows: int, task: str, wanted: float) -> None:
    measures, query = TASKS[task]
    where = f"{power(rows)} rows, {task}"
    calls: dict[str, Call] = {OURS: assess(folder, measures), READ: read(folder)}
    contest = Contest({}, {DUCKDB: "", POLARS: ""} if query is None else {})
    for peer, start in ((DUCKDB, partial(duckdb, folder, query or "")), (POLARS, partial(polars, folder, task))):
        try:
            calls |= {} if query is None else {peer: start()}
        except Unfit as reason:
            contest.absent[peer] = str(reason)
    contest.times |= best_times(calls, plan.pace)
    speed = contest.times[READ] / contest.times[OURS]
    slow = task == "counts" and speed < wanted
    if slow:
        section.losses.append(f"{section.title}, {where}: {speed:.0%} of the speed of reading, {wanted:.0%} is wanted")
    memory = Cell("") if query is not None else _memory(section, folder, where)
    section.add(
        power(rows), task, contest.own(), f"{contest.times[OURS] / rows * 1e9:.3g}", contest.own(READ),
        Cell(f"{speed:.0%}", behind=slow), f"{wanted:.0%}" if task == "counts" else "",
        contest.against(DUCKDB, section, where), contest.against(POLARS, section, where), memory,
    )  # fmt: skip


def _memory(section: Section, folder: Path, where: str) -> Cell:
    """The most memory of a fresh process."""
    code = "import sys; from bench.streams import peak; peak(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True)
    found = float(done.stdout)
    if found > MOST_MEGABYTES:
        section.losses.append(f"{section.title}, {where}: {found:,.0f} MB, more than {MOST_MEGABYTES:,} MB")
    return Cell(f"{found:,.0f}", behind=found > MOST_MEGABYTES)


def peak(folder: str) -> None:
    """Assess once, and print the most memory that this process had."""
    from .peak import peak_megabytes

    assess(Path(folder), None)()
    print(peak_megabytes())
