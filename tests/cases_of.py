"""Data for tests: labels that hypothesis makes up, and tables drawn with a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

CLASSES = ("a", "b", "c", "d")

Labels = NDArray[np.str_]


@st.composite
def labelled(draw: st.DrawFn, least_rows: int = 1, most_rows: int = 30) -> tuple[tuple[str, ...], Labels, Labels]:
    """Some classes, true labels and assigned labels: any table may come, with empty rows and columns too."""
    classes = CLASSES[: draw(st.integers(2, 4))]
    rows = draw(st.integers(least_rows, most_rows))
    one = st.sampled_from(classes)
    truth = draw(st.lists(one, min_size=rows, max_size=rows))
    assigned = draw(st.lists(one, min_size=rows, max_size=rows))
    return classes, np.array(truth), np.array(assigned)


def drawn(rows: int = 300, classes: int = 3, right: float = 0.75, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """True and assigned integer labels of a classifier that is often right."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, rows)
    guess = random.integers(0, classes, rows)
    return truth, np.where(random.random(rows) < right, truth, guess)


def counted(weight: Any) -> dict[str, Any]:
    """Weights that say how often rows occurred, as options."""
    return {"weight": weight, "weight_kind": "frequency"}
