"""Measures of rows that were let go, held against the same measures of rows at hand."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy
from steelyard.core.errors import BadOption, TooLarge, UnlikeTallies
from steelyard.families.summed.recipe import ClusterSums
from steelyard.measures import find
from steelyard.passes import tally
from steelyard.passes.tally import Tally
from tests.effort import in_turn, repeats

ROWS = 6000


def two_classes(rows: int = ROWS, seed: int = 0) -> dict[str, Any]:
    """Two scores of an event, and a label."""
    rng = np.random.default_rng(seed)
    odds = 1.5 * rng.normal(size=rows)
    happened = rng.random(rows) < 1 / (1 + np.exp(-odds))
    return {
        "truth": np.where(happened, "yes", "no"),
        "a": 1 / (1 + np.exp(-odds - 0.4 * rng.normal(size=rows))),
        "b": 1 / (1 + np.exp(-0.8 * odds - 0.8 * rng.normal(size=rows))),
        "site": rng.choice(["north", "south"], rows),
        "batch": rng.integers(0, 120, rows),
        "weight": rng.random(rows) + 0.1,
        "times": rng.integers(1, 4, rows),
    }


def three_classes(rows: int = ROWS, seed: int = 1) -> dict[str, Any]:
    """Two classifiers with a membership for each of three classes."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(rows, 3))
    found: dict[str, Any] = {"batch": rng.integers(0, 120, rows), "weight": rng.random(rows) + 0.1}
    for name, noise in (("p", 0.0), ("q", 0.5)):
        chances = np.exp(logits + noise * rng.normal(size=(rows, 3)))
        chances /= chances.sum(axis=1, keepdims=True)
        found |= {f"{name}_{label}": chances[:, place] for place, label in enumerate("xyz")}
    chances = np.stack([found[f"p_{label}"] for label in "xyz"], axis=1)
    found["truth"] = np.array(list("xyz"))[(rng.random(rows)[:, None] > chances.cumsum(axis=1)).sum(axis=1)]
    return found


