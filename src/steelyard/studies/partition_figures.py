"""Figures 1 to 3 of Sondhauss & Weihs (2001), drawn into a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..core.scale import Scale
from ..results.api import compare
from .chi_squared import NETWORK, NORMAL, SEED, TRUE, memberships

CLASSES = ("G1", "G2", "G3")
FIGURES: dict[str, tuple[tuple[str, str], dict[str, str]]] = {
    "figure1": ((TRUE, NORMAL), {"scaling": "raw"}),
    "figure2": ((NORMAL, NETWORK), {"lines": "truth"}),
    "figure3": ((NORMAL, NETWORK), {"lines": "assigned"}),
}


def draw(folder: Path, seed: int = SEED) -> list[Path]:
    """Draw what three rules say of the objects of one data set: as given, and scaled with lines to corners."""
    import matplotlib.pyplot as plt

    from ..display.plots.saving import save_figure

    said, truth = memberships(seed)
    labels = np.array(CLASSES)[truth]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, (rules, options) in FIGURES.items():
        both = compare(labels, {rule: said[rule] for rule in rules}, scale=Scale(CLASSES))
        figure, axes = plt.subplots(figsize=(8.0, 5.0), layout="constrained")
        both.plot.simplex(options.get("scaling", "default"), lines=options.get("lines"), ax=axes)
        paths.append(save_figure(figure, folder / f"partitions_{name}.png"))
    return paths
