"""Laws of the ruler: cells are in order, fixed, and begin where they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.maths.ruler import FinerRuler, Ruler

ENDS = [0.0, -0.0, 1.0, 0.5, np.inf, -np.inf, 1e308, -1e308, 5e-324, -5e-324]
NEAR = [np.nextafter(1, 2), np.nextafter(1, 0), np.nextafter(0.5, 1), np.nextafter(0.5, 0), 2.0**40, 2.0**-40]
numbers = st.lists(
    st.one_of(
        st.floats(allow_nan=False),
        st.floats(0, 1),
        st.sampled_from([*ENDS, *NEAR]),
        st.floats(0, 1).map(lambda number: 1 - number * 1e-12),
    ),
    min_size=1,
    max_size=40,
).map(lambda found: np.sort(np.array(found, dtype=np.float64)))
rulers = st.sampled_from([4, 8, 12, 15]).map(Ruler)


@given(numbers, rulers)
def test_a_higher_number_is_never_in_a_lower_cell(some: np.ndarray, ruler: Ruler) -> None:
    cells = ruler.place(some)
    assert (np.diff(cells) >= 0).all()
    assert cells.min() >= 0
    assert cells.max() < ruler.cells
    alone = [int(ruler.place(some[place : place + 1])[0]) for place in range(len(some))]
    assert alone == cells.tolist()  # no number is placed by its neighbours


@given(numbers, rulers)
def test_a_cell_begins_where_it_says(some: np.ndarray, ruler: Ruler) -> None:
    cells = ruler.place(some)
    low = ruler.low(cells)
    assert (low <= some).all()
    assert (ruler.place(low) == cells).all()
    inner = low > -np.inf
    with np.errstate(over="ignore"):  # below the least number there is no other but minus infinity
        below = np.nextafter(low, -np.inf)
    assert (ruler.place(below)[inner] < cells[inner]).all()


@pytest.mark.parametrize("bits", [8, 12, 15])
def test_marks_are_as_close_to_1_as_to_0(bits: int) -> None:
    """Up to 2^-40: by how much of itself a probability, or what is left to 1, can differ within a cell."""
    ruler, small = Ruler(bits), np.array([2.0**-power * 1.37 for power in range(1, 38)])
    for low in (ruler.low(ruler.place(small) + 1) - ruler.low(ruler.place(small)),
                ruler.low(ruler.place(1 - small) + 1) - ruler.low(ruler.place(1 - small))):  # fmt: skip
        assert (low / small <= 2.0**-bits).all()


@given(numbers, st.integers(1, 12))
def test_finer_rulers_part_cells_and_no_more(some: np.ndarray, more: int) -> None:
    ruler = Ruler(6)
    cells = np.unique(ruler.place(some))
    low = ruler.low(cells)
    parted = cells[(np.abs(low) < 2.0**39) & (np.abs(low) > 2.0**-39) & (np.abs(1 - low) > 2.0**-39)][::2]
    finer = FinerRuler(ruler, parted, Ruler(6 + more))
    found = finer.place(some)
    assert (finer.parent(found) == ruler.place(some)).all()
    assert (np.diff(found) >= 0).all()
    low = finer.low(found)
    assert (low <= some).all()
    assert (finer.place(low) == found).all()
    inner = low > -np.inf
    with np.errstate(over="ignore"):  # below the least number of all
        before = np.nextafter(low, -np.inf)
    assert (finer.place(before)[inner] < found[inner]).all()
    assert finer.cells == ruler.cells + sum(
        int((finer.parent(np.arange(finer.cells)) == cell).sum()) - 1 for cell in parted.tolist()
    )
