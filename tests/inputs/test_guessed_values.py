"""Classifiers that say which value they expect, where classes are cut from measured values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steelyard as sy
from steelyard.core.errors import EventNeeded, MissingValues, OutsideContinuum, UnknownLabel

RANDOM = np.random.default_rng(3)
MEASURED = RANDOM.uniform(8, 16, 120)
GUESSED = MEASURED + RANDOM.normal(0, 1, 120)
CLASSES = ["dry", "ok", "wet"]


def moisture(**options: Any) -> sy.Continuum:
    return sy.Continuum([10, 14], **{"classes": CLASSES, "sd": 0.3, **options})


def labels(values: Any) -> Any:
    return np.array(CLASSES)[np.digitize(values, [10, 14])]


@pytest.mark.parametrize("guess", [GUESSED, GUESSED.tolist(), pd.Series(GUESSED), GUESSED.astype(np.float32)])
def test_values_are_cut_like_the_truth(guess: Any) -> None:
    found = sy.assess(MEASURED, guess, scale=moisture())
    assert found.table().to_json() == sy.assess(MEASURED, labels(GUESSED), scale=moisture()).table().to_json()
    assert not found.has_scores


def test_whole_numbers_are_values_where_classes_have_names() -> None:
    rounded = np.round(GUESSED).astype(int)
    named = sy.assess(MEASURED, labels(rounded), scale=moisture())
    assert sy.assess(MEASURED, rounded, scale=moisture())["error"] == named["error"]
    by_number = moisture(classes=[0, 1, 2])
    codes = np.digitize(rounded, [10, 14])
    for said in (codes, codes.astype(float)):  # these are classes
        assert sy.assess(MEASURED, said, scale=by_number)["error"].value == named["error"].value


def test_both_sides_may_be_closed() -> None:
    for closed, right in (("left", ["ok", "wet"]), ("right", ["dry", "ok"])):
        found = sy.assess([9.0, 12.0, 15.0], [10.0, 14.0, 20.0], scale=moisture(closed=closed))
        table = found.confusion()
        assert table[0, CLASSES.index(right[0])] == 1
        assert table[1, CLASSES.index(right[1])] == 1


def test_values_and_labels_side_by_side() -> None:
    unnamed = sy.Continuum([10, 14], sd=0.3)
    found = sy.compare(MEASURED, {"value": GUESSED, "label": labels(GUESSED)}, scale=unnamed)
    assert found["value"].classes == tuple(CLASSES)  # named after the labels of the other
    assert found.differences("error")["difference"] == [0.0]
    assert sy.assess(MEASURED, GUESSED, scale=unnamed)["error"].value == found["value"]["error"].value


def test_values_beside_an_event_of_three_classes_are_told_to_leave_it_out() -> None:
    with pytest.raises(EventNeeded, match="leave the event out, and they are cut like it"):
        sy.assess(MEASURED, GUESSED, scale=moisture(event="wet"))
    assert sy.assess(MEASURED, GUESSED, scale=moisture())["sensitivity", "wet"].value > 0.5


def test_a_share_is_no_value() -> None:
    two, shares = sy.Continuum([65], ["dry", "wet"], sd=0.2), np.linspace(0.01, 0.99, 50)
    measured = 60 + 10 * shares
    with pytest.raises(EventNeeded, match=r"event='wet' or event='dry'; guesses at .* are given as its label"):
        sy.assess(measured, shares, scale=two)
    assert sy.assess(measured, ["dry"] * 50, scale=two)["error"].value > 0.4
    assert sy.assess(measured, shares, scale=two, event="wet")["auc"].value == 1.0
    inside = sy.Continuum([0.4], ["low", "high"])
    assert sy.assess(shares, shares, scale=inside)["error"].value == 0.0
    assert sy.assess(shares, shares, scale=inside, event="high", threshold=0.5)["error"].value > 0.05


def test_values_that_are_missing_or_outside_are_named() -> None:
    gaps = np.where(np.arange(120) == 7, np.nan, GUESSED)
    with pytest.raises(MissingValues, match="column 'prediction', row 7"):
        sy.assess(MEASURED, gaps, scale=moisture())
    assert sy.assess(MEASURED, gaps, scale=moisture(), missing="drop").n == 119
    ended = sy.Continuum([0, 10, 14, 17], CLASSES)
    with pytest.raises(OutsideContinuum, match=r"column 'prediction', row 3: 99\.0 lies outside 0\.0 to 17\.0"):
        sy.assess(MEASURED, np.where(np.arange(120) == 3, 99.0, 12.0), scale=ended)
    with pytest.raises(UnknownLabel):
        sy.assess(MEASURED, ["moist"] * 120, scale=moisture())


@pytest.mark.parametrize("engine", [None, "local"])
def test_files_have_them_too(tmp_path: Path, engine: str | None) -> None:
    rounded = np.round(GUESSED).astype(int)
    frame = pd.DataFrame({"z": MEASURED, "guess": GUESSED, "label": labels(GUESSED)})
    frame = frame.assign(whole=rounded, whole_label=labels(rounded))
    frame.to_parquet(tmp_path / "a.parquet")
    for measures in (["error", "kappa"], ["adjusted_error", "error"], None):
        found = {
            name: sy.assess(tmp_path, truth="z", assigned=name, scale=moisture(), measures=measures, engine=engine)
            for name in ("guess", "label", "whole", "whole_label")
        }
        assert found["guess"].table().to_json() == found["label"].table().to_json()
        assert found["whole"].table().to_json() == found["whole_label"].table().to_json()


def test_a_file_whose_values_all_look_like_shares_is_read_like_the_others(tmp_path: Path) -> None:
    """With a cut between 0 and 1, what a number is does not depend on the numbers beside it."""
    measured = np.sort(RANDOM.uniform(0, 3, 200))
    frame = pd.DataFrame({"z": measured, "guess": np.abs(measured + RANDOM.normal(0, 0.1, 200))})
    frame.iloc[:50].to_parquet(tmp_path / "1.parquet")
    frame.iloc[50:].to_parquet(tmp_path / "2.parquet")
    assert frame["guess"].iloc[:50].max() < 1
    for cuts in ([0.5, 1.5], [0, 1.5]):
        scale = sy.Continuum(cuts, classes=CLASSES, sd=0.1)
        held = sy.assess(measured, frame["guess"], scale=scale)["apparent_error"]
        for engine in (None, "local"):
            found = sy.assess(tmp_path, truth="z", assigned="guess", scale=scale, engine=engine)["apparent_error"]
            assert found.value == held.value
