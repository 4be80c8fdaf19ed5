"""How all pictures look: colours, strokes, axes, legends, and text that cannot act on its own."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...core.errors import harmless
from ...core.text import shortened
from ...data.whole_files import PICTURE, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Looks = dict[str, Any]
Named = tuple[Sequence[float], Sequence[str]]  # places, and what stands there
Corner = Literal["best", "below", "lower right", "upper right"]

# Okabe & Ito (2008): told apart by the colour-blind. Their yellow cannot be read on white; grey stands in for it.
# None is the colour of text: their black, but white where the user's style has a dark background.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", None, "#808080")
# Five dashes and eight colours have no common divisor, so that a pair comes back only after 40 lines.
DASHES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (7, 1.6, 1.2, 1.6)), (0, (5, 1.4, 1.2, 1.4, 1.2, 1.4)))

LINE: Looks = {"linewidth": 1.5, "zorder": 3.0}
BAND: Looks = {"linewidth": 0.0, "zorder": 1.5}
REFERENCE: Looks = {"color": "0.55", "linewidth": 0.8, "zorder": 1.0}
MARKER: Looks = {"marker": "o", "markersize": 7.0, "markeredgecolor": "white", "zorder": 4.0}

TEXT_SIZE, SMALL_SIZE = 10.0, 9.0
TITLE_SIZE = 16.0  # points that the title of an axis takes, for which figures leave room by themselves
# Handles long enough to tell one dash from another.
LEGEND: Looks = {
    "fontsize": SMALL_SIZE,
    "handlelength": 3.2,
    "columnspacing": 1.2,
    "edgecolor": "none",
    "framealpha": 0.8,
}
LONGEST_NAME = 40
SIGN = 0.54  # about how wide a sign is, as a share of its height
MOST_ENTRIES_INSIDE, WIDEST_INSIDE = 6, 40
BESIDE_TEXT = 12  # signs: about as wide as handles and edges of a legend are


class Look(NamedTuple):
    """How rows of one kind look; the colour None is that of text."""

    colour: Any
    marker: Any
    size: float = 1.0


def text_colour() -> str:
    """The colour of text in the user's style: it can be seen on their background."""
    import matplotlib

    return str(matplotlib.rcParams["text.color"])


def stroke(index: int) -> Looks:
    """Colour and dashes of a line by its place; the same classifier looks the same in all pictures."""
    return {"color": COLOURS[index % len(COLOURS)] or text_colour(), "linestyle": DASHES[index % len(DASHES)]}


def band_alpha(count: int) -> float:
    """How opaque each of so many bands is: paler where there are many, because they lie on top of each other."""
    return min(0.18, 0.72 / count)


def legible(text: object, limit: int = LONGEST_NAME) -> str:
    """Show text from users as it stands: no formulas, nothing hidden, and not too long."""
    shown = shortened(harmless(text).strip() or "(no name)", limit)
    # matplotlib hides entries that begin with an underscore, and takes what stands between dollars for a formula.
    return f"{' ' * shown.startswith('_')}{shown}".replace("$", r"\$")


def entry(name: str, label: str) -> str:
    """The text of a legend's entry. Only the name is cut, so that a number behind it is kept."""
    if not label.startswith(name):
        return legible(label, 2 * LONGEST_NAME)
    facts = label.removeprefix(name)
    return legible(name) + (harmless(facts).replace("$", r"\$") if facts else "")


def written(text: str, size: float) -> float:
    """About how many inches wide a line of text is: the layout that would tell exactly comes only later."""
    return len(text) * SIGN * size / 72


def fitting(lines: Iterable[str], size: float, wide: float) -> float:
    """The size at which lines of text go into so many inches, if this size is too large."""
    return min(size, max(4.0, size * wide / max(written(line, size) for line in lines)))


def size_in(room: float) -> float:
    """The size of text in lines that have so many points of room."""
    return min(SMALL_SIZE, max(4.0, 0.75 * room))


def inches(axes: Axes) -> tuple[float, float]:
    """How wide and how high axes are before any layout."""
    extent, dpi = axes.get_window_extent(), axes.figure.dpi
    return extent.width / dpi, extent.height / dpi


@contextmanager
def canvas(ax: Axes | None, size: tuple[float, float]) -> Iterator[tuple[Figure | None, Axes]]:
    """The axes to draw into, and their figure if it is a new one. pyplot makes it, so that notebooks show it.

    Within it, text is made that is shown sign by sign: LaTeX would obey more signs than `legible` escapes.
    """
    from matplotlib import pyplot

    with pyplot.rc_context({"text.usetex": False, "text.parse_math": True}):
        yield pyplot.subplots(figsize=size, layout="constrained") if ax is None else (None, ax)


