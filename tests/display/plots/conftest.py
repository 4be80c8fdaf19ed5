"""No test of a picture opens a window or leaves a figure behind."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest
from matplotlib import pyplot

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    yield
    pyplot.close("all")
