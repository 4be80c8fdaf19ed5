"""Rows that were held out, with what classifiers said of them, as cases to be assessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..inference.settings import Settings
from ..inputs.cases import Cases
from ..inputs.prediction import Prediction, Scores
from ..passes.tally import Tally
from ..results.comparison import Comparison
from .fits import Said

if TYPE_CHECKING:
    from ..core.scale import Scale
    from ..core.typing import Array, Places


def assembled(base: Cases, rows: Places, said: Mapping[str, Said], share: Array | None = None) -> Cases:
    """Some rows, each as often as it is named, with what was said of them.

    ``share`` is what each counts for, where a row is named more than once. The interval is then that of a single run:
    what is said of a row again and again is no new row.
    """
    others = any(one.memberships is not None for one in said.values())
    return replace(
        base.some(rows),
        assigned={name: one.codes for name, one in said.items()},
        scores={name: _scores(name, one, base.scale, others) for name, one in said.items()},
        weight=share,
        counted=True,
    )


def _scores(name: str, said: Said, scale: Scale, others: bool) -> Scores:
    """What a classifier said in numbers: without probabilities, its scores rank rows, and are read as nothing else.

    Labels beside the probabilities of others are no probabilities of 0 and 1, by which a log score would be infinite,
    unless a score of forecasts was asked for by name.
    """
    if said.memberships is not None:
        columns = tuple(np.ascontiguousarray(column) for column in said.memberships.T)
        checked = Prediction(name, columns=columns, class_names=tuple(str(label) for label in scale.classes))
        checked.assigned(scale, None)  # every check that probabilities must pass
        return Scores(columns)
    if said.scores is None:
        return Scores(raw=others and not said.certain)
    if said.scores.ndim == 2:
        return Scores(tuple(np.ascontiguousarray(column) for column in said.scores.T), free=True, raw=True)
    return Scores((said.scores,), said.speaks, raw=True)


def compared(cases: Cases, settings: Settings) -> Comparison:
    """Several classifiers on these cases."""
    return Comparison(Tally.of(cases), settings, cases)
