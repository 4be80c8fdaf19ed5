"""The scale of Mevik (2003, section 6), the two measures that rank classifiers there, and the figures it prints."""

from __future__ import annotations

from ..core.scale import Continuum

WATER = Continuum([65.0], ["at most 65 %", "more than 65 %"], sd=0.22, closed="right")
BY_ERROR, BY_DISTANCE = RANKED = ("error", "apparent_sqerr")
PRINTED = {
    BY_ERROR: {"qda": "0.18", "lda": "0.20", "3-nn": "0.28", "tree": "0.28", "1-nn": "0.33"},
    BY_DISTANCE: {"lda": "0.55", "qda": "1.10", "tree": "2.44", "1-nn": "7.74", "3-nn": "11.1"},
}
PAPER = {measure: {name: float(figure) for name, figure in figures.items()} for measure, figures in PRINTED.items()}
