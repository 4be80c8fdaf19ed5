"""Nested cross-validation: how far cross-validation is off, seen by doing it within itself (Bates et al. 2024).

Each fold in turn is set aside, and the others are cross-validated. That estimate and the value in the fold that was
set aside are independent given the rows, so that their squared distance, less the variance in the fold, tells how far
estimates are off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import distinct
from ..core.errors import BadOption, FailedFits, quoted
from ..core.suggestions import refuse_no_count
from ..data.terminal import watched
from ..measures.registry import Measure
from .assembling import assembled, compared
from .fits import Fit, Said, Task, fit_all, stacked
from .plans import MOST_REPEATS, Split, make_plan

if TYPE_CHECKING:
    from ..core.typing import Array, Places
    from ..results.comparison import Comparison
    from .crossed import CrossAssessment


@dataclass(frozen=True)
class Nested:
    """What nested cross-validation found, by classifier or pair of them.

    Attributes:
        models: The classifiers.
        inner: Their values by cross-validation of all folds but one, (rounds, models).
        outer: Their values in the fold set aside, likewise.
        noise: The variances of these, by classifier or pair, (rounds,).
        plain: Their values by cross-validation of all folds, (repeats, models).
        folds: How many folds there are.
    """

    models: Sequence[str]
    inner: Array
    outer: Array
    noise: dict[tuple[str, ...], Array]
    plain: Array
    folds: int

    def _of(self, values: Array, names: tuple[str, ...]) -> Array:
        places = [self.models.index(name) for name in names]
        return values[:, places[0]] - (values[:, places[1]] if len(places) > 1 else 0.0)

    def value(self, names: tuple[str, ...]) -> float:
        """The value by cross-validation, freed of the bias of fitting to fewer rows."""
        within, plain = self._of(self.inner, names).mean(), self._of(self.plain, names).mean()
        bias = (1 + (self.folds - 2) / self.folds) * (within - plain)
        return float(within - bias)

    def inflation(self, names: tuple[str, ...], se: float) -> float:
        """How many times as far estimates are off as the standard error of independent rows says."""
        gaps = np.square(self._of(self.inner, names) - self._of(self.outer, names)) - self.noise[names]
        known = gaps[~np.isnan(gaps)]  # what is infinite within and outside has no gap
        if not (se > 0 and len(known)):
            return 1.0
        off = np.sqrt(max(float(known.mean()), 0.0) * (self.folds - 1) / self.folds)
        return float(np.clip(off / se, 1.0, np.sqrt(self.folds)))


def nested(
    cross: CrossAssessment,
    measure: Measure,
    *,
    rounds: int,
    n_jobs: int | None,
    progress: Any,
) -> Nested:
    """Cross-validate within cross-validation, with the folds that a result was made with, shuffled anew each time."""
    refuse_no_count("rounds", rounds, most=MOST_REPEATS)
    folds = len(cross.plan.of_repeat(0))
    if folds < 3:
        raise BadOption(f"{folds} folds leave nothing to nest", mend="Take three folds at least, better ten")
    base, seed = cross.base, 1 + cross.settings.seed
    if base.group is not None and folds >= (groups := len(distinct(base.group.codes))):
        problem = f"{folds} folds of {groups} groups: within one group nothing tells how groups differ"
        raise BadOption(problem, mend="Take fewer folds than groups, half as many at most")
    plan = make_plan(folds, cross.data.x, base.truth, group=base.group, repeats=rounds, seed=seed)
    dealt = [[split.test for split in plan.of_repeat(repeat)] for repeat in range(rounds)]
    tasks = [Task(model, *rule, split, False) for model, rule in cross.rules.items() for split in _splits(dealt)]
    with watched("fits", progress) as told:
        fits = fit_all(tasks, cross.data, n_jobs, told)
    made = zip(tasks, fits, strict=True)
    said = {(task.model, task.split.repeat, task.split.fold): _heard(task, fit) for task, fit in made}
    return _gathered(cross, measure, dealt, said)


def _splits(rounds: Sequence[Sequence[Places]]) -> list[Split]:
    """Fits without one fold, and without two; the latter serve both of them."""
    found = []
    for repeat, parts in enumerate(rounds):
        folds, rows = range(len(parts)), sum(len(part) for part in parts)
        for out in [*[(fold,) for fold in folds], *combinations(folds, 2)]:
            test = np.concatenate([parts[fold] for fold in out])
            found.append(Split(repeat, _key(out, len(parts)), None, test, rows))
    return found


def _key(out: Sequence[int], folds: int) -> int:
    """One number for the folds that a fit is without."""
    return out[0] if len(out) == 1 else folds * (1 + min(out)) + max(out)


def _heard(task: Task, fit: Fit) -> Said:
    if fit.test is None:
        raise FailedFits(
            f"a fit of {quoted(task.model)} to {task.split.size:,} rows says {fit.failure}",
            mend="Take fewer folds, or another method",
        )
    return fit.test


def _gathered(
    cross: CrossAssessment, measure: Measure, rounds: Sequence[Sequence[Places]], said: dict[Any, Said]
) -> Nested:
    settings, models, folds = cross.by(measure), cross.models, len(rounds[0])

    def judged(rows: Sequence[Places], answers: dict[str, list[Said]]) -> Comparison:
        together = {name: stacked(parts) for name, parts in answers.items()}
        return compared(assembled(cross.base, np.concatenate(list(rows)), together), settings)

    inner, outer, plain = [], [], []
    noise: dict[tuple[str, ...], list[float]] = {}
    for repeat, parts in enumerate(rounds):
        alone = {name: [said[name, repeat, fold] for fold in range(folds)] for name in models}
        plain.append(_values(judged(parts, alone), measure))
        for out in range(folds):
            others = [fold for fold in range(folds) if fold != out]
            rest = {name: [_share(said, name, repeat, out, fold, parts) for fold in others] for name in models}
            inner.append(_values(judged([parts[fold] for fold in others], rest), measure))
            aside = judged([parts[out]], {name: [said[name, repeat, out]] for name in models})
            outer.append(_values(aside, measure))
            for names, variance in _noise(aside, measure).items():
                # A variance that is found around a mean of the same rows is too small by as much.
                noise.setdefault(names, []).append(variance * len(parts[out]) / max(len(parts[out]) - 1, 1))
    found = {names: np.array(values) for names, values in noise.items()}
    return Nested(models, np.array(inner), np.array(outer), found, np.array(plain), folds)


def _share(said: dict[Any, Said], name: str, repeat: int, out: int, fold: int, parts: Sequence[Places]) -> Said:
    """What the fit without two folds says of one of them."""
    first, both = min(out, fold), said[name, repeat, _key(sorted((out, fold)), len(parts))]
    size = len(parts[first])
    return both.some(slice(0, size) if fold == first else slice(size, None))


def _values(comparison: Comparison, measure: Measure) -> list[float]:
    return [comparison[name][measure].value for name in comparison.models]


def _noise(comparison: Comparison, measure: Measure) -> dict[tuple[str, ...], float]:
    found: dict[tuple[str, ...], float] = {(name,): comparison[name][measure].se ** 2 for name in comparison.models}
    if len(comparison.models) > 1:
        for row in comparison.differences(measure):
            found[row["a"], row["b"]] = row["se"] ** 2
    return found
