"""Thresholds on ROC curves: where they lie, and labels that cover nothing."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.path import Path as Way
from matplotlib.transforms import Bbox

import steelyard as sy
from steelyard.core.errors import BadOption, UnknownModel
from steelyard.core.table import Table
from steelyard.display.plots.point_labels import PointLabels
from steelyard.inputs.remarks import Remark
from steelyard.results.assessment import Assessment
from steelyard.results.comparison import Comparison
from tests.effort import in_turn

INFINITE = math.inf
TWO, FIVE = [0.3, 0.7], [0.1, 0.3, 0.5, 0.7, 0.9]
TWELVE = [0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9]
TRUTH = ["no", "no", "yes", "no", "yes", "yes"]
SCORE = [0.1, 0.3, 0.4, 0.6, 0.8, 0.9]


def few(score: Sequence[float] = SCORE, **options: Any) -> Assessment:
    return sy.assess(TRUTH, list(score), event="yes", **options)


def points(table: Table) -> list[tuple[float, float, float]]:
    return list(zip(table["threshold"], table["fpr"], table["sensitivity"], strict=True))


# --- where they lie -----------------------------------------------------------------------------------------------


def test_thresholds_lie_where_rows_that_reach_them_put_them() -> None:
    marked = few().plot.roc(thresholds=[0.3, 0.5, 0.6, 0.7]).marked()
    third = 1 / 3
    assert marked["threshold"] == [0.3, 0.5, 0.6, 0.7]
    assert marked["fpr"] == pytest.approx([2 * third, third, third, 0.0])
    assert marked["sensitivity"] == pytest.approx([1.0, 2 * third, 2 * third, 2 * third])
    assert marked["text"] == ["0.3", "0.5", "0.6", "0.7"]
    assert marked["model"] == ["prediction"] * 4
    assert set(marked["note"]) == {""}


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("weight", [None, "weights"])
def test_points_are_those_of_at_threshold(kind: Any, weight: str | None) -> None:
    random = np.random.default_rng(1)
    truth = random.random(400) < 0.4
    score = np.round(np.clip(random.normal(0.4 + 0.2 * truth, 0.2), 0, 1), 2).astype(kind)
    weights = None if weight is None else random.random(400)
    result = sy.assess(truth, score, event=True, weight=weights)
    wanted = [-INFINITE, 0.0, 0.123, 0.3, 0.7, 0.95, 1.0, 2.0, INFINITE]
    for label in (True, False) if kind is np.float64 else (True,):
        asked = [-each for each in wanted] if label is False else wanted
        marked = result.plot.roc(label, thresholds=asked).marked()
        for threshold, fpr, sensitivity in points(marked):
            there = result.at_threshold(threshold, label)
            assert 1 - there["specificity", label].value == pytest.approx(fpr, abs=1e-12)
            assert there["sensitivity", label].value == pytest.approx(sensitivity, abs=1e-12)


def test_large_scores_of_single_precision_are_compared_as_they_are() -> None:
    score = np.tile(np.array([0.7, 0.2], np.float32), 600_000)  # so many are not copied
    result = sy.assess(np.tile([1, 0], 600_000), score, event=1, measures=["auc"])
    ((_, fpr, sensitivity),) = points(result.plot.roc(thresholds=0.7, band="none").marked())
    assert (fpr, sensitivity) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "threshold", "text"),
    [({}, 0.5, "0.5"), ({"threshold": 0.35}, 0.35, "0.35"), ({"threshold": "best:f1"}, 0.4, "0.4")],
)
def test_the_own_threshold_is_marked_at_first(options: dict[str, Any], threshold: float, text: str) -> None:
    result = few(**options)
    ((found, fpr, sensitivity),) = points(result.plot.roc().marked())
    assert found == threshold
    assert 1 - result["specificity"].value == pytest.approx(fpr)
    assert result["sensitivity"].value == pytest.approx(sensitivity)
    assert result.plot.roc(thresholds="own").marked()["text"] == [text]


def test_the_threshold_is_that_of_whatever_was_chosen_last() -> None:
    result = few()
    assert points(result.at_threshold(0.85).plot.roc().marked()) == [pytest.approx((0.85, 0.0, 1 / 3))]
    best = result.best_threshold("specificity", where="sensitivity >= 0.9")
    assert best.assessment is not None
    assert best.assessment.plot.roc().marked()["threshold"] == [best.threshold]
    only = sy.assess(TRUTH, SCORE, event="yes", measures=["auc"])
    assert only.plot.roc().marked()["threshold"] == [0.5]


def test_a_chosen_threshold_is_marked_with_all_its_digits() -> None:
    score = [0.1, 0.3, 0.123456789012345678, 0.0, 0.8765432109876543, 0.9999999999999999]
    best = few(score).best_threshold("sensitivity", where="specificity >= 0.6")
    assert best.assessment is not None
    marked = best.assessment.plot.roc().marked()
    assert marked["threshold"] == [best.threshold]
    assert not marked["note"][0]
    assert float(marked["text"][0]) <= best.threshold


def test_a_threshold_that_does_not_explain_where_rows_are_is_not_named() -> None:
    """A tally of an older version knows 15 digits of it; two files may have been assigned by two thresholds."""
    result = few(threshold=0.6)
    for other in (["0.60000001"], ["0.6", "0.7"]):
        remarks = {Remark("reached", f"{number} prediction"): 2 for number in other}
        tally = replace(result.tally, remarks=remarks)
        marked = replace(result, tally=tally).plot.roc().marked()
        assert marked["note"] == ["rows are not assigned by one threshold"]
        assert (marked["text"], marked["sensitivity"]) == ([""], [result["sensitivity"].value])


def test_several_classifiers_have_thresholds_of_their_own() -> None:
    turned = [1 - each for each in SCORE]
    both = sy.compare(TRUTH, {"a": SCORE, "b": turned}, event="yes", threshold={"a": 0.3, "b": 0.25})
    assert points(both.plot.roc().marked()) == [(0.3, 2 / 3, 1.0), (0.25, 1.0, 1 / 3)]
    assert both.plot.roc(thresholds=[0.5, 0.7]).marked()["model"] == ["a", "a", "b", "b"]
    mixed: dict[str, Any] = {"b": [0.2], "a": "own"}
    some = both.plot.roc(thresholds=mixed).marked()
    assert list(zip(some["model"], some["threshold"], strict=True)) == [("a", 0.3), ("b", 0.2)]
    assert both.plot.roc(thresholds={"b": 0.2}).marked()["model"] == ["b"]
    with pytest.raises(UnknownModel, match=r"'c', which has no curve\. Curves are drawn of 'a', 'b'"):
        both.plot.roc(thresholds={"c": [0.2]})


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_nothing_is_marked_where_nothing_is_asked_for(nothing: Any) -> None:
    display = few().plot.roc(thresholds=nothing)
    axes = display.plot()
    assert not len(display.marked())
    assert len(axes.lines) == 2
    assert not axes.artists


def test_a_threshold_that_no_score_reaches_lies_at_the_origin_and_says_so() -> None:
    display = few().plot.roc(thresholds=[0.5, 0.95, 1])
    marked = display.marked()
    assert points(marked)[1:] == [(0.95, 0.0, 0.0), (1.0, 0.0, 0.0)]
    assert marked["reached"] == [True, False, False]
    assert marked["note"] == ["", "no score reaches this threshold", "no score reaches this threshold"]
    assert [label.text for label in labels_of(display.plot()).labels] == ["0.5", "no score ≥ 0.95, 1"]
    never = few(threshold=0.95).plot.roc().marked()
    assert (never["fpr"], never["reached"]) == ([0.0], [False])


def test_infinite_scores_reach_an_infinite_threshold() -> None:
    result = sy.assess([0, 1, 1], score=[-INFINITE, 0.0, INFINITE], event=1)
    marked = result.plot.roc(thresholds=[INFINITE, 1.0, 0.0, -INFINITE]).marked()
    assert marked["sensitivity"] == [0.5, 0.5, 1.0, 1.0]
    assert marked["text"] == ["∞", "1", "0", "−∞"]
    assert set(marked["note"]) == {""}


def test_thresholds_of_one_point_share_a_label() -> None:
    tied = few([0.2, 0.2, 0.4, 0.4, 0.6, 0.6])
    axes = tied.plot.roc(thresholds=[0.6, 0.3, 0.35, 0.5, 0.25, 0.4, 0.1, 0.21, 0.6]).plot()
    assert [label.text for label in labels_of(axes).labels] == ["0.5, 0.6", "0.21 … 0.4", "0.1"]


def test_thresholds_have_as_many_digits_as_tell_them_apart() -> None:
    marked = few().plot.roc(thresholds=[0.500001, 0.500002, 0.1234567]).marked()
    assert marked["text"] == ["0.500001", "0.500002", "0.123457"]
    assert few([100_000 * each for each in SCORE], threshold=30_000).plot.roc().marked()["text"] == ["3e+04"]
    close = few([0.1, 0.3, 0.40001, 0.40003, 0.8, 0.9]).plot.roc(thresholds=[0.400026]).marked()
    assert close["text"] == ["0.40002"]


def test_a_class_against_the_rest() -> None:
    random = np.random.default_rng(2)
    said = random.dirichlet([1, 1, 1], 90)
    result = sy.assess(np.array(list("abc"))[random.integers(0, 3, 90)], said, scale=sy.Scale(list("abc")))
    marked = result.plot.roc("b", thresholds=[0.2, 0.6]).marked()
    for threshold, fpr, sensitivity in points(marked):
        own = said[:, 1] >= threshold
        truth = result.ranked.rows.truth == 1
        assert (fpr, sensitivity) == pytest.approx((own[~truth].mean(), own[truth].mean()))
    own_point = result.plot.roc("b").marked()
    assert math.isnan(own_point["threshold"][0])
    assert own_point["note"] == ["rows are not assigned by one threshold"]
    assert own_point["sensitivity"] == pytest.approx([result["sensitivity", "b"].value])
    assert not labels_or_none(result.plot.roc("b").plot())


def test_the_other_class_of_two_is_marked_with_the_threshold_of_the_event() -> None:
    result = few(threshold=0.35)
    marked = result.plot.roc("no").marked()
    assert marked["text"] == ["yes ≥ 0.35"]
    assert marked["note"] == ["a threshold of the score of 'yes'"]
    assert marked["sensitivity"] == [result["sensitivity", "no"].value]
    assert few().plot.roc("no").marked()["text"] == ["0.5"]
    assert result.at_threshold(-0.35, "no").plot.roc("no").marked()["text"] == ["−0.35"]
    with pytest.raises(BadOption, match=r"no score of this class reaches 0\.3.*Say -0\.3"):
        result.plot.roc("no", thresholds=[0.3])


@pytest.mark.parametrize("bad", [math.nan, [0.3, math.nan], "0.3", ["0.3"], [None], [[0.3, 0.5]], b"own", object(), {}])
def test_what_is_no_threshold_is_refused(bad: Any) -> None:
    if bad == {}:
        assert not len(few().plot.roc(thresholds=bad).marked())
        return
    with pytest.raises(BadOption, match=r"Give numbers, such as \[0\.3, 0\.5, 0\.7\], 'own' for"):
        few().plot.roc(thresholds=bad)


def test_more_thresholds_than_can_be_labelled_are_refused() -> None:
    with pytest.raises(BadOption, match=r"51 thresholds are too many to be marked\. Give 50 at most"):
        few().plot.roc(thresholds=np.linspace(0, 1, 51))
    assert len(few().plot.roc(thresholds=np.linspace(0, 1, 50)).marked()) == 50


def test_scores_without_a_threshold_have_none_of_their_own() -> None:
    result = sy.assess(TRUTH, score=SCORE, event="yes")
    assert not len(result.plot.roc().marked())
    assert result.plot.roc(thresholds=[0.5]).marked()["sensitivity"] == pytest.approx([2 / 3])


def test_a_rate_of_nothing_has_no_mark() -> None:
    scale = sy.Scale(["no", "yes"], event="yes")
    display = sy.assess(["yes", "yes"], [0.2, 0.7], scale=scale).plot.roc(thresholds=[0.5])
    drawn(display.plot())
    assert math.isnan(display.marked()["fpr"][0])


# --- rows that were counted and let go --------------------------------------------------------------------------


@pytest.fixture
def streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Assessment, Assessment]:
    """The same rows summed up file by file, in cells of scores, and held."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from steelyard.passes import tally
    from steelyard.results import evaluate

    random = np.random.default_rng(5)
    truth = random.random(6_000) < 0.4
    score = 1 / (1 + np.exp(-(random.normal(size=6_000) + truth)))
    columns = {"truth": np.where(truth, "yes", "no").tolist(), "score": score.tolist()}
    monkeypatch.setattr(tally, "MOST_ROWS", 1_000)
    monkeypatch.setattr(evaluate, "MOST_HELD", 0)
    given: dict[str, Any] = {"truth": "truth", "membership": "score", "event": "yes"}
    given |= {"scale": sy.Scale(["no", "yes"]), "measures": ["auc", "sensitivity", "specificity"]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    return sy.assess(tmp_path / "rows.parquet", **given), sy.assess(pa.table(columns), **given)


@pytest.mark.parametrize("label", ["yes", "no"])
def test_counts_in_cells_say_between_which_bounds_a_threshold_lies(
    streamed: tuple[Assessment, Assessment], label: str
) -> None:
    found, held = streamed
    ranked, sign = found.ranked, 1 if label == "yes" else -1
    assert not ranked.held
    (grid,) = ranked.grids
    mixed = grid.cells[grid.mixed][::7]
    assert len(mixed) > 3
    inside = (grid.ruler.low(mixed) + grid.ruler.low(mixed + 1)) / 2
    known = grid.thresholds[~grid.mixed][::600]
    wanted = sorted((sign * np.concatenate([inside, known])).tolist())[:40]
    rows = list(found.plot.roc(label, thresholds=wanted, band="none").marked())
    exact = list(held.plot.roc(label, thresholds=wanted, band="none").marked())
    for row, true in zip(rows, exact, strict=True):
        assert bool(row["note"]) == (sign * row["threshold"] in inside)
        if not row["note"]:
            assert (row["fpr"], row["sensitivity"]) == (true["fpr"], true["sensitivity"])
            continue
        bounds = [float(word) for word in row["note"].replace(",", "").split() if word[0].isdigit()]
        assert bounds[0] - 1e-5 <= true["sensitivity"] <= bounds[1] + 1e-5
        assert bounds[2] - 1e-5 <= true["fpr"] <= bounds[3] + 1e-5
        assert bounds[0] < bounds[1] or bounds[2] < bounds[3]
        assert row["text"].startswith("≈ ")


@pytest.mark.parametrize("label", ["yes", "no"])
def test_counts_at_a_threshold_within_a_cell_say_how_many_rows_may_be_on_either_side(
    streamed: tuple[Assessment, Assessment], label: str
) -> None:
    found, held = streamed
    ranked, sign = found.ranked, 1 if label == "yes" else -1
    assert not ranked.held
    (grid,) = ranked.grids
    cell = int(np.flatnonzero(grid.mixed)[5])
    inside = sign * float((grid.ruler.low(grid.cells[cell]) + grid.ruler.low(grid.cells[cell] + 1)) / 2)
    there, true = found.at_threshold(inside, label), held.at_threshold(inside, label)
    rows = int(grid.sums[cell].sum())
    (note,) = [note for note in there.notes if "either side" in note]
    assert note == (
        f"'prediction': {rows} rows may be on either side of the threshold: they were counted in one cell of scores "
        "with it; for exact counts, assess the files with threshold="
    )
    assert 0 < np.abs(there.confusion() - true.confusion()).sum() / 2 <= rows
    exact = sign * float(grid.thresholds[np.flatnonzero(~grid.mixed)[5]])
    at = found.at_threshold(exact, label)
    assert not [note for note in at.notes if "either side" in note]
    assert at.confusion().tolist() == held.at_threshold(exact, label).confusion().tolist()


def test_the_own_threshold_of_counted_rows_is_exact(streamed: tuple[Assessment, Assessment], tmp_path: Path) -> None:
    found, held = streamed
    assert points(found.plot.roc(band="none").marked()) == points(held.plot.roc(band="none").marked())
    given: dict[str, Any] = {"truth": "truth", "membership": "score", "event": "yes", "threshold": 0.3}
    given |= {"scale": sy.Scale(["no", "yes"]), "measures": ["auc", "error"]}
    path = tmp_path / "rows.parquet"
    counted = sy.assess(path, **given)
    there = held.at_threshold(0.3)
    for thresholds in ("own", [0.3]):
        marked = counted.plot.roc(thresholds=thresholds, band="none").marked()
        assert marked["threshold"] == [0.3]
        assert marked["text"] == ["0.3"]
        assert marked["sensitivity"] == [pytest.approx(there["sensitivity"].value, abs=1e-12)]
        assert marked["fpr"] == [pytest.approx(1 - there["specificity"].value, abs=1e-12)]
    best = sy.assess(path, **{**given, "threshold": "best:f1"})
    assert best.decision is not None
    assert best.plot.roc(band="none").marked()["threshold"] == [best.decision.threshold]
    assert best.plot.roc(band="none").marked()["note"] == [""]


# --- labels that cover nothing ------------------------------------------------------------------------------------


def drawn(axes: Axes) -> Any:
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    return figure


def labels_or_none(axes: Axes) -> PointLabels | None:
    return next((each for each in axes.artists if isinstance(each, PointLabels)), None)


def labels_of(axes: Axes) -> PointLabels:
    found = labels_or_none(axes)
    assert found is not None
    return found


def covered(axes: Axes) -> list[str]:
    """What labels of a drawn picture cover, by what matplotlib says of where everything is."""
    figure = drawn(axes)
    artist, renderer, faults = labels_of(axes), figure.canvas.get_renderer(), []
    shown = [text for text, placed in zip(artist.texts, artist.placed, strict=True) if placed is not None]
    extents = {text: text.get_window_extent(renderer) for text in shown}
    for one, other in combinations(shown, 2):
        if Bbox.intersection(extents[one], extents[other]) is not None:
            faults.append(f"{one.get_text()} and {other.get_text()}")
    frame, legend, reach = axes.get_window_extent(), axes.get_legend(), 3.4 * figure.dpi / 72
    for text, extent in extents.items():
        if not (frame.x0 <= extent.x0 and extent.x1 <= frame.x1 and frame.y0 <= extent.y0 and extent.y1 <= frame.y1):
            faults.append(f"{text.get_text()} leaves the axes")
        if legend is not None and Bbox.intersection(extent, legend.get_window_extent(renderer)) is not None:
            faults.append(f"{text.get_text()} and the legend")
        for line in axes.lines:
            way = line.get_transform().transform(np.asarray(line.get_xydata()))
            if line.get_linestyle() != "None":
                if Way(way).intersects_bbox(extent, filled=False):
                    faults.append(f"{text.get_text()} and {line.get_label()}")
            elif any(extent.padded(reach).contains(*point) for point in way.tolist()):
                faults.append(f"{text.get_text()} and a marker")
    return faults


def sample(kind: str) -> Assessment | Comparison:
    random = np.random.default_rng(3)
    ill = random.random(200) < 0.4
    truth = np.where(ill, "ill", "well")

    def score(gap: float) -> Any:
        return 1 / (1 + np.exp(-(gap * ill + random.normal(size=200) - 0.7)))

    if kind == "three":
        models = {"logistic": score(2.0), "boosting": score(1.0), "naive Bayes": score(0.5)}
        return sy.compare(truth, models, event="ill", measures=["auc", "error"])
    scores = {
        "usual": score(1.5),
        "tied": np.round(score(1.5) * 4) / 4,
        "perfect": np.where(ill, 0.8, 0.2) + 0.1 * random.random(200),
        "bad": 1 - score(2.0),
        "guessing": random.random(200),
        "constant": np.full(200, 0.4),
    }
    return sy.assess(truth, scores[kind], event="ill", measures=["auc", "error"])


NARROW, LARGE = (3.2, 3.0), (9.0, 7.0)
KINDS = ("usual", "tied", "perfect", "bad", "guessing", "constant", "three")
PICTURES = [
    *in_turn(KINDS, [NARROW], [FIVE, TWELVE]),
    *in_turn(["usual", "bad", "three"], [None], ["own", TWO, TWELVE]),
    ("three", LARGE, TWELVE),
]


@pytest.mark.study
@pytest.mark.parametrize(("kind", "size", "thresholds"), PICTURES)
def test_labels_cover_nothing_of_a_picture(kind: str, size: tuple[float, float] | None, thresholds: Any) -> None:
    ax = None if size is None else pyplot.subplots(figsize=size, layout="constrained")[1]
    display = sample(kind).plot.roc(thresholds=thresholds, band="none", ax=ax)
    axes = pyplot.gca()
    assert covered(axes) == []
    assert len(axes.lines) == len(display.curves) * 2 + 1
    if kind != "three" or thresholds != TWELVE:
        assert None not in labels_of(axes).placed or (kind, size) == ("three", NARROW)


def test_labels_that_find_no_place_are_named_or_counted() -> None:
    figure, axes = pyplot.subplots(figsize=(3.2, 3.0), layout="constrained")
    result = sample("three")
    display = result.plot.roc(thresholds=TWELVE, band="none", ax=axes)
    assert covered(axes) == []
    artist = labels_of(axes)
    left = [label for label, placed in zip(artist.labels, artist.placed, strict=True) if placed is None]
    assert left
    assert artist.note.startswith("not labelled: ") or artist.note == f"{len(left)} labels left out"
    assert len(display.marked()) == 36
    tiny = pyplot.subplots(figsize=(0.7, 0.7))[1]
    result.plot.roc(ax=tiny)
    assert covered(tiny) == []
    assert figure is not None


def test_labels_keep_their_distance_when_the_picture_changes(tmp_path: Path) -> None:
    axes = sample("usual").plot.roc(thresholds=FIVE).plot()
    assert covered(axes) == []
    figure = drawn(axes)
    figure.set_size_inches(3.0, 3.0)
    assert covered(axes) == []
    axes.set(xlim=(0, 0.3), ylim=(0.5, 1))  # a part of it
    assert covered(axes) == []
    assert 0 < sum(placed is not None for placed in labels_of(axes).placed) < 5
    for ending in ("pdf", "svg", "png"):
        figure.savefig(tmp_path / f"roc.{ending}", bbox_inches="tight", dpi=200)
    again = pickle.loads(pickle.dumps(figure))  # noqa: S301  (our own)
    assert covered(again.axes[0]) == []


def test_labels_of_two_pictures_in_one_pair_of_axes_make_way_for_each_other() -> None:
    axes = sample("usual").plot.roc(thresholds=FIVE).plot()
    sample("tied").plot.roc(thresholds=FIVE, ax=axes)
    assert covered(axes) == []
    assert len(axes.artists) == 1


def test_labels_are_shown_sign_by_sign() -> None:
    hostile = "$\\frac{_x</svg>\x1b[31m" + "y" * 90
    truth = [hostile if label == "yes" else "no" for label in TRUTH]
    axes = sy.assess(truth, SCORE, event=hostile, threshold=0.35).plot.roc("no").plot()
    (text,) = labels_of(axes).texts
    drawn(axes)
    assert text.get_text().endswith(" ≥ 0.35")
    assert "\x1b" not in text.get_text()
    assert not text.get_usetex()
    assert len(text.get_text()) < 45


def test_the_legend_gives_way_to_a_curve_below_the_diagonal() -> None:
    axes = sample("bad").plot.roc(thresholds=FIVE, band="none").plot()
    drawn(axes)
    legend = axes.get_legend()
    assert legend is not None
    way = axes.transData.transform(np.asarray(axes.lines[0].get_xydata()))
    assert not Way(way).intersects_bbox(legend.get_window_extent(), filled=False)
