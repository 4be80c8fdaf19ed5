"""Summaries as plain facts and arrays, for a file; and back, where everything is checked that could not have been.

Each kind of state that families of measures keep says how it is stored, under a tag that never changes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.errors import BadOption, ForeignFile, quoted
from ...core.scale import Scale
from ...inputs.dataset import LARGEST_SQUARES, Available
from ...maths.ruler import FinerRuler, Ruler
from ...measures import find
from ...measures.registry import Measure
from ...states.held_rows import Rows, Sample
from ...states.score_grid import Grid
from ...states.statistics import CALIBRATION, CONTINUUM, FORECASTS, PARTITION, RANKING
from ..partition.fitting import Regions, RegionSums
from .products import Products
from .recipe import ClusterSums, Grids, Named, Recipe, Totals
from .summarising import Summarising
from .summary import PRODUCTS, Summaries, Summary

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.typing import AnyArray

Facts = dict[str, Any]
READ_ELSEWHERE = "Read it with the release that wrote it"
FEW, COARSE = 16, 12  # rows, and bits of a ruler, show what kinds of states there are
KEPT = {
    CONTINUUM.name: Named,
    FORECASTS.name: Totals,
    RANKING.name: Grids,
    CALIBRATION.name: Grids,
    PARTITION.name: Named,
}
LATE = {PRODUCTS: Products, CALIBRATION.name: Named, PARTITION.name: Named}


def as_they_are(labels: Sequence[Label]) -> list[Label]:
    """Return labels unchanged."""
    return list(labels)


@dataclass
class Arrays:
    """Arrays that are named by their places; and what stands in a file for the labels of clusters."""

    found: list[AnyArray] = field(default_factory=list)
    clusters: Callable[[Sequence[Label]], list[Label]] = as_they_are

    def put(self, array: AnyArray) -> Facts:
        """Keep an array; how to get it back."""
        self.found.append(np.ascontiguousarray(array))
        return {"place": len(self.found) - 1, "shape": list(array.shape)}

    def get(self, facts: Facts) -> AnyArray:
        """An array that was kept."""
        place, shape = int(facts["place"]), [int(size) for size in facts["shape"]]
        refuse(min(place, *shape) >= 0 and self.found[place].dtype.kind in "iuf")
        return self.found[place].reshape(shape)


def refuse(fits: Any) -> None:
    """Refuse what no rows can have left."""
    if not fits:
        raise ValueError("sums of rows that there cannot be")


def state_facts(state: Any, arrays: Arrays) -> Facts:
    """Return a state of any kind as facts, under the tag of its kind."""
    kind = BY_TYPE[type(state)]
    return {"kind": kind.tag, "state": kind.facts(state, arrays)}


def state_from(facts: Facts, arrays: Arrays) -> Any:
    """Return the state that facts describe, whether they have its tag or the name that older files give it."""
    tag: str = facts["kind"]
    refuse(isinstance(tag, str))
    kind = BY_TAG.get(OLD_NAMES.get(tag, tag))
    if kind is None:
        raise ForeignFile(f"holds a state of an unknown kind, {quoted(tag)}", mend=READ_ELSEWHERE)
    return kind.state(facts["state"], arrays)


def alike(made: Any, kept: Any) -> bool:
    """Whether two states are of the same kind and size, so that one can be added to the other."""
    if type(made) is not type(kept):
        return False
    if isinstance(made, np.ndarray):
        return bool(made.shape == kept.shape)
    if isinstance(made, Named):
        shared = made.found.keys() & kept.found.keys()
        return all(alike(made.found[name], kept.found[name]) for name in shared)
    if isinstance(made, Grid | ClusterSums):
        return bool(made.sums.shape[1:] == kept.sums.shape[1:])
    if isinstance(made, Regions):
        return (made.classes, made.depth) == (kept.classes, kept.depth)
    parts = made.parts if isinstance(made, Grids | Totals) else made
    others = kept.parts if isinstance(kept, Grids | Totals) else kept
    return len(parts) == len(others) and all(map(alike, parts, others))


# --- numbers ----------------------------------------------------------------------------------------------------


def _array_facts(array: AnyArray, arrays: Arrays) -> Facts:
    return arrays.put(array)


def _array_from(facts: Facts, arrays: Arrays) -> AnyArray:
    found = arrays.get(facts)
    refuse(found.dtype.kind == "f" and np.isfinite(found).all())
    return found


def _totals_facts(totals: Totals, arrays: Arrays) -> list[Facts]:
    return [arrays.put(part) for part in totals.parts]


def _totals_from(facts: list[Facts], arrays: Arrays) -> Totals:
    found = Totals(tuple(arrays.get(part) for part in facts))
    refuse(all(part.dtype.kind == "f" for part in found.parts))
    return found


def _named_facts(named: Named, arrays: Arrays) -> list[Any]:
    return [[name, state_facts(state, arrays)] for name, state in named.found.items()]


def _named_from(facts: list[Any], arrays: Arrays) -> Named:
    return Named({_tupled(name): state_from(state, arrays) for name, state in facts})


def _tupled(name: Any) -> Any:
    """A name as it was: files know lists only."""
    return tuple(_tupled(part) for part in name) if isinstance(name, list) else name


# --- grids ------------------------------------------------------------------------------------------------------


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
    refuse(not len(parted) or ((np.diff(parted) > 0).all() and parted[0] >= 0 and parted[-1] < coarse.cells - 1))
    return FinerRuler(coarse, parted, ruler)


def _grids_facts(grids: Grids, arrays: Arrays) -> list[list[Facts]]:
    return [[_grid_facts(grid, arrays) for grid in part] for part in grids.parts]


def _grids_from(facts: list[list[Facts]], arrays: Arrays) -> Grids:
    return Grids(tuple(tuple(_grid_from(grid, arrays) for grid in part) for part in facts))


def _grid_facts(grid: Grid, arrays: Arrays) -> Facts:
    columns = {"cells": grid.cells, "sums": grid.sums, "score": grid.score, "mixed": grid.mixed.astype(np.uint8)}
    return {"ruler": _ruler_facts(grid.ruler, arrays), **{name: arrays.put(each) for name, each in columns.items()}}


def _grid_from(facts: Mapping[str, Any], arrays: Arrays) -> Grid:
    ruler = _ruler_from(facts["ruler"], arrays)
    cells, sums, score, mixed = (arrays.get(facts[name]) for name in ("cells", "sums", "score", "mixed"))
    refuse(
        len(cells) == len(sums) == len(score) == len(mixed)
        and sums.ndim == 3
        and (np.abs(sums) < LARGEST_SQUARES).all()
    )
    refuse(not len(cells) or ((np.diff(cells) > 0).all() and cells[0] >= 0 and cells[-1] < ruler.cells))
    # A cell is there because of its rows, and has a score of theirs.
    refuse(cells.dtype.kind != "f" and sums.dtype.kind == score.dtype.kind == "f" and not np.isnan(score).any())
    refuse((sums[..., 0] != 0).any(axis=1).all() and (ruler.place(score) == cells).all())
    return Grid(ruler, cells.astype(np.int64), sums, score, mixed.astype(bool))


# --- products ---------------------------------------------------------------------------------------------------


def _products_facts(products: Products, arrays: Arrays) -> Facts:
    return {
        "keys": products.keys,
        "sums": arrays.put(products.sums),
        "clusters": None if products.clusters is None else arrays.clusters(products.clusters),
        "drawn": products.drawn,
        "powers": arrays.put(products.powers),
        "within": arrays.put(products.within),
        **({"fourths": arrays.put(products.fourths)} if products.fourths.size else {}),
    }


def _products_from(facts: Facts, arrays: Arrays) -> Products:
    keys = tuple((int(model), str(label), part) for model, label, part in facts["keys"])
    sums, powers, within = (arrays.get(facts[name]) for name in ("sums", "powers", "within"))
    fourths = arrays.get(facts["fourths"]) if "fourths" in facts else np.zeros((0, 2, 0, 0))  # older files have none
    clusters = facts["clusters"]
    refuse(sums.shape == (len(keys) if clusters is None else len(clusters), len(keys)))
    refuse(powers.shape in ((2, 0), (2, len(keys))))
    refuse(within.size == 0 or within.shape[1:] in ((len(keys),), (len(keys), len(keys))))
    refuse(fourths.size == 0 or fourths.shape == (len(within), 2, len(keys), len(keys)))
    refuse(all(each.dtype.kind == "f" for each in (sums, powers, within, fourths)))
    refuse(clusters is None or len(set(clusters)) == len(clusters))
    named = None if clusters is None else tuple(clusters)
    return Products(keys, sums, named, float(facts["drawn"]), powers, within, fourths)


def _clusters_facts(clusters: ClusterSums, arrays: Arrays) -> Facts:
    return {"labels": arrays.clusters(clusters.labels), "sums": arrays.put(clusters.sums)}


def _clusters_from(facts: Facts, arrays: Arrays) -> ClusterSums:
    labels, sums = tuple(facts["labels"]), arrays.get(facts["sums"])
    refuse(sums.dtype.kind == "f" and np.isfinite(sums).all() and sums.ndim == 2)
    refuse(len(set(labels)) == len(labels) == len(sums) and (sums[:, 0] > 0).all())
    return ClusterSums(labels, sums)


# --- regions ----------------------------------------------------------------------------------------------------


def _regions_facts(regions: Regions, arrays: Arrays) -> Facts:
    """The sums of all regions end to end: how many numbers each has, its classes tell."""
    numbers = [np.concatenate([np.atleast_1d(part) for part in sums]) for sums in regions.sums.values()]
    return {
        "classes": regions.classes,
        "depth": regions.depth,
        "prefixes": list(regions.sums),
        "joined": list(regions.joined.items()),
        "sums": arrays.put(np.concatenate([np.empty(0), *numbers])),
    }


def _regions_from(facts: Facts, arrays: Arrays) -> Regions:
    classes, depth, numbers = int(facts["classes"]), int(facts["depth"]), arrays.get(facts["sums"])
    joined = {_tupled(prefix): _tupled(blocks) for prefix, blocks in facts["joined"]}
    regions, found, start = Regions(classes, depth, {}, joined), {}, 0
    refuse(0 < depth < classes and np.isfinite(numbers).all())
    for prefix in map(_tupled, facts["prefixes"]):
        order = regions.order(prefix)
        _refuse_places([*prefix, *(place for block in order for place in block)], classes)
        stop = start + 2 + classes + 5 * len(order)
        refuse(0 < len(prefix) <= depth and stop <= len(numbers))
        found[prefix] = _sums(numbers[start:stop], classes)
        start = stop
    refuse(start == len(numbers))
    return Regions(classes, depth, found, joined)


def _sums(numbers: AnyArray, classes: int) -> RegionSums:
    rows, mass, rest = float(numbers[0]), float(numbers[1]), numbers[2 + classes :].reshape(5, -1)
    refuse(rows > 0 and mass > 0)
    return RegionSums(rows, mass, numbers[2 : 2 + classes], *rest)


def _refuse_places(places: list[Any], classes: int) -> None:
    refuse(all(isinstance(place, int) and 0 <= place < classes for place in places))


# --- tags -------------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """How a kind of state is stored.

    Attributes:
        tag: What files call it. A tag never changes, whatever becomes of the class.
        type: The class of the state.
        facts: Returns the facts of a state.
        state: Returns the state of some facts.
    """

    tag: str
    type: type
    facts: Callable[[Any, Arrays], Any]
    state: Callable[[Any, Arrays], Any]


KINDS = (
    Kind("numbers", np.ndarray, _array_facts, _array_from),
    Kind("column sums", Totals, _totals_facts, _totals_from),
    Kind("named states", Named, _named_facts, _named_from),
    Kind("score cells", Grids, _grids_facts, _grids_from),
    Kind("cluster sums", ClusterSums, _clusters_facts, _clusters_from),
    Kind("influence products", Products, _products_facts, _products_from),
    Kind("partition regions", Regions, _regions_facts, _regions_from),
)
BY_TYPE = {kind.type: kind for kind in KINDS}
BY_TAG = {kind.tag: kind for kind in KINDS}
# Files of versions 9 and 10 have the names that the classes had then.
OLD_NAMES = {
    "ndarray": "numbers",
    "Totals": "column sums",
    "Named": "named states",
    "Grids": "score cells",
    "ClusterSums": "cluster sums",
    "Products": "influence products",
    "Regions": "partition regions",
}


# --- what was asked for -----------------------------------------------------------------------------------------


def recipe_facts(recipe: Recipe) -> Facts:
    """A recipe without its scale and the names of classifiers, which stand beside it."""
    given = recipe.given
    return {
        "shape": recipe.shape,
        "measures": [_measure_facts(measure) for measure in recipe.measures],
        "given": [given.scored, given.probable, None if given.measured is None else sorted(given.measured)],
        "raw": [given.ordered, given.raw],
        "weighed": recipe.weighed,
        "clustered": recipe.clustered,
    }


def recipe_from(facts: Facts, scale: Scale, models: tuple[str, ...]) -> Recipe:
    """A recipe, as it was."""
    (scored, probable, measured), (ordered, raw) = facts["given"], facts.get("raw", (False, False))
    known = None if measured is None else frozenset(measured)
    return Recipe(
        scale,
        models,
        tuple((int(size), int(speaks), any(raw)) for size, speaks, *raw in facts["shape"]),
        tuple(find(name, **ast.literal_eval(parameters)) for name, parameters in facts["measures"]),
        Available(bool(scored), bool(probable), known, ordered=bool(ordered), raw=bool(raw)),
        bool(facts["weighed"]),
        bool(facts["clustered"]),
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


# --- what was kept ----------------------------------------------------------------------------------------------


def summaries_facts(summaries: Summaries, arrays: Arrays) -> Facts:
    """What was kept of all parts; under null of all rows."""
    return {
        "parts": [[label, _summary_facts(each, arrays)] for label, each in summaries.parts.items()],
        "late": [[label, _states_facts(each, arrays)] for label, each in summaries.late.items()],
    }


def summaries_from(facts: Facts, arrays: Arrays, recipe: Recipe) -> Summaries:
    """What was kept, as it was."""
    parts = {label: _summary_from(each, arrays, recipe) for label, each in facts["parts"]}
    late = {label: _states_from(each, arrays, LATE) for label, each in facts["late"]}
    refuse(set(late) <= {None, *parts})
    return Summaries(parts, late)


def _summary_facts(summary: Summary, arrays: Arrays) -> Facts:
    rows = summary.sample.bare
    errors = (0.0, 0.0) if rows.measured is None else rows.measured.errors
    return {
        "by_class": arrays.put(summary.by_class),
        "states": _states_facts(summary.states, arrays),
        "marks": arrays.put(summary.sample.marks.view(np.int64)),
        "rows": {name: arrays.put(column) for name, column in rows.named().items()},
        **({"errors": errors} if any(errors) else {}),
        # Labels of clusters are not saved with rows.
        **({"whole": True} if summary.rows is not None and not summary.recipe.clustered else {}),
    }


def _summary_from(facts: Facts, arrays: Arrays, recipe: Recipe) -> Summary:
    classes = len(recipe.scale)
    named = {name: arrays.get(each) for name, each in facts["rows"].items()}
    rows = _with_errors(Rows.from_named(named, recipe.shape, [1, 1, *[classes] * (1 + len(recipe.models))]), facts)
    marks = arrays.get(facts["marks"]).astype(np.int64).view(np.uint64)
    by_class, states = arrays.get(facts["by_class"]), _states_from(facts["states"], arrays, KEPT)
    refuse(by_class.shape == (3, classes) and len(marks) == len(rows))
    refuse(by_class.dtype.kind == "f" and (rows.sums is not None) == recipe.weighed)
    refuse_unlike_states(states, rows, recipe)
    grids = [grid for state in states.values() if isinstance(state, Grids) for part in state.parts for grid in part]
    refuse(all(np.isclose(grid.sums[..., 0].sum(), by_class[0].sum()) for grid in grids))
    whole = facts.get("whole", False) is True
    if whole:  # all rows of a part: they are as many of each class, and weigh as much, as was summed
        refuse(not recipe.clustered)
        seen = np.zeros_like(by_class)
        seen[:, : rows.by_class.shape[1]] = rows.by_class
        refuse(np.allclose(seen, by_class, rtol=1e-9))
    return Summary(recipe, by_class, states, Sample(marks, rows, whole))


def _with_errors(rows: Rows, facts: Facts) -> Rows:
    """Return rows with the standard errors of the deviations of their measured values, where these are not 0."""
    measured, errors = rows.measured, facts.get("errors")
    if measured is None or errors is None:
        return rows
    first, second = map(float, errors)
    known = ((first, measured.sd), (second, measured.blur))
    refuse(all(0 <= error < np.inf and (column is not None or not error) for error, column in known))
    return replace(rows, measured=replace(measured, errors=(first, second)))


def refuse_unlike_states(states: Mapping[str, Any], rows: Rows, recipe: Recipe) -> None:
    """Refuse states of other kinds and sizes than those that the same recipe makes of a few rows."""
    summarising = Summarising(replace(recipe, bits=COARSE))
    summarising.add(rows.select(np.arange(min(len(rows), FEW))))
    made = summarising.state().whole.states
    refuse(made.keys() == states.keys() and all(alike(made[name], state) for name, state in states.items()))
    for name, state in states.items():
        refuse(not isinstance(state, Named) or state.found.keys() == made[name].found.keys())


def _states_facts(states: Mapping[str, Any], arrays: Arrays) -> Facts:
    return {name: state_facts(state, arrays) for name, state in states.items()}


def _states_from(facts: Facts, arrays: Arrays, kinds: Mapping[str, type]) -> dict[str, Any]:
    found = {name: state_from(each, arrays) for name, each in facts.items()}
    refuse(all(isinstance(state, kinds[name]) for name, state in found.items()))
    return found