def two_or_three(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Rows of two or three classes, and two classifiers of them."""
    return (two_classes(), {"a": "a", "b": "b"}) if name == "two" else (three_classes(), {"p": "p_*", "q": "q_*"})


def written(folder: Path, columns: dict[str, Any], files: int = 3) -> str:
    """Rows in some files."""
    table = pa.table(columns)
    edges = [len(table) * place // files for place in range(files + 1)]
    for place in range(files):
        part = table.slice(edges[place], edges[place + 1] - edges[place])
        parquet.write_table(part, folder / f"{place}.parquet", row_group_size=700)
    return str(folder)


def shuffled_files(folder: Path, columns: dict[str, Any]) -> list[str]:
    """The same rows in one file, in several, and in another order."""
    order = np.random.default_rng(9).permutation(len(columns["truth"]))
    shuffled = {name: column[order] for name, column in columns.items()}
    found = []
    for name, some, files in (("a", columns, 1), ("b", columns, 5), ("c", shuffled, 4)):
        (folder / name).mkdir()
        found.append(written(folder / name, some, files))
    return found


def alike(found: sy.Assessment, held: sy.Assessment, values: float = 1e-11, rest: float = 0.03) -> None:
    """See that two assessments say the same: values but those of rankings, and the rest in standard errors."""
    mine, yours = found.table(), held.table()
    assert mine["measure"] == yours["measure"]
    for row, name in enumerate(mine["measure"]):
        error = yours["se"][row]
        scale = error if error > 0 else 1.0
        for column in ("value", "low", "high", "se"):
            here, there = mine[column][row], yours[column][row]
            if np.isnan(there) or np.isinf(there):
                assert here == there or (np.isnan(here) and np.isnan(there)), (name, column)
                continue
            ranked = find(name).statistic.name == "ranking"
            limit = values * max(abs(there), 1) if column == "value" and not ranked else rest * scale
            assert abs(here - there) <= limit, (name, mine["class"][row], mine["average"][row], column, here, there)


def certain(found: sy.Assessment, held: sy.Assessment, names: list[str]) -> None:
    """See that what is certified holds, and is narrow."""
    for name in names:
        for part in (None, *found.classes, "macro", "weighted"):
            estimate, exact = found[name, part], held[name, part]
            assert estimate.certified is not None
            low, high = estimate.certified
            assert low - 1e-12 <= exact.value <= high + 1e-12
            assert low - 1e-12 <= estimate.value <= high + 1e-12
            assert high - low <= 0.1 * exact.se


RANKINGS = ["auc", "average_precision", "partial_auc", "h_measure", "hand_till_auc"]


def test_two_classes(tmp_path: Path) -> None:
    columns = two_classes()
    given: dict[str, Any] = {"truth": "truth", "event": "yes"}
    found = sy.assess(written(tmp_path, columns), membership="a", **given)
    held = sy.assess(pa.table(columns), membership="a", **given)
    assert found.tally.scores is None
    assert found.tally.summaries is not None
    alike(found, held)
    certain(found, held, ["auc"])
    assert found["log_score"].sum == pytest.approx(held["log_score"].sum, rel=1e-12)
    assert held["auc"].certified == (held["auc"].value,) * 2


def test_three_classes(tmp_path: Path) -> None:
    columns = three_classes()
    found = sy.assess(written(tmp_path, columns), truth="truth", membership="p_*")
    held = sy.assess(pa.table(columns), truth="truth", membership="p_*")
    alike(found, held)
    certain(found, held, ["auc"])


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_class_of_few_rows_leaves_averages_of_rankings_unsure_however_many_there_are(
    tmp_path: Path, rows: int
) -> None:
    columns = three_classes()
    columns["truth"][columns["truth"] == "z"] = "y"
    columns["truth"][:rows] = "z"
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "measures": ["auc", "hand_till_auc"]}
    found, held = (sy.assess(source, **given) for source in (written(tmp_path, columns), pa.table(columns)))
    assert found.tally.summaries is not None
    for name in given["measures"]:
        mine, yours = found[name], held[name]
        assert mine.se == pytest.approx(yours.se, rel=0.01, nan_ok=True)
        assert (mine.low, mine.high) == pytest.approx((yours.low, yours.high), abs=0.05)


def test_averages_of_two_classes_that_have_not_the_same_value(tmp_path: Path) -> None:
    columns = two_classes()
    columns["truth"][::3] = "no"
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes"}
    given["measures"] = ["net_benefit(at=0.2)", "brier"]
    held = sy.assess(pa.table(columns), **given)
    alike(sy.assess(written(tmp_path, columns), **given, engine="local"), held)
    tallies = [sy.assess(str(tmp_path / f"{place}.parquet"), **given, engine="local").tally for place in range(3)]
    merged = sy.assess_tally(tallies[0] + tallies[1] + tallies[2], measures=given["measures"])
    assert "at most" in merged["net_benefit(at=0.2)", "weighted"].note
    assert merged["net_benefit(at=0.2)", "weighted"].se > held["net_benefit(at=0.2)", "weighted"].se
    assert not merged["brier", "weighted"].note


def test_every_measure_of_rankings(tmp_path: Path) -> None:
    for name, columns, membership in (("two", two_classes(), "a"), ("three", three_classes(), "q_*")):
        folder = tmp_path / name
        folder.mkdir()
        given: dict[str, Any] = {"truth": "truth", "membership": membership, "measures": RANKINGS}
        given |= {"event": "yes"} if name == "two" else {}
        found, held = sy.assess(written(folder, columns), **given), sy.assess(pa.table(columns), **given)
        alike(found, held, rest=0.06)
        certain(found, held, RANKINGS)


@pytest.mark.parametrize(
    "extra", [{"weight": "weight"}, {"weight": "times", "weight_kind": "frequency"}, {"group": "batch"}, {"by": "site"}]
)
def test_weights_clusters_and_parts(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = two_classes()
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", **extra}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    alike(found, held, rest=0.06)
    assert found["auc"].method == held["auc"].method


@pytest.mark.study
@pytest.mark.parametrize(("name", "clusters", "weighed"), in_turn(["three", "two"], [1, 2, 8], [False, True]))
def test_a_class_of_few_clusters_leaves_rankings_unsure_however_many_there_are(
    tmp_path: Path, name: str, clusters: int, weighed: bool
) -> None:
    columns, membership, label = (two_classes(), "a", "yes") if name == "two" else (three_classes(), "p_*", "x")
    columns["batch"] = np.where(columns["truth"] == label, columns["batch"] % clusters, 1000 + columns["batch"])
    given: dict[str, Any] = {"truth": "truth", "membership": membership, "measures": RANKINGS, "group": "batch"}
    given |= ({"event": "yes"} if name == "two" else {}) | ({"weight": "weight"} if weighed else {})
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    for row, other in zip(found.table().to_pylist(), held.table().to_pylist(), strict=True):
        assert row["se"] == pytest.approx(other["se"], rel=0.02, nan_ok=True), (row["measure"], row["class"])
    if clusters == 1:
        assert (found["auc", label].low, found["auc", label].high) == (0, 1)
        for measure in RANKINGS:
            ends, theirs = ((each[measure, "macro"].low, each[measure, "macro"].high) for each in (found, held))
            assert ends == pytest.approx(theirs, abs=0.01), measure


def test_differences_of_rankings_of_few_clusters_are_as_unsure_as_those_of_rows_that_were_held(tmp_path: Path) -> None:
    random, rows = np.random.default_rng(2), 3000
    truth, group = random.integers(0, 2, rows), random.integers(0, 6, rows)
    columns: dict[str, Any] = {"truth": truth, "group": group}
    for name, effect in (("a", 0.5), ("b", 0.3)):
        columns[name] = truth + effect * random.normal(size=6)[group] + random.normal(size=rows)
    given: dict[str, Any] = {"truth": "truth", "event": 1, "group": "group", "measures": ["auc"]}
    summed = sy.compare(written(tmp_path, columns), ["a", "b"], **given)
    assert summed.tally.summaries is not None
    found, held = summed.differences(), sy.compare(pa.table(columns), ["a", "b"], **given).differences()
    assert found["se"][0] == pytest.approx(held["se"][0], rel=0.01)
    widths = [each["high"][0] - each["low"][0] for each in (found, held)]
    assert 0.9 * widths[1] < widths[0] < 1.5 * widths[1]  # t with 5 degrees of freedom would make it narrower
    assert widths[0] > 2 * 2.6 * found["se"][0]


@pytest.mark.parametrize("rows", [3, 40])
def test_differences_of_rankings_with_a_class_of_few_rows_are_as_unsure_as_those_of_rows_that_were_held(
    tmp_path: Path, rows: int
) -> None:
    for name, columns, rare, models in (
        ("two", two_classes(), ("yes", "no"), {"a": "a", "b": "b"}),
        ("three", three_classes(), ("z", "y"), {"p": "p_*", "q": "q_*"}),
    ):
        columns["truth"][columns["truth"] == rare[0]] = rare[1]
        columns["truth"][:rows] = rare[0]
        (folder := tmp_path / name).mkdir()
        given: dict[str, Any] = {"truth": "truth", "measures": ["auc"]} | ({"event": "yes"} if name == "two" else {})
        summed = sy.compare(written(folder, columns), models, **given)
        assert summed.tally.summaries is not None
        found, held = summed.differences(), sy.compare(pa.table(columns), models, **given).differences()
        assert found["se"][0] == pytest.approx(held["se"][0], rel=1e-3)
        # How far variances of few rows scatter is told by their number here, there by the rows.
        widths = [each["high"][0] - each["low"][0] for each in (found, held)]
        assert 0.9 * widths[1] < widths[0] < (2.5 if rows == 3 else 1.1) * widths[1]


@pytest.mark.study
@pytest.mark.parametrize(("name", "clusters"), in_turn(["two", "three"], [1, 2, 8]))
def test_differences_of_rankings_with_a_class_of_few_clusters_are_as_unsure_as_those_of_rows_that_were_held(
    tmp_path: Path, name: str, clusters: int
) -> None:
    """All clusters counted for either side: the standard error was 0.0134 where it is 0.0154 of the same rows held."""
    (columns, models), label = two_or_three(name), "yes" if name == "two" else "x"
    columns["batch"] = np.where(columns["truth"] == label, columns["batch"] % clusters, 1000 + columns["batch"])
    given: dict[str, Any] = {"truth": "truth", "group": "batch", "measures": ["auc", "hand_till_auc"]}
    given |= {"event": "yes"} if name == "two" else {}
    summed, held = (sy.compare(each, models, **given) for each in (written(tmp_path, columns), pa.table(columns)))
    assert summed.tally.summaries is not None
    for simultaneous in (False, True):
        found, other = (each.differences(by_class=True, simultaneous=simultaneous) for each in (summed, held))
        assert found["se"] == pytest.approx(other["se"], rel=0.02, nan_ok=True)
        for column in ("low", "high") if name == "two" else ():  # pseudo-rows are felt where clusters are very large
            assert found[column] == pytest.approx(other[column], rel=0.03), column


@pytest.mark.study
@pytest.mark.parametrize(("name", "extra"), in_turn(["two", "three"], [{}, {"group": "batch"}, {"weight": "weight"}]))
def test_differences(tmp_path: Path, name: str, extra: dict[str, Any]) -> None:
    columns, models = two_or_three(name)
    given: dict[str, Any] = {"truth": "truth", **({"event": "yes"} if name == "two" else {}), **extra}
    found = sy.compare(written(tmp_path, columns), models, **given)
    held = sy.compare(pa.table(columns), models, **given)
    for model in models:
        alike(found[model], held[model], rest=0.06)
    mine, yours = found.differences(), held.differences()
    assert mine["measure"] == yours["measure"]
    for row, error in enumerate(yours["se"]):
        for column in ("difference", "low", "high", "se"):
            assert mine[column][row] == pytest.approx(yours[column][row], abs=0.06 * error)
        assert mine["p"][row] == pytest.approx(yours["p"][row], abs=0.02)
    verdicts = [re.sub(r"[\d.]+", "", str(each.verdict(["error", "auc"]))) for each in (found, held)]
    assert verdicts[0] == verdicts[1]
    assert len(found.table(simultaneous=True)) == len(held.table(simultaneous=True))


@pytest.mark.parametrize("extra", [{}, {"group": "batch"}, {"weight": "weight"}])
def test_skill_against_another_classifier(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns, measures = two_classes(), ["skill(against='b')", "skill(score='log_score', against='b')"]
    given: dict[str, Any] = {"truth": "truth", "event": "yes", "measures": measures, **extra}
    found = sy.compare(written(tmp_path, columns), {"a": "a", "b": "b"}, **given)
    held = sy.compare(pa.table(columns), {"a": "a", "b": "b"}, **given)
    for model in ("a", "b"):
        alike(found[model], held[model], rest=1e-8)


@pytest.mark.parametrize("extra", [{}, {"group": "batch"}])
def test_skill_against_climatology(tmp_path: Path, extra: dict[str, Any]) -> None:
    for name, columns, membership in (("two", two_classes(), "a"), ("three", three_classes(), "q_*")):
        folder = tmp_path / name
        folder.mkdir()
        given: dict[str, Any] = {"truth": "truth", "membership": membership, **extra}
        given |= {"measures": ["skill", "skill(score='zero_one_score')"]} | ({"event": "yes"} if name == "two" else {})
        found, held = sy.assess(written(folder, columns), **given), sy.assess(pa.table(columns), **given)
        alike(found, held, rest=0.03 if extra else 1e-3)
        assert found["skill"].method == held["skill"].method


def test_measured_truths(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    response = rng.normal(size=ROWS)
    columns = {"z": response + 0.2 * rng.normal(size=ROWS), "batch": rng.integers(0, 150, ROWS)}
    for name, noise in (("a", 0.3), ("b", 0.6)):
        columns[name] = np.where(response + noise * rng.normal(size=ROWS) > 0.4, "high", "low")
    known = sy.measurement_sd(np.tile([0.0, 0.3], 40), np.repeat(np.arange(40), 2))
    for sd in (0.2, known):
        scale = sy.Continuum([0.4], ["low", "high"])
        given: dict[str, Any] = {"truth": "z", "scale": scale, "sd": sd, "sd_response": 0.3}
        extras: list[dict[str, Any]] = [{}, {"group": "batch"}]
        for extra in extras:
            found = sy.compare(written(tmp_path, columns), {"a": "a", "b": "b"}, **given, **extra)
            held = sy.compare(pa.table(columns), {"a": "a", "b": "b"}, **given, **extra)
            for model in ("a", "b"):
                alike(found[model], held[model], rest=1e-6)
            mine, yours = found.differences(), held.differences()
            for row, error in enumerate(yours["se"]):
                assert mine["difference"][row] == pytest.approx(yours["difference"][row], abs=1e-12)
                assert mine["se"][row] == pytest.approx(error, rel=0.02, abs=1e-15)


@pytest.mark.parametrize("bias", [0.0, 0.06, 0.5])
def test_the_doubt_in_a_response_model_is_that_of_all_rows(tmp_path: Path, bias: float) -> None:
    rng = np.random.default_rng(5)
    expected = rng.normal(size=ROWS)
    response = expected + 0.3 * rng.normal(size=ROWS)
    columns = {"z": response + 0.2 * rng.normal(size=ROWS), "f": expected + bias, "f_sd": np.full(ROWS, 0.3)}
    columns |= {"a": np.where(expected > 0.4, "high", "low"), "weight": rng.random(ROWS) + 0.1}
    given: dict[str, Any] = {"truth": "z", "assigned": "a", "scale": sy.Continuum([0.4], ["low", "high"]), "sd": 0.2}
    given |= {"response": ["f", "f_sd"], "measures": ["guarded_error", "guarded_sqerr", "posterior_error"]}
    extras: list[dict[str, Any]] = [{}, {"weight": "weight"}]
    for extra in extras:
        found = sy.assess(written(tmp_path, columns), **given, **extra)
        held = sy.assess(pa.table(columns), **given, **extra)
        for name in ("guarded_error", "guarded_sqerr"):
            assert found[name].note == held[name].note
            assert found[name].value == pytest.approx(held[name].value, rel=1e-9)
            assert found[name].se == pytest.approx(held[name].se, rel=0.01)
            near = 0.01 * held[name].se
            assert (found[name].low, found[name].high) == pytest.approx((held[name].low, held[name].high), abs=near)


BOUNDS = ["true_error_low", "true_error_high", "true_sqerr_low", "true_sqerr_high"]


@pytest.mark.study
@pytest.mark.parametrize(
    ("freedom", "extra", "level"),
    in_turn([10.0, np.inf], [{}, {"weight": "weight"}, {"group": "batch"}], [0.9, 0.95]),
)
def test_bounds_of_the_true_error_are_those_of_all_rows(
    tmp_path: Path, freedom: float, extra: dict[str, Any], level: float
) -> None:
    """Errors are as rare as wrong labels, so that the actual share of these decides."""
    columns = measured_by_two()
    columns["z"] = columns["z"] - 2.0  # few rows are near the boundary
    columns["a"] = np.where(columns["z"] > 0.4, "high", "low")
    columns["a"][::900] = "high"
    given: dict[str, Any] = {"truth": "z", "assigned": "a", "scale": sy.Continuum([0.4], ["low", "high"])}
    given |= {"sd": sy.Deviation(0.2, freedom), "measures": BOUNDS, "level": level, **extra}
    found, held = (sy.assess(source, **given) for source in (written(tmp_path, columns), pa.table(columns)))
    assert found.tally.summaries is not None
    for name in BOUNDS:
        assert found[name].note == held[name].note
        assert found[name].value == pytest.approx(held[name].value, rel=1e-9)
        here, there = ((each[name].low, each[name].high) for each in (found, held))
        assert here == pytest.approx(there, abs=1e-3 * held[name].se)


@pytest.mark.parametrize("freedom", [10.0, np.inf])
def test_an_estimated_deviation_is_saved_with_the_sums(tmp_path: Path, freedom: float) -> None:
    given: dict[str, Any] = {"truth": "z", "assigned": "a", "scale": sy.Continuum([0.4], ["low", "high"])}
    given |= {"sd": sy.Deviation(0.2, freedom), "measures": BOUNDS}
    found = sy.assess(written(tmp_path, measured_by_two()), **given)
    assert found.tally.summaries is not None
    found.tally.save(tmp_path / "a.tally")
    read = sy.assess_tally(Tally.load(tmp_path / "a.tally"), measures=BOUNDS)
    for name in BOUNDS:
        assert str(read[name]) == str(found[name])


CONTINUUM_NAMES = ["error", "adjusted_error", "apparent_sqerr", "adjusted_sqerr", "label_error", "apparent_rmse"]
CONTINUUM_NAMES += BOUNDS


def measured_by_two() -> dict[str, Any]:
    rng = np.random.default_rng(6)
    value = rng.normal(size=ROWS)
    columns: dict[str, Any] = {"z": value + 0.2 * rng.normal(size=ROWS), "weight": rng.random(ROWS) + 0.1}
    for name, noise in (("a", 0.3), ("b", 0.5)):
        columns[name] = np.where(value + noise * rng.normal(size=ROWS) > 0.4, "high", "low")
    columns["c"] = columns["a"]
    return {**columns, "batch": rng.integers(0, 150, ROWS)}


def tallied(folder: Path, **given: Any) -> list[Any]:
    """Tallies of three files, of which rows are not held."""
    ask: Any = sy.compare if "predictions" in given else sy.assess
    return [ask(str(folder / f"{place}.parquet"), **given, engine="local").tally for place in range(3)]


@pytest.mark.parametrize(
    "more",
    [{}, {"weight": "weight"}, {"sd": "estimated"}, {"group": "batch"}],
    ids=["rows", "weights", "estimated", "clusters"],
)
def test_merged_tallies_tell_how_far_measures_of_a_continuum_scatter(tmp_path: Path, more: dict[str, Any]) -> None:
    columns, given = measured_by_two(), dict(more)
    written(tmp_path, columns)
    known = sy.measurement_sd(np.tile([0.0, 0.3], 40), np.repeat(np.arange(40), 2))
    given["sd"] = known if "sd" in more else 0.2
    given |= {"truth": "z", "scale": sy.Continuum([0.4], ["low", "high"]), "sd_response": 0.3}
    given["predictions"] = {"a": "a", "b": "b", "c": "c"}
    first, second, third = tallied(tmp_path, **given)
    merged = sy.compare_tally(first + second + third, measures=[*CONTINUUM_NAMES, "smoothed_error"])
    held = sy.compare(pa.table(columns), **given, measures=[*CONTINUUM_NAMES, "smoothed_error"])
    for model in ("a", "b"):
        for name in (*CONTINUUM_NAMES, "smoothed_error"):
            mine, yours = merged[model][name], held[model][name]
            assert mine.value == pytest.approx(yours.value, rel=1e-9)
            assert mine.se == pytest.approx(yours.se, rel=1e-6)
            assert (mine.low, mine.high) == pytest.approx((yours.low, yours.high), abs=0.02 * yours.se)
            assert mine.note == yours.note
    assert str(merged).splitlines()[0] == str(held).splitlines()[0]
    assert "cut at 0.4, measured with sd" in str(merged)
    found, expected = merged.differences(), held.differences()
    for row, error in enumerate(expected["se"]):
        assert found["difference"][row] == pytest.approx(expected["difference"][row], abs=1e-12)
        assert found["se"][row] == pytest.approx(error, rel=1e-5, abs=1e-12)


def test_tallies_of_clusters_are_saved_merged_and_taken_out(tmp_path: Path) -> None:
    columns = measured_by_two()
    written(tmp_path, columns)
    given: dict[str, Any] = {"truth": "z", "assigned": "a", "scale": sy.Continuum([0.4], ["low", "high"], sd=0.2)}
    given |= {"group": "batch", "measures": ["error", "adjusted_error", "apparent_sqerr"]}
    first, second, third = tallied(tmp_path, **given)
    (first + second + third).save(tmp_path / "all.tally")
    left = Tally.load(tmp_path / "all.tally") - second
    rows = np.delete(np.arange(ROWS), np.arange(ROWS // 3, 2 * ROWS // 3))
    held = sy.assess(pa.table({name: np.asarray(column)[rows] for name, column in columns.items()}), **given)
    alike(sy.assess_tally(left, measures=given["measures"]), held)


def test_a_cluster_of_which_all_rows_are_taken_out_is_gone() -> None:
    both = ClusterSums(("x", "y"), np.array([[2.0, 2.0, 0.5], [1.0, 1.0, 0.25]]))
    left = both + -ClusterSums(("y",), np.array([[1.0, 1.0, 0.25]]))
    assert left.labels == ("x",)
    assert left.sums.tolist() == [[2.0, 2.0, 0.5]]


def any_measured_rows(rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns and what is said of them: few rows and many, classifiers that are always right, rows without weight."""
    rows, cuts = int(rng.choice([3, 7, 25, 60, 500])), np.sort(rng.normal(size=rng.integers(1, 4)))
    response, labels = rng.normal(size=rows), list("abcd")
    columns: dict[str, Any] = {"z": response + 0.2 * rng.normal(size=rows), "sd": rng.choice([0.0, 0.1, 0.3], rows)}
    seen = columns["z"] + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=rows)
    columns |= {"a": np.array(labels)[np.digitize(seen, cuts)], "weight": rng.choice([0.0, 1.0, 2.5], rows)}
    columns["weight"][:: max(rows // 3, 1)] = 1.0  # some rows of every file count
    columns |= {"f": response + 0.1 * rng.normal(size=rows), "f_sd": np.full(rows, 0.3)}
    columns["batch"] = rng.integers(0, max(rows // 3, 2), rows)
    said: dict[str, Any] = {"sd_response": 0.3, "response": ["f", "f_sd"], "weight": "weight", "group": "batch"}
    said = {name: value for name, value in said.items() if rng.random() < 0.6}
    scale = sy.Continuum(cuts.tolist(), labels[: len(cuts) + 1])
    sd = "sd" if rng.random() < 0.5 else float(rng.choice([0.0, 0.1, 0.5]))
    return columns, {"truth": "z", "assigned": "a", "scale": scale, "sd": sd, **said}


@pytest.mark.study
@pytest.mark.parametrize("seed", range(repeats(12, 25)))
def test_merged_tallies_tell_of_a_continuum_what_rows_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    columns, given = any_measured_rows(np.random.default_rng(seed))
    if given["sd"] and seed % 2 and len(columns["z"]) > 20:
        given["sd"] = sy.Deviation(0.2, seed)
    written(tmp_path, columns)
    held = sy.assess(pa.table(columns), **given)
    monkeypatch.setattr(tally, "MOST_ROWS", 0)
    first, second, third = tallied(tmp_path, **given)
    alike(sy.assess_tally(first + second + third), held)


@pytest.mark.study
@pytest.mark.parametrize("seed", range(repeats(8, 15)))
def test_merged_tallies_tell_of_differences_on_a_continuum_what_rows_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = np.random.default_rng(100 + seed)
    columns, given = any_measured_rows(rng)
    other = columns["a"].copy()
    other[rng.random(len(other)) < rng.choice([0.0, 0.1, 0.5])] = "a"
    columns["b"] = other
    given |= {"predictions": {"a": "a", "b": "b"}, "measures": ["adjusted_error", "apparent_sqerr"]}
    if "response" in given:
        given["measures"] += ["guarded_error", "guarded_sqerr", "posterior_error"]
    del given["assigned"]
    written(tmp_path, columns)
    held = sy.compare(pa.table(columns), **given).differences()
    monkeypatch.setattr(tally, "MOST_ROWS", 0)
    first, second, third = tallied(tmp_path, **given)
    found = sy.compare_tally(first + second + third, measures=given["measures"]).differences()
    assert found["measure"] == held["measure"]
    for row, error in enumerate(held["se"]):
        assert found["difference"][row] == pytest.approx(held["difference"][row], abs=1e-9)
        assert found["se"][row] == pytest.approx(error, rel=1e-6, abs=1e-9, nan_ok=True)
        if error == 0:  # no row differs: how far another may is not found from rows
            assert found["high"][row] == pytest.approx(held["high"][row], rel=1e-9)


def test_scores_on_any_scale(tmp_path: Path) -> None:
    """Far from 0 and close together: the first cells leave everything open, and are parted until they do not."""
    columns = two_classes()
    columns["a"] = 1e6 + np.log(columns["a"] / (1 - columns["a"]))
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "threshold": 1e6}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    assert [each.name for each in found.settings.measures] == [each.name for each in held.settings.measures]
    alike(found, held)
    certain(found, held, ["auc"])


def test_some_scores_that_are_no_probabilities(tmp_path: Path) -> None:
    """A single one in the last file: measures of probabilities are left out, or missed where they were named."""
    columns = two_classes()
    columns["a"][-1] = 1.5
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "threshold": 0.5}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    alike(found, held)
    with pytest.raises(sy.SteelyardError, match="log_score needs probabilities"):
        sy.assess(str(tmp_path), **given, measures=["log_score", "auc"])


def test_few_distinct_scores_are_exact(tmp_path: Path) -> None:
    columns = two_classes()
    columns["a"] = np.round(columns["a"], 2)
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "measures": RANKINGS}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    for name in RANKINGS:
        assert found[name].value == pytest.approx(held[name].value, abs=1e-12)
        assert found[name].se == pytest.approx(held[name].se, rel=1e-9)
        assert found[name].certified == pytest.approx((held[name].value,) * 2, abs=1e-12)
        assert not found[name].note


def test_the_order_and_the_files_of_rows_do_not_matter(tmp_path: Path) -> None:
    folders = shuffled_files(tmp_path, three_classes())
    results = [sy.assess(folder, truth="truth", membership="p_*") for folder in folders]
    for other in results[1:]:
        for name in ("auc", "log_score", "brier"):
            for column in ("value", "low", "high", "se"):
                mine, yours = getattr(results[0][name], column), getattr(other[name], column)
                assert mine == pytest.approx(yours, rel=1e-12)


def test_forecasts_that_were_never_wrong_are_not_certain(tmp_path: Path) -> None:
    columns = two_classes()
    columns["a"] = (columns["truth"] == "yes").astype(float)
    given: dict[str, Any] = {"truth": "truth", "membership": {"yes": "a", "no": "b"}, "event": "yes"}
    columns["b"] = 1 - columns["a"]
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    for name in ("auc", "brier", "log_score"):
        assert found[name].value == held[name].value
        assert found[name].low < found[name].high
        assert found[name].high - found[name].low == pytest.approx(held[name].high - held[name].low, rel=0.3)


def test_infinite_scores_say_how_many_rows_caused_them(tmp_path: Path) -> None:
    columns = two_classes()
    columns["a"][:7] = (columns["truth"][:7] == "no").astype(float)
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes"}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    assert found["log_score"].note == held["log_score"].note
    assert np.isinf(found["log_score"].value)


# --- thresholds -------------------------------------------------------------------------------------------------


def test_curves_and_thresholds(tmp_path: Path) -> None:
    columns = two_classes()
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes"}
    path, rows = written(tmp_path, columns), pa.table(columns)
    found, held = sy.assess(path, **given), sy.assess(rows, **given)
    best, exact = found.best_threshold("f1"), held.best_threshold("f1")
    assert best.value is not None
    assert exact.value is not None
    assert best.value.value == pytest.approx(exact.value.value, abs=0.02 * exact.value.se)
    assert best.value.value <= exact.value.value + 1e-12
    at = sy.assess(rows, **given, threshold=best.threshold)
    assert best.assessment is not None
    assert best.assessment.confusion().tolist() == at.confusion().tolist()  # counts are exact
    assert len(found.curve("roc")) > 500
    table = found.thresholds(["sensitivity"])
    place = len(table) // 2
    exact_there = sy.assess(rows, **given, threshold=table["threshold"][place])
    assert table["sensitivity"][place] == pytest.approx(exact_there["sensitivity"].value, abs=1e-12)
    chosen = sy.assess(path, **given, threshold="best:f1")
    assert chosen.decision is not None
    assert chosen.confusion().tolist() == at.confusion().tolist()
    with pytest.raises(TooLarge, match="one classifier at a time"):
        sy.compare(path, {"a": "a", "b": "b"}, truth="truth", event="yes", threshold="best:f1")


# --- what needs the rows ----------------------------------------------------------------------------------------


def test_what_needs_the_rows_says_so(tmp_path: Path) -> None:
    columns = two_classes()
    path = written(tmp_path, columns)
    found = sy.assess(path, truth="truth", membership="a", event="yes")
    for call in (found.reliability, found.recalibration, found.rejection, found.decomposition):
        with pytest.raises(TooLarge, match="too many"):
            call()
    with pytest.raises(TooLarge, match="spherical_score was not asked for"):
        _ = found["spherical_score"]
    with pytest.raises(TooLarge, match="hand_till_auc was not asked for"):
        _ = found["hand_till_auc"]
    precision = sy.assess(pa.table(columns), truth="truth", membership="a", event="yes")["average_precision"]
    assert found["average_precision"].value == pytest.approx(precision.value, abs=0.1 * precision.se)
    held = sy.assess(path, truth="truth", membership="a", event="yes", method="bootstrap", replicates=50)
    assert held.tally.scores is not None  # read as a whole, since the bootstrap draws rows


# --- tallies ----------------------------------------------------------------------------------------------------


def test_tallies_are_saved_merged_and_taken_out(tmp_path: Path) -> None:
    columns = two_classes()
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "scale": sy.Scale(["no", "yes"])}
    whole = sy.assess(written(tmp_path, columns), **given)
    parts = [sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(3)]
    for place, part in enumerate(parts):
        part.save(tmp_path / f"{place}.tally")
    loaded = [Tally.load(tmp_path / f"{place}.tally") for place in range(3)]
    merged = sy.assess_tally(loaded[0] + loaded[1] + loaded[2])
    for name in ("auc", "log_score", "brier", "error"):
        for column in ("value", "low", "high", "se"):
            assert getattr(merged[name], column) == pytest.approx(getattr(whole[name], column), rel=1e-12)
    left = sy.assess_tally(loaded[0] + loaded[1] - loaded[1])
    first = sy.assess_tally(loaded[0])
    for name in ("auc", "log_score", "error"):
        assert left[name].value == pytest.approx(first[name].value, rel=1e-9)
    assert (tmp_path / "0.tally").stat().st_size < 2_000_000


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("extra", [{}, {"group": "batch"}])
def test_the_root_of_a_negative_squared_error_has_no_spread(tmp_path: Path, extra: dict[str, Any]) -> None:
    rng = np.random.default_rng(8)
    value, batch = rng.normal(size=ROWS), rng.integers(0, 120, ROWS)
    said = np.where(value + 0.05 * rng.normal(size=ROWS) < 0, "low", "high")
    columns = {"truth": value, "said": said, "batch": batch}
    cut = sy.Continuum([0.0], classes=["low", "high"], sd=0.5)
    names = ["adjusted_rmse", "adjusted_sqerr", "apparent_rmse"]
    given: dict[str, Any] = {"truth": "truth", "assigned": "said", "scale": cut, "measures": names, **extra}
    found, held = (sy.assess(source, **given) for source in (written(tmp_path, columns), pa.table(columns)))
    assert found.tally.summaries is not None
    assert np.isnan([found["adjusted_rmse"].value, found["adjusted_rmse"].se]).all()
    alike(found, held)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("extra", [{}, {"group": "batch"}])
