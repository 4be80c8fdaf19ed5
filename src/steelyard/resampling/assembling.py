"""Rows that were held out, with what classifiers said of them, as cases to be assessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..comparing.comparison import Comparison
from ..door.cases import Cases
from ..door.prediction import Prediction, Scores
from ..settings import Settings
from ..tallies.tally import Tally
from .fits import Said

if TYPE_CHECKING:
    from ..kinds import Array, Places
    from ..scale import Scale


def assembled(base: Cases, rows: Places, said: Mapping[str, Said], share: Array | None = None) -> Cases:
    """Some rows, each as often as it is named, with what was said of them.

    ``share`` is what each counts for, where a row is named more than once. The interval is then that of a single run:
    what is said of a row again and again is no new row.
    """
    with_scores = _speak(said)
    return replace(
        base.some(rows),
        assigned={name: one.codes for name, one in said.items()},
        scores={name: _scores(name, one, base.scale, with_scores) for name, one in said.items()},
        weight=share,
        counted=True,
    )


def _speak(said: Mapping[str, Said]) -> bool:
    """Whether scores that are no probabilities are of use: where nobody has probabilities, and all have scores."""
    return all(one.memberships is None and one.scores is not None for one in said.values())


def unheard(said: Mapping[str, Said]) -> list[str]:
    """Whose scores are not ranked, since others have probabilities, or none: they are not classifiers without any."""
    if _speak(said):
        return []
    return [
        f"{name}: scores that are no probabilities are ranked only where all classifiers have such: assess it by itself"
        for name, one in said.items()
        if one.memberships is None and one.scores is not None
    ]


def _scores(name: str, said: Said, scale: Scale, with_scores: bool) -> Scores:
    if said.memberships is not None:
        columns = tuple(np.ascontiguousarray(column) for column in said.memberships.T)
        checked = Prediction(name, columns=columns, class_names=tuple(str(label) for label in scale.classes))
        checked.assigned(scale, None)  # every check that probabilities must pass
        return Scores(columns)
    if with_scores and said.scores is not None and said.scores.ndim == 2:
        several = tuple(np.ascontiguousarray(column) for column in said.scores.T)
        return Scores(several, free=True)
    if with_scores and said.scores is not None:
        return Scores((said.scores,), said.speaks)
    return Scores()


def compared(cases: Cases, settings: Settings) -> Comparison:
    """Several classifiers on these cases."""
    return Comparison(Tally.of(cases), settings, cases)
