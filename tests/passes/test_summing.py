"""Files summed a batch at a time give what the same rows give in memory, and refuse what memory refuses."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

import steelyard as sy
from steelyard import Tally
from steelyard.core.errors import (
    AmbiguousPrediction,
    BadOption,
    BadWeights,
    EmptyInput,
    MissingValues,
    OneClass,
    OutsideUnitInterval,
    SteelyardError,
    SwappedArguments,
    UnknownLabel,
    UnusableLabels,
)
from steelyard.data import formats, streams
from steelyard.data.engines.engine import TreeSum
from steelyard.measures import choose
from steelyard.passes import plan
from steelyard.states.statistics import CONFUSION
from tests.effort import in_turn, repeats

COUNTS = [measure.name for measure in choose(None) if measure.statistic is CONFUSION]


def table_of(rows: int, seed: int, gaps: float = 0.0) -> Any:
    """Rows of every kind of column that can be counted."""
    random = np.random.default_rng(seed)
    classes = np.array(["high", "low", "mid"])
    truth = classes[random.integers(0, 3, rows)]
    memberships = random.dirichlet([1, 1, 1], rows)

    def with_gaps(values: Any) -> Any:
        return pa.array(values, mask=random.random(rows) < gaps)

    return pa.table(
        {
            "y": with_gaps(truth),
            "m": with_gaps(np.where(random.random(rows) < 0.6, truth, classes[random.integers(0, 3, rows)])),
            "o": with_gaps(classes[random.integers(0, 3, rows)]),
            **{f"p_{name}": memberships[:, place] for place, name in enumerate(classes)},
            "often": with_gaps(random.integers(1, 4, rows)),
            "weight": with_gaps(random.random(rows) * 3),
            "patient": with_gaps(random.integers(0, 9, rows)),
            "site": with_gaps(np.array(["n", "s"])[random.integers(0, 2, rows)]),
            "hour": random.integers(0, 3, rows),
        }
    )


def scatter(table: Any, folder: Path, pieces: int, ending: str = "parquet") -> Path:
    """Cut a table into files of unequal length."""
    folder.mkdir(exist_ok=True)
    edges = [0, *sorted({len(table) * k**2 // pieces**2 for k in range(1, pieces)}), len(table)]
    for place, (low, high) in enumerate(pairwise(edges)):
        part = table.slice(low, high - low)
        if ending == "csv":
            csv.write_csv(part, folder / f"{place}.csv")
        else:
            parquet.write_table(part, folder / f"{place}.parquet", row_group_size=11)
    return folder


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "BATCH_ROWS", 17)


@pytest.fixture
def never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a table is read as a whole."""
    monkeypatch.setattr(streams.Files, "load", lambda *_: pytest.fail("the table was held"))


def alike(left: Any, right: Any) -> None:
    """Hold all estimates of two results against each other."""
    one, two = left.table().to_pylist(), right.table().to_pylist()
    assert len(one) == len(two) > 3
    for row, other in zip(one, two, strict=True):
        assert row.keys() == other.keys()
        for name, value in row.items():
            if isinstance(value, float) and isinstance(other[name], float):
                assert value == pytest.approx(other[name], rel=1e-12, abs=1e-12, nan_ok=True), (row, name)
            else:
                assert value == other[name], (row, name)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"weight": "often"},
    {"weight": "often", "weight_kind": "frequency"},
    {"weight": "weight"},
    {"group": "patient"},
    {"by": "site"},
    {"by": ["site", "hour"]},
    {"weight": "weight", "group": "patient", "by": "site"},
    {"where": "hour > 0 and (site == 'n' or weight < 1.5)"},
    {"scale": sy.Scale(["low", "mid", "high"])},
    {"event": "low"},
    {"cost": {"low": {"mid": 1, "high": 2}, "mid": {"low": 3, "high": 1}, "high": {"low": 9, "mid": 2}}},
    {"method": "bootstrap", "replicates": 50},
]


