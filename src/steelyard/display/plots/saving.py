"""Finished figures in files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.own_kinds import PICTURE
from ...data.whole_files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS = 150


def save_figure(figure: Figure, path: Path, overwrite: bool = False) -> Path:
    """Write a figure to a PNG file, whole or not at all, and let go of it; return the path."""
    from matplotlib import pyplot

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS)
    pyplot.close(figure)
    write_whole(path, drawn.getvalue(), PICTURE, overwrite)
    return path
