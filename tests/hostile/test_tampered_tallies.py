"""Two thousand changed tallies: refused where the seal does not fit; sound or refused where they are sealed anew."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import DamagedFile, ForeignFile, SteelyardError, UnreadableFile

from .amount import cases

SEAL = b"\nsteelyard sha256 "
TURNS = 10
ODD: list[Any] = [
    None, True, -1, 0, 7, 2**31, 2**63, 10**25, 1.5, -0.5, "", "x", "=1+1", "\x1b[31m", "a\0b", [], {}, ["a", "a"],
    [None], [[1, 2]], {"a": 1}, [0] * 1000, "x" * 10_000,
]  # fmt: skip


def rows(seed: int, count: int = 60) -> tuple[Any, Any, Any]:
    """True labels, scores with few digits, and sites."""
    drawn = np.random.default_rng(seed)
    truth = drawn.random(count) < 0.4
    score = np.round(np.clip(truth * 0.3 + 0.7 * drawn.random(count), 0, 1), 2)
    return np.where(truth, "yes", "no"), score, drawn.choice(["n", "s"], count)


def labels(seed: int) -> sy.Tally:
    truth, score, _ = rows(seed)
    return sy.assess(truth, np.where(score > 0.5, "yes", "no"), event="yes").tally


def scored(seed: int) -> sy.Tally:
    truth, score, site = rows(seed)
    return sy.assess(truth, score, event="yes", by=site).tally


def clustered(seed: int) -> sy.Tally:
    truth, score, site = rows(seed)
    weight = np.random.default_rng(seed).gamma(2.0, size=len(truth))
    said = {"a": np.where(score > 0.5, "yes", "no"), "b": np.where(score > 0.4, "yes", "no")}
    return sy.compare(truth, said, event="yes", group=site, weight=weight).tally


def measured(seed: int) -> sy.Tally:
    drawn = np.random.default_rng(seed)
    values = drawn.normal(5, 2, 40)
    said = np.digitize(values + drawn.normal(size=40), [3, 6])
    return sy.assess(values, said, scale=sy.Continuum([3, 6], classes=[0, 1, 2], sd=0.5)).tally


MAKERS: tuple[Callable[[int], sy.Tally], ...] = (labels, scored, clustered, measured)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[sy.Tally, bytes]]:
    """Tallies of each kind as they were and as they are stored."""
    folder, found = tmp_path_factory.mktemp("sound"), []
    for make in MAKERS:
        one = make(0)
        one.save(folder / "a.tally")
        found.append((sy.Tally.load(folder / "a.tally"), (folder / "a.tally").read_bytes()))
    return found


def body_of(content: bytes) -> bytes:
    return content[: content.rindex(SEAL)]


def sealed(body: bytes) -> bytes:
    return body + SEAL + hashlib.sha256(body).hexdigest().encode()


def tables_of(body: bytes) -> list[Any]:
    source, found = pa.BufferReader(body), []
    while source.tell() < source.size():
        found.append(pa.ipc.open_stream(source).read_all())
    return found


def joined(tables: list[Any]) -> bytes:
    sink = pa.BufferOutputStream()
    for table in tables:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return bytes(sink.getvalue())


# --- what the seal does not fit -------------------------------------------------------------------------------


def tampered(source: random.Random, content: bytes) -> bytes:
    """Another file of almost the same bytes."""
    kind = source.randrange(6)
    if kind == 0:
        return content[: source.randrange(len(content))]
    if kind == 1:
        place = source.randrange(len(content))
        return content[:place] + source.randbytes(source.randint(1, 9)) + content[place:]
    if kind == 2:
        return content + source.randbytes(source.randint(1, 99))
    if kind == 3:
        start, stop = sorted(source.sample(range(len(content)), 2))
        return content[:start] + content[stop:]
    changed = bytearray(content)
    for _ in range(source.choice([1, 1, 1, 8])):
        changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("turn", range(TURNS))
def test_what_was_changed_is_refused(turn: int, sound: list[tuple[sy.Tally, bytes]], tmp_path: Path) -> None:
    path = tmp_path / "changed.tally"
    for seed in range(turn, cases(1_000), TURNS):
        source = random.Random(seed)  # noqa: S311
        _, content = source.choice(sound)
        other = tampered(source, content)
        if other == content:
            continue
        path.write_bytes(other)
        with pytest.raises((DamagedFile, ForeignFile, UnreadableFile)) as told:
            sy.Tally.load(path)
        assert "changed.tally" in str(told.value), seed
        assert str(told.value).isprintable()


# --- what is sealed anew --------------------------------------------------------------------------------------


def in_header(source: random.Random, body: bytes) -> bytes:
    """Another value at some place of the header, or a place less."""
    tables = tables_of(body)
    header = json.loads(tables[0].schema.metadata[b"steelyard"])
    node, place = header, source.choice([key for key in header if key not in ("format", "version")])
    while isinstance(node[place], dict | list) and len(node[place]) and source.random() < 0.7:
        node = node[place]
        place = source.choice(list(node)) if isinstance(node, dict) else source.randrange(len(node))
    if source.random() < 0.15:
        del node[place]
    else:
        node[place] = source.choice(ODD)
    first = tables[0].replace_schema_metadata({"steelyard": json.dumps(header)})
    return joined([first, *tables[1:]])


def in_arrays(source: random.Random, body: bytes) -> bytes:
    """Other numbers in some column, a row more or less, or a column of another kind."""
    tables = tables_of(body)
    number = source.choice([k for k, table in enumerate(tables) if table.num_columns])
    table = tables[number]
    kind = source.randrange(5)
    if kind == 0:
        table = table.slice(0, source.randrange(table.num_rows + 1))
    elif kind == 1:
        table = pa.concat_tables([table, table.slice(0, 1)])
    else:
        place = source.randrange(table.num_columns)
        column = table.column(place).to_numpy().copy()
        odd = source.choice([-1, 0, 1, 3, 2**31, 2**53, float("nan"), float("inf"), -float("inf"), 1e308, -0.5])
        if isinstance(odd, float):
            column = column.astype(np.float64)
        if len(column):
            with np.errstate(invalid="ignore"):  # what does not fit is taken as its last bytes
                fitting = np.asarray(odd).astype(column.dtype)
            column[source.randrange(len(column)) if kind < 4 else slice(None)] = fitting
        other = pa.array(column) if source.random() < 0.9 else pa.array([str(value) for value in column])
        table = table.set_column(place, table.column_names[place], other)
    return joined([*tables[:number], table, *tables[number + 1 :]])


def in_bytes(source: random.Random, body: bytes) -> bytes:
    """Other bytes anywhere, under a seal that fits."""
    changed = bytearray(body)
    for _ in range(source.choice([1, 2, 8])):
        changed[source.randrange(len(changed))] = source.randrange(256)
    return bytes(changed)


def of_other_tables(source: random.Random, body: bytes) -> bytes:
    """A table left out, put twice, or all in another order."""
    tables = tables_of(body)
    source.shuffle(tables)
    return joined(source.choice([tables[1:], [*tables, tables[0]], tables]))


WAYS: tuple[Callable[[random.Random, bytes], bytes], ...] = (in_header, in_arrays, in_bytes, of_other_tables)


def refused_or_sound(path: Path, beside: sy.Tally) -> bool:
    """Whether a file is refused; else all that is made of it is a result or the library's own error."""
    try:
        found = sy.Tally.load(path)
    except (DamagedFile, ForeignFile) as error:
        assert path.name in str(error)
        return True
    for more in ([], [beside]):
        try:
            whole = sy.compare_tally(sum(more, start=found))
            for model in whole.models:
                whole[model].table()
        except SteelyardError as error:
            assert str(error).isprintable()
    return False


