"""The ways to assess a data set: in memory, streamed, merged from tallies; by one thread and by several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from pyarrow import parquet

import steelyard as sy
from steelyard.core.errors import SteelyardError

from .problems import Problem

WAYS = ("memory", "streamed", "merged", "kept")
LET_GO = {"steelyard.passes.tally.MOST_ROWS": 0, "steelyard.results.evaluate.MOST_HELD": 0}
THREADED = {"steelyard.core.threads.WORTH_A_THREAD": 64}
FILES, BATCH = 3, 25

Fields = dict[str, float | str]
Rows = dict[str, Fields]  # by "table/row"

NUMBERS = {
    "estimates": ("value", "low", "high", "se", "n"),
    "training": ("value", "low", "high", "se", "n"),
    "differences": ("difference", "low", "high", "se", "p", "p_adjusted"),
    "lookups": ("sum", "certified low", "certified high"),
}
TEXTS = {"estimates": ("method", "note"), "training": ("method", "note"), "differences": ("note",)}
LOOKUPS = ("auc", "average_precision", "log_score")


def rows_of(problem: Problem, way: str, threads: int = 1) -> Rows:
    """Assess a data set in one way and return all that comes out."""
    found: Rows = {"data/all": {"digest": problem.fingerprint}}
    with _threads(threads), _rows_let_go(way), TemporaryDirectory() as name:
        try:
            comparison = _compared(problem, way, Path(name))
        except SteelyardError as error:
            return found | {"failures/compare": {"message": _shown(error, name)}}
        found |= outcomes(comparison, name)
        if problem.training is not None and way in ("memory", "streamed"):
            found |= _training(problem, way, Path(name))
    return found


def outcomes(comparison: sy.Comparison, folder: str) -> Rows:
    """Return all that comes out of a comparison; the folder of its files is called DATA."""
    found: Rows = {"notes/all": {"notes": "\n".join(comparison.notes).replace(folder, "DATA")}}
    found |= _table("estimates", comparison.table(), ("model", "slice", "measure", "class", "average"))
    found |= _lookups(comparison)
    parts = {"": comparison} | {str(label): part for label, part in comparison.slices.items()}
    for label, part in parts.items():
        found |= {f"{key} {label}".rstrip(): row for key, row in _differences(part, folder).items()}
    return found


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let the library use so many threads; with more than one, also for few rows."""
    with ExitStack() as stack:
        stack.enter_context(patch("steelyard.core.threads.allowed", lambda: count))
        if count > 1:
            _patch(stack, THREADED)
        yield


@contextmanager
def _rows_let_go(way: str) -> Iterator[None]:
    """Keep no rows in memory, while they are read and while results are asked for."""
    with ExitStack() as stack:
        if way in ("streamed", "merged"):
            _patch(stack, LET_GO)
        yield


