"""Where to set the threshold: the best is the best, conditions hold, and what is promised is kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import BadOption, EventNeeded, NoThreshold, UnknownMeasure
from steelyard.core.text import to_text
from steelyard.display.views import threshold_view
from steelyard.results.decisions import Goal, Limit
from tests.effort import repeats

COSTS = {"no": {"yes": 1.0}, "yes": {"no": 4.0}}


def sample(rows: int = 300, seed: int = 1, shift: float = 1.5) -> tuple[Any, Any]:
    """Labels, and scores that tell something about them."""
    random = np.random.default_rng(seed)
    event = random.random(rows) < 0.3
    return np.where(event, "yes", "no"), random.normal(size=rows) + shift * event


@pytest.fixture(scope="module")
def tested() -> sy.Assessment:
    truth, score = sample()
    return sy.assess(truth, score, event="yes", threshold=0.5, cost=COSTS)


scored = st.lists(st.tuples(st.booleans(), st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 2.0])), min_size=4, max_size=25)


def both_classes(rows: list[tuple[bool, float]]) -> bool:
    return len({event for event, _ in rows}) == 2


# --- every threshold --------------------------------------------------------------------------------------------


@given(scored.filter(both_classes))
def test_a_table_of_thresholds_is_what_assessing_at_each_of_them_gives(rows: list[tuple[bool, float]]) -> None:
    truth, score = (list(column) for column in zip(*rows, strict=True))
    names = ["sensitivity", "specificity", "precision", "f1", "kappa", "mcc", "accuracy", "weighted_kappa"]
    table = sy.assess(truth, score, threshold=0.0).thresholds(names)
    assert table["threshold"] == [math.inf, *sorted(set(score), reverse=True)]
    for row, threshold in enumerate(table["threshold"]):
        alone = sy.assess(truth, score, threshold=threshold, measures=names)
        for name in names:
            found = alone[name, True] if name not in ("kappa", "mcc", "accuracy", "weighted_kappa") else alone[name]
            assert_allclose(table[name][row], found.value, atol=1e-12)
            if name not in ("kappa", "mcc", "weighted_kappa"):  # of which the table of a class is another slot
                assert_allclose([table[f"{name}_low"][row], table[f"{name}_high"][row]], [found.low, found.high])
        assert_allclose([table[cell][row] for cell in ("fn", "tp")], alone.confusion()[1])


@given(scored.filter(both_classes))
def test_raising_the_threshold_lowers_sensitivity_and_raises_specificity(rows: list[tuple[bool, float]]) -> None:
    truth, score = (list(column) for column in zip(*rows, strict=True))
    table = sy.assess(truth, score, threshold=0.0).thresholds(["sensitivity", "specificity"], intervals=False)
    assert (np.diff(table["sensitivity"]) >= 0).all()
    assert (np.diff(table["specificity"]) <= 0).all()
    assert table.column_names == ["threshold", "tp", "fn", "fp", "tn", "sensitivity", "specificity"]


def test_another_prevalence_changes_what_depends_on_it(tested: sy.Assessment) -> None:
    here, rare = tested.thresholds(), tested.thresholds(prevalence=0.01)
    assert_allclose(here["sensitivity"], rare["sensitivity"])
    assert_allclose(here["specificity_low"], rare["specificity_low"], atol=1e-9)
    row = len(here["threshold"]) // 3
    sensitivity, fpr = here["sensitivity"][row], 1 - here["specificity"][row]
    assert_allclose(rare["precision"][row], 0.01 * sensitivity / (0.01 * sensitivity + 0.99 * fpr))
    at = sy.assess(*sample(), event="yes", threshold=here["threshold"][row], measures=["precision_at(prevalence=0.01)"])
    found = at["precision_at(prevalence=0.01)"]
    assert_allclose(rare["precision"][row], found.value)


def test_what_stands_in_for_undefined_values_does_at_every_threshold() -> None:
    truth, score = sample(30)
    found = sy.assess(truth, score, event="yes", threshold=0.5, undefined=0)
    table, there = found.thresholds(["precision"]), found.at_threshold(math.inf)["precision", "yes"]
    assert table["precision"][0] == there.value == 0
    assert all(math.isnan(bound) for bound in (table["precision_low"][0], there.low, there.high))
    assert found.thresholds(["precision"], intervals=False)["precision"] == table["precision"]


def test_any_class_of_several_has_its_thresholds() -> None:
    random = np.random.default_rng(0)
    memberships = random.dirichlet(np.ones(3), 80)
    truth = np.array(list("abc"))[memberships.argmax(axis=1)]
    result = sy.assess(truth, memberships)
    table = result.thresholds(["sensitivity"], label="b")
    assert table["sensitivity"][-1] == 1.0
    assert len(table) == 81
    with pytest.raises(EventNeeded):
        result.thresholds()
    with pytest.raises(BadOption, match="two classes, not 3"):
        result.best_threshold("f1")
    assert len(result.thresholds(["kappa"], label="b")) == 81  # that of the class and the rest
    with pytest.raises(BadOption, match="tells all 3 classes apart"):
        result.thresholds(["weighted_kappa"], label="b")


# --- the best of them -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["f1", "kappa", "informedness", "accuracy", "error", "g_mean", "cost", "fbeta(beta=0.5)"]
)
def test_the_best_threshold_is_better_than_all_others(tested: sy.Assessment, name: str) -> None:
    found = tested.best_threshold(name)
    values = np.array(tested.thresholds([name], intervals=False)[found.goal.measure.label])
    best = np.nanmax(values) if found.goal.measure.better == "higher" else np.nanmin(values)
    assert found.value is not None
    assert_allclose(found.value.value, best)
    assert found.assessment is not None
    if "(" not in name:
        assert_allclose(found.assessment[found.goal.measure].value, best)
    # Of equally good ones the highest.
    thresholds = np.array(tested.thresholds([name], intervals=False)["threshold"])
    assert found.threshold == thresholds[np.isclose(values, best, rtol=1e-13, atol=0)].max()
    assert found.also < found.threshold


def test_conditions_are_kept_by_the_largest_threshold_that_can(tested: sy.Assessment) -> None:
    found = tested.best_threshold("specificity", where="sensitivity >= 0.8")
    table = tested.thresholds(["sensitivity"], intervals=False)
    fit = [t for t, value in zip(table["threshold"], table["sensitivity"], strict=True) if value >= 0.8]
    assert found.threshold == max(fit)
    here, elsewhere = found.limits[0]
    assert here.value >= 0.8
    assert here.low < elsewhere.value < here.high
    both = tested.best_threshold("f1", where=["sensitivity >= 0.5", "precision >= 0.7"])
    assert [limit[0].value >= bound for limit, bound in zip(both.limits, (0.5, 0.7), strict=True)] == [True, True]


def test_a_share_that_is_met_exactly_is_met() -> None:
    truth = ["yes"] * 10 + ["no"] * 10
    score = [*range(20, 10, -1), *range(12, 2, -1)]
    found = sy.assess(truth, [float(s) for s in score], event="yes", threshold=9.0).best_threshold(
        "specificity", where="sensitivity >= 0.8"
    )
    assert found.limits[0][0].value == 0.8
    assert found.threshold == 13.0


def test_no_threshold_is_said_to_be_none(tested: sy.Assessment) -> None:
    found = tested.best_threshold("f1", where="precision >= 1.01")
    assert not found.found
    assert math.isnan(found.threshold)
    assert "the most is 1" in found.note
    assert "no threshold" in str(found)
    together = tested.best_threshold("f1", where=["sensitivity >= 0.99", "specificity >= 0.99"])
    assert together.note == "no threshold meets all conditions"


def test_costs_are_least_at_the_prevalence_asked_for(tested: sy.Assessment) -> None:
    found = tested.best_threshold("cost", prevalence=0.1)
    table = tested.thresholds(["sensitivity", "specificity"], intervals=False)
    sensitivity, specificity = np.array(table["sensitivity"]), np.array(table["specificity"])
    costs = 0.1 * 4 * (1 - sensitivity) + 0.9 * (1 - specificity)
    assert found.value is not None
    assert_allclose(found.value.value, costs.min())
    assert_allclose(found.threshold, np.array(table["threshold"])[costs.argmin()])


def test_the_second_value_is_free_of_the_choice() -> None:
    """Scores that tell nothing: the best balanced accuracy on the rows is above chance, the second value is not."""
    first, second = [], []
    for seed in range(30):
        truth, score = sample(60, seed, shift=0.0)
        found = sy.assess(truth, score, event="yes", threshold=0.0).best_threshold("balanced_accuracy")
        assert found.value is not None
        assert found.honest is not None
        first.append(found.value.value)
        second.append(found.honest.value)
    assert np.mean(first) > 0.56
    assert abs(np.mean(second) - 0.5) < 0.03


@pytest.mark.study
def test_a_guarantee_is_kept_in_so_many_samples() -> None:
    """Scores of the event are uniform, so that the true sensitivity of a threshold is known: 1 - threshold."""
    kept = []
    for seed in range(repeats(80, 300)):
        random = np.random.default_rng(seed)
        truth = np.repeat([True, False], 60)
        score = np.concatenate([random.random(60), random.random(60) - 0.5])
        result = sy.assess(truth, score, threshold=0.5)
        found = result.best_threshold("specificity", where="sensitivity >= 0.8", guarantee=0.9)
        kept.append(1 - found.threshold >= 0.8)
        plain = result.best_threshold("specificity", where="sensitivity >= 0.8")
        assert plain.threshold >= found.threshold
    assert 0.87 < np.mean(kept) < 0.97


@pytest.mark.parametrize(
    ("condition", "bound"),
    [("specificity >= 0.7", 0.7), ("fpr <= 0.3", 0.7), ("fnr <= 0.4", 0.6), ("sensitivity >= 0.6", 0.6)],
)
def test_errors_can_be_guaranteed_as_well_as_successes(tested: sy.Assessment, condition: str, bound: float) -> None:
    other = "sensitivity" if (condition[0] in "f" and "fpr" in condition) or "spec" in condition else "specificity"
    found = tested.best_threshold(other, where=condition, guarantee=0.95)
    assert found.assessment is not None
    success = "specificity" if other == "sensitivity" else "sensitivity"
    assert found.assessment[success].value > bound


def test_a_guarantee_that_cannot_be_given_says_what_it_would_take(tested: sy.Assessment) -> None:
    found = tested.best_threshold("specificity", where="sensitivity >= 0.99", guarantee=0.95)
    assert not found.found
    assert "299 would do" in found.note  # 0.99^299 < 0.05
    truth, score = sample()
    weighted = sy.assess(truth, score, event="yes", threshold=0.0, weight=np.linspace(0.5, 1.5, 300))
    clustered = sy.assess(truth, score, event="yes", threshold=0.0, group=np.arange(300) // 3)
    for result in (weighted, clustered):
        with pytest.raises(BadOption, match="independent rows"):
            result.best_threshold("specificity", where="sensitivity >= 0.8", guarantee=0.95)
        assert result.best_threshold("f1").found


@pytest.mark.parametrize("condition", ["sensitivity >= 1", "sensitivity >= 80", "fnr <= 0", "fnr <= -0.1"])
def test_what_no_number_of_rows_can_guarantee_is_said_to_be_that(tested: sy.Assessment, condition: str) -> None:
    found = tested.best_threshold("specificity", where=condition, guarantee=0.95)
    assert (found.found, found.note) == (False, f"{condition} cannot be guaranteed by any number of rows")


def test_what_holds_always_is_guaranteed_always(tested: sy.Assessment) -> None:
    assert tested.best_threshold("specificity", where="sensitivity >= -1", guarantee=0.95).found


def test_a_guarantee_does_not_depend_on_the_prevalence(tested: sy.Assessment) -> None:
    options: dict[str, Any] = {"where": "sensitivity >= 0.8", "guarantee": 0.95}
    here, rare = (tested.best_threshold("specificity", prevalence=share, **options) for share in (None, 0.001))
    assert here.threshold == rare.threshold


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "auc"}, "the same at every threshold"),
        ({"measure": "prevalence"}, "no value of prevalence is better"),
        ({"measure": "f1", "where": "sensitivity about 0.8"}, "cannot be read"),
        ({"measure": "f1", "where": 3}, "cannot be read"),
        (
            {"measure": "f1", "where": "fpr <= .5 and npv >= .5"},
            "cannot be read. Give several in a list: ['fpr <= .5', 'npv >= .5']",
        ),
        ({"measure": "f1", "prevalence": 1.5}, "prevalence is 1.5"),
        ({"measure": "f1", "guarantee": 0.9}, "needs a condition"),
        ({"measure": "f1", "guarantee": "sure", "where": "fpr <= 0.1"}, "guarantee is 'sure'"),
        ({"measure": "f1", "guarantee": 0.9, "where": "precision >= 0.5"}, "cannot be guaranteed"),
        ({"measure": "f1", "guarantee": 0.9, "where": "sensitivity <= 0.5"}, "cannot be guaranteed"),
    ],
)
def test_goals_that_make_no_sense_are_refused(tested: sy.Assessment, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadOption) as caught:
        tested.best_threshold(**{"where": (), **options})
    assert words in str(caught.value)


def test_a_goal_is_read_as_it_is_written() -> None:
    goal = Goal.read("max specificity where sensitivity >= 0.8 and precision >= .5")
    assert [str(limit) for limit in goal.limits] == ["sensitivity >= 0.8", "precision >= 0.5"]
    assert Goal.read("best:error").measure.better == "lower"
    exact = str(Goal.of("specificity", "sensitivity >= 0.9999999", prevalence=0.1234567, guarantee=0.9999999))
    assert exact.endswith("0.1234567 where sensitivity >= 0.9999999, guaranteed with probability 0.9999999")
    assert Goal.read(" min fbeta(beta=0.5)".replace("min", "max")).measure.label == "fbeta(beta=0.5)"
    assert Limit.read("fpr<=1e-1").bound == 0.1
    for text in ("max error", "f1", "best:", "max f1 where", "maximise f1"):
        with pytest.raises((BadOption, UnknownMeasure)):
            Goal.read(text)


def test_a_goal_in_one_line_is_the_goal_in_parts(tested: sy.Assessment) -> None:
    def told(*goal: Any) -> str:
        return str(tested.best_threshold(*goal))

    parts = told("specificity", "sensitivity >= 0.7")
    assert told("max specificity where sensitivity >= 0.7") == told("max specificity", "sensitivity >= 0.7") == parts
    assert told("best:f1") == told("f1")
    both = told("max specificity where sensitivity >= 0.7", "precision >= 0.4")
    assert both == told("specificity", ["sensitivity >= 0.7", "precision >= 0.4"]) != parts
    with pytest.raises(BadOption, match="lower is better"):
        told("max error where sensitivity >= 0.7")


# --- through assess and compare ---------------------------------------------------------------------------------


def test_assess_chooses_and_assesses_there() -> None:
    truth, score = sample()
    result = sy.assess(truth, score, event="yes", threshold="best:f1")
    assert result.decision is not None
    again = sy.assess(truth, score, event="yes", threshold=result.decision.threshold)
    assert_array_equal(result.confusion(), again.confusion())
    assert result["f1"].value == pytest.approx(result.decision.value.value if result.decision.value else None)
    assert "highest f1" in str(result)


def test_every_classifier_has_its_own_threshold() -> None:
    truth, score = sample()
    models = {"plain": score, "stretched": 10 * score, "labels": np.where(score > 1, "yes", "no")}
    result = sy.compare(truth, models, event="yes", threshold="max specificity where sensitivity >= 0.7")
    assert set(result.decisions) == {"plain", "stretched"}
    assert_allclose(result.decisions["stretched"].threshold, 10 * result.decisions["plain"].threshold)
    assert_array_equal(result["plain"].confusion(), result["stretched"].confusion())
    assert "sensitivity >= 0.7" in str(result)


def test_a_choice_needs_scores_costs_and_a_threshold_that_does() -> None:
    truth, score = sample()
    with pytest.raises(BadOption, match="no score"):
        sy.assess(truth, truth, event="yes", threshold="best:f1")
    with pytest.raises(BadOption, match="needs costs"):
        sy.assess(truth, score, event="yes", threshold="cost")
    with pytest.raises(NoThreshold, match="the most is 1"):
        sy.assess(truth, score, event="yes", threshold="max f1 where precision >= 1.5")


def test_training_rows_are_assigned_by_the_threshold_of_the_test_rows() -> None:
    truth, score = sample()
    result = sy.assess(truth, score, event="yes", threshold="best:f1", training=sample(seed=2))
    assert result.training is not None
    assert result.decision is not None
    other = sy.assess(*sample(seed=2), event="yes", threshold=result.decision.threshold)
    assert_array_equal(result.training.confusion(), other.confusion())


def test_one_score_of_two_classes_has_its_sign_turned_for_the_other() -> None:
    truth, score = ["no", "no", "yes", "yes", "no", "yes"], [0.45, 0.2, 0.5, 0.9, 0.1, 0.55]
    for said, other, own in ((score, "no", "yes"), ({"no": score}, "yes", "no")):
        found = sy.assess(truth, said, event="yes")
        with pytest.raises(
            BadOption, match=r"no score of this class reaches 0\.6.*Say -0\.6 for a score of 0\.6 or less"
        ):
            found.at_threshold(0.6, other)
        turned = found.at_threshold(-0.5, other).confusion()[:, found.tally.scale.code(other)]
        assert_array_equal(turned, [3, 1])  # those of at most one half, whatever they speak for
        assert found.at_threshold(np.inf, other).confusion()[:, found.tally.scale.code(own)].sum() == 6


def test_at_threshold_is_assessing_there(tested: sy.Assessment) -> None:
    truth, score = sample()
    for options in (
        {},
        {"weight": np.arange(300) % 3, "weight_kind": "frequency"},
        {"weight": np.arange(300) % 3},
        {"weight": np.linspace(0.5, 2, 300)},
        {"group": np.arange(300) // 4},
    ):
        given: dict[str, Any] = {"event": "yes", **options}
        moved = sy.assess(truth, score, threshold=0.5, **given).at_threshold(1.0)
        there = sy.assess(truth, score, threshold=1.0, **given)
        assert_allclose(moved["kappa"].low, there["kappa"].low)
        assert_allclose(moved["auc"].high, there["auc"].high)
    sliced = sy.assess(truth, score, event="yes", threshold=0.5, by=np.arange(300) % 2)
    part = sliced.slices[1].at_threshold(1.0)
    assert_allclose(part["f1"].value, sy.assess(truth[1::2], score[1::2], event="yes", threshold=1.0)["f1"].value)


def test_a_threshold_for_a_class_that_is_named_is_one_for_the_event() -> None:
    truth, score = sample()
    chances = 1 / (1 + np.exp(-score))
    given = sy.assess(truth, np.stack([1 - chances, chances], axis=1))
    with pytest.raises(EventNeeded, match="label='yes' here"):
        given.at_threshold(0.3)
    there = sy.assess(truth, chances, event="yes", threshold=0.3)
    assert_array_equal(given.at_threshold(0.3, label="yes").confusion(), there.confusion())


def test_one_threshold_does_not_part_three_classes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    chances = np.random.default_rng(1).dirichlet([1, 1, 1], 60)
    truth = np.array(["a", "b", "c"])[np.arange(60) % 3]
    given = sy.assess(truth, chances, event="c")
    for asked in (lambda: given.at_threshold(0.3), lambda: given.best_threshold("f1")):
        with pytest.raises(BadOption, match="parts two classes, not 3"):
            asked()
    rows = [f"{label},{','.join(map(str, row))}" for label, row in zip(truth, chances.tolist(), strict=True)]
    (tmp_path / "grades.csv").write_text("\n".join(["grade,p_a,p_b,p_c", *rows, ""]))
    words = [str(tmp_path / "grades.csv"), "--truth", "grade", "--membership", "p_*", "--event", "c"]
    assert main(["thresholds", *words, "--choose", "best:f1"]) == 2
    assert "a threshold parts two classes, not 3" in capsys.readouterr().err


# --- costs of more than two classes, and declining --------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:a mistake costs less")
@given(st.integers(0, 1000))
def test_decisions_cost_least_row_by_row(seed: int) -> None:
    random = np.random.default_rng(seed)
    memberships, matrix = random.dirichlet(np.ones(4), 20), random.integers(0, 9, (4, 4)).astype(float)
    labels = list("abcd")
    costs = {t: {a: matrix[i, j] for j, a in enumerate(labels)} for i, t in enumerate(labels)}
    decline = float(random.uniform(0, 4))
    expected = memberships @ matrix
    plain = sy.decide(memberships, costs)
    with_way_out = sy.decide(dict(zip(labels, memberships.T, strict=True)), costs, decline=decline)
    for row, (label, other) in enumerate(zip(plain, with_way_out, strict=True)):
        assert label is not None
        assert_allclose(expected[row, labels.index(str(label))], expected[row].min())
        assert other == (None if expected[row].min() > decline else label)


def test_deciding_by_cost_is_what_assess_does_with_more_classes() -> None:
    random = np.random.default_rng(3)
    memberships = random.dirichlet(np.ones(3), 200)
    truth = np.array(list("abc"))[(memberships.cumsum(axis=1) > random.random((200, 1))).argmax(axis=1)]
    costs = {"a": {"b": 1, "c": 6}, "b": {"a": 1, "c": 2}, "c": {"a": 9, "b": 3}}
    chosen = sy.assess(truth, memberships, cost=costs, threshold="cost")
    by_hand = sy.assess(truth, sy.decide(memberships, costs), cost=costs)
    assert_array_equal(chosen.confusion(), by_hand.confusion())
    assert chosen["cost"].value <= sy.assess(truth, memberships, cost=costs)["cost"].value


def test_one_probability_is_decided_like_two() -> None:
    costs = {"no": {"yes": 1}, "yes": {"no": 4}}
    assert sy.decide([0.1, 0.19, 0.21, 0.9], costs, event="yes") == ["no", "no", "yes", "yes"]
    scale = sy.Scale(["yes", "no"], event="yes")
    assert sy.decide([0.1, 0.21], costs, scale=scale) == ["no", "yes"]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([[0.5, 0.5]], [[0, 1], [1, 0]]), {}),
        (([0.5], {"a": {"b": 1}, "b": {"a": 1}}), {}),
        ((["a"], {"a": {"b": 1}, "b": {"a": 1}}), {}),
        (([[0.5, 0.6]], {"a": {"b": 1}, "b": {"a": 1}}), {}),
        (([[0.5, 0.5]], {"a": {"b": 1}, "b": {"a": 1}}), {"decline": -1}),
        (([[0.5, np.nan]], {"a": {"b": 1}, "b": {"a": 1}}), {}),
    ],
)
def test_what_cannot_be_decided_is_refused(arguments: Any, options: Any) -> None:
    with pytest.raises(sy.SteelyardError):
        sy.decide(*arguments, **options)


def test_rejecting_goes_from_the_surest_rows_to_all_of_them() -> None:
    random = np.random.default_rng(4)
    memberships = random.dirichlet(np.ones(3), 300)
    truth = np.array(list("abc"))[(memberships.cumsum(axis=1) > random.random((300, 1))).argmax(axis=1)]
    result = sy.assess(truth, memberships)
    table = result.rejection()
    assert (np.diff(table["coverage"]) > 0).all()
    assert (np.diff(table["threshold"]) < 0).all()
    assert_allclose([table[name][-1] for name in ("risk", "low", "high")],
                    [getattr(result["error"], name) for name in ("value", "low", "high")])  # fmt: skip
    kept = memberships.max(axis=1) >= 0.7
    row = int(np.flatnonzero(np.array(table["threshold"]) >= 0.7)[-1])
    assert_allclose(table["risk"][row], np.mean(np.array(list("abc"))[memberships[kept].argmax(axis=1)] != truth[kept]))
    assert_allclose(table["coverage"][row], kept.mean())


def test_where_all_rows_are_kept_one_half_speaks_for_the_event_as_everywhere() -> None:
    truth, chance = ["no", "yes", "yes", "no", "yes", "no"], np.array([0.2, 0.4, 0.5, 0.35, 0.9, 0.1])
    for event, said in (("yes", chance), ("no", chance)):
        result = sy.assess(truth, said, event=event)
        assert result.rejection()["risk"][-1] == pytest.approx(result["error"].value)
    both = sy.assess(truth, {"no": 1 - chance, "yes": chance})
    assert both.rejection()["risk"][-1] == pytest.approx(both["error"].value)


def test_rows_that_another_threshold_assigned_are_not_rejected_by_how_sure_they_are() -> None:
    result = sy.assess(["no", "yes", "yes", "no"], [0.2, 0.4, 0.6, 0.1], event="yes")
    assert result.at_threshold(0.45).rejection()["risk"][-1] == 0.25  # which assigns the same
    assert sy.assess(["no", "yes"], [0.2, 0.4], event="yes", measures=["auc"]).rejection()["risk"][-1] == 0.5
    for other in (result.at_threshold(0.3), sy.assess(["no", "yes"], [0.2, 0.4], event="yes", threshold=0.3)):
        with pytest.raises(BadOption, match="by a threshold"):
            other.rejection()


def test_one_probability_is_as_sure_as_its_distance_from_one_half() -> None:
    table = sy.assess(["no", "yes", "yes"], [0.1, 0.4, 0.95], event="yes").rejection()
    assert_allclose(table["threshold"], [0.95, 0.9, 0.6])
    assert_allclose(table["risk"], [0, 0, 1 / 3])
    with pytest.raises(BadOption, match="no probabilities"):
        sy.assess(["no", "yes"], [-1.0, 2.0], event="yes", threshold=0.0).rejection()
    with pytest.raises(UnknownMeasure):
        sy.assess(["no", "yes"], ["no", "yes"]).rejection()


@pytest.mark.parametrize("bad", [2, 0, -1, 1.0, float("nan"), "x", [0.5], object()])
def test_a_prevalence_is_a_share(tested: sy.Assessment, bad: Any) -> None:
    for ask in (tested.thresholds, lambda prevalence: tested.best_threshold("f1", prevalence=prevalence)):
        with pytest.raises(BadOption, match=r"prevalence is .* It lies between 0 and 1"):
            ask(prevalence=bad)


@pytest.mark.parametrize("bad", [-1, 1.5, float("nan"), float("inf"), "x", [1], True, 1j])
def test_a_seed_is_a_whole_number(tested: sy.Assessment, bad: Any) -> None:
    probable = sy.assess([0, 1] * 10, np.linspace(0.1, 0.9, 20), event=1)
    with pytest.raises(BadOption, match="seed is "):
        tested.best_threshold("f1", seed=bad)
    with pytest.raises(BadOption, match="seed is "):
        probable.recalibration(seed=bad)
    with pytest.raises(BadOption, match="seed is "):
        sy.cross_assess("lda", np.eye(6), [0, 1] * 3, seed=bad)


def test_thresholds_are_numbers_and_have_something_to_show(tested: sy.Assessment) -> None:
    for bad in (float("nan"), "x", None, [0.5]):
        with pytest.raises(BadOption, match="the threshold is"):
            tested.at_threshold(bad)  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="no measure"):
        tested.thresholds([])


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_a_threshold_is_reached_by_the_same_rows_however_it_is_given(kind: str) -> None:
    """0.7 of single precision is less than 0.7: a threshold is compared as exactly as the scores were given."""
    truth, score = [0, 1, 1, 0], np.array([0.1, 0.7, 0.7, 0.9], kind)
    given = sy.assess(truth, score, threshold=0.7)
    assert given.confusion().tolist() == sy.assess(truth, score).at_threshold(0.7).confusion().tolist()
    assert given.confusion().tolist() == [[1, 1], [0, 2]]


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_what_a_threshold_achieves_says_that_rows_are_clustered(prevalence: float | None) -> None:
    truth, score = sample()
    for group, ending in ((None, "scale"), (np.arange(300) // 5, "scale, clustered")):
        found = sy.assess(truth, score, event="yes", threshold=0.5, group=group).best_threshold(
            "f1", where="kappa >= 0.1", prevalence=prevalence
        )
        for estimate in (found.value, found.honest, *found.limits[0]):
            assert estimate is not None
            assert estimate.method.endswith(ending)


def test_no_threshold_lies_above_an_infinite_score() -> None:
    """To assign no row would cost least here, but whatever the threshold, the infinite score reaches it."""
    truth = ["no"] * 6 + ["yes"] * 4
    score = [np.inf, -1.0, -2.0, 0.0, 0.1, -3.0, 1.0, -1.5, 0.2, 0.3]
    found = sy.assess(truth, score, event="yes", cost={"no": {"yes": 50}, "yes": {"no": 1}}, threshold="cost")
    decision = found.decision
    assert decision is not None
    assert decision.value is not None
    assert (decision.threshold, decision.note) == (0.2, "")
    assert_allclose([decision.value.value, found["cost"].value], 5.1)
    turned = [-number for number in score]
    costly = sy.assess(truth, turned, event="yes", threshold=0.0).best_threshold("specificity")
    assert costly.threshold == math.inf
    assert costly.note == "no row is assigned to the event"


def test_an_infinite_score_has_one_row_among_the_thresholds() -> None:
    """At that threshold it is assigned: a row above, with no row assigned, had the same threshold."""
    found = sy.assess([0, 0, 1, 1], [0.1, 0.3, np.inf, 0.2], event=1, threshold=0.25, measures=["auc"]).thresholds()
    assert found["threshold"] == [np.inf, 0.3, 0.2, 0.1]
    assert found["tp"] == [1, 1, 2, 2]


def test_the_highest_of_infinite_values_is_chosen() -> None:
    """A likelihood ratio is infinite where no row of the rest is assigned; the condition holds none the less."""
    assessment = sy.assess([1, 1, 1, 0, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    found = assessment.best_threshold("lr_positive", where="sensitivity >= 0.5")
    assert found.threshold == 0.8
    assert found.value is not None
    assert found.value.value == np.inf


def test_precision_at_another_prevalence_has_one_interval() -> None:
    """However it is asked for: one unseen false alarm would weigh as much as many hits."""
    truth, score = [0] * 44 + [1] * 56, [0.3] * 44 + [0.2] * 28 + [0.9] * 28
    assessment = sy.assess(truth, score, event=1)
    found = assessment.best_threshold("precision", where="sensitivity >= 0.5", prevalence=0.05).value
    assert found is not None
    entry = sy.find("precision_at", prevalence=0.05)
    other = assessment.at_threshold(0.9).by(entry)[entry]
    assert [found.value, found.low, found.high] == pytest.approx([other.value, other.low, other.high], rel=1e-12)
    table = assessment.thresholds(["precision", "sensitivity"], prevalence=0.05)
    assert table["precision_low"][1] == pytest.approx(other.low, rel=1e-12)
    plain = assessment.thresholds(["sensitivity"])  # which no prevalence moves
    assert table["sensitivity_low"] == pytest.approx(plain["sensitivity_low"], rel=1e-12, nan_ok=True)


def test_a_decision_tells_what_the_assessment_at_its_threshold_tells() -> None:
    """With clusters, sampling weights, costs and textbook intervals too."""
    truth, group = [1, 0] * 30, [place // 5 for place in range(60)]
    score = [(1 - a if k in (2, 5, 9) else a) * 0.8 + 0.1 for a, k in zip(truth, group, strict=True)]
    weight = [1.5, 0.5, 1.0] * 20
    costs = {0: {0: 0, 1: 1}, 1: {0: 2, 1: 0}}
    every: list[dict[str, Any]] = [{"group": group}, {"weight": weight}, {"method": "plain"}, {"cost": costs}]
    for options in every:
        measure = "cost" if "cost" in options else "error"
        found = sy.assess(truth, score, **options).best_threshold(measure)
        assert found.value is not None
        assert found.assessment is not None
        other = found.assessment[measure]
        told = found.value.value, found.value.low, found.value.high, found.value.se
        assert told == pytest.approx((other.value, other.low, other.high, other.se), rel=1e-12)


def test_the_least_cost_is_found_where_rows_belong_to_clusters() -> None:
    truth, score, group = [0, 1, 1, 0, 1, 0, 0, 1], [0.2, 0.4, 0.5, 0.35, 0.9, 0.1, 0.6, 0.7], [1, 1, 2, 2, 3, 3, 4, 4]
    costs = {1: {0: 5}, 0: {1: 1}}
    found = sy.assess(truth, score, group=group, cost=costs).best_threshold("cost")
    assert found.threshold == 0.4
    assert sy.assess(truth, score, group=group, cost=costs, threshold="cost")["cost"].value == 1 / 8


@pytest.mark.parametrize("clusters", [None, 12])
@pytest.mark.parametrize("weighed", [False, True])
def test_intervals_of_what_is_rejected_mind_weights_and_clusters_at_every_point(
    clusters: int | None, weighed: bool
) -> None:
    """Where all rows are kept, the risk is the error, and as sure; where fewer are, it is a mean of these alone."""
    random = np.random.default_rng(5)
    truth, group = random.integers(0, 2, 120), random.integers(0, 12, 120)
    noise = random.normal(0, 0.1, 12)[group] + random.normal(0, 0.2, 120)
    score = np.round(np.clip(0.3 + 0.4 * truth + noise, 0, 1), 2)
    weight = random.choice([0.5, 1.0, 4.0], 120) if weighed else np.ones(120)
    options: dict[str, Any] = {"weight": weight} if weighed else {}
    assessment = sy.assess(truth, score, event=1, **options, group=group if clusters else None)
    table, error = assessment.rejection(), assessment["error"]
    assert [table["low"][-1], table["high"][-1]] == pytest.approx([error.low, error.high], rel=1e-9)
    sure, wrong = np.maximum(score, 1 - score), (score >= 0.5) != truth
    for row in table:
        kept = sure >= row["threshold"]
        mass, risk = weight * kept, row["risk"]
        assert risk == pytest.approx(np.average(wrong, weights=mass))
        pulls = mass * (wrong - risk) / mass.sum()
        if not 0 < risk < 1:
            continue
        squares = np.square(np.bincount(group, pulls)).sum() * 12 / 11 if clusters else np.square(pulls).sum()
        z = stats.t.ppf(0.975, 11) if clusters else stats.norm.ppf(0.975)
        trials = risk * (1 - risk) / squares
        middle = (risk + z**2 / (2 * trials)) / (1 + z**2 / trials)
        reach = z / (1 + z**2 / trials) * np.sqrt(risk * (1 - risk) / trials + z**2 / (4 * trials**2))
        assert [row["low"], row["high"]] == pytest.approx([middle - reach, middle + reach], rel=1e-9, abs=1e-12)


def test_rounding_does_not_tell_who_is_surer() -> None:
    """1 - 0.42 is more than 0.58 by the last bit; whoever keeps rows from the threshold on keeps both."""
    table = sy.assess([1, 0, 1, 1], [0.58, 0.42, 0.42, 0.9], event=1).rejection()
    assert table["coverage"] == [0.25, 1.0]
    assert table["threshold"] == [0.9, min(0.58, 1 - 0.42)]
    assert table["risk"] == [0.0, 0.25]


def test_rejection_refuses_other_thresholds_whatever_weights_are_measured_in() -> None:
    for unit in (1.0, 1e-12):
        assessment = sy.assess([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.1], event=1, threshold=0.3, weight=[unit] * 4)
        with pytest.raises(BadOption, match="assigned by a threshold"):
            assessment.rejection()


def test_costs_that_were_given_count_in_conditions_too() -> None:
    """They were asked for again, though they had been given."""
    truth, score = sample()
    assessment = sy.assess(truth, score, event="yes", threshold=0.5, cost=COSTS)
    found = assessment.best_threshold("specificity", where="cost <= 0.5")
    assert found.limits[0][0].value <= 0.5
    assert sy.assess(truth, score, event="yes", cost=COSTS, threshold="max specificity where cost <= 0.5").decision
    for where in ((), "sensitivity >= 0.9"):
        words = "min cost where sensitivity >= 0.9" if where else "min cost"
        chosen = sy.assess(truth, score, event="yes", cost=COSTS, threshold=words).decision
        assert chosen is not None
        assert chosen.threshold == assessment.best_threshold("cost", where).threshold
    with pytest.raises(BadOption, match="cost needs costs"):
        sy.assess(truth, score, event="yes", threshold=0.5).best_threshold("f1", where="cost <= 0.5")


def test_a_condition_has_all_that_it_needs() -> None:
    """Without a prevalence it ended in an error of Python's own."""
    assessment = sy.assess(*sample(), event="yes", threshold=0.5)
    for ask in (
        lambda: assessment.best_threshold("f1", where="precision_at >= 0.2"),
        lambda: assessment.best_threshold("precision_at"),
        lambda: assessment.thresholds(["precision_at"]),
    ):
        with pytest.raises(BadOption, match=r"precision_at needs prevalence. Write precision_at\(prevalence=...\)"):
            ask()
    found = assessment.best_threshold("f1", where="precision_at(prevalence=0.1) >= 0.2")
    assert found.limits[0][0].value >= 0.2


