"""Curves are drawn as they are: what a picture shows between two points is what rows say there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.cbook import STEP_LOOKUP_MAP

import steelyard as sy
from steelyard.display.plots import DetDisplay, LiftDisplay, PrecisionRecallDisplay, ThresholdDisplay
from steelyard.display.plots.base import LONGEST, thin

WITHIN = 1 / 250  # of the span of an axis: how far a thinned curve may be off


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No figure is left open."""
    yield
    plt.close("all")


def rows(kind: str, seed: int = 0) -> tuple[Any, Any]:
    """Truth and scores: few and tied, untied, nearly all tied, or very many."""
    random = np.random.default_rng(seed)
    size = {"few": 40, "untied": 300, "tied": 300, "many": 20_000, "upside down": 200}[kind]
    truth = random.integers(0, 2, size)
    score = 1 / (1 + np.exp(-(truth - 0.5) * 2 - random.normal(size=size)))
    if kind == "upside down":
        score = 1 - score
    if kind in ("few", "tied", "upside down"):
        score = np.round(score, 1)
    return truth, score


def drawn(line: Any) -> Any:
    """The corners that are drawn."""
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    way = line.get_drawstyle()
    return (x, y) if way == "default" else STEP_LOOKUP_MAP[way](x, y)


def between(line: Any, count: int = 7) -> tuple[Any, Any]:
    """Samples of a drawn line, between its corners, too."""
    x, y = drawn(line)
    share = np.linspace(0, 1, count, endpoint=False)
    xs = (x[:-1, None] + share * np.diff(x)[:, None]).ravel()
    ys = (y[:-1, None] + share * np.diff(y)[:, None]).ravel()
    return xs, ys


def counted(truth: Any, score: Any, threshold: float) -> dict[str, float]:
    """Rates at a threshold, by hand."""
    called = score >= threshold
    tp, fp = (called & (truth == 1)).sum(), (called & (truth == 0)).sum()
    fn, tn = (~called & (truth == 1)).sum(), (~called & (truth == 0)).sum()
    precision = tp / (tp + fp) if tp + fp else np.nan
    return {"sensitivity": tp / (tp + fn), "specificity": tn / (tn + fp), "precision": precision}


@pytest.mark.parametrize("kind", ["few", "untied", "tied", "upside down"])
def test_weak_point_12_measures_over_the_threshold_are_drawn_in_steps(kind: str) -> None:
    truth, score = rows(kind)
    display = sy.assess(truth, score, event=1).plot.thresholds(band=True)
    axes = display.plot()
    scores = np.unique(score)
    for line, measure in zip(axes.lines, ("sensitivity", "specificity", "precision"), strict=False):
        assert line.get_drawstyle() == "steps-pre"
        xs, ys = drawn(line)
        for x in np.concatenate([scores, (scores[1:] + scores[:-1]) / 2, scores[1:] - 1e-9, scores[:-1] + 1e-9]):
            # The value at x is that of the corners on the level piece around it.
            pieces = zip(xs[:-1], xs[1:], ys[:-1], ys[1:], strict=True)
            level = [y for left, right, y, other in pieces if y == other and left < x <= right]
            if x > scores[0]:
                assert level == pytest.approx([counted(truth, score, x)[measure]])


def test_weak_point_12_sensitivity_of_a_tie_is_not_drawn_too_high() -> None:
    truth = np.array([1] * 13 + [1] * 37 + [0] * 50)
    score = np.array([0.9] * 13 + [0.1] * 37 + [0.1] * 50)
    table = sy.assess(truth, score, event=1).thresholds(["sensitivity"])[["threshold", "sensitivity"]]
    display = ThresholdDisplay({"a": table})
    xs, ys = drawn(display.plot().lines[0])
    assert [y for left, right, y in zip(xs[:-1], xs[1:], ys[1:], strict=True) if left < 0.5 < right] == [0.26]


@pytest.mark.parametrize("kind", ["few", "untied", "tied", "many", "upside down"])
def test_weak_point_12_lift_is_never_above_the_most_possible(kind: str) -> None:
    truth, score = rows(kind)
    axes = sy.assess(truth, score, event=1).plot.lift().plot()
    xs, ys = between(axes.lines[0])
    base = truth.mean()
    most = np.minimum(1 / base, 1 / np.maximum(xs, 1e-300))
    assert (ys <= most * (1 + 1e-7)).all()
    if kind != "many":
        assert ys == pytest.approx(
            np.where(xs > 0, gains(truth, score, xs) / np.maximum(xs, 1e-300), ys), rel=2e-3, abs=2e-3
        )


def gains(truth: Any, score: Any, share: Any) -> Any:
    """The share of the event found among so many rows, by hand: rows of a tie stand in no order."""
    order = np.unique(score)[::-1]
    called = np.array([0, *[(score >= each).mean() for each in order]])
    found = np.array([0, *[(truth[score >= each] == 1).sum() / truth.sum() for each in order]])
    return np.interp(share, called, found)


