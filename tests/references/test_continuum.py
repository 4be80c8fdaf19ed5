"""Every figure of classes from a continuum (Mevik 2003) as 50-digit arithmetic finds it, to twelve digits.

``data/continuum/README.md`` says how the files were made.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import Assessment, Continuum, assess
from steelyard.families.continuum.judged import Judged
from steelyard.maths.kernels import class_probabilities, expected_sqe, outside_probabilities

DATA = Path(__file__).parent / "data" / "continuum"
EXACT = 1e-12
LOST = 1e-50  # what 50 digits make of less than this is 0, where it was taken from 1
FILES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.json"))}
UNITS: list[dict[str, Any]] = FILES.pop("unit_table")
FILES = {name: case for name, case in FILES.items() if name not in ("simulation", "population")}  # they have their own
OF_A_MODEL: dict[str, Any] = {name: case for name, case in FILES.items() if "f_hat" in case}
OF_THE_PAPER: dict[str, Any] = {name: case for name, case in FILES.items() if "per_object" in case}

# The paper's symbols are other names of measures, but for the bounds, which have none there.
BOUNDS = {"bound_lower": "true_error_low", "bound_upper": "true_error_high"}
SYMBOLS = (
    *("err_data", "sqerr_data", "erc", "erc_a", "pmc_hat", "pmc_min_hat"),
    *("sqerc", "sqerr_hat", "sqerr_min_hat", "sqerc_a"),
)
OURS = ("pmc_post", "sqerr_post", "pmc_model", "sqerr_model", "pmc_diff", "sqerr_diff", "err_data_post",
        "sqerr_data_post", "pmc_min_model", "sqerr_min_model")  # fmt: skip

each_sample = pytest.mark.parametrize("name", list(OF_THE_PAPER))
each_model = pytest.mark.parametrize("name", list(OF_A_MODEL))


def same(expected: float) -> Any:
    return pytest.approx(expected, rel=EXACT, abs=0 if expected else LOST)


def assert_same(found: Any, expected: Any) -> None:
    """To twelve digits, in the far tail too."""
    lost = np.asarray(expected) == 0
    assert_allclose(found[~lost], np.asarray(expected)[~lost], rtol=EXACT, atol=0)
    assert np.abs(found[lost]).max(initial=0) < LOST


def ends(case: dict[str, Any]) -> list[float]:
    return [float(boundary) for boundary in case["boundaries"]]


def scale_of(case: dict[str, Any]) -> Continuum:
    """The classes as the files number them: from 1 on."""
    return Continuum(ends(case), list(range(1, len(case["boundaries"]))))


def assessed(case: dict[str, Any], **options: Any) -> Assessment:
    known = {"sd": case["sigma_delta"], "sd_response": case.get("sigma_eps")}
    return assess(case["z"], case["predicted"], scale=scale_of(case), **{**known, **options})


def with_model(case: dict[str, Any], **options: Any) -> Assessment:
    return assessed(case, response=(case["f_hat"], np.sqrt(case["predictive_variance_of_y"])), **options)


def judged(case: dict[str, Any]) -> Judged:
    """The rows of a file, as formulas see them."""
    rows = assessed(case).tally.scores
    assert rows is not None
    assert rows.measured is not None
    none = np.full(len(rows), np.nan)
    given = [rows.measured.sd, rows.measured.blur, rows.measured.expected, rows.measured.spread]
    columns = [none if column is None else column for column in given]
    return Judged(scale_of(case), rows.truth, rows.measured.assigned[0], rows.measured.value, *columns)


def test_no_file_is_left_out() -> None:
    assert len(OF_THE_PAPER) == 6
    assert len(OF_A_MODEL) == 2
    assert set(FILES) == set(OF_THE_PAPER) | set(OF_A_MODEL)


# --- kernels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit['t']}, {unit['sigma']}, class {unit['j']}")
def test_the_kernels_are_exact_in_the_tails_too(unit: dict[str, Any]) -> None:
    kernels = {"prob_class": class_probabilities, "pmc": outside_probabilities, "expected_sqe": expected_sqe}
    for name, kernel in kernels.items():
        found = kernel(np.array([unit["t"]]), unit["sigma"], ends(unit))[0, unit["j"] - 1]
        assert found == same(unit[name]), name
    assert expected_sqe(np.array([unit["t"]]), 0.0, ends(unit))[0, unit["j"] - 1] == same(unit["sqe"])


def test_the_table_of_kernels_reaches_far_into_the_tails() -> None:
    least = min(unit["prob_class"] for unit in UNITS if unit["prob_class"] > 0)
    assert least < 1e-150
    assert {unit["sigma"] for unit in UNITS} >= {0.0, 3.0}


# --- one sample -----------------------------------------------------------------------------------------------


@each_sample
def test_labels_are_the_classes_of_measured_values(name: str) -> None:
    case = OF_THE_PAPER[name]
    assert (scale_of(case).cut(case["z"]) + 1).tolist() == case["labels"]


@each_sample
def test_every_object_has_its_weight_and_its_errors(name: str) -> None:
    case = OF_THE_PAPER[name]
    rows, expected = judged(case), case["per_object"]
    outside, astray = (
        kernel(case["z"], case["sigma_eps"], ends(case)) for kernel in (outside_probabilities, expected_sqe)
    )
    assert_same(rows.sure, expected["label_weight"])
    assert_same(outside, expected["pmc_cond_z"])
    assert_same(astray, expected["sqerr_cond_z"])
    own = np.arange(len(case["z"])), np.array(case["predicted"]) - 1
    assert_same(rows.smoothed_wrong, np.array(expected["pmc_cond_z"])[own])
    assert_same(rows.smoothed_distance, np.array(expected["sqerr_cond_z"])[own])
    assert_same(rows.least_wrong, np.min(expected["pmc_cond_z"], axis=1))
    assert_same(rows.least_distance, np.min(expected["sqerr_cond_z"], axis=1))


@each_sample
@pytest.mark.parametrize("symbol", SYMBOLS)
def test_estimates_are_found_by_the_symbols_of_the_paper(name: str, symbol: str) -> None:
    case = OF_THE_PAPER[name]
    expected = case["estimates"][symbol]
    assert assessed(case, measures=[symbol])[symbol].value == same(expected)
    assert assessed(case)[symbol.replace("_hat", "-hat")].value == same(expected)


@each_sample
def test_the_bounds_of_the_true_error(name: str) -> None:
    """The lower one of the files is |erc - d|, as here; the upper one is not yet cut off at 1, nor sharp."""
    case = OF_THE_PAPER[name]
    found, expected = assessed(case), case["estimates"]
    assert found["true_error_low"].value == same(expected["bound_lower"])
    assert found["true_error_high"].value == same(case["bound_upper_sharp"])
    loose = min(1.0, expected["bound_upper"])
    if len(case["boundaries"]) > 3:
        assert found["true_error_high"].value == same(loose)
    else:
        assert found["true_error_high"].value < loose


@each_sample
def test_roots_are_those_of_the_squared_errors(name: str) -> None:
    case = OF_THE_PAPER[name]
    found, expected = assessed(case), case["estimates"]
    squares = {"apparent": "sqerc", "adjusted": "sqerc_a", "smoothed": "sqerr_hat", "minimal": "sqerr_min_hat"}
    for kind, symbol in {**squares, "label": "sqerr_data"}.items():
        assert found[f"{kind}_rmse"].value == same(expected[symbol] ** 0.5)


@pytest.mark.parametrize("name", [name for name, case in OF_THE_PAPER.items() if "population_given_f" in case])
def test_errors_given_the_true_mean_are_those_of_a_model_that_knows_it(name: str) -> None:
    case = OF_THE_PAPER[name]
    found = assessed(case, response=(case["f_true"], case["sigma_eps"]))
    expected = case["population_given_f"]
    assert found["model_error"].value == same(expected["pmc"])
    assert found["model_sqerr"].value == same(expected["sqerr"])
    assert found["model_minimal_error"].value == same(expected["pmc_min"])
    assert found["model_minimal_sqerr"].value == same(expected["sqerr_min"])


# --- with a response model ------------------------------------------------------------------------------------


@each_model
@pytest.mark.parametrize("symbol", OURS)
def test_estimates_with_a_response_model(name: str, symbol: str) -> None:
    case = OF_A_MODEL[name]
    found = with_model(case, measures=[symbol])
    assert found[symbol].value == same(case["estimates"][symbol])


@each_model
def test_the_posterior_of_every_object(name: str) -> None:
    case = OF_A_MODEL[name]
    rows = with_model(case).continuum.judged(0, len(case["z"]))
    mean, sd = rows._posterior
    assert_allclose(mean, case["posterior_mean"], rtol=EXACT, atol=1e-15)
    assert_same(sd, case["posterior_sd"])
    own = np.arange(len(case["z"])), np.array(case["predicted"]) - 1
    assert_allclose(rows.posterior_wrong, 1 - np.array(case["soft_labels"])[own], rtol=EXACT, atol=1e-15)
    assert_same(rows.posterior_distance, np.array(case["expected_sqe"])[own])


@each_model
def test_the_doubt_about_a_model_is_the_gap_in_standard_errors(name: str) -> None:
    case = OF_A_MODEL[name]
    found, expected = with_model(case), case["estimates"]
    gap = float(np.mean(found.continuum.column("wrong") - found.continuum.column("foreseen_wrong")))
    assert gap == same(expected["calibration_gap"])
    doubt = found.continuum.doubt("doubt_wrong")
    assert doubt == same(expected["calibration_gap"] / expected["calibration_gap_se"])
    assert found["guarded_error"].value == same(expected["pmc_post"])
    assert found["guarded_error"].note.startswith("posterior: ")