@pytest.mark.parametrize("turn", range(TURNS))
def test_what_is_sealed_anew_is_sound_or_refused(
    turn: int, sound: list[tuple[sy.Tally, bytes]], tmp_path: Path
) -> None:
    """Anything but a result or an error of the library's own, a warning too, fails the test."""
    refused = 0
    for seed in range(turn, cases(1_000), TURNS):
        source = random.Random(seed)  # noqa: S311
        one, content = source.choice(sound)
        body = source.choice(WAYS)(source, body_of(content))
        if body == body_of(content):
            continue
        (tmp_path / "sealed.tally").write_bytes(sealed(body))
        try:
            refused += refused_or_sound(tmp_path / "sealed.tally", one)
        except BaseException as error:
            error.add_note(f"the tally with the seed {seed}")
            raise
    assert refused


def test_merging_a_changed_tally_says_so_in_one_line(
    sound: list[tuple[sy.Tally, bytes]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = random.Random(0)  # noqa: S311
    (tmp_path / "sound.tally").write_bytes(sound[0][1])
    for _ in range(cases(100)):
        (tmp_path / "changed.tally").write_bytes(tampered(source, sound[0][1]))
        status = main(["merge", str(tmp_path / "sound.tally"), str(tmp_path / "changed.tally"), "--quiet"])
        said = capsys.readouterr().err
        assert (status, said.count("\n")) == (2, 1)
        assert said.startswith("error: ")
        assert "changed.tally" in said
