"""How often 95 % intervals hold the truth, by simulation from tables that are known exactly.

``python tests/coverage/simulation.py --markdown docs/coverage.md`` writes the page of results.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import Scale, Tally
from steelyard.assessment import Assessment
from steelyard.comparison import Comparison
from steelyard.settings import Settings, settle
from steelyard.statistics import Sums

Array = NDArray[np.float64]

COSTS = {2: [[0, 1], [5, 0]], 3: [[0, 1, 3], [1, 0, 1], [5, 1, 0]]}


@dataclass(frozen=True)
class Setting:
    """A population: the true classes' shares, and what two classifiers make of each class."""

    name: str
    rows: int
    prevalence: tuple[float, ...]
    first: tuple[tuple[float, ...], ...]
    second: tuple[tuple[float, ...], ...]
    copied: float  # how often the second classifier says what the first said

    @property
    def scale(self) -> Scale:
        """The classes; of two, the second is the event."""
        size = len(self.prevalence)
        return Scale(["no", "yes"], event="yes") if size == 2 else Scale(["low", "mid", "high"])

    def joint(self) -> Array:
        """Probabilities of (true, first, second)."""
        first, second = np.array(self.first), np.array(self.second)
        apart = first[:, :, None] * second[:, None, :]
        alike = first[:, :, None] * np.eye(len(first))[None]
        shares = np.array(self.prevalence)[:, None, None]
        return np.asarray(shares * (self.copied * alike + (1 - self.copied) * apart), dtype=np.float64)


def settings() -> Iterator[Setting]:
    """The populations of the study."""
    two = ((0.9, 0.1), (0.2, 0.8)), ((0.85, 0.15), (0.3, 0.7))
    three = (
        ((0.85, 0.1, 0.05), (0.1, 0.8, 0.1), (0.05, 0.2, 0.75)),
        ((0.75, 0.15, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)),
    )
    for rows in (200, 1000):
        yield Setting("2 classes, balanced", rows, (0.5, 0.5), *two, 0.4)
        yield Setting("2 classes, prevalence 0.1", rows, (0.9, 0.1), *two, 0.4)
        yield Setting("3 classes, balanced", rows, (1 / 3, 1 / 3, 1 / 3), *three, 0.4)
        yield Setting("3 classes, prevalence 0.1", rows, (0.6, 0.3, 0.1), *three, 0.4)


def tally(setting: Setting, counts: Array) -> Tally:
    """Sum up a drawn joint table of two classifiers."""
    cells = np.argwhere(counts > 0)
    keys = np.concatenate([np.zeros((len(cells), 2), dtype=np.int64), cells], axis=1)
    return Tally(setting.scale, ("first", "second"), Sums(keys, np.repeat(counts[counts > 0][:, None], 3, axis=1)))


def options(setting: Setting) -> Settings:
    """Every count measure, costs included."""
    return settle(None, cost=COSTS[len(setting.prevalence)])


Key = tuple[str, str, str]


def single_coverage(setting: Setting, repetitions: int, seed: int) -> dict[Key, float]:
    """Coverage of the intervals of every slot of the first classifier."""
    chosen, random = options(setting), np.random.default_rng(seed)
    truth = Assessment(tally(setting, setting.joint()), chosen, "first").results.value
    held, known = np.zeros(len(truth)), np.zeros(len(truth))
    probabilities = setting.joint()
    for _ in range(repetitions):
        drawn = random.multinomial(setting.rows, probabilities.ravel()).reshape(probabilities.shape).astype(float)
        results = Assessment(tally(setting, drawn), chosen, "first").results
        slots = results.slots
        known += ~np.isnan(results.value)
        held += (results.low <= truth) & (truth <= results.high)
    classes = setting.scale.classes
    names = [(s.measure.label, "" if s.code is None else str(classes[s.code]), s.average or "") for s in slots]
    # The mean prevalence is 1/C by definition: there is nothing to cover.
    varies = [s.average is None or s.measure.better != "neither" for s in slots]
    return {name: float(h / k) for name, h, k, v in zip(names, held, known, varies, strict=True) if v}


def paired_coverage(setting: Setting, repetitions: int, seed: int) -> dict[Key, float]:
    """Coverage of the intervals of every paired difference, overall and by class."""
    chosen, random = options(setting), np.random.default_rng(seed)

    def differences(counts: Array) -> dict[str, list[Any]]:
        return Comparison(tally(setting, counts), chosen).differences(by_class=True).columns

    exact = differences(setting.joint() * 1e9)
    truth = np.array(exact["difference"])
    held, known = np.zeros(len(truth)), np.zeros(len(truth))
    probabilities = setting.joint()
    for _ in range(repetitions):
        drawn = random.multinomial(setting.rows, probabilities.ravel()).reshape(probabilities.shape).astype(float)
        found = differences(drawn)
        low, high = np.array(found["low"]), np.array(found["high"])
        known += ~np.isnan(np.array(found["difference"]))
        held += (low <= truth) & (truth <= high)
    names = [(m, c or "", "") for m, c in zip(exact["measure"], exact["class"], strict=True)]
    return {name: float(h / k) for name, h, k in zip(names, held, known, strict=True)}


