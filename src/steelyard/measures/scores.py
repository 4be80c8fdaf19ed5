"""Scores of probability forecasts: how much probability a classifier gave to what then turned out to be true.

Most are means over the rows, and a formula says what one row is worth. Of the whole forecast it may ask for ``own``,
the probability of the true class; ``ahead`` and ``beside``, how many classes have a higher one and the same, itself
included; ``highest``, the highest of all, and ``ties``, how many classes share that; the sum of ``squares``, and that
of squared ``errors``; ``steps``, the squared distances of cumulative probabilities; or the ``memberships`` themselves
and the ``truth``. Of one class against the rest: ``chance``, its probability, and ``happened``, 1 where it is the true
one.

Others are made of means: of the ``mean`` of a score and that of its ``reference``; or of the ``gap`` between forecasts
and frequencies in bins of rows, the ``share`` of rows in each, and the ``noise``: what chance alone makes of the mean
squared gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import as_number
from ..core.errors import BadOption, quoted
from ..core.suggestions import refuse_no_count
from .counts import AT_LEAST_ZERO, cost_matrix
from .registry import ROSS, UNBOUNDED, called, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.typing import Codes, Numbers

ROUNDING = 1e-12
NO_ROWS = "there are no rows"
GNEITING = "Gneiting & Raftery (2007), J. American Statistical Association 102, 359-378"
KUMAR = "Kumar, Liang & Ma (2019), NeurIPS 32; Bröcker (2012), Climate Dynamics 39, 655-667"


@measure(
    better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS,
    cite="Good (1952), J. Royal Statistical Society B 14, 107-114",
    aliases=("log_loss", "cross_entropy"), title="log score",
    terms=called(ROSS, "logarithmic score", "logarithmic scoring rule", at="lecture"),
)  # fmt: skip
def log_score(own: Any, *, clip: float = 0.0) -> Any:
    """Minus the logarithm of the probability of the true class: mean(-log p_y).

    Infinite as soon as a true class had probability 0; with clip=1e-15, say, no probability counts as less than that.
    """
    if not 0 <= as_number(clip) < 1:
        raise BadOption(f"clip is {quoted(clip)}", mend="Give a small probability, as in clip=1e-15")
    return -np.log(np.maximum(own, clip) if clip else own)


@measure(
    better="lower", undefined=NO_ROWS, cite="Brier (1950), Monthly Weather Review 78, 1-3",
    terms=called(ROSS, "Brier score", at="lecture"), title="Brier score",
)  # fmt: skip
def brier(chance: Any, happened: Any) -> Any:
    """Squared error of the probability of a class: mean((p - y)^2), y = 1 where the class is true, else 0."""
    return (chance - happened) ** 2


@measure(
    better="lower", span=(0.0, 2.0), undefined=NO_ROWS, cite="Brier (1950), Monthly Weather Review 78, 1-3",
    title="Brier score, all classes", summed="brier",
)  # fmt: skip
def brier_multiclass(errors: Any) -> Any:
    """Squared error summed over all classes: mean(sum((p_g - y_g)^2)); of two classes, twice that of one."""
    return errors


@measure(better="higher", undefined=NO_ROWS, cite=GNEITING, special=True)
def spherical_score(own: Any, squares: Any) -> Any:
    """Probability of the true class over the length of the forecast: mean(p_y / sqrt(sum(p_g^2)))."""
    return own / np.sqrt(squares)


@measure(
    better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS, aliases=("rps",), special=True,
    cite="Epstein (1969), J. Applied Meteorology 8, 985-987; Murphy (1971), J. Applied Meteorology 10, 155-156",
)  # fmt: skip
def ranked_probability_score(steps: Any) -> Any:
    """Squared error of cumulative probabilities, for ordered classes: mean(sum((P_k - Y_k)^2)) over all but the last.

    Not divided by the number of steps; of two classes, the Brier score.
    """
    return steps


@measure(better="lower", undefined=NO_ROWS, cite=GNEITING, title="zero-one score", special=True)
def zero_one_score(own: Any, highest: Any, ties: Any) -> Any:
    """Share of rows whose true class does not have the highest probability; those that share it count in part."""
    return 1 - (own == highest) / ties


@measure(
    better="higher", undefined=NO_ROWS, title="top-k accuracy", special=True,
    cite="Russakovsky et al. (2015), International J. of Computer Vision 115, 211-252",
)  # fmt: skip
def top_k_accuracy(ahead: Any, beside: Any, *, k: int = 2) -> Any:
    """Share of rows whose true class is among the k likeliest; those for which a tie decides that count in part."""
    refuse_no_count("k", k)
    return np.clip((k - ahead) / beside, 0.0, 1.0)


@measure(
    better="lower", span=UNBOUNDED, undefined=NO_ROWS, cite=GNEITING, penalty=cost_matrix,
)  # fmt: skip
def decision_cost(memberships: Sequence[Numbers], truth: Codes, matrix: Any, *, costs: Any = None) -> Any:
    """Mean cost where each row is assigned to the class that the forecast makes cheapest: a proper score.

    Where several classes are, the cost is their mean.
    """
    del costs  # they made the matrix
    expected = np.stack(memberships, axis=1) @ matrix
    cheapest = expected <= expected.min(axis=1, keepdims=True) + ROUNDING * np.abs(matrix).max()
    return (matrix[truth] * cheapest).sum(axis=1) / cheapest.sum(axis=1)


def net_benefit_span(at: Any) -> tuple[float, float]:
    """From acting on nothing but rows of other classes to acting on all rows, all of the class."""
    if not 0 <= as_number(at) < 1:
        raise BadOption(f"at is {quoted(at)}", mend="Give a probability below 1, as in at=0.2")
    return 0.0 - float(at / (1 - at)), 1.0


@measure(
    better="higher", span=(-1.0, 1.0), spanned=net_benefit_span, interval="newcombe", undefined=NO_ROWS, special=True,
    cite="Vickers & Elkin (2006), Medical Decision Making 26, 565-574",
)  # fmt: skip
def net_benefit(chance: Any, happened: Any, *, at: float = 0.5) -> Any:
    """True positives less false ones at the odds of a threshold: (TP - FP t / (1 - t)) / n, positive from t on.

    Whoever acts on a row at a probability of t says by that how many false alarms one hit is worth: (1 - t) / t. To act
    on none has a net benefit of 0; to act on all, at=0 has the prevalence.
    """
    reached = chance >= min(at, float(np.float32(at))) - ROUNDING  # by 0.7 of single precision, and by 1 - 0.3, too
    return reached * (happened - (1 - happened) * (at / (1 - at)))


@measure(
    better="higher", span=(float("-inf"), 1.0), chance=0.0, aliases=("skill_score",),
    undefined="the reference is perfect (or all rows are of one class): nothing is left to be better at",
    cite="Murphy (1988), Monthly Weather Review 116, 2417-2424",
)  # fmt: skip
def skill(mean: Any, reference: Any, *, score: str = "brier_multiclass", against: str = "climatology") -> Any:
    """Share of a reference's score that is saved: 1 - score / that of the reference.

    The reference forecasts the share of each class, whatever the row (climatology); or it is another classifier.
    """
    del score, against  # they made the means
    return 1 - mean / reference


@measure(better="lower", undefined="there are too few rows", cite=KUMAR, special=True)
def calibration_error(gap: Any, share: Any, noise: Any, *, bins: int = 15) -> Any:
    """Root mean square of forecast less frequency in bins of like forecasts: sqrt(sum(share * gap^2) - noise).

    The noise is what chance alone adds to the sum, so that a calibrated forecast has 0 on average but for the root;
    0 where less is found than chance would make. Bins hide what happens within them: the value is too low by that.
    The ECE of other libraries is another number: the mean absolute gap, in bins of equal width.
    """
    del bins  # they made the gaps
    return np.sqrt(np.maximum((share * gap**2).sum(axis=-1) - noise, 0.0))


@measure(
    better="lower", undefined="there are too few rows", cite=KUMAR, title="calibration error, top label", special=True,
)  # fmt: skip
def top_calibration_error(top_gap: Any, top_share: Any, top_noise: Any, *, bins: int = 15) -> Any:
    """The same of the highest probability and whether that class is the true one: is it as right as it is sure?"""
    return calibration_error(top_gap, top_share, top_noise, bins=bins)