def _patch(stack: ExitStack, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        stack.enter_context(patch(name, value))


def _compared(problem: Problem, way: str, folder: Path) -> sy.Comparison:
    if way == "memory":
        return _compare(problem, problem.table)
    if way == "kept":
        return sy.compare_tally(saved(problem, folder, rows=True), measures=problem.measures, **problem.options)
    if way == "merged":
        return sy.compare_tally(saved(problem, folder), measures=problem.measures, **problem.options)
    _write(problem.table, folder, FILES)
    return _compare(problem, str(folder), engine="local")


def _compare(problem: Problem, source: Any, **more: Any) -> sy.Comparison:
    named: Any = {"predictions": problem.models} if "score" not in problem.models else problem.models
    given = {"truth": "truth", "measures": problem.measures, **problem.given, **problem.options}
    return sy.compare(source, **named, **given, **more)


def saved(problem: Problem, folder: Path, rows: bool = False, tallies: int = 2) -> list[Path]:
    """Write tallies of parts of the rows, such as the first half and the second, and return their files."""
    paths = []
    for place in range(_write(problem.table, folder, tallies)):
        path = folder / f"{place}.tally"
        _compare(problem, str(folder / f"{place}.parquet"), engine="local").tally.save(path, rows=rows)
        paths.append(path)
    return paths


def saved_whole(problem: Problem, path: Path, rows: bool, let_go: bool) -> None:
    """Write a tally of all rows: with the rows, or with what is kept of them where they are let go."""
    with ExitStack() as stack:
        if let_go:
            _patch(stack, LET_GO)
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (one,) = saved(problem, folder, rows, tallies=1)
        path.write_bytes(one.read_bytes())


def _write(table: pa.Table, folder: Path, files: int) -> int:
    """Write rows to some files, in batches of a few rows each; return how many files there are."""
    files = min(files, len(table))
    edges = [len(table) * place // files for place in range(files + 1)]
    for place, (low, high) in enumerate(pairwise(edges)):
        parquet.write_table(table.slice(low, high - low), folder / f"{place}.parquet", row_group_size=BATCH)
    return files


def _training(problem: Problem, way: str, folder: Path) -> Rows:
    """The measures of the first classifier on the data that it was fitted to."""
    (model, column), *_ = problem.models.items()
    given: dict[str, Any] = {"truth": "truth", "measures": problem.measures, **problem.given, **problem.options}
    kind = "assigned" if isinstance(problem.columns[column][0], str) else "membership"
    table = pa.table(dict(problem.training or {}))
    if way == "memory":
        found = sy.assess(problem.table, **given, **{kind: column}, training=table)
    else:
        (beside := folder / "training").mkdir()
        (test := folder / "test").mkdir()
        _write(problem.table, test, FILES)
        _write(table, beside, FILES)
        found = sy.assess(str(test), **given, **{kind: column}, training=str(beside), engine="local")
    if found.training is None:
        return {"failures/training": {"message": f"there is no training data beside {model}"}}
    return _table("training", found.training.table(), ("measure", "class", "average"))


def _table(name: str, table: Any, keys: tuple[str, ...]) -> Rows:
    """The rows of a tidy table by what they speak of."""
    found: Rows = {}
    columns = {column: list(table[column]) for column in table.column_names}
    for place in range(len(columns["measure"])):
        spoken = [columns[key][place] for key in keys if key in columns]
        key = " ".join(str(part) for part in spoken if part is not None)
        fields: Fields = {field: float(columns[field][place]) for field in NUMBERS[name]}
        fields |= {field: str(columns[field][place]) for field in TEXTS.get(name, ())}
        if f"{name}/{key}" in found:
            raise KeyError(f"two rows speak of {key}")
        found[f"{name}/{key}"] = fields
    return found


def _lookups(comparison: sy.Comparison) -> Rows:
    """What only single estimates have: sums, and between which numbers the value lies for certain."""
    found: Rows = {}
    for model in comparison:
        assessment = comparison[model]
        for name in (label for label in assessment if label in LOOKUPS):
            estimate = assessment[name]
            low, high = estimate.certified or (float("nan"), float("nan"))
            total = float("nan") if estimate.sum is None else estimate.sum
            found[f"lookups/{model} {name}"] = {"sum": total, "certified low": low, "certified high": high}
    return found


def _differences(comparison: sy.Comparison, folder: str) -> Rows:
    """All differences, of classes too; where that cannot be had, measure by measure what can."""
    names = ("measure", "class", "a", "b")
    found: Rows = {}
    for by_class in (True, False):
        try:
            return found | _table("differences", comparison.differences(by_class=by_class), names)
        except SteelyardError as error:
            found[f"failures/differences{' of classes' * by_class}"] = {"message": _shown(error, folder)}
    for measure in comparison.settings.measures:
        if measure.better == "neither":
            continue
        try:
            found |= _table("differences", comparison.differences(measure.label), names)
        except SteelyardError as error:
            found[f"failures/differences by {measure.label}"] = {"message": _shown(error, folder)}
    return found


def _shown(error: SteelyardError, folder: str) -> str:
    return f"{type(error).__name__}: {error}".replace(folder, "DATA")
