"""Measures of classes that are cut from a continuous value which was measured with error (Mevik 2003).

The label of a row is the class of its measured value z; the true class is that of the value y behind it. A formula is
made of means over the rows.

- Of the assigned class: ``wrong``, 1 where it is not the label, and ``distance``, how far z is from its interval,
  squared.
- Of the label: ``unsure``, the probability that it is not the true class, ``sure``, that it is, ``sure_wrong``, the
  latter where the assigned class is another, ``label_distance``, the expected squared distance to the label that
  measuring once more would give, and ``noise``, the variance of the measurement error where ``wrong``.
- Of both: ``shift``, the expected square of what measurement error changes of the distance to the assigned class, and
  ``shift_squared``, at most the expected square of that square.
- With the spread of the response: ``smoothed_wrong`` and ``smoothed_distance``, the same of a value that is drawn
  around z, and ``least_wrong``, ``least_distance``, their minima over all classes.
- With a response model: what is expected of y from the covariates alone (``model_wrong``, ``model_distance``,
  ``model_least_wrong``, ``model_least_distance``) or from these and z (``posterior_wrong``, ``posterior_distance``,
  ``unsure_label``, ``unsure_label_distance``), what is expected of z (``foreseen_wrong``, ``foreseen_distance``), and
  how many standard errors that is from what was seen (``doubt_wrong``, ``doubt_distance``).
- And ``classes``, their number.

The apparent error is the count measure ``error``, since labels are the classes of z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .counts import AT_LEAST_ZERO
from .registry import MEVIK, UNBOUNDED, called, measure, proportion

NO_ROWS = "there are no rows"
NONE_SURE = "there are no rows whose label may be right"
NEGATIVE = "the squared error is negative, and so has no root"
KNOWN = "where the distribution of the response is known, steelyard.population_errors has the value itself"
LIMIT = 1.5  # standard errors from which on a response model is not believed


@proportion(
    better="lower", undefined=NONE_SURE, cite=f"{MEVIK}, (25)",
    terms=called(MEVIK, "erc_a", "adjusted error count", at="(25)"),
)  # fmt: skip
def adjusted_error(sure_wrong: Any, sure: Any) -> Any:
    """Error rate with rows weighed by the probability that their label is right: sum(w * wrong) / sum(w).

    Too low where errors and doubtful labels go together, which they do: both are near the boundaries.
    """
    return sure_wrong, sure


@measure(better="lower", undefined=NO_ROWS, cite=f"{MEVIK}, (26)", terms=called(MEVIK, "pmc_hat", at="(26)"))
def smoothed_error(smoothed_wrong: Any) -> Any:
    """Probability that a response drawn around z, sd_response apart, is not in the assigned class.

    This is the error expected against a response that is noisier than z, and so too high.
    """
    return smoothed_wrong


@measure(
    better="neither", interval="gamma", undefined=NO_ROWS, cite=f"{MEVIK}, (27)",
    terms=called(MEVIK, "pmc_min", "minimal pmc", at="(6)") | called(MEVIK, "pmc_min_hat", at="(27)"),
    cautions=dict.fromkeys(("pmc_min", "minimal_pmc"), f"its estimate, pmc_min_hat; {KNOWN}"),
)  # fmt: skip
def minimal_error(least_wrong: Any) -> Any:
    """The same of the class that makes it least: about what the best rule can reach, whatever the classifier."""
    return least_wrong


@measure(
    better="neither", interval="gamma", undefined=NO_ROWS, cite=f"{MEVIK}, (18)",
    terms=called(MEVIK, "err_data", "data error rate", "data err", at="(14)")
    | called(MEVIK, "err_data_hat", at="(18)"),
)  # fmt: skip
def label_error(unsure: Any) -> Any:
    """Share of labels that are expected to be wrong because of measurement error, whatever the classifier."""
    return unsure


@measure(
    better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, (28)",
    terms={
        **called(MEVIK, "sqe", "squared error penalty", at="(8)"),
        **called(MEVIK, "sqerr", "squared error rate", at="(9)"),
        **called(MEVIK, "sqerc", "apparent squared error count", at="(28)"),
    },
    cautions={
        **dict.fromkeys(("sqe", "squared_error_penalty"), "the mean over the rows; sqe is the penalty of one row"),
        **dict.fromkeys(
            ("sqerr", "squared_error_rate"),
            "the mean penalty of the measured values (sqerc), which estimates that of the true ones; adjusted_sqerr "
            "(sqerc_a), smoothed_sqerr (sqerr_hat) and guarded_sqerr are other estimates",
        ),
    },
)  # fmt: skip
def apparent_sqerr(distance: Any) -> Any:
    """Squared error rate: the mean squared distance of z to the interval of the assigned class, 0 where it is right."""
    return distance


@measure(
    better="lower", span=UNBOUNDED, undefined=NO_ROWS, cite=f"{MEVIK}, (29)",
    terms=called(MEVIK, "sqerc_a", "adjusted squared error count", at="(29)"),
)  # fmt: skip
def adjusted_sqerr(distance: Any, noise: Any) -> Any:
    """Squared error rate without what measurement error adds to it: apparent - sd^2 * error.

    It can be negative where most errors are due to measurement.
    """
    return distance - noise


@measure(
    better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, (30)",
    terms=called(MEVIK, "sqerr_hat", at="(30)"),
)  # fmt: skip
def smoothed_sqerr(smoothed_distance: Any) -> Any:
    """Expected squared distance of a response drawn around z to the interval of the assigned class; too high."""
    return smoothed_distance


@measure(
    better="neither", interval="gamma", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, (32)",
    terms=called(MEVIK, "sqerr_min", at="(12)") | called(MEVIK, "sqerr_min_hat", at="(32)"),
    cautions={"sqerr_min": f"its estimate, sqerr_min_hat; {KNOWN}"},
)  # fmt: skip
def minimal_sqerr(least_distance: Any) -> Any:
    """The same of the class that makes it least: about what the best rule can reach, whatever the classifier."""
    return least_distance


@measure(
    better="neither", interval="gamma", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, (22)",
    terms=called(MEVIK, "sqerr_data", "data squared error rate", "data sqerr", at="(19)")
    | called(MEVIK, "sqerr_data_hat", at="(22)"),
)  # fmt: skip
def label_sqerr(label_distance: Any) -> Any:
    """Expected squared distance to the interval of the label because of measurement error, z standing in for y."""
    return label_distance


WRONG_LABELS = ("unsure", "unsure")  # a label is wrong or not: 1 or 0, which is its own square


@measure(
    better="lower", interval="shifted_wilson", counted="wrong", latent=WRONG_LABELS, undefined=NO_ROWS,
    cite=f"{MEVIK}, (24)", title="true error, at least",
)  # fmt: skip
def true_error_low(wrong: Any, unsure: Any) -> Any:
    """The least that the error rate against the true classes of these rows can be: |error - label error|.

    Its interval covers the bound that follows from the actual share of wrong labels in these rows, too.
    """
    return np.sqrt((wrong - unsure) ** 2)  # analytic on either side, which the absolute value is not


@measure(
    better="lower", interval="shifted_wilson", counted="wrong", latent=WRONG_LABELS, undefined=NO_ROWS,
    cite=f"{MEVIK}, (24)", title="true error, at most",
)  # fmt: skip
def true_error_high(wrong: Any, unsure: Any, classes: Any) -> Any:
    """The most that it can be: min(1, error + label error); of two classes no more than 2 less both."""
    most = np.minimum(1.0, wrong + unsure)
    return np.minimum(most, 2 - wrong - unsure) if classes == 2 else most


SHIFTS = ("shift", "shift_squared")
ANALOGUE = f"{MEVIK}, section 5; docs/continuum.md"


def _root_of_least(distance: Any, shift: Any) -> Any:
    return np.sqrt(distance) - np.sqrt(shift)


@measure(
    better="lower", span=AT_LEAST_ZERO, latent=SHIFTS, signed_root=_root_of_least, undefined=NO_ROWS, cite=ANALOGUE,
    title="true sqerr, at least",
)  # fmt: skip
def true_sqerr_low(distance: Any, shift: Any) -> Any:
    """The least that the squared error rate against the true values of these rows can be.

    The square of sqrt(apparent_sqerr) - sqrt(shift), or 0 where that is negative. The shift is the mean squared change
    of the distance to the assigned class that measurement error is expected to make.
    """
    root = _root_of_least(distance, shift)
    return np.where(np.real(root) > 0, root, 0.0) ** 2


@measure(
    better="lower", span=AT_LEAST_ZERO, latent=SHIFTS, undefined=NO_ROWS, cite=ANALOGUE, title="true sqerr, at most",
)  # fmt: skip
def true_sqerr_high(distance: Any, shift: Any) -> Any:
    """The most that it can be: the square of sqrt(apparent_sqerr) + sqrt(shift)."""
    return (np.sqrt(distance) + np.sqrt(shift)) ** 2


@measure(better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, section 8", special=True)
def apparent_rmse(distance: Any) -> Any:
    """Root of the apparent squared error rate, in the unit of the response."""
    return np.sqrt(distance)


@measure(better="lower", span=AT_LEAST_ZERO, undefined=NEGATIVE, cite=f"{MEVIK}, section 8", special=True)
def adjusted_rmse(distance: Any, noise: Any) -> Any:
    """Root of the adjusted squared error rate, in the unit of the response."""
    return np.sqrt(distance - noise)


@measure(better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, section 8", special=True)
def smoothed_rmse(smoothed_distance: Any) -> Any:
    """Root of the smoothed squared error rate, in the unit of the response."""
    return np.sqrt(smoothed_distance)


@measure(
    better="neither", interval="gamma", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, section 8", special=True,
)  # fmt: skip
def minimal_rmse(least_distance: Any) -> Any:
    """Root of the minimal squared error rate, in the unit of the response."""
    return np.sqrt(least_distance)


@measure(
    better="neither", interval="gamma", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=f"{MEVIK}, section 8", special=True,
)  # fmt: skip
def label_rmse(label_distance: Any) -> Any:
    """Root of the labels' squared error rate, in the unit of the response."""
    return np.sqrt(label_distance)


