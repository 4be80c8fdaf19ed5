"""Sums of rows: they add and subtract, and a file of them is either whole or refused."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Callable
from itertools import pairwise
from operator import add, sub
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard import Continuum, Scale, Tally
from steelyard.core.errors import (
    DamagedFile,
    ForeignFile,
    SteelyardError,
    UnlikeTallies,
    UnreadableFile,
    UnwritableFile,
)
from steelyard.inputs.validate import Validator
from steelyard.passes.tally_files import VERSION, _seal, _to_arrow
from tests.effort import repeats

SCALE = Scale(["a", "b", "c"], event="b")


def tally(truth: Any, *models: Any, scale: Any = SCALE, **options: Any) -> Tally:
    """The tally of a few rows, with models named m0, m1, ..."""
    return Tally.of(
        Validator(scale, **options).validate(truth, {f"m{place}": model for place, model in enumerate(models)})
    )


def content(of: Tally) -> dict[Any, list[float]]:
    """What a tally holds, whatever order it is in."""
    slices, groups = of.slices or (None,), of.groups or (None,)
    rows = zip(of.sums.keys.tolist(), of.sums.values.tolist(), strict=True)
    return {(slices[key[0]], groups[key[1]], *key[2:]): values for key, values in rows if any(values)}


def kept(of: Tally) -> dict[Any, Any]:
    """The rows that a tally keeps with their scores, whatever order they are in and however they are summed up."""
    found: dict[Any, Any] = {}
    if of.scores is not None:
        rows, none = of.scores, [0] * len(of.scores)
        slices, groups = of.slices or (None,), of.groups or (None,)
        labels = [
            [names[k] for k in (none if codes is None else codes.tolist())]
            for names, codes in ((slices, rows.slice), (groups, rows.cluster))
        ]
        scores = [column.tolist() for said in rows.scores for column in said.columns]
        for key, sums in zip(zip(*labels, rows.truth.tolist(), *scores, strict=True), rows.filled, strict=True):
            found["row", *key] = found.get(("row", *key), 0) + sums
    return found


def same(left: Tally, right: Tally) -> bool:
    """Equal in every respect but the last digit of summed weights."""
    ours, theirs = {**content(left), **kept(left)}, {**content(right), **kept(right)}
    return (
        (left.scale, left.models, left.dropped) == (right.scale, right.models, right.dropped)
        and set(left.slices) == set(right.slices)
        and set(left.groups) == set(right.groups)
        and ours.keys() == theirs.keys()
        and all(np.allclose(ours[key], theirs[key], rtol=1e-12, atol=0) for key in ours)
    )


PLAIN = tally(list("aabbc"), list("abbbc"))
RICH = tally(
    list("aabbc"),
    list("abbbc"),
    list("accba"),
    by=["x", "y", "x", "y", "y"],
    group=[7, 7, 8, 8, 9],
    weight=[0.5, 1.5, 2.0, 1.0, 0.25],
)
ODD = tally(
    ["no\n", "\x1b[31m", None],
    ["no\n", "no\n", "no\n"],
    scale=Scale(["no\n", "\x1b[31m", "naïve ✓"]),
    by=["", "steelyard sha256 ", ""],
    missing="drop",
)
WATER = tally(
    [60.0, 70.0, 66.0], ["dry", "wet", "dry"], scale=Continuum([65.0], ["dry", "wet"], sd=0.22, closed="right")
)
NUMBERS = tally([0, 1, 1], [False, True, False], scale=Scale([False, True]), group=[2**63 - 1, -5, -5])
EMPTY = Tally.empty(SCALE, ["m0"])
TWO = Scale(["no", "yes"], event="yes")
SCORE = [0.1, 0.75, 0.75, -0.0, 1.0]
SCORED = tally(["no", "yes", "no", "no", "yes"], SCORE, scale=TWO)
MEMBERS = tally(
    list("aabbc"),
    np.array([[0.5, 0.5, 0], [1, 0, 0], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5], [0, 0, 1]]),
    list("accba"),
    by=["x", "y", "x", "y", "y"],
    group=[7, 7, 8, 8, 9],
    weight=[0.5, 1.5, 2.0, 1.0, 0.25],
)
ALL = {"plain": PLAIN, "rich": RICH, "odd": ODD, "water": WATER, "numbers": NUMBERS, "empty": EMPTY}
ALL |= {"scored": SCORED, "members": MEMBERS}


# --- adding ---------------------------------------------------------------------------------------------------


@st.composite
def batches(draw: st.DrawFn) -> tuple[Tally, list[Tally]]:
    """Rows as a whole, and cut into parts."""
    rows = draw(st.integers(2, 30))
    labels = st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows)
    truth, first, second = draw(labels), draw(labels), draw(labels)
    said: Any = first
    if draw(st.booleans()):
        shares = st.sampled_from([[1, 0, 0], [0.5, 0.25, 0.25], [0, 0.5, 0.5]])
        said = np.array(draw(st.lists(shares, min_size=rows, max_size=rows)), dtype=float)
    options: dict[str, list[Any]] = {}
    if draw(st.booleans()):
        options["group"] = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    if draw(st.booleans()):
        options["by"] = draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows))
    if draw(st.booleans()):
        options["weight"] = draw(st.lists(st.floats(0.1, 9), min_size=rows, max_size=rows))
    edges = sorted({0, rows, *draw(st.lists(st.integers(1, rows - 1), max_size=3))})
    parts = [
        tally(truth[low:high], said[low:high], second[low:high], **{k: v[low:high] for k, v in options.items()})
        for low, high in pairwise(edges)
    ]
    return tally(truth, said, second, **options), parts


@given(batches())
def test_parts_merged_are_the_whole(batch: tuple[Tally, list[Tally]]) -> None:
    whole, parts = batch
    merged = sum(parts[1:], parts[0])
    assert same(merged, whole)
    assert same(sum(reversed(parts[:-1]), parts[-1]), whole)
    assert same(whole + Tally.empty(SCALE, whole.models), whole)
    assert same(Tally.empty(SCALE, whole.models) + whole, whole)


@given(batches())
def test_what_was_added_can_be_taken_out(batch: tuple[Tally, list[Tally]]) -> None:
    whole, parts = batch
    rest = whole - parts[0]
    assert same(rest + parts[0], whole)
    if len(parts) > 1:
        assert same(rest, sum(parts[2:], parts[1]))
    nothing = whole - whole
    assert (nothing.rows, len(nothing.sums.keys), nothing.slices, nothing.groups) == (0, 0, (), ())
    assert kept(nothing) == {}


def test_rows_dropped_are_added_too() -> None:
    gappy = tally(["a", None, "b"], ["a", "b", "b"], missing="drop")
    assert (gappy + gappy + PLAIN).dropped == 2
    assert (gappy + PLAIN - gappy).dropped == 0
    assert (gappy + PLAIN).rows == 7


def test_parts_and_clusters_are_matched_by_their_labels() -> None:
    left = tally(list("ab"), list("aa"), by=["x", "y"], group=[1, 2])
    right = tally(list("bb"), list("bb"), by=["y", "w"], group=[2, 0])
    both = left + right
    assert (both.slices, both.groups) == (("w", "x", "y"), (0, 1, 2))
    assert content(both)["y", 2, 1, 1] == [1, 1, 1]
    assert content(both) == content(right + left)
    assert (both - right).slices == ("x", "y")


def test_rows_that_weigh_otherwise_do_not_cancel() -> None:
    """As many are taken out as there are, but other ones: they have yet to be added."""
    one, other = (
        sy.assess([0, 1, 1], [0, 1, 0], weight=weight, group=[1, 1, 2]).tally
        for weight in ([0.3, 0.7, 2.5], [1.1, 4.2, 0.9])
    )
    back = one - other + other
    assert back.sums.values == pytest.approx(one.sums.values, rel=1e-12)
    assert len((one - one).sums.values) == 0
    assert sy.assess_tally(back)["error"].value == pytest.approx(2.5 / 3.5)


def test_a_tally_without_rows_brings_no_clusters_along() -> None:
    grouped = tally(list("ab"), list("aa"), group=[1, 2])
    alone = (grouped - grouped) + PLAIN
    assert alone.groups == ()
    assert same(alone, PLAIN)
    assert alone.patterns().cluster is None


@pytest.mark.parametrize("before", ["grouped", "sliced", "members", "labels"])
def test_a_tally_without_rows_leaves_scores_as_they_are(before: str) -> None:
    truth = ["no", "yes", "no", "no", "yes"]
    others = {
        "grouped": tally(truth, SCORE, scale=TWO, group=[1, 1, 2, 2, 2]),
        "sliced": tally(truth, SCORE, scale=TWO, by=[1, 1, 2, 2, 2]),
        "members": tally(truth, {"no": [0.5] * 5, "yes": [0.5] * 5}, scale=TWO),
        "labels": tally(truth, truth, scale=TWO),
    }
    gone = others[before] - others[before]
    expected = sy.assess_tally(SCORED, measures=["auc"])["auc"]
    for alone in (gone + SCORED, SCORED + gone):
        assert same(alone, SCORED)
        found = sy.assess_tally(alone, measures=["auc"])["auc"]
        assert (found.value, found.low, found.method) == (expected.value, expected.low, expected.method)


def test_no_scores_are_left_of_a_tally_without_rows() -> None:
    labels = tally(["no", "yes"], ["no", "yes"], scale=TWO)
    for alone in ((SCORED - SCORED) + labels, labels + (SCORED - SCORED)):
        assert same(alone, labels)
        assert "auc" not in sy.assess_tally(alone).table()["measure"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (tally(list("ab"), list("ab"), scale=Scale(["a", "b", "c"])), "the event is "),
        (tally(list("ab"), list("ab"), scale=Scale(["c", "b", "a"], event="b")), "one tally has the classes "),
        (tally(list("ab"), list("ab"), list("ab")), "one tally is of "),
        (tally(list("ab"), list("ab"), by=["x", "y"]), "one tally has slices and the other has none"),
        (tally(list("ab"), list("ab"), group=["x", "y"]), "one tally has groups and the other has none"),
    ],
)
def test_unlike_tallies_do_not_add_up(other: Tally, words: str) -> None:
    for act, left, right in ((add, PLAIN, other), (add, other, PLAIN), (sub, PLAIN, other)):
        with pytest.raises(UnlikeTallies) as caught:
            act(left, right)
        assert words in str(caught.value)


@pytest.mark.parametrize("other", [["no", "yes"], {"no": [0.9, 0.2], "yes": [0.1, 0.8]}], ids=["labels", "members"])
def test_scores_of_another_kind_do_not_add_up(other: Any) -> None:
    unlike = tally(["no", "yes"], other, scale=TWO)
    for act, left, right in ((add, SCORED, unlike), (add, unlike, SCORED), (sub, SCORED, unlike)):
        with pytest.raises(UnlikeTallies, match="scores of the same kind") as caught:
            act(left, right)
        assert caught.value.mend


def test_clusters_of_text_and_of_numbers_do_not_add_up() -> None:
    with pytest.raises(UnlikeTallies, match="are text and of the other numbers"):
        tally(list("ab"), list("ab"), group=["x", "y"]) + tally(list("ab"), list("ab"), group=[1, 2])


@pytest.mark.parametrize("other", [1, None, "tally", [PLAIN]])
def test_only_tallies_are_added(other: Any) -> None:
    for act in (add, sub):
        with pytest.raises(TypeError):
            act(PLAIN, other)


# --- files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ALL)
def test_saving_and_loading_changes_nothing(which: str, tmp_path: Path) -> None:
    saved, path = ALL[which], tmp_path / "a.tally"
    saved.save(path, rows=True)
    loaded = Tally.load(str(path))
    assert (loaded.scale, loaded.models, loaded.dropped) == (saved.scale, saved.models, saved.dropped)
    assert (loaded.slices, loaded.groups) == (saved.slices, saved.groups)
    assert [type(label) for label in loaded.scale.classes] == [type(label) for label in saved.scale.classes]
    assert loaded.scale.ordered == saved.scale.ordered
    assert np.array_equal(loaded.sums.keys, saved.sums.keys)
    assert np.array_equal(loaded.sums.values, saved.sums.values)
    assert (loaded.scores is None) == (saved.scores is None)
    assert same(loaded, saved)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.tally"]


@settings(max_examples=repeats(6, 20))
@given(batches())
def test_steps_through_files_change_no_estimate(tmp_path_factory: pytest.TempPathFactory, batch: Any) -> None:
    whole, parts = batch
    path = tmp_path_factory.mktemp("tally") / "a.tally"
    total = Tally.empty(SCALE, whole.models)
    for part in parts:
        (total + part).save(path, rows=True)
        total = Tally.load(path)
    assert same(total, whole)
    before, after = (sy.assess_tally(one, "m0")["accuracy"] for one in (whole, total))
    assert np.isclose(before.value, after.value)


def test_a_tally_is_an_arrow_stream_that_anyone_can_read(tmp_path: Path) -> None:
    RICH.save(tmp_path / "a.tally")
    with pa.OSFile(str(tmp_path / "a.tally")) as file:
        table, rows = (pa.ipc.open_stream(file).read_all() for _ in range(2))
    assert table.column("count").to_pylist() == RICH.sums.values[:, 0].tolist()
    header = json.loads(table.schema.metadata[b"steelyard"])
    assert (header["format"], header["version"], header["scores"]) == ("steelyard tally", VERSION, None)
    assert (rows.num_rows, rows.num_columns) == (0, 0)


def test_the_second_stream_holds_the_rows_with_their_scores(tmp_path: Path) -> None:
    SCORED.save(tmp_path / "a.tally", rows=True)
    with pa.OSFile(str(tmp_path / "a.tally")) as file:
        table, rows = (pa.ipc.open_stream(file).read_all() for _ in range(2))
    assert json.loads(table.schema.metadata[b"steelyard"])["scores"] == [[1, 1]]
    assert rows.to_pydict() == {"truth": [0, 1, 0, 0, 1], "score0": SCORE}
    MEMBERS.save(tmp_path / "a.tally")
    with pa.OSFile(str(tmp_path / "a.tally")) as file:
        table, rows = (pa.ipc.open_stream(file).read_all() for _ in range(2))
    assert json.loads(table.schema.metadata[b"steelyard"])["scores"] == [[3, -1], [0, -1]]
    assert rows.column_names == [
        *["slice", "cluster", "truth", "score0", "score1", "score2", "score3", "count", "mass", "square"]
    ]


@pytest.mark.study
@pytest.mark.parametrize("which", ALL)
def test_every_flipped_bit_is_noticed(which: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tally"
    ALL[which].save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), repeats(23, 1)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises((DamagedFile, ForeignFile)):
            Tally.load(path)


@pytest.mark.parametrize("bit", range(8))
def test_every_bit_of_the_first_and_last_bytes_is_noticed(bit: int, tmp_path: Path) -> None:
    path = tmp_path / "a.tally"
    PLAIN.save(path)
    whole = path.read_bytes()
    for place in [*range(64), *range(-160, 0)]:
        changed = bytearray(whole)
        changed[place] ^= 1 << bit
        path.write_bytes(bytes(changed))
        with pytest.raises(DamagedFile, match="was changed or cut off"):
            Tally.load(path)


@pytest.mark.study
def test_every_cut_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.tally"
    PLAIN.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), repeats(23, 1)):
        path.write_bytes(whole[:length])
        with pytest.raises((DamagedFile, ForeignFile)):
            Tally.load(path)
    for longer in (whole + b"\n", whole + whole, b"\0" + whole, whole.replace(b"steelyard tally", b"steelyard_tally")):
        path.write_bytes(longer)
        with pytest.raises(DamagedFile):
            Tally.load(path)


FOREIGN: dict[str, bytes] = {
    "nothing": b"",
    "text": b"truth,model\na,b\n",
    "text that speaks of tallies": b"A steelyard tally:\nsteelyard tally monday.csv --out a.tally\n",
    "json": json.dumps({"format": "something", "version": 1}).encode(),
    "pickle": pickle.dumps({"scale": ("a", "b")}),
    "zeros": bytes(5000),
    "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
}


def test_a_tally_that_is_not_there_is_told_by_the_nearest_name(tmp_path: Path) -> None:
    sy.assess(["no", "yes"], ["no", "yes"]).tally.save(tmp_path / "monday.tally")
    for read in (Tally.load, sy.assess_tally):
        with pytest.raises(UnreadableFile, match=r"there is no file '.*mondy\.tally'\. Did you mean '.*monday\.tally'"):
            read(tmp_path / "mondy.tally")


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused(what: str, tmp_path: Path) -> None:
    (tmp_path / "a.tally").write_bytes(FOREIGN[what])
    with pytest.raises(ForeignFile, match=r"a\.tally' is no steelyard tally"):
        Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_another_arrow_file_is_refused(kind: str, tmp_path: Path) -> None:
    table = pa.table({"key0": [0], "count": [1.0]})
    make = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    with make(str(tmp_path / "a.tally"), table.schema) as file:
        file.write_table(table)
    with pytest.raises(ForeignFile, match="is no steelyard tally"):
        Tally.load(tmp_path / "a.tally")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    (tmp_path / "a.tally").write_bytes(pickle.dumps(PLAIN) + b'"format": "steelyard tally"')
    with pytest.raises(DamagedFile):
        Tally.load(tmp_path / "a.tally")


def reseal(path: Path, body: bytes) -> None:
    """Write what looks whole, as a later release or a stranger might."""
    path.write_bytes(body + _seal(body))


def with_header(of: Tally, **changes: Any) -> bytes:
    """The Arrow stream of a tally whose header says something else."""
    table = pa.ipc.open_stream(_to_arrow(of)).read_all()
    header = {**json.loads(table.schema.metadata[b"steelyard"]), **changes}
    return stream_of(table.replace_schema_metadata({"steelyard": json.dumps(header)}))


def stream_of(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("version", [0, 1, VERSION + 1, str(VERSION), None, [VERSION]])
def test_a_tally_of_another_version_is_refused(version: Any, tmp_path: Path) -> None:
    reseal(tmp_path / "a.tally", with_header(PLAIN, version=version))
    with pytest.raises(ForeignFile, match=rf"of version .*, not {VERSION}\. Read it with the release that wrote it"):
        Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": {}},
        {"scale": {"classes": ["a"], "event": None, "ordered": True}},
        {"scale": {"classes": ["a", "b"], "event": None, "ordered": True}},
        {"scale": None},
        {"models": []},
        {"models": ["m0", "m1"]},
        {"models": 5},
        {"slices": None},
        {"dropped": "many"},
    ],
)
def test_a_header_that_does_not_fit_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    reseal(tmp_path / "a.tally", with_header(PLAIN, **changes))
    with pytest.raises(DamagedFile, match="is no tally that can be read"):
        Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize(
    ("column", "value"),
    [("key2", 3), ("key3", -1), ("key0", 1), ("count", np.nan), ("mass", np.inf), ("count", "one"), ("key1", None)],
)
def test_sums_that_there_cannot_be_are_refused(column: str, value: Any, tmp_path: Path) -> None:
    table = pa.ipc.open_stream(_to_arrow(PLAIN)).read_all()
    place = table.column_names.index(column)
    broken = table.set_column(place, column, pa.array([value] * table.num_rows))
    reseal(tmp_path / "a.tally", stream_of(broken))
    with pytest.raises(DamagedFile, match="is no tally that can be read"):
        Tally.load(tmp_path / "a.tally")


def with_rows(of: Tally, change: Callable[[Any], Any], **changes: Any) -> bytes:
    """Both streams of a tally, the second one changed."""
    source = pa.BufferReader(_to_arrow(of))
    rows = [pa.ipc.open_stream(source).read_all() for _ in range(2)][1]
    return with_header(of, **changes) + stream_of(change(rows))


def column_of(name: str, values: Any) -> Callable[[Any], Any]:
    def change(rows: Any) -> Any:
        return rows.set_column(rows.column_names.index(name), name, pa.array(values))

    return change


def test_rows_that_are_left_alone_are_read(tmp_path: Path) -> None:
    reseal(tmp_path / "a.tally", with_rows(SCORED, lambda rows: rows))
    assert same(Tally.load(tmp_path / "a.tally"), SCORED)


@pytest.mark.parametrize(
    "change",
    [
        column_of("truth", [0, 1, 0, 0, 2]),
        column_of("truth", [0, 1, 0, 0, -1]),
        column_of("truth", [0.0, 1.0, 0.0, 0.0, 1.0]),
        column_of("truth", [0, 1, 0, 0, None]),
        column_of("score0", [0.1, 0.2, 0.3, 0.4, float("nan")]),
        column_of("score0", [0.1, 0.2, 0.3, 0.4, None]),
        column_of("score0", list("abcde")),
        lambda rows: rows.drop_columns(["score0"]),
        lambda rows: rows.drop_columns(["truth"]),
        lambda rows: rows.append_column("slice", pa.array([0, 0, 0, 0, 1])),
        lambda rows: rows.append_column("cluster", pa.array([0, 0, 0, 0, 1])),
    ],
)
def test_rows_that_there_cannot_be_are_refused(change: Callable[[Any], Any], tmp_path: Path) -> None:
    reseal(tmp_path / "a.tally", with_rows(SCORED, change))
    with pytest.raises(DamagedFile, match="is no tally that can be read"):
        Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize("scores", [[[2, -1]], [[1, 7]], [[1, -1]], [[1]], [], [[0, -1]], [[1, 1], [0, -1]], "x", 5])
def test_a_header_that_does_not_fit_the_rows_is_refused(scores: Any, tmp_path: Path) -> None:
    reseal(tmp_path / "a.tally", with_rows(SCORED, lambda rows: rows, scores=scores))
    with pytest.raises(DamagedFile, match="is no tally that can be read"):
        Tally.load(tmp_path / "a.tally")


def test_rows_that_are_not_there_are_missed(tmp_path: Path) -> None:
    reseal(tmp_path / "a.tally", with_header(SCORED))
    with pytest.raises(DamagedFile, match="is no tally that can be read"):
        Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize("body", [b"", b"steelyard tally", bytes(100)])
def test_a_seal_on_nothing_sensible_is_refused(body: bytes, tmp_path: Path) -> None:
    reseal(tmp_path / "a.tally", body)
    with pytest.raises(DamagedFile):
        Tally.load(tmp_path / "a.tally")


@pytest.mark.parametrize("path", ["missing.tally", ".", "a\x00b", "x" * 5000, None, 3, 2.5, b"a"])
def test_what_cannot_be_read_is_refused(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableFile) as caught:
        Tally.load(path)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("path", ["no/such/folder/a.tally", "folder", "a\x00b", "x" * 5000])
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnwritableFile) as caught:
        PLAIN.save(path)
    assert str(caught.value).isprintable()
    assert [entry.name for entry in tmp_path.rglob("*")] == ["folder"]


def test_an_older_file_survives_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tally"
    PLAIN.save(path)

    def fail(self: Path, target: Any) -> Any:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UnwritableFile, match="disk full"):
        RICH.save(path)
    assert Tally.load(path).rows == PLAIN.rows
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.tally"]


def test_threads_may_save_to_one_name(tmp_path: Path) -> None:
    path, failures = tmp_path / "a.tally", list[SteelyardError]()

    def work() -> None:
        try:
            for _ in range(10):
                PLAIN.save(path)
                Tally.load(path)
        except SteelyardError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert same(Tally.load(path), PLAIN)


def test_what_was_never_added_cannot_be_taken_out() -> None:
    """Neither of counts nor of rows with scores; on the way there may be less than nothing."""
    first, second = (sy.assess([0, 1, 0, 1], said).tally for said in ([0, 1, 0, 1], [1, 1, 0, 0]))
    with pytest.raises(UnlikeTallies, match="did not hold"):
        sy.assess_tally(first - second)
    assert sy.assess_tally(first - second + second)["error"].value == 0
    one, two = (sy.assess([0, 1, 0, 1], np.array([0.1, 0.6, 0.2, 0.7]) + step).tally for step in (0, 0.01))
    with pytest.raises(UnlikeTallies, match="did not hold"):
        sy.compare_tally(one - two + sy.assess([0, 1, 0, 1], [0.3, 0.4, 0.1, 0.9]).tally)


@pytest.mark.parametrize("saved", [False, True])
def test_classes_that_scores_assigned_do_not_pass_for_forecasts(saved: bool, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("ill,score\n" + "yes,0.2\nno,0.9\nno,0.6\nyes,0.4\n" * 9)
    result = sy.assess(tmp_path / "rows.csv", truth="ill", membership="score", event="yes", measures=["error"])
    result.tally.save(tmp_path / "rows.tally")
    counted = (Tally.load(tmp_path / "rows.tally") if saved else result.tally) + Tally.empty(
        result.tally.scale, ["prediction"]
    )
    for name in ("brier", "log_score", "auc"):
        with pytest.raises(SteelyardError, match=f"{name} needs scores, and nothing but the classes") as error:
            sy.assess_tally(counted, measures=[name])
        assert error.value.mend == f"Count the rows with measures=['{name}'], or leave measures= out there"
    assert "brier" not in list(sy.assess_tally(counted))
    again = sy.assess_tally(counted, measures=["error"])
    for ask in (again.reliability, again.calibration_test, again.decomposition, again.recalibration, again.plot.roc):
        with pytest.raises(SteelyardError, match="nothing but the classes that scores assigned was counted"):
            ask()
    assert again.notes[0].endswith("do scores speak for another class than the event, 'yes'?")


def test_labels_still_pass_for_forecasts_of_which_they_are_sure() -> None:
    counted = sy.assess(["no", "yes", "yes", "no"], ["no", "yes", "no", "no"], event="yes").tally
    assert sy.assess_tally(counted, measures=["brier"])["brier"].value == 0.25


def test_tallies_can_be_summed_up() -> None:
    """As everything else that can be added."""
    parts = [sy.assess([0, 1, 0, 1], said).tally for said in ([0, 1, 0, 1], [1, 1, 0, 0])]
    assert sy.assess_tally(sum(parts[1:], parts[0]))["error"].value == 0.25
    assert sum(parts).rows == 8  # type: ignore[union-attr]


def test_a_tally_is_told_in_one_line() -> None:
    assert repr(sy.assess(list("abba") * 50, [0.1, 0.2, 0.3, 0.4] * 50, event="a").tally) == (
        "tally of 200 rows, 2 classes, 1 classifier"
    )
