"""The list of measures, made from the registry: for the terminal and for the docs."""

from __future__ import annotations

import inspect
from typing import Any

from ..core.table import Table
from ..inputs.dataset import NEEDS
from ..measures import ELSEWHERE, SEVERAL, all_measures, of_class
from ..measures.registry import Measure, as_alias
from ..states.statistics import CALIBRATION, CONFUSION, CONTINUUM, FORECASTS, PARTITION, RANKING

ALWAYS, ASKED = "always", "if asked"
ONE_CLASS = "that of the class named 1, or else of the first class; a class goes by its name, too: CR setosa"

# What a measure is made of, by statistic: in a word, of a class, and of the whole.
MADE_OF = {
    CONTINUUM.name: ("continuum", "", "measured values, from which classes are cut"),
    RANKING.name: ("ranking", "the ranking of each class, and averages", ""),
    FORECASTS.name: ("forecasts", "the forecasts of each class, and averages", "the forecasts of all classes"),
    PARTITION.name: ("partition", "", "memberships in the simplex of classes"),
    CALIBRATION.name: (
        "calibration",
        "forecasts against frequencies of each class, and averages",
        "forecasts against frequencies of the likeliest class",
    ),
}


def span_text(measure: Measure) -> str:
    """The values that a measure can take, in words."""
    low, high = ("-∞" if end == float("-inf") else "∞" if end == float("inf") else f"{end:g}" for end in measure.span)
    return f"{low} to {high}"


def parted(measure: Measure) -> tuple[str, str, str, str]:
    """What a measure says: a sentence, the formula where there is one, what is added to it, and what else there is.

    All come from its docstring; a formula stands behind the first colon.
    """
    first, _, rest = (inspect.getdoc(measure.formula) or "").partition("\n\n")
    said, more = " ".join(first.split()), " ".join(rest.split())
    sentence, _, after = said.rstrip(".").partition(": ")
    formula, _, aside = after.partition("; ")
    if not any(sign in formula for sign in "()=/^"):
        return said, "", "", more
    return sentence, formula, aside, more


def explain(measure: Measure) -> dict[str, Any]:
    """All that is known of one measure."""
    doc = " ".join((inspect.getdoc(measure.formula) or "").split())
    parameters = ", ".join(f"{key}={value!r}" for key, value in measure.parameters.items())
    cautioned: dict[str, list[str]] = {}
    for name, caution in measure.cautions.items():
        cautioned.setdefault(caution, []).append(name)
    return {
        "name": measure.name,
        "title": measure.title,
        "also": ", ".join((*measure.aliases, *measure.cautions)),
        "beware": "; ".join(f"{', '.join(names)}: {caution}" for caution, names in cautioned.items()),
        "with a class": ", ".join(f"{term}: {ONE_CLASS}" for term in measure.terms if of_class(term)),
        "says": doc,
        "better": measure.better,
        "span": span_text(measure),
        "by chance": None if measure.chance is None else str(measure.chance),
        "of": _of(measure),
        "computed": computed(measure),
        "parameters": parameters,
        "undefined": measure.undefined.replace("{class}", "X"),
        "source": measure.cite,
    }


def computed(measure: Measure) -> str:
    """Whether it is among the measures that are computed where nobody names any, or what they need for that."""
    if measure.special or measure.needs:
        return ASKED
    if measure.statistic is not CONTINUUM:
        return ALWAYS
    needs = dict.fromkeys(need for name in measure.arguments for need in NEEDS.get(name, ()))
    return "with " + " and ".join(needs or ["Continuum"])


def material(measure: Measure) -> str:
    """What it is made of, in a word."""
    if measure.statistic is CONFUSION:
        return "class" if measure.per_class else "table"
    return MADE_OF[measure.statistic.name][0]


def _of(measure: Measure) -> str:
    if measure.statistic is CONFUSION:
        return "each class, and averages" if measure.per_class else "the whole table"
    _, of_classes, of_all = MADE_OF[measure.statistic.name]
    return of_classes if measure.per_class else of_all


def listing() -> Table:
    """Every measure in a line."""
    entries = all_measures().values()
    return Table(
        {
            "name": [entry.name for entry in entries],
            "better": [entry.better for entry in entries],
            "span": [span_text(entry) for entry in entries],
            "of": [material(entry) for entry in entries],
            "computed": [computed(entry) for entry in entries],
            "says": [entry.summary for entry in entries],
        }
    )


def glossary() -> Table:
    """Every other name that a measure goes by, in alphabetical order, and where the name comes from."""
    found: list[tuple[str, str, str, str]] = []
    for measure in all_measures().values():
        written = {as_alias(term): term for term in measure.terms}
        for alias in dict.fromkeys((*measure.aliases, *measure.cautions, *written)):
            term = written.get(alias, alias)
            note = ONE_CLASS if of_class(term) else measure.cautions.get(alias, "")
            found.append((term, measure.name, note, measure.terms.get(term, "")))
    found += [(name, "", mend, "") for name, mend in {**ELSEWHERE, **SEVERAL}.items()]
    rows = sorted(found, key=lambda row: (row[0].casefold(), row[1]))
    return Table.of_rows(("name", "measure", "note", "source"), rows)
