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
    before, after, seconds = (float(word) for word in _child("-m", "bench.peak", str(ROWS), str(CLASSES)).split())
    too_much = after >= MOST_MEGABYTES
    if too_much:
        section.losses.append(f"Memory: {after:,.0f} MB, more than {MOST_MEGABYTES:,} MB")
    section.add("imports and labels", f"{before:,.0f}")
    section.add(f"the assessment as well ({milliseconds(seconds)} ms)", Cell(f"{after:,.0f}", behind=too_much))
    return section
