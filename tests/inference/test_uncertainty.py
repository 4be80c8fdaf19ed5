"""Intervals and standard errors, against formulas that others derived by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri, stdtrit
from scipy.stats import norm, t

import steelyard as sy
from steelyard import Scale, assess, assess_table, find
from steelyard.inference.rules import Evidence
from steelyard.inference.rules.plain import PLAIN
from steelyard.inference.student_t import MANY, critical_values
from tests.cases_of import drawn

Z = norm.ppf(0.975)


def test_wilson_is_scipys_wilson() -> None:
    from scipy.stats import binomtest

    found = assess_table([[231, 27], [32, 54]], classes=["no", "yes"], event="yes")
    for name, hits, trials in [
        ("sensitivity", 54, 86),
        ("specificity", 231, 258),
        ("precision", 54, 81),
        ("error", 59, 344),
        ("prevalence", 86, 344),
    ]:
        expected = binomtest(hits, trials).proportion_ci(method="wilson")
        assert found[name].low == pytest.approx(expected.low, abs=1e-12)
        assert found[name].high == pytest.approx(expected.high, abs=1e-12)
        assert found[name].method == "Wilson"


def test_standard_errors_are_those_of_the_textbook() -> None:
    tp, fn, fp, tn = 54, 32, 27, 231
    found = assess_table([[tn, fp], [fn, tp]], classes=["no", "yes"], event="yes")
    sensitivity, specificity = tp / (tp + fn), tn / (tn + fp)
    variance = sensitivity * (1 - sensitivity) / (tp + fn) + specificity * (1 - specificity) / (tn + fp)
    assert found["informedness"].se == pytest.approx(math.sqrt(variance))
    assert found["balanced_accuracy"].se == pytest.approx(math.sqrt(variance) / 2)
    odds_ratio = tp * tn / (fp * fn)
    assert found["diagnostic_odds_ratio"].se == pytest.approx(odds_ratio * math.sqrt(1 / tp + 1 / fn + 1 / fp + 1 / tn))
    ratio = found["lr_positive"].value
    log_variance = 1 / tp - 1 / (tp + fn) + 1 / fp - 1 / (fp + tn)  # Simel et al. (1991)
    assert found["lr_positive"].se == pytest.approx(ratio * math.sqrt(log_variance))


def test_intervals_on_scales_are_those_of_half_a_row_more_in_each_cell() -> None:
    found = assess_table([[231, 27], [32, 54]], classes=["no", "yes"], event="yes")
    tp, fn, fp, tn = 54.5, 32.5, 27.5, 231.5
    log_odds, error = math.log(tp * tn / (fp * fn)), math.sqrt(1 / tp + 1 / fn + 1 / fp + 1 / tn)
    estimate = found["diagnostic_odds_ratio"]
    assert_allclose([estimate.low, estimate.high], np.exp([log_odds - Z * error, log_odds + Z * error]))


def half_right(classes: int) -> Any:
    """Two rows over a table, one of them right and one wrong."""
    table = np.full((classes, classes), 1 / (classes * (classes - 1)))
    np.fill_diagonal(table, 1 / classes)
    return table


def slopes(formula: Any, table: Any) -> Any:
    """How a value moves with each cell, by differences."""
    found = np.empty(table.shape)
    for cell in np.ndindex(*table.shape):
        step = np.zeros(table.shape)
        step[cell] = 1e-4 * table.sum()
        found[cell] = (formula(table + step) - formula(table - step)) / (2 * step[cell])
    return found


def kappa_of(table: Any) -> float:
    share = table / table.sum()
    by_chance = share.sum(axis=0) @ share.sum(axis=1)
    return float((np.trace(share) - by_chance) / (1 - by_chance))


def macro_f1_of(table: Any) -> float:
    return float(np.mean(2 * np.diag(table) / (table.sum(axis=0) + table.sum(axis=1))))


def weighted_kappa_of(table: Any) -> float:
    places, expected = np.arange(len(table)), np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    distance = np.abs(places[:, None] - places)
    return float(1 - (distance * table).sum() / (distance * expected).sum())


def logit_bounds(value: float, reach: float) -> Any:
    return 1 / (1 + np.exp(-math.log(value / (1 - value)) + np.array([1, -1]) * reach / (value * (1 - value))))


def fisher_bounds(value: float, reach: float) -> Any:
    return np.tanh(math.atanh(value) + np.array([-1, 1]) * reach / (1 - value**2))


@pytest.mark.parametrize(("rows", "classes"), [(60, 3), (90, 5), (400, 18), (40, 18)])
@pytest.mark.parametrize(
    ("name", "formula", "bounds"),
    [
        ("kappa", kappa_of, fisher_bounds),
        ("weighted_kappa", weighted_kappa_of, fisher_bounds),
        ("f1", macro_f1_of, logit_bounds),
    ],
)
def test_of_two_pseudo_rows_one_is_right_and_one_is_wrong(
    rows: int, classes: int, name: str, formula: Any, bounds: Any
) -> None:
    """Few classes, many of them in many rows, and many in few."""
    truth, assigned = drawn(rows, classes, 0.85, 5)
    truth[:classes] = assigned[:classes] = np.arange(classes)  # no class that a macro average would leave out
    table = np.bincount(classes * truth + assigned, minlength=classes**2).reshape(classes, classes)
    found = assess(truth, assigned, scale=Scale(list(range(classes))))[name]
    smooth = table + half_right(classes)
    reach = Z * math.sqrt((smooth * np.square(slopes(formula, smooth))).sum())
    assert_allclose([found.low, found.high], bounds(formula(smooth), reach), rtol=1e-5)


@pytest.mark.parametrize("classes", [2, 3, 18])
def test_either_of_two_classifiers_is_right_in_half_of_a_pseudo_row(classes: int) -> None:
    truth, first = drawn(80, classes, 0.8, 6)
    second = drawn(80, classes, 0.7, 6)[1]
    found = sy.compare(truth, {"a": first, "b": second}, scale=Scale(list(range(classes))), measures=["error"])
    row = found.differences("error").to_pylist()[0]
    gained, lost = (np.sum((first == truth) & (second != truth)), np.sum((first != truth) & (second == truth)))
    centre, shares = (lost - gained) / 82, (gained + lost + 1) / 82  # half a pseudo-row for each, as Agresti and Min do
    reach = Z * math.sqrt((shares - centre**2) / 82)
    assert_allclose([row["low"], row["high"]], [centre - reach, centre + reach], rtol=1e-9)


def test_the_mean_cost_has_the_t_interval_of_a_mean() -> None:
    truth, assigned = drawn(5000, 2, 0.7, 3)
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    found = assess(truth, assigned, cost=costs)["cost"]
    rows = costs[truth, assigned]
    error = rows.std() / math.sqrt(len(rows))
    assert found.value == pytest.approx(rows.mean())
    assert found.se == pytest.approx(error)
    reach = t.ppf(0.975, len(rows) - 1) * error
    # Two pseudo-rows among five thousand move the interval by next to nothing.
    assert_allclose([found.low, found.high], [rows.mean() - reach, rows.mean() + reach], rtol=5e-3)


@pytest.mark.parametrize("unit", [1e-45, 1e-6, 3.7, 1e45])
def test_the_unit_of_sampling_weights_does_not_matter(unit: float) -> None:
    truth, assigned = drawn(60)
    weight, measures = np.random.default_rng(2).gamma(2.0, size=60), ["mcc", "kappa", "g_mean", "lr_positive"]
    found, expected = (assess(truth, assigned, weight=each, measures=measures) for each in (weight * unit, weight))
    for name in measures:
        for part in ("value", "low", "high", "se"):
            assert getattr(found[name], part) == pytest.approx(getattr(expected[name], part), rel=1e-9)


def test_sampling_weights_have_the_robust_standard_error() -> None:
    truth, assigned = drawn(400, 3, 0.7, 4)
    weight = np.random.default_rng(1).gamma(2.0, size=400)
    found = assess(truth, assigned, weight=weight)["accuracy"]
    right = truth == assigned
    mean = np.average(right, weights=weight)
    assert found.value == pytest.approx(mean)
    assert found.se == pytest.approx(math.sqrt((weight**2 * (right - mean) ** 2).sum()) / weight.sum())


def test_clusters_have_the_sandwich_standard_error() -> None:
    truth, assigned = drawn(400, 3, 0.7, 4)
    group = np.arange(400) // 8
    found = assess(truth, assigned, group=group)["accuracy"]
    centred = (truth == assigned) - found.value
    sums = np.bincount(group, centred)
    assert found.se == pytest.approx(math.sqrt((sums**2).sum() * 50 / 49) / 400)
    assert found.method == "Wilson, clustered"


def test_clusters_do_with_measures_that_speak_of_no_single_class() -> None:
    truth, assigned, group = list("ababbc"), list("abbbac"), [1, 1, 2, 2, 3, 3]
    alone = assess(truth, assigned, group=group, measures=["weighted_kappa"])["weighted_kappa"]
    among = assess(truth, assigned, group=group, measures=["weighted_kappa", "sensitivity"])["weighted_kappa"]
    assert (alone.value, alone.low, alone.high) == (among.value, among.low, among.high)


def test_rows_that_are_copies_add_nothing_once_they_are_one_cluster() -> None:
    truth, assigned = drawn(200, 3, 0.7, 8)
    once = assess(truth, assigned, group=np.arange(200))
    copied = assess(np.repeat(truth, 5), np.repeat(assigned, 5), group=np.repeat(np.arange(200), 5))
    for name in ("error", "kappa", "mcc", "f1", "lr_negative"):
        assert copied[name].se == pytest.approx(once[name].se)
        assert copied[name].low == pytest.approx(once[name].low, abs=1e-9)
        assert copied[name].high == pytest.approx(once[name].high, abs=1e-9)


@pytest.mark.parametrize("name", ["error", "kappa", "f1", "g_mean", "mcc", "lr_positive", "cost", "jaccard"])
def test_all_right_still_leaves_doubt_and_less_of_it_with_more_rows(name: str) -> None:
    entry = find("cost", costs=[[0, 1], [1, 0]]) if name == "cost" else find(name)
    widths = []
    for rows in (10, 100, 1000):
        found = assess_table([[rows, 0], [0, rows]], classes=["no", "yes"], event="yes", measures=[entry])[entry]
        assert found.low <= found.value <= found.high
        widths.append(found.high - found.low if np.isfinite(found.high) else 1 / found.low)
    assert widths[0] > widths[1] > widths[2] > 0


def test_all_wrong_still_leaves_doubt() -> None:
    found = assess_table([[0, 20], [20, 0]], classes=["no", "yes"], event="yes")
    for name in ("accuracy", "kappa", "f1", "sensitivity", "mcc"):
        assert found[name].value == found[name].low
        assert found[name].high > found[name].low


@pytest.mark.parametrize("seed", range(40))
def test_rounding_of_weights_makes_no_correlation_with_one_assigned_class(seed: int) -> None:
    random = np.random.default_rng(seed)
    classes = int(random.integers(3, 25))
    truth, weight = random.integers(0, classes, 40), random.gamma(1.0, 1.0, 40)
    found = assess(truth, np.zeros(40, int), scale=Scale(range(classes)), weight=weight, measures=["mcc"])["mcc"]
    assert math.isnan(found.value)
    assert found.note == "only one class is true, or only one is assigned"


def test_undefined_values_follow_the_users_policy() -> None:
    table, scale = [[10, 2, 0], [3, 9, 0], [1, 2, 0]], Scale(["a", "b", "c"])
    plain = assess_table(table, scale=scale)
    assert math.isnan(plain["precision", "c"].value)
    assert plain["precision", "c"].note == "class 'c' is never assigned"
    assert "2 of 3 classes" in plain["precision"].note
    zero = assess_table(table, scale=scale, undefined=0.0)
    assert zero["precision", "c"].value == 0
    assert "0 stands in" in zero["precision", "c"].note
    assert zero["precision"].value == pytest.approx(plain["precision"].value * 2 / 3)
    strict = assess_table(table, scale=scale, undefined="error")
    with pytest.raises(ValueError, match="never assigned"):
        _ = strict["precision", "c"]
    assert strict["accuracy"].value == plain["accuracy"].value


def test_training_stands_beside_test() -> None:
    truth, assigned = drawn(200, 2, 0.6, 1)
    fitted = drawn(300, 2, 0.95, 2)
    found = assess(truth, assigned, training=fitted)
    assert found.training is not None
    assert found.training["error"].value == pytest.approx(np.mean(fitted[0] != fitted[1]))
    gap = found.gap("error")
    assert gap.value == pytest.approx(found["error"].value - found.training["error"].value)
    assert gap.low < gap.value < gap.high
    assert gap.low > 0, "a classifier that was fitted to its training data is flattered by them"
    assert "training" in str(found)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99, 0.999, 0.999999])
def test_quantiles_of_t_are_those_of_scipy_also_where_they_are_told_from_the_normal(level: float) -> None:
    freedom = np.array([1.0, 7.5, MANY - 1, MANY, MANY + 1, 12345.6, 1e6, 1e12])
    assert_allclose(critical_values(level, freedom), stdtrit(freedom, (1 + level) / 2), rtol=5e-14)
    assert critical_values(level, np.array([np.inf]))[0] == pytest.approx(ndtri((1 + level) / 2), rel=1e-14)


@pytest.mark.parametrize("options", [{}, {"weight": [1.0, 2.5, 1.0, 0.5, 3.0, 1.0]}, {"group": [1, 1, 2, 2, 3, 3]}])
@pytest.mark.parametrize("method", ["delta", "percentile"])
def test_what_is_the_same_whatever_rows_there_are_is_known(options: dict[str, Any], method: Any) -> None:
    """Prevalences add up to 1, and so their mean is one over the number of classes."""
    found = sy.assess([0, 1, 2, 0, 1, 2], [0, 1, 1, 0, 2, 2], method=method, **options)
    for measure in ("prevalence", "detection_prevalence"):
        for average in ("macro", "micro"):
            one = found[measure, average]
            assert (one.low, one.high) == pytest.approx((1 / 3, 1 / 3)), (measure, average)
            assert one.se == 0


def test_clusters_that_are_alike_by_chance_do_not_make_an_error_rate_known() -> None:
    found = sy.assess([0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0], group=[1, 1, 2, 2, 3, 3])["error"]
    assert found.se == 0
    assert found.low < 0.2
    assert found.high > 0.8


def test_plain_bounds_do_not_cross_where_rounding_brings_a_value_beyond_its_span() -> None:
    value = np.array([np.nextafter(-1.0, -2.0), np.nextafter(1.0, 2.0)])
    none, ends = np.zeros(2), np.array([[-1.0, -1.0], [1.0, 1.0]])
    evidence = Evidence(value, value, none, none, np.full(2, 1.96), none, ends, 0.95, np.arange(2), None)
    low, high = PLAIN.bounds(evidence)
    assert (low <= value).all()
    assert (value <= high).all()


def test_a_class_of_one_cluster_scatters_as_its_rows_do() -> None:
    """What they add cancels there: the sensitivity had a standard error of 0, and its average one that left it out."""
    truth = ["a"] * 40 + ["b"] * 40 + ["c"] * 8
    group = [row // 4 for row in range(80)] + [20] * 8
    said = np.array(["a"] * 32 + ["b"] * 8 + ["b"] * 27 + ["c"] * 13 + ["c"] * 6 + ["a"] * 2)
    other = np.array(["a"] * 36 + ["c"] * 4 + ["b"] * 32 + ["a"] * 8 + ["c"] * 4 + ["b"] * 4)
    measures = ["sensitivity", "balanced_accuracy", "specificity"]
    both = sy.compare(truth, {"said": said, "other": other}, group=group, measures=measures)
    found = both["said"]
    effect = (found["sensitivity", "c"].se ** 2) / (0.75 * 0.25 / 8)
    assert 1 < effect <= 8
    known = [found["sensitivity", label].se for label in "abc"]
    assert found["sensitivity", "macro"].se == pytest.approx(np.hypot.reduce(known) / 3, rel=0.02)
    assert found["balanced_accuracy"].se == pytest.approx(found["sensitivity", "macro"].se)
    alone = found["sensitivity", "c"].se, both["other"]["sensitivity", "c"].se
    rows = {row["class"]: row["se"] for row in both.differences("sensitivity", by_class=True).to_pylist()}
    assert 0.1 * max(alone) < rows["c"] < 2 * sum(alone)
    assert rows[None] > rows["c"] / 3
