"""A thousand problems in files of all kinds, whole and in parts: by every way of reading the values are right."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy

from . import references
from .problems import alike, each, in_batches, scores_of, weights_of

Columns = dict[str, list[Any]]
COUNTED = ["accuracy", "mcc", "kappa", "balanced_accuracy", "f1"]


def as_text(columns: Columns, delimiter: str, ending: str = "\n", mark: str = "") -> bytes:
    """The rows as text; what is missing is an empty cell."""
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, lineterminator=ending)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return (mark + sink.getvalue()).encode()


def as_parquet(columns: Columns, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink, **options)
    return bytes(sink.getvalue())


def as_arrow(columns: Columns, make: Callable[..., Any], rows: int) -> bytes:
    sink, table = pa.BufferOutputStream(), pa.table(columns)
    with make(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return bytes(sink.getvalue())


FORMS: dict[str, Callable[[Columns], bytes]] = {
    "a.csv": lambda columns: as_text(columns, ","),
    "b.csv": lambda columns: as_text(columns, ";", "\r\n", "\ufeff"),
    "c.tsv": lambda columns: as_text(columns, "\t"),
    "d.txt": lambda columns: as_text(columns, "|", "\r"),
    "e.csv.gz": lambda columns: gzip.compress(as_text(columns, ",")),
    "f.csv.gz": lambda columns: b"".join(map(gzip.compress, as_text(columns, ",").splitlines(keepends=True))),
    "g.parquet": as_parquet,
    "h.parquet": lambda columns: as_parquet(columns, row_group_size=7, compression="zstd", use_dictionary=False),
    "i.arrow": lambda columns: as_arrow(columns, pa.ipc.new_file, 5),
    "j.feather": lambda columns: as_arrow(columns, pa.ipc.new_stream, 1000),
}


def written(folder: Path, random: np.random.Generator, columns: Columns) -> tuple[Path, list[Path]]:
    """The rows in one file, or dealt out in order to several files of a folder."""
    folder.mkdir()
    names, rows = list(FORMS), len(columns["y"])
    parts = int(random.choice([1, 1, 2, 3])) if rows >= 60 else 1
    edges = [rows * part // parts for part in range(parts + 1)]
    paths = []
    # Kinds are mixed only between files of text, and between files that have types.
    pool = names[:6] if random.integers(2) else names[6:]
    for part, (start, stop) in enumerate(itertools.pairwise(edges)):
        name = pool[random.integers(len(pool))]
        some = {key: values[start:stop] for key, values in columns.items()}
        paths.append(folder / f"part{part}-{name}")
        paths[-1].write_bytes(FORMS[name](some))
    return (paths[0] if parts == 1 else folder), paths


def rows_of(random: np.random.Generator) -> tuple[Columns, dict[str, Any], list[Any]]:
    """True and predicted labels, a score, weights and a subgroup; how they are read; and the classes."""
    rows = int(random.integers(20, 150))
    kinds: list[list[Any]] = [["no", "yes"], ["a b", "ö"], [0, 1], [3, 12]]
    classes = kinds[random.integers(4)]
    truth = (random.random(rows) < 0.4).astype(int)
    truth[[0, 1, -1, -2]] = 0, 1, 0, 1
    said = np.where(random.random(rows) < random.random(), truth, random.integers(0, 2, rows))
    weight, weighted = weights_of(random, rows)
    columns: Columns = {
        "y": [classes[code] for code in truth.tolist()],
        "m": [classes[code] for code in said.tolist()],
        "s": scores_of(random, truth, True).tolist(),
        "w": weight.tolist(),
        "site": [["north", "south"][place] for place in random.integers(0, 2, rows).tolist()],
    }
    if random.integers(3) == 0:
        for name in ("y", "m"):
            columns[name] = [None if lost else value for lost, value in
                             zip((random.random(rows) < 0.1).tolist(), columns[name], strict=True)]  # fmt: skip
    given: dict[str, Any] = {"truth": "y", "scale": sy.Scale(classes, event=classes[1]), "missing": "drop"}
    return columns, given | ({"weight": "w"} if weighted else {}), classes


def kept(columns: Columns, needed: list[str], site: str | None) -> list[int]:
    """The rows that count: those without gaps, of one subgroup or all."""
    return [
        row for row in range(len(columns["y"]))
        if all(columns[name][row] is not None for name in needed) and site in (None, columns["site"][row])
    ]  # fmt: skip


def check_counts(found: Any, columns: Columns, classes: list[Any], weighted: bool, site: str | None) -> None:
    rows = kept(columns, ["y", "m"], site)
    weight = np.array(columns["w"])[rows] if weighted else np.ones(len(rows))
    table = references.confusion([columns["y"][k] for k in rows], [columns["m"][k] for k in rows], classes, weight)
    expected = references.overall(table)
    for name in COUNTED[:-1]:
        alike(found[name].value, expected[name], name)
    for label, cells in zip(classes, references.counts(table), strict=True):
        alike(found["f1", label].value, references.of_a_class(*cells)["f1"], ("f1", label))


def check_scores(found: Any, columns: Columns, classes: list[Any], weighted: bool) -> None:
    rows = kept(columns, ["y", "s"], None)
    weight = np.array(columns["w"])[rows] if weighted else np.ones(len(rows))
    own = np.array([columns["y"][k] == classes[1] for k in rows])
    score = np.array(columns["s"])[rows]
    alike(found["auc"].value, references.auc(own, score, weight), "auc")
    alike(found["average_precision"].value, references.average_precision(own, score, weight), "average precision")
    alike(found["brier"].value, references.brier(own, score, weight), "brier")


def tallied(paths: list[Path], folder: Path, given: dict[str, Any], random: np.random.Generator) -> sy.Tally:
    """The tally of each file by itself, saved, loaded, and added up in any order."""
    found = []
    for place, path in enumerate(paths):
        sy.assess(path, assigned="m", measures=COUNTED, engine="local", **given).tally.save(folder / f"{place}.tally")
        found.append(sy.Tally.load(folder / f"{place}.tally"))
    order = random.permutation(len(found)).tolist()
    total: sy.Tally = sum((found[place] for place in order[1:]), start=found[order[0]])
    return total


@in_batches(1_000)
def test_problems_in_files(batch: int, tmp_path: Path) -> None:
    for place, (random, told) in enumerate(each(batch, 5)):
        with told:
            columns, given, classes = rows_of(random)
            source, paths = written(tmp_path / str(place), random, columns)
            engine = [None, "local"][random.integers(2)]
            weighted = "weight" in given
            way = random.integers(4)
            if way == 0:
                found = sy.assess(source, assigned="m", measures=COUNTED, engine=engine, by="site", **given)
                check_counts(found, columns, classes, weighted, None)
                for site, part in found.slices.items():
                    check_counts(part, columns, classes, weighted, str(site))
            elif way == 1:
                measures = ["auc", "average_precision", "brier"]
                found = sy.assess(source, membership="s", measures=measures, engine=engine, **given)
                check_scores(found, columns, classes, weighted)
            elif way == 2:
                both = sy.compare(source, {"labels": "m", "scores": "s"}, measures=[*COUNTED, "auc"], engine=engine,
                                  **given)  # fmt: skip
                rows = kept(columns, ["y", "m", "s"], None)
                some = {name: [values[k] for k in rows] for name, values in columns.items()}
                check_counts(both["labels"], some, classes, weighted, None)
                own = np.array([label == classes[1] for label in some["y"]])
                weight = np.array(some["w"]) if weighted else np.ones(len(rows))
                alike(both["scores"]["auc"].value, references.auc(own, np.array(some["s"]), weight), "auc")
            else:
                whole = tallied(paths, tmp_path / str(place), given, random)
                check_counts(sy.assess_tally(whole, measures=COUNTED), columns, classes, weighted, None)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_met(form: str, tmp_path: Path) -> None:
    """Of each kind of file one, so that a kind that is never drawn is seen."""
    columns: Columns = {"y": ["a", "b", "b"], "m": ["a", "a", "b"]}
    (tmp_path / form).write_bytes(FORMS[form](columns))
    assert sy.assess(tmp_path / form, truth="y", assigned="m")["accuracy"].value == pytest.approx(2 / 3)