@pytest.mark.study
@pytest.mark.parametrize(("options", "missing"), in_turn(OPTIONS, ["error", "drop"]))
@pytest.mark.usefixtures("never_held")
def test_files_in_pieces_are_the_table(tmp_path: Path, options: dict[str, Any], missing: Any) -> None:
    table = table_of(400, seed=len(str(options)), gaps=0.05 if missing == "drop" else 0.0)
    folder = scatter(table, tmp_path / "f", 5)
    asked = {"truth": "y", "assigned": "m", "missing": missing, **options}
    streamed, held = sy.assess(folder, **asked), sy.assess(table, **asked)
    alike(streamed, held)
    assert streamed.dropped == held.dropped
    assert (streamed.dropped > 0) == (missing == "drop")
    assert streamed.classes == held.classes
    assert list(streamed.slices) == list(held.slices)
    for label, part in held.slices.items():
        alike(streamed.slices[label], part)
    models = {"m": "m", "o": "o", "p": "p_*"}
    asked.pop("assigned")
    both, whole = (sy.compare(x, models, **asked, measures=COUNTS) for x in (folder, table))
    alike(both, whole)
    one, two = both.differences("kappa").to_pylist(), whole.differences("kappa").to_pylist()
    assert [row["difference"] for row in one] == pytest.approx([row["difference"] for row in two], abs=1e-12)
    assert [row["p"] for row in one] == pytest.approx([row["p"] for row in two], abs=1e-12)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.usefixtures("never_held")
def test_the_pieces_do_not_matter(tmp_path: Path, ending: str) -> None:
    table = table_of(300, seed=1)
    found = [
        sy.assess(scatter(table, tmp_path / str(pieces), pieces, ending), truth="y", assigned="m", weight="weight")
        for pieces in (1, 2, 13)
    ]
    for other in found[1:]:
        alike(found[0], other)
    again = sy.assess(tmp_path / "13", truth="y", assigned="m", weight="weight")
    assert np.array_equal(again.tally.sums.values, found[2].tally.sums.values), "to the last bit"