# --- with a response model --------------------------------------------------------------------------------------

OURS = "docs/continuum.md"


@measure(
    better="lower",
    interval="shifted_wilson",
    counted="posterior_wrong",
    undefined=NO_ROWS,
    cite=OURS,
    aliases=("pmc_post",),
    special=True,
)
def posterior_error(posterior_wrong: Any) -> Any:
    """Probability that the true class is not the assigned one, given the covariates and z: soft labels."""
    return posterior_wrong


@measure(better="lower", undefined=NO_ROWS, cite=OURS, aliases=("pmc_model",), special=True)
def model_error(model_wrong: Any) -> Any:
    """Probability that the true class is not the assigned one, given the covariates alone.

    The most precise where the response model is right, and the most misled where it is not.
    """
    return model_wrong


@measure(
    better="lower", interval="shifted_wilson", counted="wrong", span=UNBOUNDED, undefined=NO_ROWS, cite=OURS,
    aliases=("pmc_diff",), special=True,
)  # fmt: skip
def difference_error(wrong: Any, foreseen_wrong: Any, model_wrong: Any) -> Any:
    """Apparent error less what measurement error adds to it under the model: error - (foreseen - model's)."""
    return wrong - foreseen_wrong + model_wrong


def _wavering(posterior: Any, difference: Any, doubt: Any, limit: float) -> Any:
    """What taking one of two estimates adds to their scatter.

    Another sample would have another doubt, by about one standard error, and so perhaps the other estimate: this is the
    standard deviation of drawing one of the two with that probability. Its sign says where a growing doubt leads.
    """
    from scipy.special import ndtr

    taken = ndtr(doubt - limit) + ndtr(-doubt - limit)
    return np.sign(doubt) * np.sqrt(taken * (1 - taken)) * (difference - posterior)


