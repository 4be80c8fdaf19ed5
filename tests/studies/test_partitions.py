"""The example of Sondhauss & Weihs (2001): beside klaR's numbers, within chance, and with many more objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

from steelyard.errors import BadOption
from steelyard.studies.partitions import (
    DEFAULT,
    DEGREES,
    KLAR,
    MEASURES,
    ORIGINAL,
    RAW,
    RULES,
    SCALED,
    SCALINGS,
    TRUE,
    Partitions,
    consistency,
    drawn,
    measured,
    memberships,
    network,
    normal_bayes,
    run,
    true_bayes,
)

DATA = Path(__file__).parents[1] / "references" / "data" / "partition" / "chisq27.json"
CASES: dict[str, Any] = {case["name"]: case for case in json.loads(DATA.read_text(encoding="utf-8"))["cases"]}
MOST = 4  # standard errors


@pytest.fixture(scope="module")
def found() -> Partitions:
    return run(40, sizes=(300,))


def codes(case: Any) -> Any:
    return np.array([int(name) - 1 for name in case["input"]["true"]])


# --- the rules ------------------------------------------------------------------------------------------------


def test_the_true_rule_knows_the_densities() -> None:
    x, truth = drawn(np.random.default_rng(1), 20)
    assert np.bincount(truth).tolist() == [20, 20, 20]
    densities = np.asarray(chi2.pdf(x[:, None], DEGREES))
    assert_allclose(true_bayes(x), densities / densities.sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("truebayes")])
def test_the_true_rule_is_that_of_the_reference(name: str) -> None:
    given = CASES[name]["input"]
    assert_allclose(true_bayes(np.array(given["x_test"])), given["membership"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("qda")])
def test_the_normal_rule_is_that_of_the_reference(name: str) -> None:
    given = CASES[name]["input"]
    train = np.array([int(label) - 1 for label in given["y_train"]])
    ours = normal_bayes(np.array(given["x_train"]), train, np.array(given["x_test"]))
    assert_allclose(ours, given["membership"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", list(CASES))
def test_measures_are_klars_on_the_same_data(name: str) -> None:
    case = CASES[name]
    for scaling, key in ((ORIGINAL, "ucpm_scaled_with_original_ec"), (SCALED, "ucpm_scaled")):
        theirs = case["output"]["b.scal"][key]
        ours = measured(np.array(case["input"]["membership"], dtype=float), codes(case), scaling)
        assert [ours[key] for key in MEASURES] == pytest.approx([theirs[key] for key in ("CR", "AC", "AS")], abs=1e-10)


def test_the_network_learns_and_depends_on_its_seed_alone() -> None:
    random = np.random.default_rng(2)
    (x, truth), (at, classes) = drawn(random, 60), drawn(random, 60)
    one, again = (network(x, truth, at, 3) for _ in range(2))
    assert (one == again).all()
    assert_allclose(one.sum(axis=1), 1, rtol=1e-12)
    assert (one.argmax(axis=1) == classes).mean() > 0.65


# --- the run --------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_data_sets(found: Partitions) -> None:
    said, truth = memberships(2001)
    again, _ = memberships(2001)
    for rule in RULES:
        assert said[rule].shape == (27, 3)
        assert (said[rule] == again[rule]).all()
    rows = [row for row in found.draws if (row["seed"], row["rule"], row["scaling"]) == (2001, TRUE, RAW)]
    assert [row["Ac"] for row in rows] == [measured(said[TRUE], truth, RAW)["Ac"]]


def test_klars_means_are_within_chance(found: Partitions) -> None:
    for scaling in (ORIGINAL, SCALED):
        rows = [row for row in found.example if row["scaling"] == scaling]
        assert [row["klar"] for row in rows] == [value for rule in RULES for value in KLAR[rule]]
        assert all(abs(row["z"]) < MOST for row in rows)
    assert all(row["klar"] is None for row in found.example if row["scaling"] in (RAW, DEFAULT))


def test_every_rule_scaling_and_measure_has_its_mean(found: Partitions) -> None:
    assert len(found.draws) == 40 * len(RULES) * len(SCALINGS)
    assert len(found.example) == len(RULES) * len(SCALINGS) * len(MEASURES)
    for row in found.example:
        key = (row["rule"], row["scaling"])
        values = [each[row["measure"]] for each in found.draws if (each["rule"], each["scaling"]) == key]
        assert (row["mean"], row["sd"]) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    assert [row["measure"] for row in found.classes][:3] == ["CR 1", "CR 2", "CR 3"]
    # The class between the others is the hardest.
    means = {(row["rule"], row["measure"]): row["mean"] for row in found.classes}
    assert all(means[rule, "CR 2"] < min(means[rule, "CR 1"], means[rule, "CR 3"]) for rule in RULES)


def test_it_says_what_it_is(found: Partitions) -> None:
    text = str(found)
    assert "40 data sets" in text
    assert "ten other data sets" in text
    assert repr(found) == text


def test_one_data_set_has_no_spread() -> None:
    one = run(1, sizes=())
    assert all(np.isnan(row["sd"]) for row in one.example)


# --- many objects ---------------------------------------------------------------------------------------------


def test_with_more_objects_true_probabilities_are_left_alone_and_others_come_nearer() -> None:
    rows = {(row["objects"], row["rule"], row["depth"]): row for row in consistency((1000, 10_000, 100_000))}
    for depth in (1, 2):
        moved = [rows[size, TRUE, depth]["moved"] for size in (1000, 10_000, 100_000)]
        assert moved[0] > 2 * moved[1] > 4 * moved[2]
        assert moved[2] < 0.006
        for rule in ("too sure", "too timid"):
            assert rows[100_000, rule, depth]["after"] < 0.5 * rows[100_000, rule, depth]["before"]
            assert rows[100_000, rule, depth]["after"] < 1.02 * rows[1000, rule, depth]["after"]


# --- options --------------------------------------------------------------------------------------------------


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    run(2, sizes=(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("options", "text"), [({"seeds": 0}, "seeds is 0"), ({"seeds": 1.5}, "seeds is 1.5"), ({"seed": -1}, "seed is -1")]
)
def test_bad_options_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(BadOption, match=text):
        run(**options)


def test_figures_of_the_paper_are_drawn(tmp_path: Path) -> None:
    from steelyard.cli import main
    from steelyard.studies.partition_figures import FIGURES

    assert main(["study", "partitions", "--seeds", "2", "--figures", str(tmp_path / "figures"), "--csv", "-"]) == 0
    drawn = {path.stem: path.read_bytes() for path in (tmp_path / "figures").glob("*.png")}
    # Under the name of the study: others have a figure 2 too, and may be drawn into the same folder.
    assert set(drawn) == {f"partitions_{name}" for name in FIGURES}
    assert all(content.startswith(b"\x89PNG") for content in drawn.values())
    assert len(set(drawn.values())) == 3