@pytest.mark.parametrize("rows", [1, 5])
def test_without_its_only_cluster_nothing_is_chosen(rows: int) -> None:
    """A threshold that no row chose assigned none, and that passed for what the choice achieves elsewhere."""
    truth, score = [1, 0, 1, 0, 1][:rows], [0.9, 0.2, 0.3, 0.4, 0.1][:rows]
    assessment = sy.assess(truth, score, event=1, scale=sy.Scale([0, 1]), group=["a"] * rows)
    found = assessment.best_threshold("error", where="sensitivity >= 0.5")
    for estimate in (found.honest, found.limits[0][1]):
        assert estimate is not None
        assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
        assert "nothing to choose by" in estimate.note
    assert "had no part in the choice – [–, –] (without the one cluster" in str(found)


def test_one_cluster_tells_nothing_of_how_many_errors_are_left() -> None:
    """As of the error itself: anything may be, and not what is no number."""
    table = sy.assess([1, 0, 1, 0], [0.9, 0.2, 0.3, 0.1], event=1, group=["a"] * 4).rejection()
    assert {(row["low"], row["high"]) for row in table} == {(0.0, 1.0)}


@pytest.mark.study
@pytest.mark.parametrize("clusters", [None, 15, 2])
@pytest.mark.parametrize("weighed", [False, True])
def test_intervals_at_all_thresholds_are_those_of_each(clusters: int | None, weighed: bool) -> None:
    """Rows of a cluster are alike in one cell of the table, and not in another; and so are their weights."""
    random = np.random.default_rng(5)
    group = np.repeat(np.arange(15), 12) % (clusters or 15)
    truth = np.where((group % 3 == 0) ^ (random.random(180) < 0.2), "ill", "well")
    score = np.round(np.where(truth == "ill", 0.4 + group / 40, random.random(180)), 2)
    names = ["sensitivity", "specificity", "precision", "f1", "mcc", "error", "cost"]
    given: dict[str, Any] = {
        "group": None if clusters is None else group,
        "weight": np.where((truth == "well") & (random.random(180) < 0.3), 30.5, 1.0) if weighed else None,
    }
    result = sy.assess(truth, score, event="ill", cost={"ill": {"well": 5}, "well": {"ill": 1}}, **given)
    table = result.thresholds(names)
    for place, threshold in [*enumerate(table["threshold"])][:: repeats(3, 1)]:
        there = result.at_threshold(threshold)
        for name in names:
            found = [table[name + end][place] for end in ("", "_low", "_high")]
            expected = [there[name].value, there[name].low, there[name].high]
            assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_mean_costs_at_thresholds_stay_within_the_costs() -> None:
    """No mean lies below the least cost."""
    costs = {0: {0: 0, 1: 1}, 1: {0: 2, 1: 0}}
    table = sy.assess([0, 1, 1, 0, 1], [0.1, 0.7, 0.8, 0.6, 0.2], cost=costs).thresholds(["cost"])
    assert min(table["cost_low"]) >= 0
    assert max(table["cost_high"]) <= 2