@pytest.mark.parametrize("kind", ["few", "tied", "upside down"])
@pytest.mark.parametrize("curve", ["roc", "gain", "det"])
def test_weak_point_12_between_the_ends_of_a_tie_the_chord_is_drawn(kind: str, curve: str) -> None:
    truth, score = rows(kind)
    axes = getattr(sy.assess(truth, score, event=1).plot, curve)().plot()
    line = axes.lines[0]
    order = np.unique(score)[::-1]
    false = np.array([0, *[(score[truth == 0] >= each).mean() for each in order]])
    found = np.array([0, *[(score[truth == 1] >= each).mean() for each in order]])
    if curve == "gain":
        xs, ys = between(line)
        assert ys == pytest.approx(gains(truth, score, xs))
    elif curve == "roc":
        xs, ys = between(line)
        slanted = np.diff(false) > 0
        for left, right, low, high in zip(
            false[:-1][slanted], false[1:][slanted], found[:-1][slanted], found[1:][slanted], strict=True
        ):
            inside = (xs > left) & (xs < right)
            assert ys[inside] == pytest.approx(low + (xs[inside] - left) / (right - left) * (high - low))
    else:
        # On the scale that is drawn, where lines are straight, no sample is far from the chord.
        to = axes.transAxes.inverted()
        corners = to.transform(axes.transData.transform(np.asarray(line.get_xydata())))
        shares = np.linspace(0, 1, 400)
        chords = np.concatenate(
            [
                np.stack([a + shares * (b - a), 1 - (c + shares * (d - c))], 1)
                for a, b, c, d in zip(false[:-1], false[1:], found[:-1], found[1:], strict=True)
            ]
        )
        truth_points = to.transform(axes.transData.transform(chords))
        middle = (corners[1:] + corners[:-1]) / 2
        gap = np.sqrt(((middle[:, None] - truth_points[None]) ** 2).sum(2)).min(1)
        assert gap.max() < 0.01


@pytest.mark.parametrize("kind", ["few", "tied"])
def test_weak_point_12_the_risk_of_rows_kept_is_drawn_as_it_is(kind: str) -> None:
    truth, score = rows(kind)
    found = sy.assess(truth, score, event=1)
    table = found.rejection()
    xs, ys = between(found.plot.rejection().plot().lines[0])
    coverage, risk = (np.array(table[name], float) for name in ("coverage", "risk"))
    order = np.argsort(coverage)
    sums = np.interp(xs, coverage[order], (coverage * risk)[order])
    assert ys == pytest.approx(sums / xs, rel=2e-3, abs=2e-3)


# --- thinning -------------------------------------------------------------------------------------------------


def apart(first: Any, second: Any) -> float:
    """How far points of one line are from another line that is sampled finely, by the larger of both axes."""
    from scipy.spatial import cKDTree

    gaps: Any = cKDTree(second).query(first, p=np.inf)[0]
    return float(gaps.max())


def sampled(x: Any, y: Any, steps: bool) -> Any:
    """A line as points that lie closely together."""
    x, y = STEP_LOOKUP_MAP["steps-pre"](x, y) if steps else (x, y)
    parts = np.maximum(np.ceil(np.maximum(np.abs(np.diff(x)), np.abs(np.diff(y))) / 2e-4), 1).astype(int)
    first = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(first)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[first]
    return np.stack([x[first] + share * (x[first + 1] - x[first]), y[first] + share * (y[first + 1] - y[first])], 1)


@pytest.mark.parametrize("steps", [True, False])
@pytest.mark.parametrize("kind", ["rising", "waves", "bursts", "saw", "one side"])
def test_weak_point_12_a_thinned_curve_is_within_a_250th_of_the_truth(kind: str, steps: bool) -> None:
    random = np.random.default_rng(5)
    size = 30_000
    x = np.sort(random.random(size))
    y = {
        "rising": np.cumsum(random.exponential(size=size)),
        "waves": np.sin(40 * x) + 0.01 * random.normal(size=size),
        "bursts": np.cumsum(random.normal(size=size) * (random.random(size) < 0.002)),
        "saw": (np.arange(size) % 997) / 997,
        "one side": np.cumsum(random.random(size) < 0.001),
    }[kind].astype(float)
    if kind == "one side":
        x = x**8
    x, y = (x - x[0]) / np.ptp(x), (y - y.min()) / np.ptp(y)
    kept = thin(x, y)
    assert len(kept) <= LONGEST
    whole, short = sampled(x, y, steps), sampled(x[kept], y[kept], steps)
    assert apart(short, whole) <= WITHIN + 4e-4
    assert apart(whole, short) <= WITHIN + 4e-4


# --- the page -------------------------------------------------------------------------------------------------


def test_weak_point_12_the_page_draws_costs_in_steps_and_says_which_way() -> None:
    assets = Path(sy.__file__).parent / "display" / "report" / "assets"
    kit, operating = ((assets / name).read_text() for name in ("kit.js", "operating.js"))
    cost = operating[operating.index('name: "cost"') :]
    assert 'stepped: "before"' in cost
    assert re.search(r'stepped === "before" \? `V\$\{b\}H\$\{a\}`', kit)
    assert re.search(r'stepped === "after" \? `H\$\{a\}V\$\{b\}`', kit)


def test_displays_say_how_they_are_drawn() -> None:
    assert ThresholdDisplay.steps and PrecisionRecallDisplay.steps
    assert not LiftDisplay.steps and not DetDisplay.steps
