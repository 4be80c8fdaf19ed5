"""What weights stand for, columns in another order, gains given as costs, and per cent."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import BadOption, BadWeights, SteelyardError, UnknownLabel

TRUTH, SAID = list("aabba"), list("abbba")
WHOLE = "all weights are whole numbers and taken as sampling weights"
Kind = Literal["sampling", "frequency"]
KINDS: tuple[Kind, ...] = ("sampling", "frequency")

FORMS: dict[str, Any] = {
    "whole": [2, 1, 3, 1, 2],
    "floats": [2.0, 1.0, 3.0, 1.0, 2.0],
    "small": np.array([2, 1, 3, 1, 2], np.uint8),
    "single": np.array([2, 1, 3, 1, 2], np.float32),
    "arrow": pa.array([2, 1, 3, 1, 2]),
    "pandas": pd.Series([2, 1, 3, 1, 2], dtype="Int64"),
    "categories": pd.Series([2, 1, 3, 1, 2], dtype="category"),
}


def told(result: Any) -> tuple[float, float, float, list[str]]:
    return result.n, result["error"].low, result["error"].high, result.notes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_weak_point_20_the_type_of_weights_decides_nothing(form: str, kind: Kind) -> None:
    found = told(sy.assess(TRUTH, SAID, weight=FORMS[form], weight_kind=kind))
    assert found == told(sy.assess(TRUTH, SAID, weight=FORMS["whole"], weight_kind=kind))
    assert found[0] == (5 if kind == "sampling" else 9)
    assert any(note.startswith(WHOLE) for note in found[3]) is (kind == "sampling")


def test_weak_point_20_sampling_is_what_weights_are_if_nobody_says_otherwise() -> None:
    as_usual = told(sy.assess(TRUTH, SAID, weight=[1000] * 5))
    # To the last digits: sums of the weights round otherwise than counts do.
    assert as_usual[:3] == pytest.approx(told(sy.assess(TRUTH, SAID))[:3], rel=1e-14)
    assert as_usual[3][0].startswith(WHOLE)
    assert not any("whole" in note for note in sy.assess(TRUTH, SAID, weight=[1.5] + [1.0] * 4).notes)
    for ones in ([1] * 5, [1.0] * 5, [True] * 5):  # which are no different either way
        assert sy.assess(TRUTH, SAID, event="b", weight=ones).notes == []


def test_weights_that_count_rows_are_these_rows() -> None:
    repeated = [np.repeat(column, FORMS["whole"]) for column in (TRUTH, SAID)]
    for method in ("delta", "plain"):
        counted = sy.assess(TRUTH, SAID, weight=FORMS["floats"], weight_kind="frequency", method=method)
        plain = sy.assess(*repeated, method=method)
        for column in ("value", "low", "high", "se"):
            assert counted.table()[column] == pytest.approx(plain.table()[column], nan_ok=True)


TEXTS = {
    "whole": "t,p,w\na,a,2\nb,b,3\na,b,1\nb,b,\n",
    "floats": "t,p,w\na,a,2.0\nb,b,3.0\na,b,1.0\nb,b,\n",
    "mixed": "t,p,w\na,a,2\nb,b,3.0\na,b,1\nb,b,\n",
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_weak_point_20_gaps_and_detours_change_nothing(tmp_path: Path, text: str, kind: Kind) -> None:
    path = tmp_path / "gap.csv"
    path.write_text(TEXTS[text])
    frame = pd.read_csv(io.StringIO(TEXTS[text]))
    options: dict[str, Any] = {"truth": "t", "assigned": "p", "weight": "w", "weight_kind": kind}
    found = [
        told(sy.assess(source, missing="drop", engine=engine, **options))
        for source, engine in ((path, None), (path, "local"), (frame, None), (frame.dropna(), None))
    ]
    assert found[0][0] == (3 if kind == "sampling" else 6)
    assert all(each == found[0] for each in found)
    frame.dropna().astype({"w": int}).to_parquet(tmp_path / "whole.parquet")
    assert told(sy.assess(tmp_path / "whole.parquet", **options)) == found[0]


def test_weak_point_20_files_of_both_types_are_one_kind(tmp_path: Path) -> None:
    for name, weights in (("whole", [2, 1]), ("floats", [1.0, 3.0])):
        table = pa.table({"t": ["a", "b"], "p": ["a", "a"], "w": weights})
        (tmp_path / name).mkdir()
        parquet.write_table(table, tmp_path / name / "some.parquet")
    options: dict[str, Any] = {"truth": "t", "assigned": "p", "weight": "w", "scale": sy.Scale(["a", "b"])}
    for kind, rows in zip(KINDS, (4, 7), strict=True):
        parts = [
            sy.assess(tmp_path / name, engine="local", weight_kind=kind, **options).tally
            for name in ("whole", "floats")
        ]
        parts[0].save(tmp_path / "first.tally")
        merged = sy.assess_tally(sy.Tally.load(tmp_path / "first.tally") + parts[1])
        assert merged.n == rows
        assert any(note.startswith(WHOLE) for note in merged.notes) is (kind == "sampling")
    left = sy.assess_tally(parts[0] + parts[1] - parts[0])
    assert left.n == 4


def test_one_weight_with_a_fraction_ends_the_question(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("t,p,w\na,a,2\nb,b,3\n")
    (tmp_path / "2.csv").write_text("t,p,w\na,a,2\nb,a,0.5\n")
    options: dict[str, Any] = {"truth": "t", "assigned": "p", "weight": "w"}
    for engine in (None, "local"):
        assert not any("whole" in note for note in sy.assess(tmp_path, **options, engine=engine).notes)
        with pytest.raises(BadWeights, match=r"2\.csv', column 'w', row 1: the weight is 0\.5, and frequency"):
            sy.assess(tmp_path, weight_kind="frequency", **options, engine=engine)


def test_weak_point_20_counts_far_above_one_carry_a_note() -> None:
    found = sy.assess(TRUTH, SAID, event="b", weight=[1000] * 5, weight_kind="frequency")
    assert found.notes == [
        "frequency weights make 5,000 rows of 5: if each weight is what one row stands for, leave "
        "weight_kind='frequency' out"
    ]
    twice = sy.assess_tally([found.tally, found.tally], allow_overlap=True).notes
    assert twice[0].startswith("frequency weights make 10,000 rows of 10:")
    assert sy.assess(TRUTH, SAID, event="b", weight=[7, 30, 2, 0, 40], weight_kind="frequency").notes == []


def test_kinds_that_there_are_not_are_refused() -> None:
    with pytest.raises(BadOption, match="Did you mean 'frequency'"):
        sy.assess(TRUTH, SAID, weight=[1] * 5, weight_kind="frequencies")  # type: ignore[arg-type]
    for call in (sy.assess, lambda truth, said, **more: sy.compare(truth, {"m": said}, **more)):
        with pytest.raises(BadOption, match="weight_kind= is given, but no weights"):
            call(TRUTH, SAID, weight_kind="frequency")


def test_training_rows_and_parts_are_weighed_alike() -> None:
    frame = pd.DataFrame({"t": TRUTH, "p": SAID, "w": [2, 1, 3, 1, 2], "s": list("xxyyy")})
    found = sy.assess(frame, truth="t", assigned="p", weight="w", by="s", training=frame, weight_kind="frequency")
    assert found.training is not None
    assert found.training.n == found.n == 9
    assert {name: part.n for name, part in found.slices.items()} == {"x": 3, "y": 6}


@pytest.mark.parametrize("command", ["assess", "compare", "tally"])
def test_the_command_line_says_what_weights_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.csv").write_text("t,p,q,w\na,a,a,2\nb,b,a,3\na,b,a,1\n")
    words = {
        "assess": ["assess", "w.csv", "--assigned", "p", "--measures", "error"],
        "compare": ["compare", "w.csv", "--model", "p", "--model", "q", "--measures", "error"],
        "tally": ["tally", "w.csv", "--assigned", "p", "--out", "w.tally"],
    }[command]
    words += ["--truth", "t", "--weight", "w"]
    for more, rows in (([], 3), (["--weight-kind", "sampling"], 3), (["--weight-kind", "frequency"], 6)):
        assert main([*words, *more]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert f"{rows} rows" in out
        assert (WHOLE in out) is (rows == 3)
    assert main([*words[:-2], "--weight-kind", "frequency"]) == 2
    assert "--weight-kind is given, but no weights. Give --weight, or" in capsys.readouterr().err
    Path("w.csv").write_text("t,p,q,w\na,a,a,2\nb,b,a,1.5\na,b,a,1\n")
    assert main([*words, "--weight-kind", "frequency"]) == 2
    assert "column 'w', row 1: the weight is 1.5, and frequency weights are whole" in capsys.readouterr().err


# --- columns without names ------------------------------------------------------------------------------------


def graded(rows: int = 300, classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """True classes and memberships of a classifier that is often right."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, rows)
    said = random.dirichlet(np.full(classes, 0.6), rows) + 0.9 * np.eye(classes)[truth]
    return truth, said / said.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("measures", [None, ["error"], ["auc"], ["log_score"]])
