"""The accuracy of nearest neighbours over their number: on many splits, in the mean, in training and in R."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.errors import BadOption
from ...core.table import Table
from .style import Looks, add_legend, dress, literal_text, new_figure, stroke, text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.8, 4.6)
LARGEST = 190.0  # points of area that the most frequent accuracy takes
DOT: Looks = {"linewidths": 0.0, "alpha": 0.3, "zorder": 2.0}
BARS: Looks = {"fmt": "o", "capsize": 3.5, "elinewidth": 1.4, "markersize": 5.0, "zorder": 3.0}
SEEN: Looks = {"marker": "s", "markersize": 3.5, "linewidth": 1.2, "zorder": 2.5}
BESIDE: Looks = {"marker": "D", "s": 70.0, "facecolors": "none", "linewidths": 1.4, "zorder": 4.0}


@dataclass(frozen=True, eq=False, repr=False)
class IrisesDisplay:
    """Means with bars of one standard deviation over splits, among dots for the splits themselves.

    Attributes:
        curve: A table with the columns k, mean, sd, training and r.
        counts: A table with the columns k, accuracy and splits: how often each accuracy came out.
    """

    curve: Table
    counts: Table

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not len(self.curve):
            raise BadOption("there is no number of neighbours to draw", mend="Give at least one")
        for table, columns in ((self.curve, ("k", "mean", "sd", "training", "r")), (self.counts, ("accuracy",))):
            for column in columns:
                table[column]  # raises if it is not there

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.curve

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw into the given axes, or into a new figure."""
        with literal_text():
            own, axes = new_figure(SIZE) if ax is None else (None, ax)
            self._draw_held_out(axes)
            self._draw_beside(axes)
            axes.set(xlabel="k, the number of neighbours", ylabel="accuracy", xticks=self.curve["k"])
            dress(axes)
            add_legend(axes, "upper right", own)
        return axes

    def _draw_held_out(self, axes: Axes) -> None:
        color, most = stroke(0).color, max(self.counts["splits"])
        area = [LARGEST * count / most for count in self.counts["splits"]]
        label = "single splits, by how many they are"
        axes.scatter(self.counts["k"], self.counts["accuracy"], s=area, color=color, label=label, **DOT)
        k, mean, spread = (self.curve[name] for name in ("k", "mean", "sd"))
        axes.plot(k, mean, color=color, linewidth=1.4, zorder=2.9)
        axes.errorbar(k, mean, yerr=spread, color=color, label="held out: mean ± sd over splits", **BARS)

    def _draw_beside(self, axes: Axes) -> None:
        """What the same classifiers do in training, and what R found."""
        k, look = self.curve["k"], stroke(1)
        axes.plot(k, self.curve["training"], color=look.color, linestyle=look.linestyle, label="in training", **SEEN)
        if self.curve["r"][0] is not None:
            axes.scatter(k, self.curve["r"], edgecolors=text_colour(), label="mean over other splits, in R", **BESIDE)