def dress(axes: Axes) -> None:
    """Give axes the look of all pictures. Colours of text and background stay those of the user's own style."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="0.5", alpha=0.2, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL_SIZE)
    axes.xaxis.label.set_fontsize(TEXT_SIZE)
    axes.yaxis.label.set_fontsize(TEXT_SIZE)


def name_sides(axes: Axes, left: Named, right: Named | None = None, pad: float | None = None, **looks: Any) -> None:
    """Names at their places beside the axes, on the left and on the right, without ticks."""
    sides = [(axes, left), *([] if right is None else [(axes.secondary_yaxis("right"), right)])]
    for side, (places, names) in sides:
        side.set_yticks(places, names, **looks)
        side.tick_params(axis="y", length=0.0, **({} if pad is None else {"pad": pad}))
        for text in side.get_yticklabels():
            text.set_usetex(False)
    if right is not None:
        sides[1][0].spines["right"].set_visible(False)


def add_legend(axes: Axes, corner: Corner, own: Figure | None, *, outside: bool = False) -> None:
    """Put the legend into its corner, or below the axes where it would cover too much of the curves.

    Where nothing makes room for it there, it stands inside all the same, unless it must be outside: see `give_way`.
    """
    texts = axes.get_legend_handles_labels()[1]
    few = len(texts) <= MOST_ENTRIES_INSIDE and max(map(len, texts), default=0) <= WIDEST_INSIDE
    if few and corner != "below":
        axes.legend(loc=corner, **(LEGEND if own is not None else _narrow_legend(axes, texts)))
    elif own is not None:
        _add_legend_to_figure(own)
    elif outside or axes.figure.get_layout_engine() is not None:
        _add_legend_below(axes)
    else:
        # Nothing would make room for a legend outside: it would be cut off.
        axes.legend(loc="best", **_narrow_legend(axes, texts))


def _narrow_legend(axes: Axes, texts: Iterable[str]) -> Looks:
    """The look of a legend inside axes of the user's, whose text is smaller where it would stick out of them."""
    axes.apply_aspect()  # equal scales leave less room than the axes were given
    lines = [text + " " * BESIDE_TEXT for text in texts] or [""]
    return {**LEGEND, "fontsize": fitting(lines, SMALL_SIZE, inches(axes)[0])}


@contextmanager
def give_way(axes: Axes) -> Iterator[None]:
    """Let axes give up as much of their own room as what is drawn around them takes, where no layout finds any."""
    before = axes.get_tightbbox()
    yield
    after, place = axes.get_tightbbox(), axes.get_position()
    if axes.figure.get_layout_engine() is not None or before is None or after is None:
        return
    whole, title = axes.figure.bbox, TITLE_SIZE * axes.figure.dpi / 72
    left = max(0.0, max(before.x0 - title, 0.0) - after.x0) / whole.width
    right = max(0.0, after.x1 - before.x1) / whole.width
    below = max(0.0, max(before.y0 - title, 0.0) - after.y0) / whole.height
    above = max(0.0, after.y1 - before.y1) / whole.height
    wide, high = max(place.width - left - right, 0.1), max(place.height - below - above, 0.1)
    axes.set_position((place.x0 + left, place.y0 + below, wide, high))


def _add_legend_to_figure(figure: Figure) -> None:
    """Put the legend at the foot of a figure of our own, which grows by what the legend needs."""
    width, height = figure.get_size_inches()
    one_column = figure.legend(loc="outside lower center", **LEGEND)
    columns = _columns(one_column, figure.bbox.width)
    one_column.remove()
    extent = figure.legend(loc="outside lower center", ncols=columns, **LEGEND).get_window_extent()
    figure.set_size_inches(max(width, extent.width / figure.dpi + 0.2), height + extent.height / figure.dpi)


def _add_legend_below(axes: Axes) -> None:
    """Put the legend below the title of the axis; the layout of the user's figure makes room for it."""
    from matplotlib.transforms import ScaledTranslation

    # In inches, because the title above it is as high whatever the height of the axes.
    below = axes.transAxes + ScaledTranslation(0.0, -0.47, axes.figure.dpi_scale_trans)
    place: Looks = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below, "borderaxespad": 0.0}
    columns = _columns(axes.legend(**place, **LEGEND), axes.bbox.width)
    axes.legend(ncols=columns, **place, **LEGEND)


def _columns(legend: Legend, width: float) -> int:
    """How many columns of a legend, which has one now, go into a width."""
    return max(1, int(width // legend.get_window_extent().width))


# --- files --------------------------------------------------------------------------------------------------------

DOTS = 150


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure to a PNG file, whole or not at all, and let go of it; return the path."""
    from matplotlib import pyplot

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS)
    pyplot.close(figure)
    write_whole(path, drawn.getvalue(), PICTURE)
    return path
