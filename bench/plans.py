"""How much is measured: everything, or what fits into a minute."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .timing import Pace


@dataclass(frozen=True)
class Plan:
    """The sizes of a run.

    Attributes:
        rows: For the count measures.
        classes: For the count measures.
        pace: How long to measure each size.
        bootstrap_rows: Rows, and how many replicates the peer is given there before it is scaled up.
        replicates: How many replicates are wanted.
        paired_rows: For two classifiers on the same cases.
        paired_classes: For the same.
        fresh_starts: How often a fresh process is started for an import.
    """

    rows: tuple[int, ...]
    classes: tuple[int, ...]
    pace: Pace
    bootstrap_rows: dict[int, int]
    replicates: int
    paired_rows: int
    paired_classes: tuple[int, ...]
    fresh_starts: int


# scikit-learn needs half a minute for 10^7 rows, and that is the comparison that most people look for.
FULL = Plan(
    rows=(10**2, 10**4, 10**6, 10**7),
    classes=(2, 3, 10, 100),
    pace=Pace(patience=2.0, budget=60.0),
    bootstrap_rows={10**3: 100, 10**5: 10, 10**7: 1},
    replicates=10_000,
    paired_rows=10**6,
    paired_classes=(2, 3, 10, 100),
    fresh_starts=7,
)
QUICK = replace(
    FULL,
    rows=(10**2, 10**4, 10**5),
    classes=(2, 10, 100),
    pace=Pace(patience=0.15, budget=1.0, most=20),
    bootstrap_rows={10**3: 20, 10**5: 2},
    paired_rows=10**4,
    paired_classes=(2, 10),
    fresh_starts=1,
)
