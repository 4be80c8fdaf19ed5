"""Measured values and classifiers of them, and what pictures of them are held against."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

import steelyard as sy

BOUNDARIES = {2: [0.6], 3: [0.0, 0.6], 5: [-0.8, 0.0, 0.6, 1.5]}
NAMES = {2: ["low", "high"], 3: ["low", "mid", "high"], 5: ["lowest", "low", "mid", "high", "highest"]}
HOSTILE = ["$\\frac{1}{0$", "_hid\nden\x1b[31m", "\u202eback $x$ & %"]


def measured(rows: int, models: int = 1, seed: int = 1) -> tuple[Any, Any]:
    """What was measured, and what classifiers believe: (rows,) and (models, rows)."""
    source = np.random.default_rng(seed)
    true = source.normal(0.3, 0.9, rows)
    spreads = 0.2 + 0.15 * np.arange(models)[:, None]
    return true + source.normal(0, 0.5, rows), true + spreads * source.normal(size=(models, rows))


def compared(
    rows: int, classes: int = 3, models: Sequence[str] = ("lda",), names: Sequence[Any] = (), sd: Any = 0.5, **more: Any
) -> sy.Comparison:
    """Classifiers of measured values, the later the worse."""
    value, beliefs = measured(rows, len(models))
    labels = np.array(names or NAMES[classes], dtype=object)
    scale = sy.Continuum(BOUNDARIES[classes], list(names or NAMES[classes]), sd=sd)
    said = {name: labels[np.digitize(one, BOUNDARIES[classes])] for name, one in zip(models, beliefs, strict=True)}
    return sy.compare(value, said, scale=scale, **more)


def figure_of(axes: Axes) -> Figure:
    """The figure, laid out."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def assert_readable(axes: Axes, texts: Sequence[Text]) -> None:
    """Nothing is cut, and no text covers another."""
    figure = figure_of(axes)
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    for box in boxes:
        assert box.x0 >= -1 and box.y0 >= -1
        assert box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1
    for one, other in combinations(boxes, 2):
        wide, high = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        assert wide <= 1 or high <= 1
