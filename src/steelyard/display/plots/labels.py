"""Labels of points in a picture: what they say and where the points are."""

from __future__ import annotations

from typing import NamedTuple

NO_SCORE = "no score ≥ "  # before a threshold that none reaches


class Label(NamedTuple):
    """What is written beside a point.

    Attributes:
        at: The point, in the numbers of the axes.
        text: The label.
        colour: That of the classifier; None for the colour of text.
        model: The classifier.
    """

    at: tuple[float, float]
    text: str
    colour: str | None = None
    model: str = ""
