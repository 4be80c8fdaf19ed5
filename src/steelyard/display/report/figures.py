"""What the page draws: curves with their thresholds, reliability, and rows between corners or along a continuum."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import SteelyardError
from ...core.scale import Continuum
from ...core.table import json_value
from ...core.text import count, down_to, isolated
from ...core.threads import in_order
from ...maths.simplex import MOST_CLASSES as MOST_CORNERS
from ...results.curves import band_at, operating_points, samples_of
from ...results.decisions import Thresholds, counted
from ...results.reliability import Reliability
from ...results.verdicts import best_first
from ..continuum_strip import Strips
from ..partition_panels import PartitionPanels
from ..plots.base import NO_SCORE
from ..plots.simplex import CLASSES, OTHER
from ..plots.strips import ALL_LEVELS, GRADES
from .tables import chosen_classes
from .wording import drawn, packed, percent, shown, told

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.table import Table
    from ...core.typing import Array, Places
    from ...families.ranking.one_against_rest import OneAgainstRest
    from ...measures.registry import Measure
    from ...results.assessment import Assessment
    from ...results.threshold_tables import ThresholdTables
    from ..partition_panels import Panel

    Rankings = dict[str, OneAgainstRest]  # by classifier

# --- thresholds ------------------------------------------------------------------------------------------------------

FEWEST_STOPS, MOST_STOPS, ALL_STOPS = 120, 600, 1_200
MOST_SEEN = 20_000  # thresholds that are looked at when some are chosen
# Of sensitivity and specificity: a condition in whole percents finds its exact stop. Where not all have room, round
# ones come first, and high ones before low ones, for these are asked for.
LEVELS = np.array(sorted(range(101), key=lambda level: (level % 10 > 0, level % 5 > 0, level % 2 > 0, -level))) / 100
NARROW = 50_000  # rows of either side, from which on a band is as thin as the line that it is around
THIN = "With so many rows a band would be as thin as its line."
MOST_BANDED_MODELS = 8  # classifiers: the bands of more would hide one another
MARKED = "A ring is the threshold of the result, with its value; a point follows its slider."
CROWDED = f"Of more than {MOST_BANDED_MODELS} classifiers no bands are drawn."
EXACT = 7  # decimals of rates that conditions are held against
READ = ("sensitivity", "specificity", "precision", "npv")


def operating_of(assessments: Mapping[str, Assessment], ranked: Rankings) -> dict[str, Any] | None:
    """What every stop of the slider does, for each classifier of two classes that gave scores.

    Rows that were sorted for it are kept for others.
    """
    first = next(iter(assessments.values()))
    if len(first.classes) != 2 or not any(each.has_scores for each in assessments.values()):
        return None
    label = spoken_of(first)
    other = next(each for each in first.classes if each != label)
    banded = len(assessments) <= MOST_BANDED_MODELS
    stops = int(np.clip(ALL_STOPS // len(assessments), FEWEST_STOPS, MOST_STOPS))
    cost = priced(first)
    found = [
        stops_of(each, label, ranked.setdefault(name, each.event_ranking(label)), stops, banded)
        if each.has_scores
        else None
        for name, each in assessments.items()
    ]
    return {
        "event": shown(label),
        "other": shown(other),
        "guessed": first.tally.scale.event is None,
        "cost": "mean cost" if cost.name == "cost" else "error",
        "cost_words": "by the costs that were given" if cost.name == "cost" else "every mistake costs 1",
        "models": found,
        "marked": MARKED if any(one and one["own"] for one in found) else "",
        "notes": _notes(first, label, any(one and one["roc_band"] is None for one in found), banded),
    }


def _notes(assessment: Assessment, label: Label, bare: bool, banded: bool) -> dict[str, str]:
    """Why a curve has no band, or is not there at all. The rows are the same for all classifiers."""
    rows = dict(zip(assessment.classes, assessment.evaluation.margins.true.tolist(), strict=True))
    missing = [f"There is no row of {shown(each)}, and so no such curve." for each in rows if rows[each] == 0]
    if missing:
        return {"roc": missing[0], "precision-recall": missing[0] if rows[label] == 0 else ""}
    return dict.fromkeys(("roc", "precision-recall"), "" if not bare else THIN if banded else CROWDED)


def spoken_of(assessment: Assessment) -> Label:
    """The class that curves speak of: the event, or else the last class."""
    event = assessment.tally.scale.event
    return assessment.classes[-1] if event is None else event


def priced(assessment: Assessment) -> Measure:
    """What mistakes cost: the costs that were given, or else 1 each."""
    known = [measure for measure in assessment.settings.measures if measure.name == "cost"]
    return known[0] if known else counted("error")


def stops_of(
    assessment: Assessment, label: Label, one: OneAgainstRest, most: int, banded: bool = True
) -> dict[str, Any]:
    """The thresholds at which the slider stops, rising, with the exact table at each; at the last none is assigned."""
    hits, alarms, scores = one.plain.hits, one.plain.alarms, one.ranking.thresholds
    start = _standing(assessment, label, hits, alarms)
    places = chosen_stops(hits, alarms, scores, start, most - 1)[::-1]
    tables = Thresholds(one).tables().at(np.append(places + 1, 0))
    thresholds, below = scores[places].tolist(), np.append(scores, -np.inf)[places + 1].tolist()
    return {
        "start": len(places) if start < 0 else int(np.flatnonzero(places == start)[0]),
        "all": len(hits) + 1,
        "own": _own(assessment, label, one),
        "threshold": [*map(json_value, thresholds), None],
        "threshold_text": packed([*map(down_to, thresholds, below), "above all"]),
        **_matrices(tables.cells),
        **_readings(assessment, tables),
        **(_bands(assessment, one, tables) if banded else dict.fromkeys(("roc_band", "pr_band"))),
    }


def _standing(assessment: Assessment, label: Label, hits: Array, alarms: Array) -> int:
    """The threshold at which rows are assigned now, -1 where none is; where other rules assigned them, the nearest."""
    wanted = assessment.evaluation.margins.assigned[assessment.code(label)]

    def called(place: int) -> float:
        return float(hits[place] + alarms[place]) if place >= 0 else 0.0

    after = min(bisect_left(range(len(hits)), wanted, key=called), len(hits) - 1)
    return after if called(after) - wanted < wanted - called(after - 1) else after - 1


def _own(assessment: Assessment, label: Label, one: OneAgainstRest) -> dict[str, Any] | None:
    """The threshold by which rows are assigned, and where it lies on the ROC curve; None where there is none."""
    for row in operating_points(assessment, "own", label, one):
        fpr, sensitivity = drawn([row["fpr"], row["sensitivity"]], EXACT)
        if row["text"] and fpr is not None and sensitivity is not None:
            words = row["text"] if row["reached"] else f"{NO_SCORE}{row['text']}"
            return {"text": isolated(words), "fpr": fpr, "sensitivity": sensitivity}
    return None


def chosen_stops(hits: Array, alarms: Array, scores: Array, start: int, most: int) -> Places:
    """Which of all thresholds to stop at: all, or so many.

    Of many: where the threshold stands now, both ends, where sensitivity or specificity passes a whole percent, and
    for the rest steps of about equal length along the curves and the scores.
    """
    size = len(hits)
    if size <= most + most // 2:  # to leave out a few would save little
        return np.arange(size)
    own, rest = (max(float(sums[-1]), 1e-300) for sums in (hits, alarms))
    reached = np.searchsorted(hits, LEVELS * own)
    kept = np.searchsorted(alarms, (1 - LEVELS) * rest, side="right") - 1
    wanted = np.concatenate([[0, max(start, 0), size - 1], np.stack([reached, kept], axis=1).ravel()]).clip(0, size - 1)
    fixed = np.array([*dict.fromkeys(wanted.tolist())][:most])
    seen = np.linspace(0, size - 1, MOST_SEEN).astype(np.int64)
    # All three go one way only, so that their sum is how far the way has gone. What is infinite is next to the others.
    finite = scores[np.isfinite(scores)]
    ends = (finite[0], finite[-1]) if len(finite) else (0.0, 0.0)
    way = hits[seen] / own + alarms[seen] / rest
    way += (ends[0] - scores[seen].clip(ends[1], ends[0])) / max(float(ends[0] - ends[1]), 1e-300)
    even = np.searchsorted(way, np.linspace(way[0], way[-1], most - len(fixed) + 2)[1:-1])
    return np.unique(np.concatenate([fixed, seen[even]]))


def _matrices(cells: Array) -> dict[str, Any]:
    """The tables in words: counts, shares of true classes and of assigned ones, for tp, fn, fp and tn."""
    tp, fn, fp, tn = cells
    with np.errstate(invalid="ignore", divide="ignore"):
        of_true = np.stack([tp / (tp + fn), fn / (tp + fn), fp / (fp + tn), tn / (fp + tn)])
        of_assigned = np.stack([tp / (tp + fp), fn / (fn + tn), fp / (tp + fp), tn / (fn + tn)])
    return {
        "counts": [packed(map(count, row)) for row in cells.tolist()],
        "of_true": [packed(map(percent, row)) for row in of_true.tolist()],
        "of_assigned": [packed(map(percent, row)) for row in of_assigned.tolist()],
        "called": [packed(map(count, row.tolist())) for row in (tp + fp, fn + tn)],
        "true": [count(float(value)) for value in ((tp + fn)[0], (fp + tn)[0])],
        "total": count(float(cells[:, 0].sum())),
    }


def _readings(assessment: Assessment, tables: ThresholdTables) -> dict[str, Any]:
    """What is read off beside the slider, in words and as numbers to draw: rates of the table, and what it costs."""
    measures = [*[counted(name) for name in READ], priced(assessment)]
    values = tables.values(measures)
    low, high = tables.bounds(measures, assessment.settings.level)
    found: dict[str, Any] = {}
    for place, name in enumerate([*READ, "cost"]):
        words = [*map(told, *[each[place].tolist() for each in (values, low, high)])]
        found[name] = drawn(values[place], None if name == "cost" else EXACT)
        found[f"{name}_text"] = packed(text for text, _ in words)
        found[f"{name}_interval"] = packed(bounds for _, bounds in words)
    del found["npv"]  # it is read, and not drawn
    found["cost_low"], found["cost_high"] = drawn(low[-1]), drawn(high[-1])
    found["fpr"] = drawn(tables.values([counted("fpr")])[0])
    return found


def _bands(assessment: Assessment, one: OneAgainstRest, tables: ThresholdTables) -> dict[str, Any]:
    """Bands of the ROC and the precision-recall curve at the stops; none where they would be too thin to be seen."""
    own, rest = tables.cells[:2, 0].sum(), tables.cells[2:, 0].sum()
    if own == 0 or rest == 0 or min(own, rest) / tables.unit > NARROW:
        return {"roc_band": None, "pr_band": None}
    fpr, sensitivity, precision = tables.values([counted(name) for name in ("fpr", "sensitivity", "precision")])
    level, seed = assessment.settings.level, assessment.settings.seed
    found, drawn_anew = {}, samples_of(one, seed)
    for name, kind, x, y in (
        ("roc_band", "roc", fpr, sensitivity),
        ("pr_band", "precision_recall", sensitivity, precision),
    ):
        known = ~np.isnan(y)
        bounds = band_at(drawn_anew, kind, x[known], y[known], "pointwise", level)
        whole = np.full((2, len(y)), np.nan)
        whole[:, known] = bounds["low"], bounds["high"]
        found[name] = [drawn(row) for row in whole]
    return found


# --- reliability -----------------------------------------------------------------------------------------------------

FEWEST_CLASSES, MOST_RELIABILITIES, MOST_POINTS = 3, 12, 400
MOST_BANDED, MOST_BANDS = 200_000, 4  # rows, and classifiers: with more, no band
MOST_PANELS = 12


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
