"""Measures of standardized partition spaces (Sondhauss & Weihs 2001): where memberships lie in the simplex of classes.

A formula is made of means over rows: ``true_gap`` and ``assigned_gap``, the Euclidean distances of the scaled
memberships to the corners of the true and of the assigned class; ``top``, the highest scaled membership; and of
``corner``, how far the middle of the simplex is from its corners. Parameters say how memberships are scaled.
"""

from __future__ import annotations

from typing import Any

from .registry import SONDHAUSS, called, measure

NO_ROWS = "there are no rows"


@measure(
    better="higher", span=(-1.0, 1.0), chance=0.0, undefined=NO_ROWS, cite=SONDHAUSS, special=True,
    terms=called(SONDHAUSS, "Ac", at="section 5"),
)  # fmt: skip
def partition_accuracy(
    true_gap: Any, corner: Any, *, scaling: str = "default", depth: int = 1, floor: int = 1, ties: str = "first",
    seed: int = 0,
) -> Any:  # fmt: skip
    """1 where all scaled memberships lie in the corner of their true class, 0 where in the middle of the simplex.

    1 - mean distance to the corner of the true class / sqrt((G - 1) / G).
    """
    del scaling, depth, floor, ties, seed  # they made the memberships
    return 1 - true_gap / corner


@measure(
    better="higher", span=(-1.0, 1.0), chance=0.0, undefined=NO_ROWS, cite=SONDHAUSS, special=True,
    terms=called(SONDHAUSS, "AS", "ability to separate", at="section 5"),
)  # fmt: skip
def separation(
    assigned_gap: Any, corner: Any, *, scaling: str = "default", depth: int = 1, floor: int = 1, ties: str = "first",
    seed: int = 0,
) -> Any:  # fmt: skip
    """Ability to separate: the same of the class that a row is assigned to by its memberships as given."""
    del scaling, depth, floor, ties, seed  # they made the memberships
    return 1 - assigned_gap / corner


@measure(
    better="higher", chance="1/C", undefined=NO_ROWS, cite=SONDHAUSS, special=True,
    terms=called("klaR", "CF", at="ucpm"),
    cautions={
        "cf": "the mean of the highest scaled membership. Sondhauss & Weihs (2001) want a high membership in the "
        "assigned class to be justified, and have no number for how high it is; klaR, their group's package, prints CF",
    },
)  # fmt: skip
def confidence(
    top: Any, *, scaling: str = "default", depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0
) -> Any:
    """Mean of the highest scaled membership: how sure the rule is, or may be."""
    del scaling, depth, floor, ties, seed  # they made the memberships
    return top