def test_thresholds_can_be_asked_for_whatever_was_measured() -> None:
    """Scores that are at hand are kept."""
    assessment = sy.assess([0, 1, 1, 0, 1], [0.1, 0.7, 0.8, 0.6, 0.2], measures=["error"])
    assert len(assessment.thresholds()) == 6


def test_rows_that_changed_places_are_not_assigned_by_their_highest_probability() -> None:
    """As many rows are assigned to each class as by the highest probability, but others."""
    truth = list("ababc")
    shares = np.array([[0.45, 0.4, 0.15], [0.4, 0.45, 0.15], [0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]])
    costs = {"a": {"b": 2}, "b": {"c": 3}, "c": {"a": 5}}
    costs = {true: {said: costs[true].get(said, 0) for said in "abc"} for true in "abc"}
    priced = sy.assess(truth, shares, scale=sy.Scale(list("abc")), cost=costs, threshold="cost")
    plain = sy.assess(truth, shares, scale=sy.Scale(list("abc")))
    assert priced.confusion().sum(axis=0).tolist() == plain.confusion().sum(axis=0).tolist()
    assert priced["error"].value == 0.6
    with pytest.raises(BadOption, match="assigned by a threshold or by costs"):
        priced.rejection()
    assert plain.rejection()["risk"][-1] == plain["error"].value == 0