def study(repetitions: int) -> list[tuple[str, Setting, dict[Key, float]]]:
    """Run all populations on all cores."""
    jobs = [(kind, setting) for setting in settings() for kind in ("single", "paired")]
    with ProcessPoolExecutor() as pool:
        found = [
            pool.submit(single_coverage if kind == "single" else paired_coverage, setting, repetitions, 7 + place)
            for place, (kind, setting) in enumerate(jobs)
        ]
        return [(*job, future.result()) for job, future in zip(jobs, found, strict=True)]


def outside(found: dict[Key, float], repetitions: int) -> dict[Key, float]:
    """What lies outside 93 to 97 % by more than the simulation's own error explains."""
    doubt = 3 * (0.95 * 0.05 / repetitions) ** 0.5
    return {name: share for name, share in found.items() if not 0.93 - doubt <= share <= 0.97 + doubt}


HEAD = """# Coverage

How often a 95 % interval holds the truth, found by drawing tables from populations that are known exactly and
assessing each of them. Between 93 and 97 % is what the library holds itself to, at n = 200 and n = 1000, with
balanced classes and with a class of prevalence 0.1.

The first classifier of the two-class populations has a sensitivity of 0.8 and a specificity of 0.9, the second of 0.7
and 0.85; it repeats what the first one said in 4 of 10 rows. The three-class populations are drawn alike. A cell of the
tables below is the lowest and the highest coverage, in per cent, over all values of a measure: of each class, averages
and the whole table. Averages of prevalences are fixed by definition and left out. {repetitions:,} tables were drawn for
each column, so that a figure is uncertain by about {error:.1f} points (one standard error).

`python tests/coverage/simulation.py --markdown docs/coverage.md` makes this page; `make test ARGS="-m slow"` runs a
shorter version and fails where a coverage leaves 93 to 97 % by more than its own uncertainty.

How the rule was chosen. The number of pseudo-rows was picked among four (one, two, three and four), and which
differences are combined by MOVER was picked measure by measure, by trial simulations on two-class populations of
which the one above was one; after a first run of this page found a paired difference of LR+ at 92.8 %, MOVER was
moved to the smoothed centre and the page made anew. So the figures are not those of a rule fixed beforehand, and they
hold for these populations, not for all. In the trials (n = 200, prevalence 0.1) the same rule covered 91.7 % for LR-
at a sensitivity of 0.95 and a specificity of 0.97, 99.5 % for a mean cost there, and 98.7 % for the difference in
sensitivity of two equally good classifiers that mostly agree: with 20 rows of a class or fewer, expect to leave 93 to
97 %.
"""


def page(results: list[tuple[str, Setting, dict[Key, float]]], repetitions: int) -> str:
    """Lowest and highest coverage of each measure in each population, as Markdown."""
    text = [HEAD.format(repetitions=repetitions, error=100 * (0.95 * 0.05 / repetitions) ** 0.5)]
    titles = {"single": "Values of one classifier", "paired": "Paired differences of two classifiers"}
    for kind, title in titles.items():
        for rows in (200, 1000):
            shown = [(setting, found) for name, setting, found in results if name == kind and setting.rows == rows]
            heads = [setting.name for setting, _ in shown]
            text += [
                f"\n## {title}, n = {rows}\n",
                "| measure | " + " | ".join(heads) + " |",
                "|---|" + "---|" * len(heads),
            ]
            for measure in dict.fromkeys(name[0] for name in shown[0][1]):
                cells = [_range([share for name, share in found.items() if name[0] == measure]) for _, found in shown]
                text.append(f"| `{measure}` | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def _range(shares: list[float]) -> str:
    low, high = f"{100 * min(shares):.1f}", f"{100 * max(shares):.1f}"
    return low if low == high else f"{low} to {high}"


def main() -> None:
    """Print the coverage of everything, lowest first, or write it as a page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=10_000)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    results = study(arguments.repetitions)
    if arguments.markdown:
        arguments.markdown.write_text(page(results, arguments.repetitions))
    for kind, setting, found in results:
        print(kind, setting.name, setting.rows, f"{min(found.values()):.4f} to {max(found.values()):.4f}")
        for name, share in found.items():
            if not 0.93 <= share <= 0.97:
                print(f"  {share:.4f} {name}")


if __name__ == "__main__":
    main()
