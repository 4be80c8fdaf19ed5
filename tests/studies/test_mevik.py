"""The simulation finds what an independent program found, and what the paper says of the estimates.

``references/data/continuum/simulation.json`` says where its numbers come from, and how far off its true values are.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from steelyard.cli import main
from steelyard.core.errors import BadOption
from steelyard.studies.designs import DESIGNS, HEAVY_TAILS, MEVIK, Cell
from steelyard.studies.mevik import run, simulate
from steelyard.studies.replications import (
    CLASSIFIERS,
    Key,
    Measure,
    Replications,
    examinations,
    paper_estimates,
    replicate,
    replications,
)
from steelyard.studies.simulation import LEVELS, Simulation, averages

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "references" / "data" / "continuum" / "simulation.json").read_text(encoding="utf-8")
)
CELLS: dict[Cell, Any] = {Cell(cell["sigma_eps"], cell["sigma_delta"]): cell for cell in GOLDEN["cells"]}
THEIRS = 1000  # repetitions of the reference
MOST = 4  # standard errors
OF_CLASSIFIERS: dict[Measure, tuple[str, ...]] = {
    "pmc": ("erc", "erc_a", "pmc_hat"),
    "sqerr": ("sqerc", "sqerc_a", "sqerr_hat"),
}
OF_DATA: dict[Measure, str] = {
    measure: f"{measure}_hat" for measure in ("err_data", "sqerr_data", "pmc_min", "sqerr_min")
}
HEAVINESS = 0.75  # half the root of the kurtosis less 1, on which the standard error of a deviation depends
# How far its true values may be off: it tried classifiers at 2048 points.
TRUTH: dict[Measure, float] = {"pmc": 0.025, "sqerr": 0.12}

each_cell = pytest.mark.parametrize("cell", MEVIK.cells, ids=str)
each_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)


@pytest.fixture(scope="module")
def found() -> Simulation:
    return simulate()


@pytest.fixture(scope="module")
def many() -> Simulation:
    return simulate(repetitions=THEIRS)


def chance(simulation: Simulation) -> float:
    """The standard error of a difference of two means, in standard deviations."""
    return math.sqrt(1 / simulation.repetitions + 1 / THEIRS)


def same_deviation(theirs: float, simulation: Simulation) -> Any:
    """A standard deviation up to chance."""
    return pytest.approx(theirs, rel=MOST * HEAVINESS * chance(simulation), abs=1e-15)


def agrees_of_classifier(simulation: Simulation, cell: Cell, classifier: str) -> None:
    known = CELLS[cell]["classifiers"][classifier]
    for measure, estimators in OF_CLASSIFIERS.items():
        truth = known[f"true_{measure}"]
        for estimator in estimators:
            series, theirs = simulation.series[Key(cell, measure, estimator, classifier)], known[estimator]
            error = theirs["se_bias"] * math.sqrt(THEIRS) * chance(simulation)
            assert series.bias == pytest.approx(theirs["bias"], abs=MOST * error)
            mean = theirs["bias"] + truth["mean"]
            assert series.values.mean() == pytest.approx(mean, abs=MOST * theirs["sd"] * chance(simulation))
            # Few rows decide on a squared error, so that its deviation is compared on average only.
            assert measure == "sqerr" or series.deviation == same_deviation(theirs["sd"], simulation)
            allowed = MOST * truth["sd"] * chance(simulation) + TRUTH[measure] * truth["mean"]
            assert series.truth.mean() == pytest.approx(truth["mean"], abs=allowed)


def agrees_of_data(simulation: Simulation, cell: Cell) -> None:
    for measure, estimator in OF_DATA.items():
        series = simulation.series[Key(cell, measure, estimator, "")]
        theirs = CELLS[cell]["data_level"][estimator]
        assert series.values.mean() == pytest.approx(theirs["mean"], abs=MOST * theirs["sd"] * chance(simulation))
        assert series.deviation == same_deviation(theirs["sd"], simulation)
        exact = GOLDEN["expected"][str(cell.sd_response)][estimator].get(str(cell.sd), 0.0)
        assert series.values.mean() == pytest.approx(exact, abs=MOST * series.standard_error + 1e-15)


def agrees_on_average(simulation: Simulation) -> None:
    fewer = math.sqrt(100 * (1 / simulation.repetitions + 1 / THEIRS))
    for measure in OF_CLASSIFIERS:
        for by in LEVELS:
            for row in averages(simulation, measure, by):
                theirs = GOLDEN["by_level"][by][str(row[by])][row["estimator"]]
                assert row["bias"] == pytest.approx(theirs["bias"], abs=MOST * fewer * theirs["se_bias_100"])
                error = fewer * theirs["se_mean_sd_100"]
                assert row["deviation"] == pytest.approx(theirs["mean_sd"], abs=MOST * error)


# --- against the reference ----------------------------------------------------------------------------------------


@each_cell
@each_classifier
def test_estimates_of_classifiers_agree(found: Simulation, cell: Cell, classifier: str) -> None:
    agrees_of_classifier(found, cell, classifier)


@each_cell
def test_estimates_of_data_agree(found: Simulation, cell: Cell) -> None:
    agrees_of_data(found, cell)


def test_averages_over_cells_and_classifiers_agree(found: Simulation) -> None:
    agrees_on_average(found)


@pytest.mark.slow
def test_averages_of_a_thousand_repetitions_agree(many: Simulation) -> None:
    agrees_on_average(many)


@pytest.mark.slow
@each_cell
def test_a_thousand_repetitions_agree(many: Simulation, cell: Cell) -> None:
    agrees_of_data(many, cell)
    for classifier in CLASSIFIERS:
        agrees_of_classifier(many, cell, classifier)


@pytest.mark.slow
def test_a_thousand_repetitions_are_biased_as_the_paper_says(many: Simulation) -> None:
    biased_as_the_paper_says(many)


# --- against the paper --------------------------------------------------------------------------------------------


def signs(simulation: Simulation, measure: Measure, by: Any) -> dict[str, list[str]]:
    """Whether each estimate is too high or too low at each level, as far as chance lets that be seen."""
    found: dict[str, list[str]] = {}
    for row in averages(simulation, measure, by):
        seen = abs(row["bias"]) > 2.5 * row["se"]
        found.setdefault(row["estimator"], []).append(("up" if row["bias"] > 0 else "down") if seen else "none")
    return found


def biased_as_the_paper_says(simulation: Simulation) -> None:
    by_sd, by_response = (signs(simulation, "pmc", by) for by in ("sd", "sd_response"))
    assert by_sd["erc"][0] == by_sd["erc_a"][0] == "none"
    assert (by_sd["erc"][2], by_sd["erc_a"][1:], by_sd["pmc_hat"]) == ("up", ["down"] * 2, ["up"] * 3)
    assert (by_response["erc_a"], by_response["pmc_hat"]) == (["down"] * 3, ["up"] * 3)
    by_sd, by_response = (signs(simulation, "sqerr", by) for by in ("sd", "sd_response"))
    assert (by_sd["sqerc"][2], by_sd["sqerr_hat"], by_response["sqerr_hat"]) == ("up", ["up"] * 3, ["up"] * 3)
    for row in [*averages(simulation, "sqerr", "sd"), *averages(simulation, "sqerr", "sd_response")]:
        # The standard error of a heavy tail says little.
        assert row["estimator"] != "sqerc_a" or abs(row["bias"]) < 0.02
    for measure, estimator in OF_DATA.items():
        by = "sd" if measure.endswith("data") else "sd_response"
        assert signs(simulation, measure, by)[estimator][2] == "down"


def test_estimates_are_biased_as_the_paper_says(found: Simulation) -> None:
    biased_as_the_paper_says(found)


@pytest.mark.parametrize("measure", OF_CLASSIFIERS)
def test_the_last_estimate_is_the_highest_everywhere(found: Simulation, measure: Measure) -> None:
    for by in ("sd", "sd_response"):
        biases: dict[str, list[float]] = {}
        for row in averages(found, measure, by):
            biases.setdefault(row["estimator"], []).append(row["bias"])
        plain, adjusted, highest = biases.values()
        assert all(low <= middle < high for low, middle, high in zip(adjusted, plain, highest, strict=True))


def test_the_adjusted_count_varies_less_and_the_expectation_least(found: Simulation) -> None:
    for by in ("sd", "sd_response"):
        deviation: dict[str, list[float]] = {}
        for row in averages(found, "pmc", by):
            deviation.setdefault(row["estimator"], []).append(row["deviation"])
        assert all(one <= other for one, other in zip(deviation["erc_a"], deviation["erc"], strict=True))
        assert sum(deviation["pmc_hat"]) < sum(deviation["erc_a"])


def test_what_averages_over_classifiers_hide(found: Simulation) -> None:
    """A good classifier measured badly: erc_a is too high, and sqerc_a mostly less than nothing."""
    cell = Cell(0.15, 0.5)
    erc_a = found.series[Key(cell, "pmc", "erc_a", "regression")]
    assert erc_a.bias > 10 * erc_a.standard_error
    assert 0.6 < (found.series[Key(cell, "sqerr", "sqerc_a", "regression")].values < 0).mean() < 0.9


def test_the_summary_stands_beside_what_the_paper_prints(found: Simulation) -> None:
    summary = found.summary()
    compared = [row for row in summary if row["paper"] is not None]
    assert len(compared) == 9 + 6 + 6 + 12
    for row in compared:
        # Two digits are printed, of a hundred repetitions.
        assert row["found"] == pytest.approx(row["paper"], rel=0.16, abs=1e-12)
    for kind in ("bias", "deviation"):
        rows = [row for row in summary if row["what"].startswith(f"{kind} of")]
        assert len(rows) == 10 * 6
        assert all(row["se"] > 0 for row in rows if row["found"])


def test_figures_5_and_7_are_in_the_table(found: Simulation) -> None:
    rows = {(row["what"], row["sd_response"], row["sd"]): row for row in found.summary()}
    fewer = math.sqrt(100 * (1 / found.repetitions + 1 / THEIRS))
    for by, where in (("sd", lambda level: (None, level)), ("sd_response", lambda level: (level, None))):
        for level, estimators in GOLDEN["by_level"][by].items():
            for estimator, theirs in estimators.items():
                row = rows[f"deviation of {estimator}", *where(float(level))]
                assert row["found"] == pytest.approx(theirs["mean_sd"], abs=MOST * fewer * theirs["se_mean_sd_100"])
                # Theirs is of a hundred repetitions, too; fourth powers of heavy tails agree in size only.
                assert 0.2 < row["se"] / theirs["se_mean_sd_100"] < 3


# --- the statements of the paper ----------------------------------------------------------------------------------


def judged(simulation: Simulation, text: str) -> dict[str, Any]:
    """The one statement that begins so."""
    (row,) = [row for row in simulation.statements if row["statement"].startswith(text)]
    return row


def near(row: dict[str, Any], truth: float, widths: float = 1.6) -> None:
    """The interval, somewhat widened, holds what a thousand repetitions of another program say."""
    away = row["high"] - row["value"] if truth > row["value"] else row["value"] - row["low"]
    assert abs(truth - row["value"]) <= widths * away + 1e-12, (row, truth)


def test_every_statement_has_its_verdict(found: Simulation) -> None:
    rows = list(found.statements)
    assert len({(row["statement"], row["source"]) for row in rows}) == len(rows) == 69
    for row in rows:
        assert row["source"].startswith("Mevik 2003, section ")
        assert row["low"] <= row["value"] <= row["high"]
        assert row["verdict"] in ("holds", "does not hold", "not settled")
        assert bool(row["note"]) == (row["verdict"] == "does not hold")
        assert row["verdict"] == "not settled" or row["repetitions"] is None
        assert "nan" not in row["note"]
        assert "inf" not in row["note"]


def test_statements_of_the_population_are_exact(found: Simulation) -> None:
    known = GOLDEN["population"].values()
    for place, verdict in enumerate(("does not hold", "holds", "does not hold")):
        row = judged(found, f"The frequency of class {place + 1}")
        assert row["value"] == row["low"] == row["high"]
        assert row["value"] == pytest.approx(np.mean([each["class_freq"][place] for each in known]), abs=1e-5)
        assert row["verdict"] == verdict
    for level, each in GOLDEN["population"].items():
        for measure in ("pmc_min", "sqerr_min"):
            row = judged(found, f"At σ_ε = {level}, {measure} is")
            assert row["value"] == pytest.approx(each[measure], rel=1e-4)
    # It is .20504, and what is printed as .20 ends at .205.
    row = judged(found, "At σ_ε = 0.9, pmc_min is 0.20")
    assert (row["verdict"], row["note"]) == ("does not hold", "the paper took it from one test set of 10,000 rows")
    assert judged(found, "At σ_δ = 0, err_data is")["value"] == 0


def test_statements_agree_with_the_reference(found: Simulation) -> None:
    cells, population = GOLDEN["cells"], GOLDEN["population"]

    def of_data(estimator: str, what: str, **where: float) -> float:
        chosen = [cell for cell in cells if all(cell[name] == level for name, level in where.items())]
        return float(np.mean([cell["data_level"][estimator][what] for cell in chosen]))

    for measure, level in (("err_data", 0.15), ("err_data", 0.5), ("sqerr_data", 0.15), ("sqerr_data", 0.5)):
        row = judged(found, f"At σ_δ = {level:g}, the SD of {measure}_hat")
        near(row, of_data(f"{measure}_hat", "sd", sigma_delta=level))
    for measure in ("pmc_min", "sqerr_min"):
        for level in (0.15, 0.3, 0.9):
            row = judged(found, f"At σ_ε = {level:g}, the SD of {measure}_hat")
            near(row, of_data(f"{measure}_hat", "sd", sigma_eps=level))
        shares = {
            (cell.sd_response, cell.sd): 1
            - GOLDEN["expected"][str(cell.sd_response)][f"{measure}_hat"][str(cell.sd)]
            / population[str(cell.sd_response)][measure]
            for cell in MEVIK.cells
        }
        biased = [share for (sd_response, sd), share in shares.items() if sd_response == 0.9 or sd == 0.5]
        others = [abs(share) for (sd_response, sd), share in shares.items() if sd_response != 0.9 and sd != 0.5]
        near(judged(found, f"{measure}_hat is too low there by up to 14%"), max(biased))
        near(judged(found, f"{measure}_hat is too low where"), min(biased))
        near(judged(found, f"{measure}_hat is hardly biased"), max(others))

    def of_classifiers(estimator: str, what: str) -> float:
        return float(np.mean([each[estimator][what] for cell in cells for each in cell["classifiers"].values()]))

    near(judged(found, "erc is too high"), of_classifiers("erc", "bias"))
    near(judged(found, "erc_a is too low: average"), of_classifiers("erc_a", "bias"))
    near(judged(found, "sqerc is too high"), of_classifiers("sqerc", "bias"))
    near(judged(found, "erc_a has a lower SD"), of_classifiers("erc", "sd") - of_classifiers("erc_a", "sd"))
    near(judged(found, "pmc_hat has the lowest SD"), of_classifiers("erc_a", "sd") - of_classifiers("pmc_hat", "sd"))


def test_statements_that_many_repetitions_settle(found: Simulation) -> None:
    """On a hundred, too: by far."""
    for text, verdict in {
        "err_data_hat is unbiased without": "holds",
        "sqerr_data_hat is unbiased without": "holds",
        "pmc_hat is too high at all levels": "holds",
        "pmc_hat is too high by more than erc": "holds",
        "erc is too high": "holds",
        "erc_a is too low: average": "holds",
        "pmc_hat has the lowest SD": "holds",
        "sqerr_hat is too high by more": "holds",
        "erc and erc_a are less biased": "holds",
        "The distribution of the true sqerr": "does not hold",
    }.items():
        assert judged(found, text)["verdict"] == verdict, text
    assert judged(found, "The distribution of the true sqerr")["value"] > 0.5


def test_a_share_of_true_values_is_a_share(found: Simulation) -> None:
    row = judged(found, "About 10% of the true sqerr are above .45")
    truth = np.concatenate([series.truth for _, series in found.chosen("sqerr", "sqerc")])
    assert row["value"] == pytest.approx((truth > 0.45).mean())
    # Classifiers of one data set are alike: their mean counts once.
    high = {key: series.truth > 0.45 for key, series in found.chosen("sqerr", "sqerc")}
    sets = [np.mean([values for key, values in high.items() if key.cell == cell], axis=0) for cell in MEVIK.cells]
    error = math.sqrt(sum(stats.sem(each) ** 2 for each in sets)) / len(sets)
    assert row["high"] - row["low"] == pytest.approx(2 * stats.t.ppf(0.975, 99) * error, rel=0.1)
    assert judged(found, "The distribution of the true sqerr")["value"] == pytest.approx(stats.skew(truth))
    errors = np.concatenate([series.errors for _, series in found.chosen("sqerr", "sqerc_a")])
    row = judged(found, "sqerc_a is too low for high values")
    assert row["value"] == pytest.approx(errors[truth > 0.45].mean())


def test_the_command_ends_in_the_statements(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    made: list[int] = []

    def quick(repetitions: int, *_: Any, **__: Any) -> Simulation:
        made.append(repetitions)
        return simulate(repetitions=2, trials=100)

    monkeypatch.setattr("steelyard.studies.mevik.run", quick)
    assert main(["study", "mevik2003", "--full"]) == 0
    printed = capsys.readouterr().out.partition("What the paper says, and what comes out here:")[2]
    assert "Mevik 2003, section 7.1, figure 6:" in printed
    assert "repetitions would settle it)" in printed
    assert main(["study", "mevik2003", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["statements"]
    assert [row["verdict"] for row in told] == simulate(repetitions=2, trials=100).statements["verdict"]
    assert made == [1000, 100]


def test_other_designs_have_no_statements() -> None:
    for design in (replace(HEAVY_TAILS, cells=HEAVY_TAILS.cells[:1]), replace(MEVIK, cells=MEVIK.cells[:1])):
        assert len(simulate(design, 2, trials=100).statements) == 0


def test_one_repetition_settles_what_is_exact_only() -> None:
    for row in simulate(repetitions=1, trials=100).statements:
        exactly = row["low"] == row["high"]
        assert exactly or row["verdict"] == "not settled"


# --- what must hold exactly ---------------------------------------------------------------------------------------


def test_without_measurement_error_nothing_is_adjusted(found: Simulation) -> None:
    for cell in MEVIK.cells:
        for classifier in CLASSIFIERS:
            for measure, (plain, adjusted, _) in OF_CLASSIFIERS.items():
                one, other = (found.series[Key(cell, measure, name, classifier)] for name in (plain, adjusted))
                assert np.array_equal(one.values, other.values) == (cell.sd == 0)
    for measure in ("err_data", "sqerr_data"):
        for key, series in found.chosen(measure):
            assert (series.values == 0).all() == (series.truth == 0).all() == (key.cell.sd == 0)


def test_where_nothing_is_random_all_estimates_are_counts() -> None:
    design = replace(MEVIK, cells=(Cell(0.0, 0.0),))
    (data,) = replications(design, design.cells[0], 3)
    estimated = {(key.estimator, key.classifier): values for key, values in paper_estimates(data)}
    for classifier in CLASSIFIERS:
        for names in OF_CLASSIFIERS.values():
            plain, adjusted, expected = (estimated[name, classifier] for name in names)
            np.testing.assert_array_equal(plain, adjusted)
            np.testing.assert_allclose(plain, expected, rtol=1e-12)
        count = (data.assigned[classifier] != np.digitize(data.y, [0, 0.6])).mean(axis=1)
        np.testing.assert_array_equal(estimated["erc", classifier], count)
    assert not estimated["pmc_min_hat", ""].any()


def test_the_seed_decides_and_blocks_do_not_matter() -> None:
    design, repetitions = replace(MEVIK, cells=MEVIK.cells[4:6]), 7
    one, other, longer = (simulate(design, many, 5, block=block) for many, block in ((7, 2), (7, 5), (9, 4)))
    for key, series in one.series.items():
        np.testing.assert_array_equal(series.values, other.series[key].values)
        np.testing.assert_array_equal(series.truth, other.series[key].truth)
        np.testing.assert_array_equal(series.values, longer.series[key].values[:repetitions])
    another = simulate(design, repetitions, 6)
    assert all((series.values != one.series[key].values).any() for key, series in another.series.items())


def test_cells_have_data_of_their_own() -> None:
    first, second = (next(replications(MEVIK, cell, 2)) for cell in MEVIK.cells[:2])
    assert not (first.x == second.x).any()


def test_true_values_hardly_depend_on_where_classifiers_are_tried() -> None:
    few, more = (
        replicate(MEVIK, MEVIK.cells[2], range(3), 0, examinations(MEVIK, size)[0.15]) for size in (10_000, 160_000)
    )
    for classifier in CLASSIFIERS:
        np.testing.assert_allclose(few.truth[classifier][:, 0], more.truth[classifier][:, 0], rtol=0.01)
        np.testing.assert_allclose(few.truth[classifier][:, 1], more.truth[classifier][:, 1], rtol=0.03)


# --- tables and ways in -------------------------------------------------------------------------------------------


def test_the_table_holds_every_estimate_once(found: Simulation) -> None:
    table = found.table()
    assert len(table) == len(MEVIK.cells) * (len(OF_DATA) + 6 * len(CLASSIFIERS))
    rows = {(row["sd_response"], row["sd"], row["classifier"], row["estimator"]): row for row in table}
    assert len(rows) == len(table)
    row = rows[0.3, 0.5, "lda", "erc"]
    assert row["bias"] == pytest.approx(row["mean"] - row["truth"])
    assert row["rmse"] ** 2 == pytest.approx(row["bias"] ** 2 + row["se"] ** 2 * (found.repetitions - 1))


def test_other_estimates_can_be_held_against_the_same_truth() -> None:
    def known(data: Replications) -> Any:
        for classifier, truth in data.truth.items():
            yield Key(data.cell, "pmc", "oracle", classifier), truth[:, 0]

    simulation = simulate(replace(MEVIK, cells=MEVIK.cells[:1]), 3, estimates=(paper_estimates, known))
    assert simulation.estimators("pmc") == [*OF_CLASSIFIERS["pmc"], "oracle"]
    assert all(series.rmse == 0 for _, series in simulation.chosen("pmc", "oracle"))


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_any_design_can_be_simulated(design: Any) -> None:
    steps: list[tuple[int, int]] = []
    small = replace(design, cells=design.cells[-1:])
    simulation = simulate(small, 6, block=2, trials=500, progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (6, 6)
    assert sorted(steps) == steps
    assert len(simulation.populations[small.cells[0]].frequency) == design.classes
    for (_, measure, _, classifier), series in simulation.series.items():
        assert np.isfinite(series.values).all()
        least = simulation.populations[small.cells[0]]
        if classifier:
            assert (series.truth > getattr(least, f"{measure}_min") * 0.97).all()
    assert all(row["paper"] is None for row in simulation.summary()) == (design.name != MEVIK.name)


def test_one_repetition_has_no_standard_errors() -> None:
    simulation = run(1, design=replace(HEAVY_TAILS, cells=HEAVY_TAILS.cells[:1]))
    assert simulation.repetitions == 1
    assert all(math.isnan(row["se"]) and math.isnan(row["deviation"]) for row in simulation.table())


@pytest.mark.parametrize(("repetitions", "seed"), [(0, 1), (-3, 1), (5, -1)])
def test_nothing_to_draw_is_refused(repetitions: int, seed: int) -> None:
    with pytest.raises(BadOption, match="repetitions from seed"):
        simulate(repetitions=repetitions, seed=seed)


def test_names_of_better_estimates_are_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "mevik2003", "--repetitions", "1", "--better"]) == 0
    words = capsys.readouterr().out.partition("root mean squared errors")[2].split()
    assert {"posterior_error", "difference_error", "guarded_error", "difference_sqerr", "guarded_sqerr"} <= {*words}
