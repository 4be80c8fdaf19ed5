"""What classes of a continuum are called where nobody said it: after the labels that classifiers assigned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import UnknownLabel
from ..core.scale import Continuum, Label, listed
from .coded import Coded
from .prediction import Prediction

if TYPE_CHECKING:
    from ..core.typing import Array


def named_after(scale: Continuum, predictions: Mapping[str, Prediction], values: Array) -> Continuum:
    """Name the classes after the labels of the classifiers, where these are others than the names of intervals.

    Numbers are taken in their order; text by the mean of what was measured where it was assigned.
    """
    said = list(predictions.values())
    known: list[Label] = [label for one in said if one.labels is not None for label in one.labels.labels]
    known += [name for one in said if one.labels is None for name in one.class_names]
    labels = list(dict.fromkeys(known))
    if set(labels) <= set(scale.classes):
        return scale
    if len(labels) != len(scale):
        raise UnknownLabel(
            f"the boundaries cut {len(scale)} classes, and the classifiers know {listed(labels)}",
            mend="Name the classes from the lowest to the highest: Continuum(boundaries, classes=[...])",
        )
    if not any(isinstance(label, str) for label in labels):
        return scale.but(classes=sorted(labels), ordered=False)
    means = [_mean_where(label, said, values) for label in labels]
    order = np.argsort(means, kind="stable")
    return scale.but(classes=[labels[place] for place in order.tolist()], ordered=False)


def _mean_where(label: Label, said: Sequence[Prediction], values: Array) -> float:
    """The mean of what was measured, over the rows that were assigned to a class."""
    total = mass = 0.0
    for one in said:
        if one.labels is not None and label in one.labels.labels:
            weight = (one.labels.codes == one.labels.labels.index(label)).astype(np.float64)
        elif one.labels is None and label in one.class_names:
            weight = np.nan_to_num(one.columns[one.class_names.index(str(label))].astype(np.float64))
        else:
            continue
        total, mass = total + float(weight @ np.nan_to_num(values)), mass + float(weight.sum())
    return total / mass if mass else 0.0


def renamed(truth: Coded, old: Continuum, new: Continuum) -> Coded:
    """The same classes under their new names."""
    if old.classes == new.classes:
        return truth
    return replace(truth, labels=tuple(new.classes[old.classes.index(label)] for label in truth.labels))