@settings(max_examples=repeats(8, 30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(2, 60), seed=st.integers(0, 10**6), pieces=st.integers(1, 6), gaps=st.sampled_from([0, 0.1, 0.6]),
    extras=st.sets(st.sampled_from(["weight", "group", "by"])),
)  # fmt: skip
def test_any_rows_in_any_pieces(
    tmp_path_factory: pytest.TempPathFactory, rows: int, seed: int, pieces: int, gaps: float, extras: set[str]
) -> None:
    table = table_of(rows, seed, gaps)
    folder = scatter(table, tmp_path_factory.mktemp("f"), pieces)
    named = {"weight": "weight", "group": "patient", "by": "site"}
    asked: dict[str, Any] = {"truth": "y", "missing": "drop", "measures": COUNTS, **{k: named[k] for k in extras}}
    forms: list[dict[str, Any]] = [{"assigned": "m"}, {"membership": "p_*"}]
    for columns in forms:
        try:
            held = sy.assess(table, **asked, **columns)
        except SteelyardError as error:
            with pytest.raises(type(error)):
                sy.assess(folder, **asked, **columns)
        else:
            alike(sy.assess(folder, **asked, **columns), held)


# --- what must be known of all rows ---------------------------------------------------------------------------


def written(folder: Path, *texts: str) -> Path:
    for place, text in enumerate(texts):
        (folder / f"{place}.csv").write_text(text)
    return folder


@pytest.mark.usefixtures("never_held")
def test_a_class_of_the_last_file_alone(tmp_path: Path) -> None:
    folder = written(tmp_path, "y,m\na,a\n", "y,m\na,a\nb,b\n", "y,m\nzebra,a\n")
    assert sy.assess(folder, truth="y", assigned="m").classes == ("a", "b", "zebra")
    with pytest.raises(UnknownLabel, match=r"file '.*2\.csv', column 'y', row 0: 'zebra' is not one of"):
        sy.assess(folder, truth="y", assigned="m", scale=sy.Scale(["a", "b"]))


@pytest.mark.usefixtures("never_held")
def test_a_label_of_a_dropped_row_is_no_class(tmp_path: Path) -> None:
    folder = written(tmp_path, "y,m,g\na,a,1\nb,b,1\n", "y,m,g\nghost,a,\n,a,1\n")
    result = sy.assess(folder, truth="y", assigned="m", group="g", missing="drop")
    assert result.classes == ("a", "b")
    assert result.dropped == 2
    whole = written(tmp_path / "..", "y,m,g\na,,1\n") / "0.csv"
    with pytest.raises(EmptyInput, match="every row misses a value"):
        sy.assess(whole, truth="y", assigned="m", missing="drop")


@pytest.mark.parametrize(
    ("first", "second", "scored"),
    [("0", "1", False), ("1", "0.5", True), ("0.0", "1.0", False), ("0.25", "1", True), ("NA", "0.5", True)],
)
def test_whether_numbers_are_labels_is_judged_by_all_of_them(
    tmp_path: Path, first: str, second: str, scored: bool
) -> None:
    body = "0,{0}\n1,{0}\n"
    folder = written(tmp_path, "y,m\n" + body.format(first) * 9, "y,m\n" + body.format(second))
    asked: dict[str, Any] = {"truth": "y", "membership": "m", "event": 1, "missing": "drop"}
    held = sy.assess(streams.Files.of(folder).load().table, **asked, measures=COUNTS)
    alike(sy.assess(folder, **asked, measures=COUNTS), held)
    everything = sy.assess(folder, **asked)
    assert (everything.tally.scores is not None) == scored, "scores are kept where measures need them"


@pytest.mark.parametrize(
    ("texts", "options", "error", "words"),
    [
        (("y,m\na,a\n", "y,m\na,a\n"), {}, OneClass, "only one class is seen: 'a'"),
        (("y,m\na,x\n", "y,m\nb,z\n"), {}, UnknownLabel, "no assigned label is a true one"),
        (("y,m\na,a\n", "y,m\nb,b\na,\n"), {}, MissingValues, r"1\.csv', column 'm', row 1"),
        (("y,m\n", "y,m\n"), {}, EmptyInput, "there is no row"),
        (("y,m\na,a\nb,b\n",), {"where": "y == 'c'"}, EmptyInput, "there is no row"),
        (("y,m\n1,1\n", "y,m\n0,1\n0.5,0\n"), {}, SwappedArguments, "truth looks like a prediction"),
        (("y,m\n1,a\n", "y,m\n2,b\n"), {}, UnusableLabels, "m"),
        (("y,m\na,a\nb,b\n", "y,m\nb,b\n"), {"event": "c"}, UnknownLabel, "the event 'c' is not one of"),
        (("y,m,w\na,a,0\n", "y,m,w\nb,b,0\n"), {"weight": "w"}, BadWeights, "all weights are zero"),
        (("y,m,w\na,a,1\n", "y,m,w\nb,b,1\nb,b,-1\n"), {"weight": "w"}, BadWeights, r"1\.csv', column 'w', row 1"),
        (("y,m,w\na,a,1\n", "y,m,w\nb,b,1e200\n"), {"weight": "w"}, BadWeights, "to reckon with"),
        (("y,m\na,a\n", "y,m\nb,b\n"), {"threshold": 0.5}, BadOption, "no score"),
        (("y,m\n3,0.0\n", "y,m\n4,1.0\n3,\n"), {"event": 4}, MissingValues, r"1\.csv', column 'm', row 1"),
        (("y,m\n1,0.0\n", "y,m\n0,1.0\n"), {"event": 0}, AmbiguousPrediction, "can be labels, or probabilities"),
        (("y,m\na,0.5\n", "y,m\nb,1.5\n"), {"event": "a"}, OutsideUnitInterval, r"1\.csv', column 'm', row 0"),
    ],
)
@pytest.mark.usefixtures("never_held")
def test_what_memory_refuses_is_refused(
    tmp_path: Path, texts: tuple[str, ...], options: dict[str, Any], error: type[SteelyardError], words: str
) -> None:
    with pytest.raises(error, match=words):
        sy.assess(written(tmp_path, *texts), truth="y", assigned="m", measures=["error"], **options)


@pytest.mark.usefixtures("never_held")
def test_a_batch_without_weight_is_no_mistake(tmp_path: Path) -> None:
    folder = written(tmp_path, "y,m,w\na,a,0.0\n", "y,m,w\nb,b,1.5\na,b,0.5\n")
    assert sy.assess(folder, truth="y", assigned="m", weight="w")["accuracy"].value == 0.75


def test_rows_without_weight_are_no_rows_however_they_are_spread(tmp_path: Path) -> None:
    head, here, gone = "y,m,p,w,g,s\n", "a,a,0.2,1.5,1,x\nb,a,0.4,0.5,2,x\nb,b,0.9,1.0,3,x\n", "a,b,0.7,0.0,4,z\n"
    options: dict[str, Any] = {"truth": "y", "weight": "w", "group": "g", "by": "s", "scale": sy.Scale(["a", "b"], "b")}
    for column, measures in (("m", ["error"]), ("p", ["error", "brier"])):
        found = []
        for texts in ((head + here + gone, head), (head + here, head + gone)):
            found.append(sy.assess(written(tmp_path, *texts), assigned=column, measures=measures, **options))
        one, two = found
        assert (two.n, list(two.slices)) == (one.n, list(one.slices)) == (3, ["x"])
        assert [two[name].se for name in measures] == [one[name].se for name in measures]


def test_a_part_that_could_be_two_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, 'y,m,s,t\na,a,"1, t=2",3\nb,b,1,"2, t=3"\n')
    with pytest.raises(UnusableLabels, match=r"file '.*0\.csv': .* could be two parts"):
        sy.assess(folder, truth="y", assigned="m", by=["s", "t"])


