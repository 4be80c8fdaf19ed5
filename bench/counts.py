"""Count measures with intervals, from arrays and columns of labels."""

from __future__ import annotations

from collections.abc import Callable

from .contestants import OURS, PEERS, Contestant, assess_arrays, assess_arrow, assess_pandas, repeated
from .plans import Plan
from .results import Contest, Section, hold, power
from .samples import Kind, Sample
from .timing import Growth

INTEGERS = (
    "Integer labels in NumPy arrays. Milliseconds for all default measures of steelyard, overall, by class and "
    "averaged, with their intervals; in brackets how many times as long a peer takes for its part of them."
)
STRINGS = (
    "String labels. Everybody gets NumPy arrays of Python strings, which the ratios are about; steelyard also gets "
    "pandas and Arrow columns."
)
INTERVALS = (
    "The same job for all: values of a hundred integer labels with an interval for each. scikit-learn, PyCM and "
    "torchmetrics have intervals for two of their values or none, so that the others need a bootstrap: the values of "
    "{replicates:,} samples, without what drawing them and taking percentiles takes. Each is given {few}, and its "
    "time is scaled up."
)
FEW_ROWS = 100
FEW_REPLICATES = 10
COLUMNS: dict[str, Contestant] = {"from pandas": assess_pandas, "from Arrow": assess_arrow}


def measure_integers(plan: Plan, say: Callable[[str], None]) -> Section:
    """All sizes with integer labels."""
    section = Section("Integer labels", INTEGERS, ["classes", "rows", OURS, *PEERS])
    return _measure(section, "integers", {}, PEERS, plan, say)


def measure_strings(plan: Plan, say: Callable[[str], None]) -> Section:
    """All sizes with string labels."""
    peers = {name: peer for name, peer in PEERS.items() if name in ("scikit-learn", "PyCM")}
    section = Section("String labels", STRINGS, ["classes", "rows", OURS, *COLUMNS, *peers])
    return _measure(section, "strings", COLUMNS, peers, plan, say)


def measure_intervals(plan: Plan, say: Callable[[str], None]) -> Section:
    """A hundred rows, with an interval for every value of everybody."""
    without = {name: peer for name, peer in PEERS.items() if name != "confidenceinterval"}
    text = INTERVALS.format(replicates=plan.replicates_of_percentiles, few=FEW_REPLICATES)
    section = Section("Every value with its interval", text, ["classes", OURS, *without])
    factor = plan.replicates_of_percentiles / FEW_REPLICATES
    for classes in plan.classes:
        say(f"{section.title}: {classes} classes")
        everybody = {OURS: assess_arrays, **{name: repeated(peer, FEW_REPLICATES) for name, peer in without.items()}}
        contest = hold(Sample(FEW_ROWS, classes), everybody, plan.pace, Growth(plan.pace.budget))
        for name in contest.times.keys() & without.keys():
            contest = contest.scaled(name, factor)
        theirs = [contest.against(name, section, f"{classes} classes") for name in without]
        section.add(str(classes), contest.own(), *theirs)
    return section


def _measure(
    section: Section,
    kind: Kind,
    columns: dict[str, Contestant],
    peers: dict[str, Contestant],
    plan: Plan,
    say: Callable[[str], None],
) -> Section:
    everybody = {OURS: assess_arrays, **columns, **peers}
    for classes in plan.classes:
        growth = Growth(plan.pace.budget)
        for rows in plan.rows:
            where = f"{classes} classes, {power(rows)} rows"
            say(f"{section.title}: {where}")
            contest: Contest = hold(Sample(rows, classes, kind), everybody, plan.pace, growth)
            own = [contest.own(name) for name in (OURS, *columns)]
            theirs = [contest.against(name, section, where) for name in peers]
            section.add(str(classes), power(rows), *own, *theirs)
    return section