def test_held_out_rows_of_clusters_scatter_as_errors_at_the_chosen_threshold_do() -> None:
    random = np.random.default_rng(3)
    group = np.arange(120) // 6
    truth = (random.random(120) < 0.4).astype(int)
    score = 0.35 * truth + 0.3 * random.random(120) + 0.35 * random.random(20)[group]
    given: dict[str, Any] = {"event": 1, "group": group}
    chosen = sy.assess(truth, score, **given, threshold="best:f1").decision
    assert chosen is not None
    # However rows were assigned before, and in whatever form scores came, the threshold and its rows are the same.
    there = sy.assess(truth, score, **given, threshold=chosen.threshold).best_threshold("f1")
    before = sy.assess(truth, score, **given, threshold=0.9).best_threshold("f1")
    both = np.stack([1 - score, score], axis=1)
    columns = sy.assess(truth, both, **given, threshold="best:f1").decision
    for other in (there, before, columns):
        assert other is not None
        for one, same in ((chosen.value, other.value), (chosen.honest, other.honest)):
            assert one is not None
            assert same is not None
            assert (one.low, one.high, one.se) == pytest.approx((same.low, same.high, same.se), rel=1e-9)


def test_a_decision_is_shown_as_it_is_printed() -> None:
    decision = sy.assess([1, 0, 1, 0, 1], [0.9, 0.2, 0.6, 0.4, 0.3], event=1).best_threshold("f1")
    assert repr(decision) == str(decision)
    assert "Measure(" not in repr(decision)