def test_weak_point_14_another_order_that_fits_far_better_is_named(measures: list[str] | None) -> None:
    truth, said = graded()
    labels = np.array(["bad", "ok", "good"])[truth]  # sorted: bad, good, ok
    found = sy.assess(labels, said, measures=measures)
    assert any("another order of the columns fits far better: 'bad', 'ok', 'good' (" in note for note in found.notes)
    assert not any("worse than chance" in note for note in found.notes)
    scale = sy.Scale(["bad", "ok", "good"])
    assert not any("order of the columns" in note for note in sy.assess(labels, said, scale=scale).notes)
    named = dict(zip(("bad", "ok", "good"), said.T, strict=True))
    assert not any("order of the columns" in note for note in sy.assess(labels, named, measures=measures).notes)


@pytest.mark.parametrize("classes", [2, 3, 5, 12])
@pytest.mark.parametrize("seed", range(4))
def test_weak_point_14_of_any_number_of_classes(classes: int, seed: int) -> None:
    truth, said = graded(600, classes, seed)
    order = np.random.default_rng(seed).permutation(classes)
    notes = sy.assess(truth, said[:, order], scale=sy.Scale(range(classes)), measures=["error"]).notes
    fits = ", ".join(map(str, order.tolist()))
    assert any(f"far better: {fits} (" in note for note in notes) is bool((order != np.arange(classes)).any())