def test_cut_classes_are_summed_where_they_have_names(tmp_path: Path) -> None:
    table = pa.table({"z": [64.0, 66.0, 70.0, 61.0], "m": ["dry", "wet", "dry", "dry"]})
    folder = scatter(table, tmp_path / "f", 2)
    for classes in (["dry", "wet"], None):
        water = sy.Continuum([65.0], classes=classes)
        asked: dict[str, Any] = {"truth": "z", "assigned": "m", "scale": water, "measures": COUNTS}
        alike(sy.assess(folder, **asked), sy.assess(table, **asked))


# --- what stays as it was -------------------------------------------------------------------------------------


def test_measures_of_scores_have_the_rows_at_hand(tmp_path: Path) -> None:
    table = table_of(60, seed=3)
    folder = scatter(table, tmp_path / "f", 3)
    held, read = (sy.assess(x, truth="y", membership="p_*") for x in (table, folder))
    assert read.tally.scores is not None
    alike(read, held)


def test_deciding_rows_are_read_when_somebody_asks(tmp_path: Path) -> None:
    table = table_of(60, seed=4)
    folder = scatter(table, tmp_path / "f", 3)
    both, held = (sy.compare(x, {"m": "m", "o": "o"}, truth="y") for x in (folder, table))
    assert both.cases is None
    assert both.deciding_rows("error", "m", "o").to_pylist() == held.deciding_rows("error", "m", "o").to_pylist()


@pytest.mark.usefixtures("never_held")
def test_training_data_are_summed_too(tmp_path: Path) -> None:
    test, train = table_of(60, seed=5), table_of(80, seed=6)
    folders = [scatter(table, tmp_path / name, 3) for table, name in ((test, "test"), (train, "train"))]
    streamed = sy.assess(folders[0], truth="y", assigned="m", training=folders[1])
    held = sy.assess(test, truth="y", assigned="m", training=train)
    assert streamed.training is not None
    assert held.training is not None
    alike(streamed.training, held.training)


def test_sums_in_pairs_are_sums() -> None:
    table = table_of(200, seed=7)
    parts = [sy.assess(table.slice(k, 20), truth="y", assigned="m", group="patient").tally for k in range(0, 200, 20)]
    total: TreeSum[Tally] = TreeSum()
    assert total.total() is None
    expected: Tally | None = None
    for part in parts:
        total.add(part)
        expected = part if expected is None else expected + part
        found = total.total()
        assert found is not None
        assert np.array_equal(found.sums.keys, expected.sums.keys)
        assert np.array_equal(found.sums.values, expected.sums.values)
        assert len(total.parts) <= 4


def test_a_class_that_first_rows_do_not_show_is_found_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes are taken from the first rows of every share; what these do not show, a count does."""
    monkeypatch.setattr(plan, "WORTH_A_GLIMPSE", 0)
    truth = ["a", "b"] * 300 + ["c"] * 5 + ["a", "b"] * 50
    table = pa.table({"y": truth, "m": truth[::-1], "s": np.linspace(0.01, 0.99, len(truth))})
    for name, rows in (("1", table.slice(0, 400)), ("2", table.slice(400))):
        parquet.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=50)
    found, held = (sy.assess(source, truth="y", assigned="m") for source in (str(tmp_path), table))
    assert found.classes == held.classes == ("a", "b", "c")
    assert found.confusion().tolist() == held.confusion().tolist()
    parquet.write_table(table.set_column(0, "y", pa.array([*truth[:-1], None])).slice(400), tmp_path / "2.parquet")
    with pytest.raises(MissingValues, match=r"2\.parquet', column 'y', row 304"):
        sy.assess(str(tmp_path), truth="y", assigned="m")
