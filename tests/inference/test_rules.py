"""Interval rules and contrast rules as measures name them."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard import Measure, all_measures, find
from steelyard.core.errors import UnknownMeasure
from steelyard.display.report.data_and_methods import METHODS, _is
from steelyard.inference.averages import MEANS_OF_CLASSES
from steelyard.inference.contrasts import contrast
from steelyard.inference.rules import rule, rule_of

AVERAGES = (None, *MEANS_OF_CLASSES)
MEASURES = [find(name) for name in all_measures()]
OF_CLASSES = [measure for measure in MEASURES if measure.per_class and measure.statistic.name == "confusion"]
TABLE = np.array([[180, 15, 2], [20, 150, 3], [2, 3, 9]])  # the last class is rare


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_reports_explain_the_interval_of_every_measure(measure: Measure) -> None:
    methods = {rule_of(measure.facts, average).method for average in AVERAGES}
    assert all(any(_is(method, name) for name in METHODS) for method in methods)
    assert contrast(measure.contrast_rule)


@pytest.mark.parametrize("measure", OF_CLASSES, ids=lambda measure: measure.name)
@pytest.mark.parametrize("average", MEANS_OF_CLASSES)
def test_intervals_of_averages_reach_about_as_far_as_their_standard_errors(measure: Measure, average: str) -> None:
    """A mean over classes is no proportion of all rows: intervals of such a proportion would be too narrow."""
    asked = measure if not measure.needs else measure.with_parameters(prevalence=0.3)
    found = sy.assess_table(TABLE.tolist(), classes=["a", "b", "c"], measures=[asked])[asked, average]
    width, reach = found.high - found.low, 2 * 1.96 * found.se
    if measure.name in ("prevalence", "detection_prevalence") and average == "macro":  # 1 / 3 for every table
        assert max(width, reach) < 1e-12
    else:
        assert 0.5 * reach <= width <= 2 * reach
        assert width > 0


@pytest.mark.parametrize("name", ["wilsn", "delta.probit", "wilson.wilsn"])
def test_a_rule_that_there_is_not_is_an_error(name: str) -> None:
    with pytest.raises(UnknownMeasure, match="there is no interval"):
        rule(name)
    with pytest.raises(UnknownMeasure, match="there is no contrast"):
        contrast(name)
