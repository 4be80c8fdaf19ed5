"""The command line of published confusion tables."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from ..core.errors import BadTable
from ..core.scale import listed
from .options import Judged, with_passed
from .telling import tell_assessment
from .words import costs, label_or_word, measure_names, words


def table(
    file: Annotated[str, Parameter(help="CSV, Parquet or Arrow file: first column true class, one column a class.")],
    *,
    event: Annotated[str | None, Parameter(help="The class of interest.")] = None,
    scale: Annotated[str | None, Parameter(help="The classes in order, with commas: low,mid,high.")] = None,
    predictions_in_rows: Annotated[
        bool, Parameter(help="The first column is the assigned class, and the others are true ones.", negative="")
    ] = False,
    decimal: Annotated[str | None, Parameter(help="CSV: mark before decimals, . or ,.")] = None,
    thousands: Annotated[str | None, Parameter(help="CSV: mark between thousands, such as . or ,.")] = None,
    options: Judged = Judged(),  # noqa: B008  (frozen)
) -> int:
    """Weigh a classifier of which only the confusion table is known, as in a publication.

    steelyard table published.csv --event yes
    """
    from ..data.sources import load_named
    from ..data.spelling import NumberMarks
    from ..inputs.published import NamedTable, read_table
    from ..results import api
    from .requirements import read_requirement

    conditions = [read_requirement(text, [api.MODEL]) for text in options.require]
    loaded = load_named(file, NumberMarks.of(decimal, thousands))
    counts = NamedTable(loaded.table)
    known, _ = read_table(counts, None, None, None)
    label = partial(label_or_word, known.classes)
    classes = None if scale is None else [label(word) for word in words(scale)]
    if classes is not None and set(classes).isdisjoint(known.classes):  # api.assess_table gives them other names
        raise BadTable(
            f"the table is about {listed(known.classes)}, not {listed(classes)}",
            mend="--scale puts its classes in order",
        )
    result = api.assess_table(
        counts,
        classes=classes,
        event=None if event is None else label(event),
        measures=None if options.measures is None else measure_names(options.measures),
        cost=None if options.cost is None else costs(options.cost, label),
        level=options.level,
        method=options.method,
        replicates=options.replicates,
        truth_in_rows=not predictions_in_rows,
    )
    return tell_assessment(with_passed(result, loaded), options, conditions)
