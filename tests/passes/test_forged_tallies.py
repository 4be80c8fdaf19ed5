"""Files that bear a seal and hold nonsense: refused when they are loaded, or told as an error of the library's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.core.errors import BadWeights, DamagedFile, ForeignFile, SteelyardError, UnlikeTallies
from steelyard.passes import tally as tallies
from steelyard.passes.tally_files import _seal, _to_arrow
from tests.effort import repeats
from tests.passes.test_tally import stream_of, tally

SHARES = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.2, 0.2, 0.6]])
PARTS: dict[str, Any] = {"by": list("xyxyy"), "group": [7, 7, 8, 8, 9], "weight": [0.5, 1.5, 2.0, 1.0, 0.25]}
RANDOM = np.random.default_rng(0)
VALUES = RANDOM.normal(5, 2, 40)
CUT = sy.Continuum([3, 6], classes=[0, 1, 2], sd=0.5)
ODD: list[Any] = [
    None, -1, 7, 10**25, 1.5, float("nan"), float("inf"), "x", [], {}, ["a", "a"], [None], [[1, 2]], {"a": 1},
]  # fmt: skip


def summed(monkeypatch: pytest.MonkeyPatch) -> sy.Tally:
    """What is left of rows that were let go: cells of scores, and sums of what forecasts were worth."""
    rows = 600
    truth = RANDOM.random(rows) < 0.5
    said = np.clip(truth * 0.3 + 0.7 * RANDOM.random(rows), 0, 1)
    frame = pa.table({"truth": truth, "said": said, "site": RANDOM.choice(["n", "s"], rows)})
    monkeypatch.setattr(tallies, "MOST_ROWS", 100)
    asked = ["auc", "brier", "calibration_error", "partition_accuracy"]
    halves = [frame.slice(0, 300), frame.slice(300)]
    found = [sy.assess(half, truth="truth", membership="said", by="site", measures=asked).tally for half in halves]
    recipes = [of_rows(half, asked) for half in found]
    whole = recipes[0] + recipes[1]
    assert whole.summaries is not None
    return whole


def of_rows(one: sy.Tally, asked: list[str]) -> sy.Tally:
    from dataclasses import replace

    from steelyard.families.summed.recipe import Recipe

    assert one.scores is not None
    measures = tuple(sy.find(name) for name in asked)
    recipe = Recipe(one.scale, one.models, tuple(one.scores.shape), measures, one.given)
    return replace(one, recipe=recipe)


def made(kind: str, monkeypatch: pytest.MonkeyPatch) -> sy.Tally:
    if kind == "summaries":
        return summed(monkeypatch)
    if kind == "measured":
        return sy.assess(VALUES, np.digitize(VALUES + RANDOM.normal(size=40), [3, 6]), scale=CUT).tally
    if kind == "score":
        return tally([0, 1, 0, 0, 1], np.array([0.2, 0.7, 0.3, 0.6, 0.8]), scale=sy.Scale([0, 1]))
    return tally(list("aabbc"), list("abbbc"), *([SHARES] if kind == "memberships" else []), **PARTS)


def tables_of(one: sy.Tally) -> list[Any]:
    source, found = pa.BufferReader(_to_arrow(one)), []
    while source.tell() < source.size():
        found.append(pa.ipc.open_stream(source).read_all())
    return found


def other_headers(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place in a header, with everything that can stand there instead."""
    yield from ((path, odd) for odd in ODD if path and path != ("version",))
    places = list(node) if isinstance(node, dict) else range(min(len(node), 4)) if isinstance(node, list) else ()
    for place in places:
        yield from other_headers(node[place], (*path, place))


def changed(header: Any, path: tuple[Any, ...], odd: Any) -> Any:
    found = deepcopy(header)
    node = found
    for place in path[:-1]:
        node = node[place]
    node[path[-1]] = odd
    return found