def test_who_guesses_or_confuses_two_classes_is_not_asked() -> None:
    random = np.random.default_rng(1)
    for classes in (2, 3, 6, 20):
        for rows in (20, 400):
            truth, guess = random.integers(0, classes, rows), random.dirichlet(np.ones(classes), rows)
            notes = sy.assess(truth, guess, scale=sy.Scale(range(classes)), measures=["error"]).notes
            assert not any("order of the columns" in note for note in notes)


def test_weak_point_14_in_files_and_tallies_too(tmp_path: Path) -> None:
    truth, said = graded()
    labels, names = np.array(["bad", "ok", "good"])[truth], sy.Scale(["bad", "good", "ok"])
    for part in range(3):
        table = pa.table({"y": labels[part::3], "p": list(said[part::3])})
        parquet.write_table(table, tmp_path / f"{part}.parquet")
    options: dict[str, Any] = {"truth": "y", "membership": "p", "scale": names, "engine": "local"}
    whole = sy.assess(tmp_path, **options)
    parts = [sy.assess(tmp_path / f"{part}.parquet", **options).tally for part in range(3)]
    sum(parts[1:], parts[0]).save(tmp_path / "all.tally")
    for found in (whole, sy.assess_tally(tmp_path / "all.tally")):
        assert any("far better: 'bad', 'ok', 'good' (" in note for note in found.notes)


# --- costs ----------------------------------------------------------------------------------------------------

CHEAPER = "a mistake costs less than the right answer"
GAINS: list[tuple[Any, bool]] = [
    ([[1, 0], [0, 1]], True),
    ({"ill": {"ill": 1, "well": 0}, "well": {"ill": 0, "well": 1}}, True),
    ([[0, 1], [2, 3]], True),
    ([[0, -1], [1, 0]], True),
    ([[0, 1], [5, 0]], False),
    ([[-3, 0], [1, -1]], False),
    ([[2, 2], [1, 1]], False),
    ({"ill": {"well": 5}, "well": {"ill": 1}}, False),
]


