"""Compare the speed of two versions of steelyard, in alternating processes: python -m bench.versions BEFORE [AFTER].

BEFORE and AFTER are folders with a checkout; AFTER is this one if it is left out. Each process times every task and
keeps the best of its turns. Of the pairs, the median ratio is printed, with the quartiles: 1.00 is as fast as before.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SLOWER = 1.05  # a median beyond this is marked
SMALL, LARGE, CLASSES = 1_000, 2_000_000, 100
MEMORY = "peak memory, MB"

Task = Callable[[], object]


def tasks(folder: Path) -> dict[str, tuple[Task, int]]:
    """Return what is timed, by name, and how many turns it gets."""
    import steelyard as sy

    random = np.random.default_rng(0)
    labels, predicted = random.integers(0, 2, (2, 100))
    truth = random.random(LARGE) < 0.4
    score, other = np.clip(0.4 + 0.2 * truth + 0.2 * random.standard_normal((2, LARGE)), 0.001, 0.999)
    several, guesses = random.integers(0, CLASSES, (2, 20_000))
    few, first = truth[:SMALL], score[:SMALL]
    cluster = random.integers(0, 200, SMALL)
    path = str(folder / "rows.parquet")

    def assess(name: str, rows: int) -> float:
        return sy.assess(truth[:rows], score[:rows], event=True)[name].value

    def compare(name: str, rows: int) -> object:
        both = sy.compare(truth[:rows], {"a": score[:rows], "b": other[:rows]}, event=True, measures=[name])
        return both.differences(name)

    def of_file(*names: str) -> object:
        wanted = list(names) or None
        return sy.assess(path, truth="truth", membership="score", event="yes", measures=wanted).table()

    def of_files() -> object:
        models = {"a": "score", "b": "other"}
        return sy.compare(path, models, truth="truth", event="yes", measures=["brier"]).differences("brier")

    return {
        "kappa of 100 labels": (lambda: sy.assess(labels, predicted, event=1)["kappa"], 200),
        "AUC of 100 scores": (lambda: assess("auc", 100), 100),
        "Brier score of 100 scores": (lambda: assess("brier", 100), 100),
        "table of 1,000 scores": (lambda: sy.assess(few, first, event=True).table(), 20),
        "the same in clusters": (lambda: sy.assess(few, first, event=True, group=cluster).table(), 20),
        "bootstrap of 1,000 scores": (
            lambda: sy.assess(few, first, event=True, measures=["auc"], method="bootstrap", replicates=500).table(),
            4,
        ),
        "compare 1,000 rows by AUC": (lambda: compare("auc", SMALL), 20),
        "table of 100 classes": (lambda: sy.assess(several, guesses).table(), 4),
        "kappa of 2,000,000 rows": (lambda: assess("kappa", LARGE), 4),
        "AUC of 2,000,000 rows": (lambda: assess("auc", LARGE), 3),
        "log score of 2,000,000 rows": (lambda: assess("log_score", LARGE), 3),
        "calibration error of 2,000,000 rows": (lambda: assess("calibration_error", LARGE), 2),
        "table of 2,000,000 rows": (lambda: sy.assess(truth, score, event=True).table(), 2),
        "compare 2,000,000 rows by AUC": (lambda: compare("auc", LARGE), 1),
        "Parquet of 2,000,000 rows, counts": (lambda: of_file("error", "kappa"), 3),
        "Parquet of 2,000,000 rows, all": (of_file, 2),
        "Parquet of 2,000,000 rows, compare": (of_files, 2),
    }


def write_rows(folder: Path) -> None:
    """Write the file that is read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(1)
    truth = random.random(LARGE) < 0.4
    score, other = np.clip(0.4 + 0.2 * truth + 0.2 * random.standard_normal((2, LARGE)), 0.001, 0.999)
    words = pa.array(np.where(truth, "yes", "no")).dictionary_encode()
    table = pa.table({"truth": words, "score": score, "other": other})
    pq.write_table(table, folder / "rows.parquet", row_group_size=1 << 18)


def timed(folder: Path) -> dict[str, float]:
    """Time every task in this process: the best of its turns, and the memory of all."""
    seconds = {}
    for name, (task, turns) in tasks(folder).items():
        task()
        times = []
        for _ in range(turns):
            start = time.perf_counter()
            task()
            times.append(time.perf_counter() - start)
        seconds[name] = min(times)
    return {**seconds, MEMORY: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def run(version: Path, folder: Path) -> dict[str, float]:
    """Time one version in a process of its own."""
    variables = {**os.environ, "PYTHONPATH": f"{version / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "bench.versions", "--child", str(folder)]
    output = subprocess.run(command, env=variables, cwd=folder, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(output.splitlines()[-1])
    return found


def main() -> int:
    """Run the pairs and print the ratios; 1 where a median is slower."""
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    parser.add_argument("before", type=Path, nargs="?", help="a checkout of the older version")
    parser.add_argument("after", type=Path, nargs="?", default=ROOT, help="a checkout of the newer one")
    parser.add_argument("--pairs", type=int, default=15, help="how many pairs of processes")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(timed(given.child)))
        return 0
    if given.before is None:
        parser.error("name the checkout of the older version")
    pairs: list[tuple[dict[str, float], dict[str, float]]] = []
    with tempfile.TemporaryDirectory() as name:
        write_rows(Path(name))
        for place in range(given.pairs):
            versions = [given.before.resolve(), given.after.resolve()]
            order = versions if place % 2 == 0 else versions[::-1]
            results = {version: run(version, Path(name)) for version in order}
            pairs.append((results[versions[0]], results[versions[1]]))
            print(f"pair {place + 1} of {given.pairs}", file=sys.stderr, flush=True)
    slower = 0
    print(f"{'':36}{'before':>12}{'after':>12}{'ratio':>8}  quartiles")
    for task in pairs[0][0]:
        before, after = (median(pair[side][task] for pair in pairs) for side in (0, 1))
        ratios = sorted(pair[1][task] / pair[0][task] for pair in pairs)
        low, middle, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        unit, factor = ("MB", 1.0) if task == MEMORY else ("ms", 1e3)
        mark = "  slower" if middle > SLOWER else ""
        print(
            f"{task:36}{before * factor:>9.2f} {unit}{after * factor:>9.2f} {unit}{middle:>8.2f}"
            f"  {low:.2f} to {high:.2f}{mark}"
        )
        slower += middle > SLOWER
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
