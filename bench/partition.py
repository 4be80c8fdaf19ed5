"""Scaled memberships and both of their measures, against one pass over the rows and against the exact inverse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.families.partition.space import Space, corner, distances

from .contestants import OURS, load
from .plans import Plan
from .ranking import WANTED
from .results import Contest, Section, ratio
from .timing import Call, best_times

CLASSES = 3
PASS, EXACT = "one pass", "exact inverse"
MOST = 20  # passes that scaling may cost, where rows are many
MANY = 10**6
TEXT = (
    "Memberships of three classes are scaled within the regions of their highest class, and accuracy and ability to "
    "separate are measured. One pass reads memberships and truth once (`memberships.sum()`, `numpy.bincount(truth)`); "
    f"how many of them it costs stands beside, and at most {MOST} are wanted from a million rows on. The exact inverse "
    "does the same class by class with `scipy.special.betainc` and `betaincinv`."
)


def measure_partition(plan: Plan, say: Callable[[str], None]) -> Section:
    """Scaling and both measures on some numbers of rows."""
    section = Section("Standardized partitions", TEXT, ["rows", OURS, PASS, "passes", WANTED, EXACT])
    for rows, wanted in plan.partition_rows.items():
        where = f"{rows:,} rows"
        say(f"{section.title}: {where}")
        memberships, truth = sample(rows)
        calls: dict[str, Call] = {
            OURS: partial(scaled, memberships, truth, np.ones(rows)),
            PASS: partial(one_pass, memberships, truth),
            EXACT: exact(memberships, truth),
        }
        contest = Contest(best_times(calls, plan.pace), {})
        passes = contest.times[OURS] / contest.times[PASS]
        if rows >= MANY and passes > MOST:
            section.losses.append(f"{section.title}, {where}: {ratio(passes)} the time of one pass, {MOST} is wanted")
        peer = contest.against(EXACT, section, where, wanted=wanted)
        section.add(where, contest.own(), contest.own(PASS), ratio(passes), ratio(wanted), peer)
    return section


def sample(rows: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Memberships that are too sure of themselves, and the true classes."""
    random = np.random.default_rng(seed)
    memberships = random.dirichlet(np.full(CLASSES, 2.0), rows)
    true = np.cumsum(np.sqrt(memberships), axis=1)
    return memberships, (random.random(rows)[:, None] * true[:, -1:] > true[:, :-1]).sum(axis=1)


def one_pass(memberships: NDArray[Any], truth: NDArray[Any]) -> tuple[Any, Any]:
    """Read everything once."""
    return memberships.sum(), np.bincount(truth)


def scaled(memberships: NDArray[Any], truth: NDArray[Any], mass: NDArray[Any]) -> tuple[float, float]:
    """Both measures, as steelyard finds them."""
    space = Space(memberships, truth, mass)
    furthest = corner(CLASSES)
    return tuple(1 - space.mean(name) / furthest for name in ("true_gap", "assigned_gap"))  # type: ignore[return-value]


def exact(memberships: NDArray[Any], truth: NDArray[Any]) -> Call:
    """The same as one would write it down, class by class."""
    special = load("scipy.special")

    def loop() -> tuple[float, float]:
        found, assigned = memberships.copy(), memberships.argmax(axis=1)
        for place in range(CLASSES):
            here = assigned == place
            top, share = memberships[here, place], float((truth[here] == place).mean())
            mean, certainty = top.mean(), top.mean() * (1 - top.mean()) / top.var(ddof=1) - 1
            kept = min(len(top), certainty)
            level = special.betainc(certainty * mean, certainty * (1 - mean), top)
            new = special.betaincinv(kept * share, kept * (1 - share), level)
            found[here] *= ((1 - new) / (1 - top))[:, None]
            found[here, place] = new
        gaps = (distances(found.T, codes).mean() for codes in (truth, assigned))
        return tuple(1 - float(gap) / corner(CLASSES) for gap in gaps)  # type: ignore[return-value]

    return loop
