"""Two classifiers on the same cases."""

from __future__ import annotations

from collections.abc import Callable

from .contestants import OURS, Contestant, compare_arrays, sklearn_twice
from .plans import Plan
from .results import Section, hold, power
from .samples import Sample
from .timing import Growth

PEER = "scikit-learn"
TEXT = (
    "Differences of two classifiers by every measure, with paired intervals and tests. scikit-learn computes the "
    "values of both, one by one, and has no test for them."
)


def measure_paired(plan: Plan, say: Callable[[str], None]) -> Section:
    """Paired differences for several numbers of classes."""
    section = Section("Paired comparison", TEXT, ["classes", "rows", OURS, PEER])
    contestants: dict[str, Contestant] = {OURS: compare_arrays, PEER: sklearn_twice}
    rows = power(plan.paired_rows)
    for classes in plan.paired_classes:
        where = f"{classes} classes, {rows} rows"
        say(f"{section.title}: {where}")
        contest = hold(Sample(plan.paired_rows, classes), contestants, plan.pace, Growth(plan.pace.budget))
        section.add(str(classes), rows, contest.own(), contest.against(PEER, section, where))
    return section
