"""What results offer that is built above them: decisions, verdicts, pictures, reports, and how they print themselves.

This is the one module that imports from above, and it does so when it is asked: a result that is never drawn loads
nothing that draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.text import clipped, to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..core.table import Table
    from ..display.pictures import AcrossPictures as AcrossPictures  # noqa: PLC0414 - for the types of results
    from ..display.pictures import Pictures as Pictures  # noqa: PLC0414 - for the types of results
    from ..display.pictures import TuningPictures as TuningPictures  # noqa: PLC0414 - for the types of results
    from ..families.ranking.one_against_rest import OneAgainstRest
    from ..measures.registry import Measure
    from ..modelling.cross_assessment import CrossAssessment
    from ..modelling.tuning import Tuning
    from .across import AcrossDatasets
    from .assessment import Assessment
    from .comparison import Comparison as Comparison  # noqa: PLC0414 - for the types of results
    from .curves import Band as Band  # noqa: PLC0414 - for the types of results
    from .decisions import Decision as Decision  # noqa: PLC0414 - for the types of results
    from .decisions import Thresholds
    from .goals import Goal
    from .recalibration import Recalibration
    from .verdicts import Margin, Named
    from .verdicts import Verdict as Verdict  # noqa: PLC0414 - for the types of results

DIFFERENCES = "table() and differences() have all numbers"


# --- decisions and verdicts -------------------------------------------------------------------------------------


def thresholds(ranking: OneAgainstRest, prevalence: float | None) -> Thresholds:
    """Return the tables of counts at all thresholds of a score."""
    from .decisions import Thresholds

    return Thresholds(ranking, prevalence)


def choose_threshold(assessment: Assessment, goal: Goal, seed: int) -> Decision:
    """Return the threshold that serves a goal best."""
    from .decisions import choose_threshold

    return choose_threshold(assessment, goal, seed)


def rejection(ranked: Any, level: float, judged: Any) -> Table:
    """Return the error among the rows that are kept, at every share of rejected rows."""
    from .curves import rejection

    return rejection(ranked, level, judged)


def curve(ranking: OneAgainstRest, kind: str, band: Band, level: float, seed: int) -> Table:
    """Return a curve over all thresholds of a score."""
    from .curves import curve

    return curve(ranking, kind, band, level, seed)


def decision_curve(assessment: Assessment, code: int, band: Band) -> Table:
    """Return the net benefit over all thresholds."""
    from .curves import decision_curve

    return decision_curve(assessment, code, band)


def recalibrated(assessment: Assessment, method: Recalibration, folds: int, seed: int) -> Comparison:
    """Return forecasts beside the same forecasts, recalibrated."""
    from .recalibration import recalibrated

    return recalibrated(assessment, method, folds, seed)


def verdict(comparison: Comparison, measures: Named, margin: Margin) -> Verdict:
    """Return in words which classifiers of a comparison differ."""
    from .verdicts import judge

    return judge(comparison, measures, margin)


def cross_intervals(
    cross: CrossAssessment,
    measure: Measure,
    methods: str | Sequence[str] | None,
    pairs: bool,
    options: Mapping[str, Any],
) -> Table:
    """Return several intervals of what cross-validation estimates."""
    from ..modelling.cross_intervals import by_methods

    return by_methods(cross, measure, methods, pairs, options)


# --- pictures ---------------------------------------------------------------------------------------------------


def pictures(assessments: Mapping[str, Assessment]) -> Pictures:
    """Return the pictures of one or several classifiers."""
    from ..display.pictures import Pictures

    return Pictures(assessments)


def across_pictures(across: AcrossDatasets) -> AcrossPictures:
    """Return the pictures of classifiers on many data sets."""
    from ..display.pictures import AcrossPictures

    return AcrossPictures(across)


def tuning_pictures(tuning: Tuning) -> TuningPictures:
    """Return the pictures of the candidates of a search."""
    from ..display.pictures import TuningPictures

    return TuningPictures(tuning)


# --- the report -------------------------------------------------------------------------------------------------


def write_report(
    result: Assessment | Comparison,
    path: str | Path,
    title: str | None,
    command: str | None,
    rows: bool,
    overwrite: bool,
) -> None:
    """Write all about a result as one HTML page."""
    from ..display.report import write_report

    write_report(result, path, title, command, rows, overwrite)


# --- text and HTML ----------------------------------------------------------------------------------------------


def assessment_text(assessment: Assessment) -> str:
    """Return an assessment as text."""
    from ..display.views import assessment_view

    return clipped(to_text(assessment_view(assessment)), "table() has all numbers")


def assessment_html(assessment: Assessment) -> str:
    """Return an assessment as HTML for a notebook."""
    from ..display.digest import assessment_digest, digest_html

    return digest_html(assessment_digest(assessment))


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as text."""
    from ..display.views import comparison_view

    return clipped(to_text(comparison_view(comparison)), DIFFERENCES)


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML for a notebook."""
    from ..display.digest import comparison_digest, digest_html

    return digest_html(comparison_digest(comparison))


def cross_text(cross: CrossAssessment) -> str:
    """Return a cross-validation as text."""
    from ..display.views import cross_view

    return clipped(to_text(cross_view(cross)), DIFFERENCES)


def tuning_text(tuning: Tuning) -> str:
    """Return the candidates of a search and the choice as text."""
    from ..display.views import tuning_view

    return clipped(to_text(tuning_view(tuning)), "table() has all candidates")
