"""What the page draws beside curves: reliability, rows between the corners of their classes, rows along a continuum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import SteelyardError
from ...core.scale import Continuum
from ...core.text import count
from ...core.threads import in_order
from ...maths.simplex import MOST_CLASSES as MOST_CORNERS
from ...results.reliability import Reliability
from ...results.verdicts import best_first
from ..continuum_strip import Strips
from ..partition_panels import PartitionPanels
from ..plots.simplex import CLASSES, OTHER
from ..plots.strips import ALL_LEVELS, GRADES
from .operating import chosen_stops, spoken_of
from .tables import chosen_classes
from .wording import drawn, shown, told

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.table import Table
    from ...families.ranking.one_against_rest import OneAgainstRest
    from ...results.assessment import Assessment
    from ..partition_panels import Panel
    from .operating import Rankings

FEWEST_CLASSES, MOST_RELIABILITIES, MOST_POINTS = 3, 12, 400
MOST_BANDED, MOST_BANDS = 200_000, 4  # rows, and classifiers: with more, no band
MOST_PANELS = 12


# --- reliability -----------------------------------------------------------------------------------------------------


def reliability_of(assessments: Mapping[str, Assessment], ranked: Rankings) -> list[dict[str, Any]]:
    """How often classes came true against their forecasts: of the event, or of the classes that matter most.

    Of two classes, rows may have been sorted already.
    """
    probable = {name: each for name, each in assessments.items() if _probable(each)}
    if not probable:
        return []

    def of_class(label: Label) -> dict[str, Any]:
        models = [
            _curve(each, label, ranked.get(name), len(probable) <= MOST_BANDS) if name in probable else None
            for name, each in assessments.items()
        ]
        return {"label": shown(label), "models": models}

    return list(in_order(of_class, _forecast_classes(next(iter(probable.values())), len(probable))))


def _probable(assessment: Assessment) -> bool:
    """Whether it gave probabilities of its own."""
    return assessment.has_scores and assessment.has_probabilities


def _forecast_classes(assessment: Assessment, models: int) -> list[Label]:
    """The event; of two classes one; of more the most frequent ones."""
    if len(assessment.classes) == 2 or assessment.tally.scale.event is not None:
        return [spoken_of(assessment)]
    most = max(FEWEST_CLASSES, MOST_RELIABILITIES // models)
    frequent = np.argsort(-assessment.evaluation.margins.true, kind="stable")[:most]
    return [assessment.classes[code] for code in sorted(frequent.tolist())]


def _curve(assessment: Assessment, label: Label, one: OneAgainstRest | None, banded: bool) -> dict[str, Any]:
    """The reliability curve of one classifier, its band, and how its forecasts are spread."""
    found = _reliability(assessment, assessment.code(label), one)
    level, seed = assessment.settings.level, assessment.settings.seed
    curve = found.curve(level, seed, band=banded and found.rows <= MOST_BANDED)
    kept = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), MOST_POINTS)).round().astype(int))
    columns = {name: drawn(np.array(values)[kept]) for name, values in curve.columns.items() if name != "rows"}
    ranked = len(assessment.classes) > 2  # curves of two classes stand beside their threshold
    roc = _roc(found) if ranked else None
    return {**columns, "bars": drawn(found.bars()["share"]), "roc": roc, "line": _line(assessment, label)}


def _line(assessment: Assessment, label: Label) -> list[list[str]] | None:
    """In which ways the forecasts of a class are off, in words; None where rows were not held."""
    if assessment.tally.scores is None:
        return None
    return [list(told(row["value"], row["low"], row["high"])) for row in assessment.calibration_line(label)]


def _roc(found: Reliability) -> dict[str, Any] | None:
    """How many rows of a class, and of the rest, reach its forecasts, from the highest on; of many forecasts some."""
    own, rest = (np.cumsum(side[::-1]) for side in (found.happened, found.mass - found.happened))
    if not own[-1] > 0 or not rest[-1] > 0:
        return None
    stops = chosen_stops(own, rest, found.forecast[::-1], 0, MOST_POINTS)
    return {
        "fpr": drawn(np.append(0.0, rest[stops] / rest[-1])),
        "sensitivity": drawn(np.append(0.0, own[stops] / own[-1])),
    }


def _reliability(assessment: Assessment, code: int, one: OneAgainstRest | None) -> Reliability:
    """By rows that are sorted, or will soon be; so many that a band is left out are counted, which is faster."""
    if one is None and assessment.tally.scores is not None and assessment.n > MOST_BANDED:
        rows = assessment.ranked.rows
        happened = np.asarray(rows.truth == code).view(np.uint8)
        forecast = rows.scores[assessment.ranked.model].memberships()[code]
        return Reliability.of_many(forecast, happened, rows.sums, assessment.evaluation.unit)
    return Reliability.of_ranking(one or assessment.ranked.against_rest(code))


def curves_of(assessment: Assessment, reliability: list[dict[str, Any]]) -> str | None:
    """What there is to say of ROC curves of more than two classes; None where there are none."""
    drawn_ones = sum(any(curve and curve["roc"] for curve in one["models"]) for one in reliability)
    if not drawn_ones:
        return None
    words = []
    if any(measure.name == "auc" for measure in assessment.settings.measures):
        words.append("The areas below the curves, with their intervals, stand in the table by class.")
    if drawn_ones < len(assessment.classes):
        words.append(f"{drawn_ones} of {len(assessment.classes):,} classes are drawn.")
    return " ".join(words)


# --- simplex ---------------------------------------------------------------------------------------------------------


def simplex_of(assessments: Mapping[str, Assessment], by_row: bool) -> dict[str, Any] | None:
    """Rows between the corners of three or four classes; of more classes, of those that are confused most."""
    probable = {name: each for name, each in assessments.items() if _probable(each)}
    first = next(iter(assessments.values()))
    if not probable or len(first.classes) < 3:
        return None
    try:
        panels = PartitionPanels.of(probable, "default", 1, None).panels(by_row)
    except SteelyardError:
        return None
    names, (best, words) = list(assessments), _first_ones(probable, len(panels) // len(probable))
    return {
        "corners": min(len(first.classes), MOST_CORNERS) if len(first.classes) <= MOST_CORNERS else 3,
        "classes": len(first.classes),
        "looks": [look.colour for look in (*CLASSES, OTHER)],
        "panels": [_panel(panel, names.index(panel.model)) for panel in panels if panel.model in best][:MOST_PANELS],
        "left_out": words,
    }


def _first_ones(assessments: Mapping[str, Assessment], panels: int) -> tuple[list[str], str]:
    """The classifiers whose panels, so many each, have room: of many the best ones; and what to say of that."""
    room = max(1, MOST_PANELS // max(1, panels))
    if len(assessments) <= room:
        return list(assessments), ""
    measure, best = best_first(assessments)
    first = "" if measure is None else f", the first by {measure.title}"
    return best[:room], f"{room} of {len(assessments)} classifiers are drawn{first}."


def _panel(panel: Panel, model: int) -> dict[str, Any]:
    """One simplex; classes are numbered by their corners, and one more stands for all others."""
    marks, last = panel.marks, len(panel.classes)
    place = {label: code for code, label in enumerate(panel.classes)}
    found: dict[str, Any] = {
        "model": model,
        "classes": [shown(label) for label in panel.classes],
        "truth": [place.get(label, last) for label in marks["truth"]],
        "assigned": [place.get(label, last) for label in marks["assigned"]],
        **{axis: drawn(marks[axis]) for axis in "xyz" if axis in marks.column_names},
        "rates": [_rate(row) for row in panel.corners],
        "left_out": panel.left_out,
    }
    if "radius" in marks.column_names:
        found |= {name: drawn(marks[name]) for name in ("radius", "opacity")}
        found["rows"] = [count(float(value)) for value in marks["rows"]]
    return found


def _rate(row: Mapping[str, Any]) -> str:
    """How often assignments to the class of a corner are right."""
    text, bounds = told(row["value"], row["low"], row["high"])
    return f"{text} {bounds} right".replace("  ", " ")


# --- continuum -------------------------------------------------------------------------------------------------------


def strip_of(assessments: Mapping[str, Assessment], by_row: bool) -> dict[str, Any] | None:
    """Rows along the continuum that their classes were cut from, a lane for each class that they were assigned to."""
    first = next(iter(assessments.values()))
    if not isinstance(first.tally.scale, Continuum) or first.tally.scores is None:
        return None
    codes = chosen_classes(assessments)
    if len(codes) < len(first.classes):
        return None
    strips = Strips.of(assessments)
    labels, lanes = strips.scale.classes, strips.tables(ALL_LEVELS) if by_row else strips.bars()
    usual = "median standard deviation" if strips.deviations_differ else "standard deviation"
    zones = strips.zones()
    return {
        "classes": [shown(label) for label in labels],
        "boundaries": drawn(strips.scale.boundaries),
        "span": drawn(strips.span),
        "zones": [drawn(zones["from"]), drawn(zones["to"])],
        "deviation": "" if strips.deviation is None else f"{usual} {strips.deviation:.3g}",
        "looks": [grade.colour for grade in GRADES.values()],
        "models": [_lanes(table, labels) for table in lanes.values()],
    }


def _lanes(table: Table, labels: tuple[Label, ...]) -> dict[str, Any]:
    """Marks or bars of one classifier, with lane and severity as numbers."""
    lane, grade = {label: code for code, label in enumerate(labels)}, {name: code for code, name in enumerate(GRADES)}
    found: dict[str, Any] = {
        "lane": [lane[label] for label in table["assigned"]],
        "grade": [grade[name] for name in table["severity"]],
    }
    names = ("value", "level") if "value" in table.column_names else ("from", "to", "foot", "top")
    return found | {name: drawn(table[name]) for name in names}
