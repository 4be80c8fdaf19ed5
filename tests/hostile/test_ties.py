"""Ties between classes have one rule, whatever form probabilities come in: the positive class, or else the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import steelyard as sy

GRID = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, float(np.nextafter(0.5, 0)), float(np.nextafter(0.5, 1))])
FEW = settings(max_examples=60, deadline=None)
RNG = np.random.default_rng(19)


def tied_notes(found: sy.Assessment | sy.Comparison) -> list[str]:
    return [note for note in found.notes if "tied between classes" in note]


def expected(columns: np.ndarray[Any, Any], event: int | None) -> np.ndarray[Any, Any]:
    """The class of each row by the rule, said slowly."""
    codes = []
    for row in columns:
        tied = [code for code, value in enumerate(row) if value == max(row)]
        codes.append(event if event in tied else tied[0])
    return np.array(codes)


@FEW
@given(arrays.arrays(np.float64, st.integers(2, 40), elements=GRID), st.booleans(), st.sampled_from(["f4", "f8"]))
def test_weak_point_19_one_column_is_two_columns(p: np.ndarray[Any, Any], upper: bool, kind: str) -> None:
    p = p.astype(kind)
    truth = np.where(np.arange(len(p)) % 2, "b", "a")
    event = "b" if upper else "a"
    own = p if upper else 1 - p
    two = np.stack([1 - p, p], axis=1)
    found = sy.compare(truth, {"one": own, "two": two}, event=event, measures=["error", "sensitivity"])
    table = found["one"].confusion()
    assert table.tolist() == found["two"].confusion().tolist()
    if own[0] == p[0] or kind == "f8":
        codes = expected(two, int(upper))
        assert [int((codes == code).sum()) for code in (0, 1)] == table.sum(axis=0).tolist()
    assert found.differences("error")["difference"] == [0.0]
    ties = [int((own == 0.5).sum()), int((two[:, 0] == two[:, 1]).sum())]  # 1 - p may be rounded to one half
    assert len(tied_notes(found)) == np.count_nonzero(ties)
    assert all(any(f": {count} row" in note for count in ties) for note in tied_notes(found))


@FEW
@given(st.data())
def test_weak_point_19_several_classes_have_the_same_rule(data: st.DataObject) -> None:
    classes = data.draw(st.integers(2, 6))
    event = data.draw(st.none() | st.integers(0, classes - 1))
    counts = data.draw(arrays.arrays(np.int64, (data.draw(st.integers(6, 30)), classes), elements=st.integers(0, 3)))
    counts[counts.sum(axis=1) == 0] = 1
    columns = counts / counts.sum(axis=1, keepdims=True)
    truth = np.arange(len(columns)) % classes
    scale = sy.Scale(list(range(classes)), event=event)
    event = scale.event_code  # of 0 and 1, it is 1
    found = sy.assess(truth, columns, scale=scale, measures=["error"])
    codes = expected(columns, event)
    table = np.zeros((classes, classes))
    np.add.at(table, (truth, codes), 1)
    assert found.confusion().tolist() == table.tolist()
    ties = int(((columns == columns.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
    assert len(tied_notes(found)) == (ties > 0)
    assert all(f" {ties} row" in note for note in tied_notes(found))
    costs = {true: {said: int(true != said) for said in range(classes)} for true in range(classes)}
    named = dict(zip(map(str, range(classes)), columns.T, strict=True))
    least = sy.decide({int(name): column for name, column in named.items()}, costs, scale=scale)
    matrix = np.array([[costs[true][said] for said in range(classes)] for true in range(classes)], dtype=float)
    assert least == expected(-(columns @ matrix), event).tolist()


@pytest.mark.parametrize("event", [None, "yes", "no"])
@pytest.mark.parametrize("way", ["frame", "file", "engine"])
def test_weak_point_19_holds_wherever_rows_are_read(event: str | None, way: str, tmp_path: Path) -> None:
    p = RNG.choice([0.0, 0.25, 0.5, 0.75, 1.0], 500)
    y = np.where(RNG.random(500) < p, "yes", "no")
    frame = pd.DataFrame({"y": y, "p_no": 1 - p, "p_yes": p})
    frame[:200].to_csv(tmp_path / "1.csv", index=False)
    frame[200:].to_csv(tmp_path / "2.csv", index=False)
    options: dict[str, Any] = {"truth": "y", "measures": ["error", "auc"]}
    options |= {} if event is None else {"event": event}
    options |= {"engine": "local"} if way == "engine" else {}
    source: Any = frame if way == "frame" else str(tmp_path)
    alone: Any = {"yes": "p_yes"} if event != "no" else {"no": "p_no"}
    other: Any = {"no": "p_no"} if event != "no" else {"yes": "p_yes"}
    found = sy.compare(source, {"one": alone, "other": other, "two": "p_*"}, **options)
    winner = 1 if event == "yes" else 0
    codes = np.where(p == 0.5, winner, (p > 0.5).astype(int))
    for name in found.models:
        assert found[name].confusion().sum(axis=0).tolist() == [int((codes == code).sum()) for code in (0, 1)]
    assert found.differences("error")["difference"] == [0.0, 0.0, 0.0]
    ties = int((p == 0.5).sum())
    assert len(tied_notes(found)) == 3
    assert all(f": {ties} rows are tied" in note for note in tied_notes(found))


def test_weak_point_19_a_forest_has_one_sensitivity() -> None:
    x, y = make_classification(2000, random_state=0, n_informative=4, flip_y=0.2)
    forest = RandomForestClassifier(10, random_state=0).fit(x[:1000], y[:1000])
    said, truth = forest.predict_proba(x[1000:]), y[1000:]
    found = sy.compare(truth, {"column": said[:, 1], "two": said}, event=1)
    assert found["column"]["sensitivity"].value == found["two"]["sensitivity"].value
    assert found["two"]["sensitivity"].value == np.mean(said[truth == 1, 1] >= said[truth == 1, 0])
    assert "can't be told apart" in str(found.verdict("sensitivity"))
    assert f": {int((said[:, 0] == said[:, 1]).sum())} rows are tied" in found.notes[0]
    named = np.array(["no", "yes"])[truth]
    first = sy.assess(named, said)  # no event: the first class, as predict() takes it
    assert first["error"].value == np.mean(forest.predict(x[1000:]) != truth)


def test_weak_point_19_single_precision_makes_ties_of_its_own() -> None:
    p = np.array([0.4999999999, 0.2, 0.7, 0.9])
    found = sy.assess(["a", "b", "a", "b"], p.astype(np.float32), event="b")
    assert found.confusion().sum(axis=0).tolist() == [1, 3]
    assert ": 1 row is tied between classes" in tied_notes(found)[0]
    assert not tied_notes(sy.assess(["a", "b", "a", "b"], p, event="b"))


def test_a_threshold_that_is_given_leaves_no_tie() -> None:
    p, y = np.array([0.5, 0.5, 0.2, 0.8]), ["a", "b", "a", "b"]
    for said in (p, np.stack([1 - p, p], axis=1)):
        found = sy.assess(y, said, event="b", threshold=0.5)
        assert found.confusion().sum(axis=0).tolist() == [1, 3]
        assert not tied_notes(found)


def test_tied_rows_add_up_over_tallies(tmp_path: Path) -> None:
    p = np.array([0.5, 0.5, 0.2, 0.8, 0.5, 0.1])
    y = np.array(["a", "b", "a", "b", "a", "b"])
    parts = [sy.assess(y[rows], p[rows], event="b").tally for rows in (slice(0, 2), slice(2, 6))]
    (parts[0] + parts[1]).save(tmp_path / "both.tally")
    assert ": 3 rows are tied" in tied_notes(sy.assess_tally(tmp_path / "both.tally"))[0]