def other_columns(column: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    for odd in (-1, 0, 3, 2**40, np.nan, np.inf, 1e308, -0.5):
        for places in (slice(1), slice(None)):
            other = column.astype(np.float64 if isinstance(odd, float) else column.dtype)
            with np.errstate(all="ignore"):
                other[places] = np.asarray(odd).astype(other.dtype)
            yield other
    yield from (-column, column[::-1], np.array(["x"] * len(column)), np.ones(len(column), bool))
    yield from (column[:-1], np.zeros(len(column), "M8[s]"))


def body_of(tables: list[Any]) -> bytes:
    return b"".join(map(stream_of, tables))


def with_header(tables: list[Any], header: Any, path: tuple[Any, ...], odd: Any) -> bytes:
    text = json.dumps(changed(header, path, odd))
    return body_of([tables[0].replace_schema_metadata({"steelyard": text}), *tables[1:]])


def forgeries(one: sy.Tally) -> Iterator[Callable[[], bytes]]:
    """Every forgery, which is made where it is called."""
    tables = tables_of(one)
    header = json.loads(tables[0].schema.metadata[b"steelyard"])
    for path, odd in other_headers(header):
        yield partial(with_header, tables, header, path, odd)
    for place, table in enumerate(tables):
        for number, name in enumerate(table.column_names):
            for column in other_columns(table.column(name).to_numpy()):
                if len(column) == len(table):
                    other = table.set_column(number, name, pa.array(column))
                elif table.num_columns == 1:
                    other = pa.table({name: column})
                else:
                    continue
                yield partial(body_of, [*tables[:place], other, *tables[place + 1 :]])
        yield partial(body_of, [*tables[:place], table.slice(0, 0), *tables[place + 1 :]])


@pytest.mark.study
@pytest.mark.parametrize("kind", ["labels", "memberships", "score", "measured", "summaries"])
def test_what_no_rows_can_have_left_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything but a result or an error of the library's own, a warning too, fails the test."""
    one = made(kind, monkeypatch)
    one.save(tmp_path / "a.tally")
    assert sy.compare_tally(tmp_path / "a.tally").models == one.models
    bodies = list(forgeries(one))
    count = repeats(12, 60) if kind == "summaries" else repeats(50, 150)
    chosen = np.random.default_rng(0).permutation(len(bodies))[:count].tolist()
    refused = 0
    for body in (bodies[place]() for place in chosen):
        (tmp_path / "b.tally").write_bytes(body + _seal(body))
        try:
            other = sy.Tally.load(tmp_path / "b.tally")
        except (DamagedFile, ForeignFile):  # states of an unknown kind are those of another release
            refused += 1
            continue
        for more in ([], [one]):
            try:
                found = sy.compare_tally(sum(more, start=other))
                for model in found.models:
                    found[model].table()
            except SteelyardError as error:
                assert str(error).isprintable()
    assert refused > len(chosen) / 3


@pytest.mark.parametrize("labels", ["slices", "groups", "models"])
def test_labels_stand_in_a_tally_once(labels: str, tmp_path: Path) -> None:
    tables = tables_of(tally(list("aabbc"), list("abbbc"), list("abbbb"), **PARTS))
    header = json.loads(tables[0].schema.metadata[b"steelyard"])
    header[labels][1] = header[labels][0]
    body = stream_of(tables[0].replace_schema_metadata({"steelyard": json.dumps(header)})) + stream_of(tables[1])
    (tmp_path / "a.tally").write_bytes(body + _seal(body))
    with pytest.raises(DamagedFile, match="is no tally that can be read"):
        sy.Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize(("mass", "error"), [(-1.0, UnlikeTallies), (0.0, BadWeights)])
def test_rows_must_weigh_something(mass: float, error: type[SteelyardError], tmp_path: Path) -> None:
    tables = tables_of(tally(list("aabbc"), list("abbbc"), weight=[0.5, 1.5, 2.0, 1.0, 0.25]))
    place = tables[0].column_names.index("mass")
    light = tables[0].set_column(place, "mass", pa.array(np.full(len(tables[0]), mass)))
    body = stream_of(light) + stream_of(tables[1])
    (tmp_path / "a.tally").write_bytes(body + _seal(body))
    with pytest.raises(error):
        sy.assess_tally(tmp_path / "a.tally")


@pytest.mark.parametrize("kind", ["labels", "memberships", "measured"])
def test_what_is_half_done_is_not_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences may be saved on the way, whatever other rows weigh that they are still to meet."""
    one = made(kind, monkeypatch)
    if kind in ("labels", "memberships"):
        said = [SHARES[::-1]] if kind == "memberships" else []
        other = tally(list("aabbc"), list("bbbbc"), *said, **{**PARTS, "weight": [3.0, 0.1, 0.7, 0.2, 5.0]})
    else:
        other = made(kind, monkeypatch)
    for found in (one, one - other, one + other - other, one - other + other, one - one):
        found.save(tmp_path / "a.tally")
        back = sy.Tally.load(tmp_path / "a.tally")
        assert back.sums.values.tolist() == found.sums.values.tolist()
        assert (back.scores is None, back.summaries is None) == (found.scores is None, found.summaries is None)
    assert sy.assess_tally(one - other + other, model=one.models[0])["error"].value == pytest.approx(
        sy.assess_tally(one, model=one.models[0])["error"].value
    )
