"""Is a classifier better than chance? Classes are dealt out to rows at random, and everything is done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadOption
from ..core.scale import Continuum
from ..core.suggestions import refuse_no_count, with_known_options
from ..data.terminal import watched
from ..inference.settings import as_seed
from ..inputs.dataset import RESPONSE, RESPONSE_SD, SD
from ..measures import refuse_of_class
from ..measures.registry import Measure
from .cross import cross_assess
from .fits import AT_ONCE, in_parallel, refuse_no_jobs
from .models import read_models
from .splits import GIVEN
from .tuning import row_wise

if TYPE_CHECKING:
    from ..core.estimate import Estimate
    from ..core.typing import Array, Codes, Places
    from .cross_assessment import CrossAssessment

ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """What cross-validation finds, and what it finds where there is nothing to be found.

    Attributes:
        measure: By what the classifier is judged.
        estimate: Its value on rows held out.
        by_chance: The values where classes were dealt out at random.
        p: How often chance does as well, the classes as they are counted in.
    """

    measure: Measure
    estimate: Estimate
    by_chance: Array
    p: float

    def __str__(self) -> str:
        """In one sentence."""
        low, high = np.quantile(self.by_chance, [0.025, 0.975])
        return (
            f"{self.measure.title} {self.estimate.value:.3g}; where classes are dealt out at random "
            f"{np.mean(self.by_chance):.3g} [{low:.3g}, {high:.3g}]; p = {self.p:.3g} "
            f"({len(self.by_chance):,} permutations)"
        )

    __repr__ = __str__


@with_known_options
def permutation_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: str | Measure = "error",
    cv: Any = 10,
    permutations: int = 1000,
    seed: int = 0,
    groups: Any = None,
    n_jobs: int | None = None,
    progress: Any = True,
    **options: Any,
) -> PermutationTest:
    """Hold a classifier against chance: classes are dealt out at random, and it is fitted and judged again.

    Args:
        estimator: The classifier, or its name.
        X: The variables.
        y: The true labels; with scale=Continuum(...), what was measured.
        measure: By what it is judged; it must have a better end.
        cv: How rows are held out; see ``cross_assess``.
        permutations: How often classes are dealt out.
        seed: Where the random numbers start by which classes are dealt out. Folds are made each time as they were
            the first time: those that are stratified, by the classes as they were dealt out.
        groups: Rows that belong together. Where all rows of a group have one class, whole groups change classes with
            each other; else rows change classes within groups only.
        n_jobs: How many permutations are tried at once.
        progress: Whether to show a bar on a terminal; or a function that is told how many are done, and of how many.
        **options: scale, event, repeats, sd and others of ``cross_assess``. Where sd is one a row, it changes places
            with what was measured.

    Returns:
        A PermutationTest: its ``p`` is small where chance does not explain the value.
    """
    refuse_no_count("permutations", permutations)
    refuse_of_class(measure)
    refuse_no_jobs(n_jobs)
    for name in ("measures", "training"):
        if name in options:
            mend = "Say measure= rather than measures=" if name == "measures" else "Leave it out: nothing is made of it"
            raise BadOption(f"permutation_test takes no {name}=", mend=mend)
    models = read_models(estimator)
    if len(models) > 1:
        raise BadOption("several classifiers are given", mend="Test them one by one")
    common = {"measures": [measure], "cv": cv, "groups": groups, "training": False, "progress": False, **options}
    found = cross_assess(models, X, y, **common)
    entry = found.settings.measures[0].with_better_end()
    target = found.data.y if found.data.measured is None else found.data.measured
    units = None if found.base.group is None else found.base.group.codes
    orders = _orders(found.base.truth, units, int(permutations), as_seed(seed, 0))
    again = {**common, **_of_kept(found, common), "event": None, "measures": [entry]}
    dealt = ((models, found.data.x, target[order], again | _measured(again, order)) for order in orders)
    with watched("permutations", progress) as told:
        values = np.array(in_parallel(_value, dealt, len(orders), n_jobs, told, AT_ONCE))
    model = found.models[0]
    # A value that cannot be told may have been as good.
    as_good = int((~(entry.loss(values) > entry.loss(found[model][entry].value) + ROUNDING)).sum())
    return PermutationTest(entry, found[model][entry], values, (1 + as_good) / (1 + len(values)))


def _of_kept(found: CrossAssessment, options: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of classes and of rows, without rows that were dropped."""
    base, plan, known = found.base, found.plan, found.data.known
    columns: dict[str, Any] = {"groups": None if base.group is None else base.group.codes}
    if known is not None:
        columns |= {SD: known.sd, RESPONSE_SD: known.blur, RESPONSE: (known.expected, known.spread)}
    told = row_wise({**options, "scale": base.scale})
    said = {name: columns[name] for name in told}
    said["scale"] = base.scale.but(sd=None) if SD in told and isinstance(base.scale, Continuum) else base.scale
    return said | ({"cv": [(split.train, split.test) for split in plan.splits]} if plan.words == GIVEN else {})


def _measured(options: Mapping[str, Any], order: Places) -> dict[str, Any]:
    """How far each value may be off goes where the value goes; what covariates tell stays with these."""
    return {SD: options[SD][order]} if np.ndim(options.get(SD, 0.0)) else {}


def _value(models: Mapping[str, Any], x: Any, y: Any, options: Mapping[str, Any]) -> float:
    cross = cross_assess(models, x, y, **options)
    return cross[cross.models[0]][options["measures"][0]].value


def _orders(codes: Codes, groups: Places | None, number: int, seed: int) -> list[Places]:
    """From which row each row has its class, several times at random."""
    random, rows = np.random.default_rng(seed), np.arange(len(codes))
    if groups is None:
        return [random.permutation(len(rows)) for _ in range(number)]
    first, group = np.unique(groups, return_index=True, return_inverse=True)[1:]
    if (codes == codes[first][group]).all():
        # Row by row, from the start again where a group is smaller: what was measured differs within groups.
        members, sizes = np.argsort(group, kind="stable"), np.bincount(group)
        starts, place = np.cumsum(sizes) - sizes, np.empty_like(rows)
        place[members] = rows - np.repeat(starts, sizes)
        givers = [random.permutation(len(first))[group] for _ in range(number)]
        return [members[starts[giver] + place % sizes[giver]] for giver in givers]
    found: list[Places] = []
    for _ in range(number):
        order = rows.copy()
        order[np.lexsort((rows, groups))] = np.lexsort((random.random(len(rows)), groups))
        found.append(order)
    return found