def test_what_has_no_value_has_no_spread_and_warns_of_nothing(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = three_classes()
    columns["site"] = np.where((columns["truth"] == "x") & (np.arange(ROWS) % 2 == 0), "one", "all")
    for row in range(0, ROWS, 700):  # a class that was said to be impossible, in one batch after the other
        chances = {f"p_{label}": float(label == "x") for label in "xyz"}
        columns["truth"][row] = "y"
        for name, chance in chances.items():
            columns[name][row] = chance
    given: dict[str, Any] = {"truth": "truth", "by": "site", "measures": ["auc", "log_score"], **extra}
    columns["site"][columns["truth"] != "x"] = "all"
    models = {"p": "p_*", "q": "q_*"}
    found, held = (sy.compare(source, models, **given) for source in (written(tmp_path, columns), pa.table(columns)))
    assert found.tally.summaries is not None
    assert np.isinf(found["p"]["log_score"].value)
    for part in (None, "x", "macro", "weighted"):
        for result in (found, held):
            undefined = result.slices["one"]["p"]["auc", part]
            assert np.isnan([undefined.value, undefined.se]).all()


SCORES = ["brier", "brier_multiclass", "ranked_probability_score", "zero_one_score", "skill", "net_benefit"]


@pytest.mark.parametrize("more", [{}, {"weight": "weight"}, {"group": "batch"}, {"group": "batch", "weight": "weight"}])
@pytest.mark.parametrize("classes", [2, 3, 12])
def test_differences_of_forecasts_are_those_of_rows_in_memory(
    tmp_path: Path, classes: int, more: dict[str, str]
) -> None:
    """Estimates, intervals and p-values: with pseudo-rows, and of averages over classes by their shares, too."""
    if classes == 12:
        random = np.random.default_rng(12)
        columns: dict[str, Any] = {"batch": random.integers(0, 40, 1500), "weight": random.random(1500) + 0.1}
        for name in "pq":
            shares = random.dirichlet(np.ones(12), 1500)
            columns |= {f"{name}_{place}": shares[:, place] for place in range(12)}
        columns["truth"] = np.array([str(place) for place in random.integers(0, 12, 1500)])
    else:
        columns = two_classes(1500) if classes == 2 else three_classes(1500)
    models = {"a": "a", "b": "b"} if classes == 2 else {"p": "p_*", "q": "q_*"}
    measures = ["brier_multiclass", "zero_one_score"] if classes == 12 else SCORES
    given: dict[str, Any] = {"truth": "truth", "measures": measures} | more
    given |= {"event": "yes"} if classes == 2 else {}
    summed, held = (sy.compare(each, models, **given) for each in (written(tmp_path, columns), pa.table(columns)))
    assert summed.tally.summaries is not None
    found, wanted = summed.differences(), held.differences()
    for column in ("difference", "low", "high", "se", "p"):
        assert found[column] == pytest.approx(wanted[column], rel=1e-7, abs=1e-12), column
    for model, measure, average in product(models, measures, ("macro", "weighted")):
        if not find(measure).per_class:
            continue
        one, other = (each[model][measure, average] for each in (summed, held))
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-7), (measure, average)