def test_values_on_rows_without_a_part_in_the_choice_have_what_stands_in_for_undefined_ones() -> None:
    truth, score = [1, *[0] * 20], [0.9, *np.linspace(0, 0.5, 20)]  # without its one row, no threshold is chosen

    def elsewhere(undefined: float) -> sy.Estimate:
        result = sy.assess(truth, score, event=1, undefined=undefined)
        return result.best_threshold("sensitivity", where="precision >= 0.9").limits[0][1]

    assert np.isnan(elsewhere(float("nan")).value)
    assert elsewhere(float("nan")).note == "class 1 is never assigned"
    found = elsewhere(0.25)
    assert found.value == 0.25
    assert np.isnan([found.low, found.high]).all()
    assert found.note == "class 1 is never assigned; 0.25 stands in"


def test_a_threshold_that_is_copied_keeps_what_it_was_chosen_for() -> None:
    random = np.random.default_rng(12)
    for _ in range(10):
        truth = random.integers(0, 2, 60)
        score = 1 / (1 + np.exp(0.75 - 1.5 * truth - random.normal(size=60)))
        chosen = sy.assess(truth, score, event=1).best_threshold("max specificity where sensitivity >= 0.8")
        said = str(chosen).split()[1].rstrip(":")
        assert sy.assess(truth, score, event=1, threshold=float(said))["sensitivity"].value >= 0.8


def test_thresholds_in_a_terminal_assign_as_many_rows_as_stand_beside_them() -> None:
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 60)
    score = 1 / (1 + np.exp(0.75 - 1.5 * truth - random.normal(size=60)))
    result = sy.assess(truth, score, event=1)
    table = to_text(threshold_view(result, result.thresholds(["f1"]), ["f1"], 20)[1])
    rows = [line.split()[:2] for line in table.splitlines()[3:] if line.strip()]
    assert len(rows) == 20
    for threshold, assigned in rows[1:]:
        assert int((score >= float(threshold)).sum()) == int(assigned)
