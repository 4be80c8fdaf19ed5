"""Scores of probability forecasts with intervals."""

from __future__ import annotations

from collections.abc import Callable

from .contestants import OURS, Contestant, assess_forecasts, sklearn_forecasts
from .plans import Plan
from .ranking import SKLEARN, WANTED, measure_all
from .results import Section

SCORES = (
    "Log score and Brier score of the probability of an event, each with its interval. scikit-learn computes both "
    "values alone (`log_loss`, `brier_score_loss`)."
)


def measure_forecasts(plan: Plan, say: Callable[[str], None]) -> Section:
    """Log score and Brier score."""
    section = Section("Scores of forecasts", SCORES, ["rows", OURS, WANTED, SKLEARN])
    everybody: dict[str, Contestant] = {OURS: assess_forecasts, SKLEARN: sklearn_forecasts}
    return measure_all(section, everybody, 2, plan.forecast_rows, plan.pace, say)
