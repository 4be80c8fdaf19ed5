"""Classifiers ranked by several measures side by side, with lines that follow each of them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption
from ...core.table import Table
from ...core.text import estimated
from .style import (
    LINE,
    SMALL_SIZE,
    Looks,
    dress,
    fitting,
    give_way,
    inches,
    legible,
    literal_text,
    new_figure,
    stroke,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN, ROW, EDGE = 1.5, 0.62, 0.9  # inches
NAME, HEADING = 24, 16  # how many signs names and headings may have in a line
DIRECTIONS = {"lower": "lower is better", "higher": "higher is better"}


@dataclass(frozen=True, eq=False, repr=False)
class RankingDisplay:
    """Who is first by which measure: one column a measure, the best on top.

    Attributes:
        ranks: The columns model, measure, title, better, value, low, high, rank and place; None is the rank of what
            is undefined.
        level: The coverage of the intervals.
    """

    ranks: Table
    _: KW_ONLY
    level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        for column in ("model", "measure", "title", "better", "value", "low", "high", "rank", "place"):
            self.ranks[column]  # raises if it is not there
        if not len(self.ranks):
            raise BadOption("there is nothing to rank", mend="Give at least one measure and one classifier")

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.ranks

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ranks into the given axes, or into a new figure."""
        count, rows = len(self._columns), max(self.ranks["place"])
        longest = max(written(legible(name, NAME), SMALL_SIZE) for name in self.ranks["model"])
        beside = longest * min(count, 2) + 0.3
        with literal_text():
            size = (COLUMN * max(count, 2) + beside, EDGE + ROW * rows)
            axes = new_figure(size)[1] if ax is None else ax
            # Names take their room from axes that are given, once these are laid out.
            column = COLUMN if ax is None else max(0.3, inches(ax)[0] - beside) / count
            with give_way(axes):
                axes.set(xlim=(-0.46, count - 0.54), ylim=(rows + 0.62, 0.6))
                axes.set_xlabel(f"value and {100 * self.level:.4g} % interval below each rank")
                dress(axes)
                axes.grid(visible=False)
                axes.spines[["left", "bottom"]].set_visible(False)
                self._draw_lines(axes)
                self._draw_ranks(axes, column)
                self._name(axes, column)
        return axes

    @property
    def _columns(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of every measure, in the order of their places."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in sorted(self.ranks, key=lambda row: row["place"]):
            found.setdefault(row["measure"], []).append(row)
        return {measure: found[measure] for measure in dict.fromkeys(self.ranks["measure"])}

    @property
    def _models(self) -> list[str]:
        """The classifiers in the order of the table, so that they look the same in all pictures."""
        return list(dict.fromkeys(self.ranks["model"]))

    def _draw_lines(self, axes: Axes) -> None:
        for index, name in enumerate(self._models):
            places = [row["place"] for rows in self._columns.values() for row in rows if row["model"] == name]
            look = stroke(index)
            axes.plot(range(len(places)), places, color=look.color, linestyle=look.linestyle, **LINE)

    def _draw_ranks(self, axes: Axes, wide: float) -> None:
        """A disc with the rank in it, and below it what the rank is made of, in columns of so many inches."""
        face, models = axes.get_facecolor(), self._models
        lines = [line for row in self.ranks for line in _numbers(row)]
        small = fitting(lines, SMALL_SIZE - 1, wide)
        for column, rows in enumerate(self._columns.values()):
            for row in rows:
                x, y, colour = column, row["place"], stroke(models.index(row["model"])).color
                disc: Looks = {"marker": "o", "markersize": 15.0, "markerfacecolor": face, "markeredgewidth": 1.8}
                axes.plot([x], [y], color=colour, linestyle="none", zorder=4.0, **disc)
                rank: Looks = {"ha": "center", "va": "center_baseline", "fontsize": SMALL_SIZE, "zorder": 5.0}
                axes.annotate("–" if row["rank"] is None else str(row["rank"]), (x, y), **rank)
                box: Looks = {"facecolor": face, "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
                below: Looks = {"xytext": (0.0, -10.5), "textcoords": "offset points", "va": "top", "bbox": box}
                below |= {"ha": "center", "fontsize": small, "linespacing": 1.05, "zorder": 5.0}
                axes.annotate("\n".join(_numbers(row)), (x, y), **below)

    def _name(self, axes: Axes, wide: float) -> None:
        """Measures above their columns of so many inches; classifiers beside the first and the last of them."""
        heads = [rows[0] for rows in self._columns.values()]
        texts = [f"{fill(legible(head['title']), HEADING)}\n({DIRECTIONS[head['better']]})" for head in heads]
        axes.xaxis.tick_top()
        lines = [line for text in texts for line in text.splitlines()]
        size = fitting(lines, SMALL_SIZE, wide)
        axes.set_xticks(range(len(heads)), texts, fontsize=size)
        first, *_, last = [*self._columns.values()] * 2
        axes.set_yticks([row["place"] for row in first], [legible(row["model"], NAME) for row in first])
        axes.tick_params(length=0.0)
        texts_of = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        if len(heads) > 1:
            right = axes.secondary_yaxis("right")
            right.set_yticks([row["place"] for row in last], [legible(row["model"], NAME) for row in last])
            right.tick_params(length=0.0, labelsize=SMALL_SIZE)
            right.spines["right"].set_visible(False)
            texts_of += right.get_yticklabels()
        for text in texts_of:
            text.set_usetex(False)


def _numbers(row: dict[str, Any]) -> list[str]:
    """What a rank is made of, in lines."""
    return ["undefined"] if row["rank"] is None else [*estimated(row["value"], row["low"], row["high"])]
