"""Summaries as plain facts and arrays, for a file; and back, where everything is checked that could not have been."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cases import Given
from ..errors import BadOption
from ..measures import find
from ..registry import Measure
from ..rows import Rows
from ..scale import Scale
from ..statistics import RANKING
from .grid import Grid
from .products import Products
from .rankings import Grids
from .recipe import Recipe, Totals
from .ruler import FinerRuler, Ruler
from .sample import Sample
from .summary import GATHERINGS, Summaries, Summary

if TYPE_CHECKING:
    from ..kinds import AnyArray

Facts = dict[str, Any]


@dataclass
class Arrays:
    """Arrays that are named by their places."""

    found: list[AnyArray] = field(default_factory=list)

    def put(self, array: AnyArray) -> Facts:
        """Keep an array; how to get it back."""
        self.found.append(np.ascontiguousarray(array))
        return {"place": len(self.found) - 1, "shape": list(array.shape)}

    def get(self, facts: Facts) -> AnyArray:
        """An array that was kept."""
        return self.found[int(facts["place"])].reshape([int(size) for size in facts["shape"]])


# --- what was asked for -----------------------------------------------------------------------------------------


def recipe_facts(recipe: Recipe, arrays: Arrays) -> Facts:
    """A recipe without its scale and the names of classifiers, which stand beside it."""
    given = recipe.given
    return {
        "shape": recipe.shape,
        "measures": [_measure_facts(measure) for measure in recipe.measures],
        "given": [given.scored, given.probable, None if given.measured is None else sorted(given.measured)],
        "weighed": recipe.weighed,
        "clustered": recipe.clustered,
        "rulers": [[_ruler_facts(ruler, arrays) for ruler in part] for part in recipe.rulers],
    }


def recipe_from(facts: Facts, arrays: Arrays, scale: Scale, models: tuple[str, ...]) -> Recipe:
    """A recipe, as it was."""
    scored, probable, measured = facts["given"]
    return Recipe(
        scale,
        models,
        tuple((int(size), int(speaks)) for size, speaks in facts["shape"]),
        tuple(find(name, **ast.literal_eval(parameters)) for name, parameters in facts["measures"]),
        Given(bool(scored), bool(probable), None if measured is None else frozenset(measured)),
        bool(facts["weighed"]),
        bool(facts["clustered"]),
        tuple(tuple(_ruler_from(each, arrays) for each in part) for part in facts["rulers"]),
    )


def _measure_facts(measure: Measure) -> tuple[str, str]:
    parameters = repr({name: measure.parameters[name] for name in measure.changed})
    try:
        ast.literal_eval(parameters)
    except (ValueError, SyntaxError):
        raise BadOption(
            f"the parameters of {measure.label} cannot be written to a file",
            mend="Give plain numbers and words: costs as {true: {assigned: cost}}",
        ) from None
    return measure.name, parameters


def _ruler_facts(ruler: Ruler | FinerRuler, arrays: Arrays) -> Facts:
    if isinstance(ruler, Ruler):
        return {"bits": ruler.bits}
    coarse = _ruler_facts(ruler.coarse, arrays)
    return {"bits": ruler.fine.bits, "coarse": coarse, "parted": arrays.put(ruler.parted)}


def _ruler_from(facts: Facts, arrays: Arrays) -> Ruler | FinerRuler:
    ruler = Ruler(int(facts["bits"]))
    if not 4 <= ruler.bits <= 52:
        raise ValueError("a ruler that there cannot be")
    if "coarse" not in facts:
        return ruler
    coarse, parted = _ruler_from(facts["coarse"], arrays), arrays.get(facts["parted"]).astype(np.int64)
    _refuse(not len(parted) or ((np.diff(parted) > 0).all() and parted[0] >= 0 and parted[-1] < coarse.cells - 1))
    return FinerRuler(coarse, parted, ruler)


# --- what was kept ----------------------------------------------------------------------------------------------


def summaries_facts(summaries: Summaries, arrays: Arrays) -> Facts:
    """What was kept of all parts; under null of all rows."""
    products = summaries.products or {}
    return {
        "parts": [[label, _summary_facts(each, arrays)] for label, each in summaries.parts.items()],
        "products": [[label, _products_facts(each, arrays)] for label, each in products.items()],
    }


def summaries_from(facts: Facts, arrays: Arrays, recipe: Recipe) -> Summaries:
    """What was kept, as it was."""
    parts = {label: _summary_from(each, arrays, recipe) for label, each in facts["parts"]}
    products = {label: _products_from(each, arrays) for label, each in facts["products"]}
    return Summaries(parts, products or None)


def _summary_facts(summary: Summary, arrays: Arrays) -> Facts:
    rows = summary.sample.rows
    return {
        "by_class": arrays.put(summary.by_class),
        "states": {name: _state_facts(state, arrays) for name, state in summary.states.items()},
        "marks": arrays.put(summary.sample.marks.view(np.int64)),
        "rows": {name: arrays.put(column) for name, column in rows.named().items()},
    }


def _summary_from(facts: Facts, arrays: Arrays, recipe: Recipe) -> Summary:
    classes = len(recipe.scale)
    named = {name: arrays.get(each) for name, each in facts["rows"].items()}
    rows = Rows.from_named(named, recipe.shape, [1, 1, *[classes] * (1 + len(recipe.models))])
    marks = arrays.get(facts["marks"]).astype(np.int64).view(np.uint64)
    by_class = arrays.get(facts["by_class"])
    states = {name: _state_from(name, state, arrays) for name, state in facts["states"].items()}
    _refuse(by_class.shape == (3, classes) and len(marks) == len(rows))
    _refuse(set(states) <= {statistic.name for statistic in GATHERINGS})
    return Summary(recipe, by_class, states, Sample(marks, rows))


def _state_facts(state: Grids | Totals, arrays: Arrays) -> Any:
    if isinstance(state, Totals):
        return [arrays.put(part) for part in state.parts]
    return [[_grid_facts(grid, arrays) for grid in part] for part in state.parts]


def _state_from(name: str, facts: Any, arrays: Arrays) -> Grids | Totals:
    if name != RANKING.name:
        return Totals(tuple(arrays.get(part) for part in facts))
    return Grids(tuple(tuple(_grid_from(grid, arrays) for grid in part) for part in facts))


def _grid_facts(grid: Grid, arrays: Arrays) -> Facts:
    columns = {"cells": grid.cells, "sums": grid.sums, "score": grid.score, "mixed": grid.mixed.astype(np.uint8)}
    return {"ruler": _ruler_facts(grid.ruler, arrays), **{name: arrays.put(each) for name, each in columns.items()}}


def _grid_from(facts: Mapping[str, Any], arrays: Arrays) -> Grid:
    ruler = _ruler_from(facts["ruler"], arrays)
    cells, sums, score, mixed = (arrays.get(facts[name]) for name in ("cells", "sums", "score", "mixed"))
    _refuse(len(cells) == len(sums) == len(score) == len(mixed) and sums.ndim == 3 and np.isfinite(sums).all())
    _refuse(not len(cells) or ((np.diff(cells) > 0).all() and cells[0] >= 0 and cells[-1] < ruler.cells))
    return Grid(ruler, cells.astype(np.int64), sums, score, mixed.astype(bool))


def _products_facts(products: Products, arrays: Arrays) -> Facts:
    return {
        "keys": products.keys,
        "sums": arrays.put(products.sums),
        "clusters": products.clusters,
        "drawn": products.drawn,
    }


def _products_from(facts: Facts, arrays: Arrays) -> Products:
    keys = tuple((int(model), str(label), part) for model, label, part in facts["keys"])
    sums, clusters = arrays.get(facts["sums"]), facts["clusters"]
    _refuse(sums.shape == (len(keys) if clusters is None else len(clusters), len(keys)))
    return Products(keys, sums, None if clusters is None else tuple(clusters), float(facts["drawn"]))


def _refuse(fits: Any) -> None:
    if not fits:
        raise ValueError("sums of rows that there cannot be")
