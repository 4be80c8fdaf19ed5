"""Labels beside points of a picture, which cover no line, no marker, no legend and no other label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from .style import text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def label_points(axes: Axes, labels: Iterable[Label], *, apart: bool) -> None:
    """Write labels beside points; ``apart`` says whose they are where some must be left out.

    Where each of them goes is found when the picture is drawn: only then its size is known, and the legend has its
    place. Labels that find none are left out, and a line of the picture names them.
    """
    from .point_labels import PointLabels

    shown = next((artist for artist in axes.artists if isinstance(artist, PointLabels)), None)
    if shown is None:
        shown = PointLabels(text_colour())
        axes.add_artist(shown)
    shown.add(labels, apart)