@pytest.mark.parametrize(("costs", "doubtful"), GAINS)
def test_weak_point_24_mistakes_that_cost_less_than_right_answers_are_noted(costs: Any, doubtful: bool) -> None:
    truth, score = ["ill", "well", "ill", "well"] * 5, [0.9, 0.2, 0.4, 0.6] * 5
    options: dict[str, Any] = {"event": "ill", "cost": costs}
    assigned = sy.assess(truth, score, **options)
    chosen = sy.assess(truth, score, threshold="cost", **options)
    merged = sy.assess_tally(assigned.tally, cost=costs)
    table = sy.assess_table([[8, 2], [1, 9]], classes=["ill", "well"], cost=costs)
    assert chosen.decision is not None
    for notes in (assigned.notes, chosen.notes, [chosen.decision.note], merged.notes, table.notes):
        assert any(note.startswith(CHEAPER) or f"; {CHEAPER}" in note for note in notes) is doubtful
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sy.decide(score, costs, scale=sy.Scale(["ill", "well"]), event="ill")
    assert any(str(each.message).startswith(CHEAPER) for each in caught) is doubtful


def test_weak_point_24_the_command_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("t,p,s\na,a,.1\nb,b,.9\na,b,.6\nb,b,.8\n")
    Path("costs.csv").write_text("truth,a,b\na,1,0\nb,0,1\n")
    data, cost = ["--truth", "t"], ["--cost", "costs.csv"]
    assert main(["tally", "a.csv", *data, "--assigned", "p", "--out", "a.tally"]) == 0
    for words in (
        ["assess", "a.csv", *data, "--assigned", "p", *cost, "--measures", "cost"],
        ["merge", "a.tally", *cost, "--measures", "cost"],
        ["thresholds", "a.csv", *data, "--score", "s", "--event", "b", "--choose", "cost:costs.csv"],
    ):
        capsys.readouterr()
        assert main(words) == 0
        assert f"{CHEAPER}: true 'a' assigned to 'b' costs 0, and to 'a' 1" in " ".join(capsys.readouterr().out.split())


# --- per cent -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.int64, np.uint8, np.float64, np.float32])
@pytest.mark.parametrize("truth", [int, bool])
@pytest.mark.parametrize("event", [1, None])
def test_weak_point_25_scores_in_per_cent_are_no_classes(
    tmp_path: Path, form: Any, truth: Any, event: int | None
) -> None:
    random = np.random.default_rng(3)
    share = random.random(300)
    ill = (random.random(300) < share).astype(truth)
    per_cent = np.floor(100 * share).astype(form)
    event = None if event is None else truth(event)
    with pytest.raises(UnknownLabel, match=r"look like scores, perhaps in per cent.*divide per cent by 100"):
        sy.assess(ill, per_cent, event=event)
    pd.DataFrame({"t": ill, "p": per_cent}).to_parquet(tmp_path / "p.parquet")
    for engine in (None, "local"):
        with pytest.raises(SteelyardError, match="divide per cent by 100"):
            sy.assess(tmp_path / "p.parquet", truth="t", assigned="p", event=event, measures=["error"], engine=engine)
    assert sy.assess(ill, per_cent / 100, event=truth(1))["error"].value < 0.5
    assert sy.assess(ill, per_cent, event=truth(1), threshold=50)["error"].value < 0.5


def test_a_few_per_cents_are_enough_where_an_event_is_named() -> None:
    with pytest.raises(UnknownLabel, match="divide per cent by 100"):
        sy.assess([0, 1, 0, 1, 1], [0, 35, 80, 100, 1], event=1)
    assert sy.assess([0, 1, 0, 1], [0, 1, 2, 3]).n == 4  # digits of which two are true
    assert sy.assess([0, 1, 1], [1, 40, 60], scale=sy.Scale(range(101))).n == 3
    assert sy.assess([0, 1, 0, 2], [0, 35, 80, 2], event=1).n == 4  # labels of three


def test_weak_point_25_tables_in_per_cent_carry_a_note() -> None:
    for cells in ([[40, 10], [5, 45]], [[20, 10, 5], [10, 25, 5], [5, 5, 15]]):
        assert "are the cells per cent? they add up to 100" in sy.assess_table(cells).notes[0]
    assert "every row adds up to 100" in sy.assess_table([[90, 10], [25, 75]]).notes[0]
    for cells in ([[40, 10], [5, 46]], [[90, 10], [25, 76]], [[231, 27], [32, 54]]):
        assert sy.assess_table(cells, event=1).notes == []