def test_differences_of_classes_need_rows_or_clusters(tmp_path: Path) -> None:
    path = written(tmp_path, three_classes())
    given: dict[str, Any] = {"truth": "truth", "measures": ["auc", "brier"]}
    models = {"p": "p_*", "q": "q_*"}
    clustered = sy.compare(path, models, **given, group="batch").differences(by_class=True)
    assert clustered["class"].count("x") == 2
    with pytest.raises(BadOption, match="how auc goes together with others was not summed") as error:
        sy.compare(path, models, **given).differences(by_class=True)
    assert "leave by_class= out" in error.value.mend
    merged = sy.merge([sy.compare(path, models, **given).tally for _ in range(2)], allow_overlap=True)
    with pytest.raises(BadOption) as error:
        sy.compare_tally(merged).differences("auc")
    assert "assess the files together" in error.value.mend


def test_merged_averages_are_no_narrower_than_they_may_be(tmp_path: Path) -> None:
    columns = three_classes()
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*"}
    path = written(tmp_path, columns, 2)
    whole = sy.assess(path, **given)
    parts = [sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(2)]
    merged = sy.assess_tally(parts[0] + parts[1])
    assert merged["auc"].value == pytest.approx(whole["auc"].value, rel=1e-12)
    assert merged["auc"].se >= whole["auc"].se
    assert "at most" in merged["auc"].note
    with pytest.raises(BadOption, match="was not summed"):
        comparison = sy.compare(path, {"p": "p_*", "q": "q_*"}, truth="truth")
        both = comparison.tally
        sy.Comparison(sy.merge([both, both], allow_overlap=True), comparison.settings).differences("auc")


