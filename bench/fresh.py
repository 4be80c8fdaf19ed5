"""What only a fresh process can tell: the memory that a job needs at most, and how long an import takes."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec

from .plans import Plan
from .results import Cell, Contest, Section, milliseconds

MOST_MEGABYTES = 2_000
ROWS, CLASSES = 10**6, 1_000
FEW_CLASSES, SOME_ROWS, MANY_ROWS = 3, 10**5, 10**6

OURS = "steelyard, ready to assess"
IMPORTS = {
    "numpy": "import numpy",
    "steelyard": "import steelyard",
    OURS: "from steelyard import assess",
    "scikit-learn": "import sklearn.metrics",
    "PyCM": "import pycm",
    "confidenceinterval": "import confidenceinterval",
    "torchmetrics": "import torchmetrics",
}
# steelyard stands on NumPy, so that its import cannot be the shorter one.
NO_PEERS = ("numpy", "steelyard", OURS)


def _child(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def import_seconds(statement: str, starts: int) -> float:
    """The median time of an import over fresh processes."""
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    return statistics.median(float(_child("-c", code)) for _ in range(starts))


def measure_imports(plan: Plan, say: Callable[[str], None]) -> Section:
    """Import times side by side."""
    text = (
        f"Milliseconds in a fresh process, the median of {plan.fresh_starts}. `import steelyard` loads a name when "
        "it is first used; the ratios are about the import of what `assess` needs."
    )
    section = Section("Import", text, ["library", "statement", "ms"])
    contest = Contest({}, {})
    for name, statement in IMPORTS.items():
        say(f"Import: {name}")
        if find_spec(statement.split()[1].partition(".")[0]) is None:
            contest.absent[name] = "not installed"
        else:
            contest.times[name] = import_seconds(statement, plan.fresh_starts)
    for name, statement in IMPORTS.items():
        found = contest.own(name) if name in NO_PEERS else contest.against(name, section, "fresh process", OURS)
        section.add(name, f"`{statement}`", found)
    return section


def measure_memory(say: Callable[[str], None]) -> Section:
    """The most memory that an assessment with very many classes needs."""
    say(f"Memory: {CLASSES:,} classes")
    text = (
        f"Peak resident memory of a fresh process that assesses {ROWS:,} rows of {CLASSES:,} classes, all default "
        f"measures with intervals. It must stay below {MOST_MEGABYTES:,} MB."
    )
    section = Section("Memory", text, ["", "MB"])
    if find_spec("resource") is None:
        section.add("the assessment", "this system does not tell")
        return section
    before, after, seconds = _peak(ROWS, CLASSES, "labels")
    too_much = after >= MOST_MEGABYTES
    if too_much:
        section.losses.append(f"Memory: {after:,.0f} MB, more than {MOST_MEGABYTES:,} MB")
    section.add("imports and labels", f"{before:,.0f}")
    section.add(f"the assessment as well ({milliseconds(seconds)} ms)", Cell(f"{after:,.0f}", behind=too_much))
    return section


def measure_scored_memory(plan: Plan, say: Callable[[str], None]) -> Section:
    """The memory that an assessment of memberships needs beside them."""
    text = (
        f"How much the peak memory of a fresh process grows when it assesses memberships of {FEW_CLASSES} classes, all "
        "default measures with intervals, as a share of the input (memberships and labels). From a million rows on it "
        "should stay below 1; of fewer, most of it is what any assessment takes."
    )
    section = Section("Memory beside memberships", text, ["rows", "input, MB", "growth, MB", "share"])
    for rows in plan.everything_rows:
        if rows < SOME_ROWS or find_spec("resource") is None:
            continue
        say(f"{section.title}: {rows:,} rows")
        before, after, _ = _peak(rows, FEW_CLASSES, "memberships")
        given = rows * 8 * (FEW_CLASSES + 1) / 1e6
        share = (after - before) / given
        too_much = share >= 1 and rows >= MANY_ROWS
        if too_much:
            section.losses.append(f"{section.title}: {share:.2f} of the input at {rows:,} rows")
        section.add(f"{rows:,}", f"{given:,.0f}", f"{after - before:,.0f}", Cell(f"{share:.2f}", behind=too_much))
    return section


def _peak(rows: int, classes: int, kind: str) -> tuple[float, float, float]:
    """The most memory before and after an assessment in a fresh process, in megabytes, and its seconds."""
    words = _child("-m", "bench.peak", str(rows), str(classes), kind).split()
    before, after, seconds = (float(word) for word in words)
    return before, after, seconds
