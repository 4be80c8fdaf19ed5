"""Summaries as plain facts and arrays, for a file; and back, where everything is checked that could not have been."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import BadOption
from ...core.scale import Scale
from ...inputs.dataset import Available
from ...measures import find
from ...measures.registry import Measure
from ...states.held_rows import Rows, Sample
from ...states.statistics import CALIBRATION, CONTINUUM, FORECASTS, PARTITION, RANKING
from .counting import Grids
from .products import Products
from .recipe import Named, Recipe, Totals
from .states import Arrays, Facts, alike, refuse, state_facts, state_from
from .summarising import Summarising
from .summary import PRODUCTS, Summaries, Summary

FEW, COARSE = 16, 12  # rows, and bits of a ruler, show what kinds of states there are
KEPT = {
    CONTINUUM.name: Named,
    FORECASTS.name: Totals,
    RANKING.name: Grids,
    CALIBRATION.name: Grids,
    PARTITION.name: Named,
}
LATE = {PRODUCTS: Products, CALIBRATION.name: Named, PARTITION.name: Named}


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
    rows = summary.sample.rows
    errors = (0.0, 0.0) if rows.measured is None else rows.measured.errors
    return {
        "by_class": arrays.put(summary.by_class),
        "states": _states_facts(summary.states, arrays),
        "marks": arrays.put(summary.sample.marks.view(np.int64)),
        "rows": {name: arrays.put(column) for name, column in rows.named().items()},
        **({"errors": errors} if any(errors) else {}),
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
    return Summary(recipe, by_class, states, Sample(marks, rows))


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
