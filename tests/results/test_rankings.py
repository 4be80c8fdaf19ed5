"""Classifiers in the order of a measure, with ties, undefined values and pairs that two measures have the other way."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard import Scale, compare, find
from steelyard.core.errors import BadOption, UnknownMeasure
from steelyard.results.verdicts import in_words, ranked, ranking_table, swapped

TRUTH = ["a", "a", "b", "b", "b", "b"]
SAID = {
    "worst": ["b", "b", "a", "a", "b", "b"],
    "even": ["a", "b", "b", "b", "b", "b"],
    "odd": ["a", "a", "a", "b", "b", "b"],
    "best": TRUTH,
}


def test_each_measure_has_its_own_order() -> None:
    found = compare(TRUTH, SAID, event="a")
    table = ranking_table(found, ["error", "sensitivity"])
    assert table.column_names == ["measure", "rank", "model", "value", "low", "high"]
    assert table["measure"] == ["error"] * 4 + ["sensitivity"] * 4
    assert table["model"] == ["best", "even", "odd", "worst", "odd", "best", "even", "worst"]
    assert table["rank"] == [1, 2, 2, 4, 1, 1, 3, 4]
    for row in table:
        estimate = found[row["model"]][row["measure"]]
        assert (row["value"], row["low"], row["high"]) == (estimate.value, estimate.low, estimate.high)


@pytest.mark.parametrize("measures", ["error", find("error"), ["error"], ("error",)])
def test_one_measure_may_stand_alone(measures: object) -> None:
    assert len(ranking_table(compare(TRUTH, SAID), measures)) == 4  # type: ignore[arg-type]


def test_what_is_undefined_comes_last_and_has_no_rank() -> None:
    said = {"never": ["b"] * 6, "some": SAID["even"]}
    table = ranking_table(compare(TRUTH, said, event="a"), "precision")
    assert table["model"] == ["some", "never"]
    assert table["rank"] == [1, None]
    assert np.isnan(table["value"][1])


def test_sums_of_weights_that_differ_by_rounding_are_equal() -> None:
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, 300)

    def wrong() -> np.ndarray:
        places, said = random.choice(300, 60, replace=False), truth.copy()
        said[places] = (said[places] + random.integers(1, 3, 60)) % 3
        return said

    found = compare(truth, {name: wrong() for name in ("one", "two", "three")}, weight=[0.3] * 300)
    assert ranking_table(found, "error")["rank"] == [1, 1, 1]
    assert (found.best("error"), found.best("accuracy")) == ("one", "one")
    assert found.differences("error")["difference"] == [0, 0, 0]
    assert str(found.verdict("error")).startswith("one has the lowest error, as have two and three, but")


def test_what_cannot_rank_is_refused() -> None:
    found = compare(TRUTH, SAID, scale=Scale(["a", "b"]))
    with pytest.raises(BadOption, match="no value of prevalence is better"):
        ranking_table(found, ["error", "prevalence"])
    with pytest.raises(UnknownMeasure, match="nonsense"):
        ranking_table(found, "nonsense")


def test_ranks_in_words() -> None:
    ranks = ranked({"tree": 0.28, "lda": 0.2, "3-nn": 0.28, "qda": 0.18, "none": np.nan, "1-nn": 0.33})
    assert ranks == {"qda": 1, "lda": 2, "tree": 3, "3-nn": 3, "1-nn": 5, "none": None}
    assert in_words(ranks) == "qda < lda < tree = 3-nn < 1-nn < none"
    assert in_words({"alone": 1}) == "alone"
    assert list(ranked({"a": 1.0, "b": 2.0}, lower=False)) == ["b", "a"]


def test_pairs_the_other_way_round() -> None:
    one = ranked({"a": 1.0, "b": 2.0, "c": 2.0, "d": 4.0, "lost": np.nan})
    other = ranked({"a": 3.0, "b": 1.0, "c": 2.0, "d": 4.0, "lost": 0.0})
    assert swapped(one, other) == {frozenset("ab"), frozenset("ac")}, "b and c are equal in the one"
    assert swapped(one, one) == set()
