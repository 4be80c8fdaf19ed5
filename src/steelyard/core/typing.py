"""Names for the kinds of arrays, for the type checker alone: importing them at run time would only cost time."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]
Codes = NDArray[np.integer[Any]]
Numbers = NDArray[np.floating[Any]]
AnyArray = NDArray[Any]
Places = NDArray[np.integer[Any]]
Progress = Callable[[int, int], None]  # called with how much is done, and how much there is

__all__ = ["AnyArray", "Array", "Codes", "Marks", "NDArray", "Numbers", "Places", "Progress"]
