"""The bootstrap, whose price does not depend on the number of rows here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import steelyard

from .contestants import OURS, Contestant, assess_arrays, bootstrap_intervals
from .plans import Plan
from .results import Section, hold, milliseconds, power
from .samples import Sample
from .timing import Call, Growth

CLASSES = 3
PEER = "confidenceinterval"
DELTA = "without bootstrap"
TEXT = (
    "{replicates:,} replicates of all measures, {classes} classes, BCa intervals. The replicates' own price is the "
    "time less that of the same call without bootstrap. The peer draws percentile intervals for accuracy and macro "
    "F1 alone; it is given as few replicates as the column says, and its time is scaled up to {replicates:,}."
)


def assess_bootstrap(replicates: int, sample: Sample) -> Call:
    """All default measures with bootstrap intervals."""
    truth, assigned = sample.truth, sample.assigned
    return lambda: steelyard.assess(truth, assigned, method="bootstrap", replicates=replicates).table()


def measure_bootstrap(plan: Plan, say: Callable[[str], None]) -> Section:
    """All sizes of the bootstrap."""
    header = ["rows", OURS, DELTA, "replicates alone", "peer's replicates", f"{PEER}, scaled"]
    section = Section("Bootstrap", TEXT.format(replicates=plan.replicates, classes=CLASSES), header)
    for rows, replicates in plan.bootstrap_rows.items():
        say(f"Bootstrap: {power(rows)} rows")
        everybody: dict[str, Contestant] = {
            OURS: partial(assess_bootstrap, plan.replicates),
            DELTA: assess_arrays,
            PEER: partial(bootstrap_intervals, replicates=replicates),
        }
        # With fewer replicates where there are more rows, one size says nothing about the next.
        contest = hold(Sample(rows, CLASSES), everybody, plan.pace, Growth(plan.pace.budget))
        # Both compute the value itself as well, which costs the peer as much as one more replicate.
        contest = contest.scaled(PEER, (plan.replicates + 1) / (replicates + 1))
        alone = contest.times[OURS] - contest.times[DELTA]
        theirs = contest.against(PEER, section, f"{power(rows)} rows")
        section.add(power(rows), contest.own(), contest.own(DELTA), milliseconds(alone), str(replicates), theirs)
    return section