def test_the_shares_of_classes_scatter_too_where_averages_are_merged(tmp_path: Path) -> None:
    # One class is never mistaken, and the other two are told apart badly: these two are off together.
    rng = np.random.default_rng(5)
    truth, draw = rng.choice(["x", "y", "z"], ROWS, p=[0.5, 0.25, 0.25]), rng.uniform(0.02, 0.98, ROWS)
    sure = truth == "x"
    columns = {"truth": truth, "p_x": np.where(sure, 0.98, 0.02)}
    columns |= {"p_y": np.where(sure, 0.01, 0.98 * draw), "p_z": np.where(sure, 0.01, 0.98 * (1 - draw))}
    names = ["brier", "auc", "average_precision"]
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "measures": names}
    written(tmp_path, columns, 2)
    parts = [sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(2)]
    merged, held = sy.assess_tally(parts[0] + parts[1], measures=names), sy.assess(pa.table(columns), **given)
    for name in names:
        assert merged[name, "weighted"].se > held[name, "weighted"].se
        assert "at most" in merged[name, "weighted"].note


def test_unlike_summaries_do_not_add(tmp_path: Path) -> None:
    columns = two_classes()
    path = written(tmp_path, columns, 2)
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes"}
    one = sy.assess(path, **given, measures=["auc", "error"]).tally
    other = sy.assess(path, **given, measures=["log_score", "error"]).tally
    with pytest.raises(UnlikeTallies, match="measures is"):
        one + other
