"""What is kept of rows that are too many to be held, for all families of measures: it adds, as tallies do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.errors import TooLarge, UnlikeTallies
from ...core.scale import Label, listed
from ...measures.registry import Measure
from ...states.held_rows import Sample
from ...states.statistics import CONTINUUM, RANKING
from .counting import cells_of
from .products import Products
from .recipe import Grids, Named, Recipe, added_by_name

if TYPE_CHECKING:
    from ...core.typing import Array
    from ...states.held_rows import Rows

PRODUCTS = "products"


@dataclass(frozen=True)
class Summary:
    """What is kept of some rows.

    Attributes:
        recipe: What was asked for.
        by_class: How many rows each class has, what they weigh, and their squared weights: (3, classes).
        states: What each family of measures keeps, by the name of its statistic.
        sample: A few of the rows.
        late: What was found when these rows were seen again, by name: it holds for them alone, and adds to nothing.
    """

    recipe: Recipe
    by_class: Array
    states: Mapping[str, Any]
    sample: Sample
    late: Mapping[str, Any] = field(default_factory=dict)

    @property
    def products(self) -> Products | None:
        """How influences of rows go together."""
        return self.late.get(PRODUCTS)

    @property
    def rows(self) -> Rows | None:
        """All rows, where these were few enough to be kept; else None."""
        known = self.sample.whole and (bool(self.sample.clusters) or not self.recipe.clustered)
        return self.sample.rows if known else None

    def __add__(self, other: Summary) -> Summary:
        """Put both together; what it takes to see all rows again for must then be found anew."""
        if self.recipe.given.probable != other.recipe.given.probable:
            recipe = self.recipe.meeting(other.recipe)
            return self.narrowed(recipe) + other.narrowed(recipe)
        if self.recipe.said != other.recipe.said:
            raise UnlikeTallies(
                "rows were summed for different measures: "
                f"{listed(self.recipe.said, 5)} and {listed(other.recipe.said, 5)}",
                mend="Make both with the same options",
            )
        states = {name: state + other.states[name] for name, state in self.states.items()}
        return Summary(self.recipe, self.by_class + other.by_class, states, self.sample + other.sample)

    def cells(self, model: int, code: int) -> Rows:
        """The rows by the score that a classifier gave to a class, as many as there are cells and sides."""
        grids = self.states[RANKING.name].parts[model] if RANKING.name in self.states else ()
        if not grids:
            raise TooLarge("scores were not counted", mend="Ask for a measure of ranking too, as in measures=['auc']")
        return cells_of(self.recipe, grids, model, code if len(grids) > 1 else 0)

    def unsure(self, model: int, code: int, threshold: float) -> int:
        """How many rows may be on either side of a threshold, since they were counted in one cell with it."""
        grids, speaks = self.states[RANKING.name].parts[model], self.recipe.shape[model][1]
        turned = len(grids) == 1 and code != speaks
        grid = grids[code if len(grids) > 1 else 0]
        (place,) = grid.within(np.array([-threshold if turned else threshold]), turned).tolist()
        return 0 if place < 0 else round(float(grid.sums[place, :, 0].sum()))

    def narrowed(self, recipe: Recipe) -> Summary:
        """Without what is not asked for."""
        kept = {measure.statistic.name for measure in recipe.measures}
        states = {name: state for name, state in self.states.items() if name in kept}
        return Summary(recipe, self.by_class, states, self.sample)

    def refuse_unsummed(self, measures: Sequence[Measure]) -> None:
        """Measures must be asked for before rows are gone.

        But cells tell of every ranking of a class against the rest, and a formula on a continuum of others that are
        made of the same means.
        """
        means = [set(measure.means) for measure in self.recipe.made_of(CONTINUUM)]
        for measure in measures:
            counted = measure.statistic is RANKING and RANKING.name in self.states and not measure.balanced
            meant = measure.statistic is CONTINUUM and any(some.issuperset(measure.means) for some in means)
            if measure.label not in self.recipe.labels and not counted and not meant:
                raise TooLarge(
                    f"{measure.label} was not asked for when rows were summed, and they are too many to be held",
                    mend="Name it in measures=[...]",
                )

    def __neg__(self) -> Summary:
        """Turn around, so that subtracting is adding."""
        states = {name: -state for name, state in self.states.items()}
        return Summary(self.recipe, -self.by_class, states, -self.sample)


@dataclass(frozen=True)
class Summaries:
    """Summaries of the parts of the data, or of all rows, under None, where there are no parts.

    Attributes:
        parts: The summaries.
        late: What was found when rows were seen again, by name, of every part and, under None, of all rows.
    """

    parts: Mapping[Label | None, Summary]
    late: Mapping[Label | None, Mapping[str, Any]] = field(default_factory=dict)

    def __add__(self, other: Summaries) -> Summaries:
        """Add part by part."""
        return Summaries(added_by_name(self.parts, other.parts))

    def __neg__(self) -> Summaries:
        """Turn around, so that subtracting is adding."""
        return Summaries({label: -summary for label, summary in self.parts.items()})

    @cached_property
    def whole(self) -> Summary:
        """All rows together."""
        return reduce(add, self.parts.values())

    def of(self, label: Label | None) -> Summary:
        """One part, or all rows."""
        return replace(self.whole if label is None else self.parts[label], late=self.late.get(label, {}))

    def has(self, name: str) -> bool:
        """Whether something was found when rows were seen again."""
        return any(name in found for found in self.late.values())

    def seen(self, found: Named) -> Summaries:
        """With what was found when rows were seen again; it is added to what had been found in the same way before."""
        parts, late = dict(self.parts), dict(self.late)
        for label, states in found.found.items():
            for name, state in states.found.items():
                if isinstance(state, Grids):  # counted anew, in finer cells: they add up as the others did
                    parts[label] = replace(parts[label], states={**parts[label].states, name: state})
                else:
                    late[label] = added_by_name(late.get(label, {}), {name: state})
        return Summaries(parts, late)

    @property
    def labels(self) -> list[Label | None]:
        """All rows, and the parts where there are any."""
        return list(dict.fromkeys([None, *self.parts]))