def _wavering_error(
    posterior_wrong: Any, wrong: Any, foreseen_wrong: Any, model_wrong: Any, doubt_wrong: Any, *, limit: float
) -> Any:
    difference = difference_error(wrong, foreseen_wrong, model_wrong)
    return _wavering(posterior_wrong, difference, doubt_wrong, limit)


@measure(
    better="lower", interval="shifted_wilson", counted="wrong", wavering=_wavering_error, span=UNBOUNDED,
    undefined=NO_ROWS, cite=OURS,
)  # fmt: skip
def guarded_error(
    posterior_wrong: Any, wrong: Any, foreseen_wrong: Any, model_wrong: Any, doubt_wrong: Any, *, limit: float = LIMIT
) -> Any:
    """The posterior error; but the difference error where the model foresees another apparent error than is seen.

    That is, where the two are more than so many standard errors apart (limit). The estimate to take, where a response
    model is at hand.
    """
    doubtful = np.abs(doubt_wrong) > limit
    return np.where(doubtful, difference_error(wrong, foreseen_wrong, model_wrong), posterior_wrong)


@measure(better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=OURS, aliases=("sqerr_post",), special=True)
def posterior_sqerr(posterior_distance: Any) -> Any:
    """Expected squared distance of the true response to the assigned class, given the covariates and z."""
    return posterior_distance


