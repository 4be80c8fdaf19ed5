"""Which values there are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.distinct import distinct


@given(st.lists(st.integers(-5, 5)), st.sampled_from(["int64", "int8"]))
def test_every_value_once_in_order(values: list[int], kind: str) -> None:
    found = distinct(np.array(values, kind))
    assert found.tolist() == sorted(set(values))
    assert found.dtype == kind
