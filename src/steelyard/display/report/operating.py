"""Where the threshold may stand: for every stop of the slider the exact table, and the curves through all stops."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.table import json_value
from ...core.text import count, down_to, isolated
from ...results.curves import band_at, operating_points, samples_of
from ...results.decisions import Thresholds, counted
from ..plots.placing import NO_SCORE
from .wording import drawn, packed, percent, shown, told

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.typing import Array, Places
    from ...families.ranking.one_against_rest import OneAgainstRest
    from ...measures.registry import Measure
    from ...results.assessment import Assessment
    from ...results.threshold_tables import ThresholdTables

    Rankings = dict[str, OneAgainstRest]  # by classifier

FEWEST_STOPS, MOST_STOPS, ALL_STOPS = 120, 600, 1_200
MOST_SEEN = 20_000  # thresholds that are looked at when some are chosen
# Of sensitivity and specificity: a condition in whole percents finds its exact stop. Where not all have room, round
# ones come first, and high ones before low ones, for these are asked for.
LEVELS = np.array(sorted(range(101), key=lambda level: (level % 10 > 0, level % 5 > 0, level % 2 > 0, -level))) / 100
NARROW = 50_000  # rows of either side, from which on a band is as thin as the line that it is around
THIN = "With so many rows a band would be as thin as its line."
MOST_BANDED = 8  # classifiers: the bands of more would hide one another
MARKED = "A ring is the threshold of the result, with its value; a point follows its slider."
CROWDED = f"Of more than {MOST_BANDED} classifiers no bands are drawn."
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
    banded = len(assessments) <= MOST_BANDED
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
