"""The simulation of Mevik (2003, section 7): how far estimates of error rates are from the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption
from ..core.table import Table
from ..core.threads import cores, side_by_side
from .designs import MEVIK, Cell, Design, TrueRates, expected_responses, population
from .estimates import Estimated, Estimates, paper_estimates, soft_estimates
from .replications import TRIALS, Examination, Trials, blocks, replicate
from .simulation import Key, Repetitions, Series
from .statements import statement_table

if TYPE_CHECKING:
    from ..core.typing import Array, Progress

SEED = 2003


@dataclass(frozen=True)
class Simulation(Repetitions):
    """What was found: all repetitions, with what the paper says of them."""

    def summary(self) -> Table:
        """What the paper says in numbers, beside what was found."""
        from .simulation import summary

        return summary(self)

    @cached_property
    def statements(self) -> Table:
        """What the paper says in section 7, with what was found and a verdict; empty of another design."""
        from .mevik_statements import statements

        return statement_table(statements(self))


def simulate(
    design: Design = MEVIK,
    repetitions: int = 100,
    seed: int = SEED,
    *,
    estimates: Sequence[Estimates] = (paper_estimates,),
    trials: int = TRIALS,
    block: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Draw data sets, fit classifiers to them, estimate how good these are, and hold that against the truth.

    Args:
        design: How the data arise.
        repetitions: How many data sets are drawn in every cell.
        seed: The same seed gives the same data sets.
        estimates: What is estimated, and how: functions of the data that yield estimates.
        trials: At how many points classifiers are tried to find how good they truly are.
        block: How many data sets are worked on at a time; it changes nothing but the memory needed.
        progress: Called with how many data sets are done, and how many there are.
    """
    if repetitions < 1 or seed < 0:
        raise BadOption(f"{repetitions} repetitions from seed {seed}", mend="Give 1 or more, and a seed of 0 or more")
    rows = Trials.of(design, trials)
    examinations = {level: Examination.of(design, level, rows) for level in {cell.sd_response for cell in design.cells}}
    tasks = [(cell, range(*ends)) for cell, ends in product(design.cells, blocks(design, repetitions, block))]

    def work(task: tuple[Cell, range]) -> Block:
        cell, numbers = task
        data = replicate(design, cell, numbers, seed, examinations[cell.sd_response])
        return Block(cell, len(numbers), data.truth, [each for estimate in estimates for each in estimate(data)])

    found = _side_by_side(tasks, work, progress)
    expected = expected_responses(design)
    populations = {cell: population(design, cell, expected) for cell in design.cells}
    return Simulation(design, repetitions, seed, populations, _series(found, populations))


class Block(NamedTuple):
    """What is kept of some repetitions of one cell."""

    cell: Cell
    size: int
    truth: Mapping[str, Array]
    estimated: list[Estimated]


def _side_by_side(
    tasks: Sequence[tuple[Cell, range]], work: Callable[[tuple[Cell, range]], Block], progress: Progress | None
) -> list[Block]:
    """Work on as many blocks at a time as there are cores, and tell how far that is."""
    found: list[Block] = []
    total = sum(len(numbers) for _, numbers in tasks)
    for start in range(0, len(tasks), cores()):
        found += side_by_side(work, tasks[start : start + cores()])
        if progress is not None:
            progress(sum(block.size for block in found), total)
    return found


def _series(found: Sequence[Block], populations: Mapping[Cell, TrueRates]) -> dict[Key, Series]:
    """Put the blocks of each cell together."""
    parts: dict[Key, list[tuple[Array, Array]]] = {}
    for block in found:
        for measure, estimator, classifier, values in block.estimated:
            key = Key(block.cell, measure, estimator, classifier)
            truth = _truth(block, key, populations[block.cell])
            parts.setdefault(key, []).append((values, np.broadcast_to(truth, values.shape)))
    return {key: Series(*map(np.concatenate, zip(*pairs, strict=True))) for key, pairs in parts.items()}


def _truth(block: Block, key: Key, true: TrueRates) -> Array:
    if key.classifier:
        return block.truth[key.classifier][:, 0 if key.measure == "pmc" else 1]
    return np.asarray(getattr(true, key.measure))


def run(
    repetitions: int = 100,
    seed: int = SEED,
    figures: Path | None = None,
    *,
    design: Design = MEVIK,
    better: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Run the simulation, with better estimates beside the paper's if asked, and draw figures 2 to 7 into a folder."""
    estimates: list[Estimates] = [paper_estimates]
    if better:
        estimates.append(soft_estimates)
    simulation = simulate(design, repetitions, seed, estimates=estimates, progress=progress)
    if figures is not None:
        from .mevik_figures import draw

        draw(simulation, figures)
    return simulation
