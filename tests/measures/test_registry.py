"""What a new measure must say about itself."""

from __future__ import annotations

from typing import Any

import pytest

import steelyard as sy
from steelyard.core.errors import UnknownMeasure
from steelyard.measures.registry import REGISTRY


def test_rankings_of_infinite_span_are_refused() -> None:
    """Their averages would be infinite values times 0, and their intervals empty without a word."""

    def odds_of_auc(positive: Any, negative: Any) -> Any:
        """Odds of AUC: AUC / (1 - AUC)."""
        return positive / negative

    enter = sy.measure(
        better="higher", span=(0.0, float("inf")), undefined="no pair", cite="none", slopes=lambda positive, negative: 0
    )
    with pytest.raises(
        UnknownMeasure, match=r"averages of infinite values are not defined\. Choose a form with a finite"
    ):
        enter(odds_of_auc)
    assert "odds_of_auc" not in REGISTRY