@measure(better="lower", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=OURS, aliases=("sqerr_model",), special=True)
def model_sqerr(model_distance: Any) -> Any:
    """Expected squared distance of the true response to the assigned class, given the covariates alone."""
    return model_distance


@measure(better="lower", span=UNBOUNDED, undefined=NO_ROWS, cite=OURS, aliases=("sqerr_diff",), special=True)
def difference_sqerr(distance: Any, foreseen_distance: Any, model_distance: Any) -> Any:
    """Apparent squared error less what measurement error adds to it under the model."""
    return distance - foreseen_distance + model_distance


def _wavering_sqerr(
    posterior_distance: Any, distance: Any, foreseen_distance: Any, model_distance: Any, doubt_distance: Any,
    *, limit: float,
) -> Any:  # fmt: skip
    difference = difference_sqerr(distance, foreseen_distance, model_distance)
    return _wavering(posterior_distance, difference, doubt_distance, limit)


@measure(better="lower", wavering=_wavering_sqerr, span=UNBOUNDED, undefined=NO_ROWS, cite=OURS)
def guarded_sqerr(
    posterior_distance: Any, distance: Any, foreseen_distance: Any, model_distance: Any, doubt_distance: Any,
    *, limit: float = LIMIT,
) -> Any:  # fmt: skip
    """The posterior squared error; but the difference where the model foresees another one than is seen."""
    doubtful = np.abs(doubt_distance) > limit
    return np.where(doubtful, difference_sqerr(distance, foreseen_distance, model_distance), posterior_distance)


@measure(better="neither", interval="gamma", undefined=NO_ROWS, cite=OURS, aliases=("err_data_post",), special=True)
def posterior_label_error(unsure_label: Any) -> Any:
    """Share of labels that are expected to be wrong, given the covariates and z, whatever the classifier."""
    return unsure_label


@measure(
    better="neither", interval="gamma", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=OURS, aliases=("sqerr_data_post",),
    special=True,
)  # fmt: skip
def posterior_label_sqerr(unsure_label_distance: Any) -> Any:
    """Expected squared distance of the true response to its label's interval, given the covariates and z."""
    return unsure_label_distance


@measure(better="neither", interval="gamma", undefined=NO_ROWS, cite=OURS, aliases=("pmc_min_model",))
def model_minimal_error(model_least_wrong: Any) -> Any:
    """The least error that any rule of the covariates can have under the response model, whatever the classifier."""
    return model_least_wrong


@measure(
    better="neither", interval="gamma", span=AT_LEAST_ZERO, undefined=NO_ROWS, cite=OURS, aliases=("sqerr_min_model",)
)
def model_minimal_sqerr(model_least_distance: Any) -> Any:
    """The least squared error that any rule of the covariates can have under the model, whatever the classifier."""
    return model_least_distance
