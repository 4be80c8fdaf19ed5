"""What results offer that is built above them: their pictures, their report, and how they print themselves.

This is the one module that imports from above, and it does so when it is asked: a result that is never drawn loads
nothing that draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..text import clipped, to_text

if TYPE_CHECKING:
    from pathlib import Path

    from ..assessing.assessment import Assessment
    from ..comparing.across import AcrossDatasets
    from ..comparing.across_pictures import AcrossPictures as AcrossPictures  # noqa: PLC0414 - for the types of results
    from ..comparing.comparison import Comparison
    from ..resampling.crossed import CrossAssessment
    from ..resampling.pictures import TuningPictures as TuningPictures  # noqa: PLC0414 - for the types of results
    from ..resampling.tuning import Tuning
    from ..showing.pictures import Pictures as Pictures  # noqa: PLC0414 - for the types of results

DIFFERENCES = "table() and differences() have all numbers"


# --- pictures ---------------------------------------------------------------------------------------------------


def pictures(assessments: Mapping[str, Assessment]) -> Pictures:
    """Return the pictures of one or several classifiers."""
    from ..showing.pictures import Pictures

    return Pictures(assessments)


def across_pictures(across: AcrossDatasets) -> AcrossPictures:
    """Return the pictures of classifiers on many data sets."""
    from ..comparing.across_pictures import AcrossPictures

    return AcrossPictures(across)


def tuning_pictures(tuning: Tuning) -> TuningPictures:
    """Return the pictures of the candidates of a search."""
    from ..resampling.pictures import TuningPictures

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
    from ..report import write_report

    write_report(result, path, title, command, rows, overwrite)


# --- text and HTML ----------------------------------------------------------------------------------------------


def assessment_text(assessment: Assessment) -> str:
    """Return an assessment as text."""
    from ..showing.rendering import assessment_view

    return clipped(to_text(assessment_view(assessment)), "table() has all numbers")


def assessment_html(assessment: Assessment) -> str:
    """Return an assessment as HTML for a notebook."""
    from ..showing.digest import assessment_digest
    from ..showing.notebook import block

    return block(assessment_digest(assessment))


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as text."""
    from ..showing.rendering import comparison_view

    return clipped(to_text(comparison_view(comparison)), DIFFERENCES)


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML for a notebook."""
    from ..showing.digest import comparison_digest
    from ..showing.notebook import block

    return block(comparison_digest(comparison))


def cross_text(cross: CrossAssessment) -> str:
    """Return a cross-validation as text."""
    from ..resampling.views import cross_view

    return clipped(to_text(cross_view(cross)), DIFFERENCES)


def tuning_text(tuning: Tuning) -> str:
    """Return the candidates of a search and the choice as text."""
    from ..resampling.views import tuning_view

    return clipped(to_text(tuning_view(tuning)), "table() has all candidates")
