"""Verdicts on statements of papers: they follow from the interval and the range alone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from steelyard.studies.statements import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Quantity,
    Range,
    Statement,
    at_least,
    at_most,
    chance_explains,
    exact,
    mean_of,
    printed,
    share_of,
    shown,
    statement_table,
    within,
)

UNIT = Range(0.0, 1.0)


def statement(quantity: Quantity, between: Range | None = UNIT, note: str = "") -> Statement:
    return Statement("it is between 0 and 1", "a paper, 1", "0 to 1", between, quantity, note)


@pytest.mark.parametrize(
    ("figure", "low", "high"),
    [
        ("0.011", 0.0105, 0.0115),
        (".38", 0.375, 0.385),
        ("1.4e-4", 1.35e-4, 1.45e-4),
        ("2.0e-3", 1.95e-3, 2.05e-3),
        ("14", 13.5, 14.5),
        ("0.0007", 0.00065, 0.00075),
    ],
)
def test_a_printed_figure_means_half_a_unit_of_its_last_digit(figure: str, low: float, high: float) -> None:
    assert printed(figure) == pytest.approx((low, high), rel=1e-12)
    assert printed(figure, -1) == pytest.approx((-high, -low), rel=1e-12)


@pytest.mark.parametrize("text", ["", ".", "about 2", "1,4", "1e"])
def test_what_is_no_figure_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="printed figure"):
        printed(text)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.9, "holds"),
        (0.0, 1.0, "holds"),
        (-0.1, 0.9, "not settled"),
        (0.5, 1.1, "not settled"),
        (-1.0, 2.0, "not settled"),
        (1.1, 1.2, "does not hold"),
        (-0.2, -0.1, "does not hold"),
        (math.nan, math.nan, "not settled"),
    ],
)
def test_the_verdict_follows_from_the_interval(low: float, high: float, verdict: str) -> None:
    assert statement(Quantity((low + high) / 2, low, high, 100)).verdict == verdict


def test_data_that_are_not_public_are_not_judged() -> None:
    assert statement(exact(0.5), None).verdict == "other data"


def test_an_order_that_is_a_tie_does_not_hold() -> None:
    assert statement(exact(0.0), ABOVE_ZERO).verdict == "does not hold"
    assert statement(exact(0.0), BELOW_ZERO).verdict == "does not hold"
    assert statement(exact(1e-300), ABOVE_ZERO).verdict == "holds"


@pytest.mark.parametrize(("value", "half"), [(0.9, 0.2), (1.1, 0.2), (-0.05, 0.3), (0.5, 0.7)])
def test_so_many_repetitions_settle_it_if_the_estimate_stays(value: float, half: float) -> None:
    before = statement(Quantity(value, value - half, value + half, 100))
    needed = before.repetitions
    assert needed is not None
    assert needed > 100

    def after(count: int) -> str:
        narrow = half * math.sqrt(100 / count)
        return statement(Quantity(value, value - narrow, value + narrow, count)).verdict

    assert after(needed + 1) in ("holds", "does not hold")
    assert after(needed - 2) == "not settled"


def test_an_estimate_on_the_edge_is_never_settled() -> None:
    assert statement(Quantity(1.0, 0.8, 1.2, 100)).repetitions is None
    assert statement(Quantity(1.0 - 1e-15, 0.8, 1.2, 100)).repetitions is None
    assert statement(Quantity(0.9, 0.8, 1.2, 0)).repetitions is None
    assert statement(Quantity(0.5, 0.4, 0.6, 100)).repetitions is None


def test_intervals_of_means_are_those_of_scipy() -> None:
    values = np.random.default_rng(1).gamma(2.0, size=37)
    low, high = stats.t.interval(0.95, 36, values.mean(), stats.sem(values))
    assert mean_of(values) == pytest.approx((values.mean(), low, high, 37), rel=1e-12)
    assert mean_of([2.0]) == (2.0, -math.inf, math.inf, 1)


@pytest.mark.parametrize(("hits", "trials"), [(0, 20), (7, 20), (20, 20), (451, 900)])
def test_intervals_of_shares_are_wilsons(hits: int, trials: int) -> None:
    low, high = stats.binomtest(hits, trials).proportion_ci(method="wilson")
    assert share_of(hits, trials) == pytest.approx((hits / trials, low, high, trials), abs=1e-9)


def test_the_table_has_a_row_a_statement() -> None:
    made = [
        statement(Quantity(0.5, 0.4, 0.6, 100)),
        statement(Quantity(1.1, 0.9, 1.3, 100)),
        statement(exact(2.0), note="a slip of the paper"),
        statement(exact(0.02), within(0.05)),
    ]
    table = statement_table(made)
    assert table["verdict"] == ["holds", "not settled", "does not hold", "holds"]
    assert table["repetitions"] == [None, 400, None, None]
    assert table["note"][2] == "a slip of the paper"
    read = shown(table)
    assert list(zip(read["statement"], read["ours"], read["verdict"], strict=True)) == [
        ("a paper, 1:", "", ""),
        ("it is between 0 and 1", "0.500 [0.400, 0.600]", "holds"),
        ("it is between 0 and 1", "1.100 [0.900, 1.300]", "not settled"),
        ("(about 400 repetitions would settle it)", "", ""),
        ("it is between 0 and 1", "2.000", "does not hold"),
        ("(a slip of the paper)", "", ""),
        ("it is between 0 and 1", "0.020", "holds"),
    ]


def test_what_is_not_known_has_no_figure() -> None:
    table = statement_table([statement(Quantity(math.nan, math.nan, math.nan), None)])
    assert shown(table)["ours"] == ["", "–"]
    assert table.to_json()[0]["value"] is None


def test_only_what_does_not_hold_has_a_reason() -> None:
    def remark(quantity: Quantity, between: Range | None = UNIT) -> str:
        return replace(statement(quantity, between, note="of a run"), reason="a slip").remark

    assert remark(exact(2.0)) == "of a run; a slip"
    assert {remark(exact(0.5)), remark(Quantity(1.1, 0.9, 1.3, 100)), remark(exact(2.0), None)} == {"of a run"}


@pytest.mark.parametrize(("value", "explains"), [(1.25, True), (1.31, False), (-0.25, True), (-0.31, False)])
def test_chance_explains_what_two_runs_of_the_papers_size_may_differ_by(value: float, explains: bool) -> None:
    """The side towards what is said counts, 0.12; the paper has a quarter of the repetitions: 0.12 times root 5."""
    low, high = (value - 0.12, value + 0.9) if value > 1 else (value - 0.9, value + 0.12)
    words = chance_explains(UNIT, Quantity(value, low, high, 400), 100)
    assert ("it explains this" in words) == explains
    assert "by up to 0.268" in words


def test_chance_explains_nothing_that_is_exact() -> None:
    assert chance_explains(UNIT, exact(2.0), 100) == ""


def test_one_sided_figures_end_where_they_are_printed() -> None:
    assert at_most("0.14") == pytest.approx((-math.inf, 0.145))
    assert at_least("0.08") == pytest.approx((0.075, math.inf))
